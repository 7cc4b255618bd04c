/* test_late.c - rules that ask whose mail a message is
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "smtpserver/policy/late.h"

static const struct late_origin origin = { .spf = ORIGIN_SOFTFAIL,
    .dkim = ORIGIN_PASS, .dmarc = ORIGIN_FAIL, .policy = DMARC_QUARANTINE,
    .signers = { "a.test,mail.b.test", 18 } };

Test(late, what_fits)
{
	static const struct {
		const char	*spf, *dkim, *dmarc, *policy;
		bool		 fits;
	} rows[] = {
		{ "softfail", NULL, NULL, NULL, true },
		{ "fail", NULL, NULL, NULL, false },
		{ "none", NULL, NULL, NULL, false },
		{ NULL, "pass", NULL, NULL, true },
		{ NULL, "fail", NULL, NULL, false },
		{ NULL, "a.test", NULL, NULL, true },
		{ NULL, "b.test", NULL, NULL, false },
		{ NULL, "mail.b.test", NULL, NULL, true },
		{ NULL, ".b.test", NULL, NULL, true },
		{ NULL, ".a.test", NULL, NULL, false },
		{ NULL, "xa.test", NULL, NULL, false },
		{ NULL, "l.b.test", NULL, NULL, false },
		{ NULL, NULL, "fail", "quarantine", true },
		{ NULL, NULL, "fail", "reject", false },
		{ NULL, NULL, "fail", "none", false },
		{ NULL, NULL, "pass", "quarantine", false },
		{ NULL, NULL, NULL, "quarantine", true },
		{ "softfail", "a.test", "fail", "quarantine", true },
		{ "softfail", "c.test", "fail", "quarantine", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conf_rule rule = { .action = ACTION_REJECT };

		rule.patterns[PATTERN_SPF] = rows[i].spf;
		rule.patterns[PATTERN_DKIM] = rows[i].dkim;
		rule.patterns[PATTERN_DMARC] = rows[i].dmarc;
		rule.patterns[PATTERN_DMARC_POLICY] = rows[i].policy;
		cr_expect(conf_rule_is_of_origin(&rule), "row %zu", i);
		cr_expect_eq(late_fits(&rule, &origin), rows[i].fits,
		    "row %zu", i);
	}
}

/* From of several domains is none for DMARC, and has a word of its own. */
Test(late, several_authors_are_a_kind_of_none)
{
	static const struct {
		const char	*dmarc;
		bool		 of_several, of_none;
	} rows[] = {
		{ "several", true, false },
		{ "none", true, true },
		{ "fail", false, false },
		{ "permerror", false, false },
	};
	struct conf_rule rule = { .action = ACTION_REJECT };
	struct late_origin one = { .dmarc = ORIGIN_SEVERAL };
	struct str words = STR_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		rule.patterns[PATTERN_DMARC] = rows[i].dmarc;
		one.dmarc = ORIGIN_SEVERAL;
		cr_expect_eq(late_fits(&rule, &one), rows[i].of_several,
		    "row %zu", i);
		one.dmarc = ORIGIN_NONE;
		cr_expect_eq(late_fits(&rule, &one), rows[i].of_none,
		    "row %zu", i);
	}
	one.dmarc = ORIGIN_SEVERAL;
	late_add_reply(&words, &rule, &one);
	cr_expect_str_eq(words.buf, "refused by local policy: SPF none, DKIM "
	    "none, DMARC none (From is of several domains)");
	str_release(&words);
}

/* RFC 7372 section 3. */
Test(late, codes)
{
	static const struct {
		const char	*spf, *dkim, *dmarc;
		enum conf_action action;
		const char	*status;
	} rows[] = {
		{ "fail", NULL, NULL, ACTION_REJECT, "5.7.23" },
		{ "permerror", NULL, NULL, ACTION_REJECT, "5.7.24" },
		{ "temperror", NULL, NULL, ACTION_DEFER, "4.7.24" },
		{ NULL, "none", NULL, ACTION_REJECT, "5.7.20" },
		{ "fail", "fail", NULL, ACTION_REJECT, "5.7.26" },
		{ NULL, NULL, "fail", ACTION_REJECT, "5.7.26" },
		{ NULL, NULL, "temperror", ACTION_DEFER, "4.7.26" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conf_rule rule = { .action = rows[i].action };

		rule.patterns[PATTERN_SPF] = rows[i].spf;
		rule.patterns[PATTERN_DKIM] = rows[i].dkim;
		rule.patterns[PATTERN_DMARC] = rows[i].dmarc;
		cr_expect_str_eq(late_status(&rule), rows[i].status,
		    "row %zu", i);
	}
}

Test(late, words)
{
	struct conf_rule rule = { .action = ACTION_DEFER };
	struct str words = STR_INIT;

	late_add_reply(&words, &rule, &origin);
	cr_expect_str_eq(words.buf, "deferred by local policy: SPF softfail, "
	    "DKIM pass, DMARC fail (its policy: quarantine)");
	str_release(&words);
}

/* What decided is named, for each result that the rule asks for. */
Test(late, names)
{
	static const struct {
		const char	*spf, *dkim, *dmarc, *dkim2, *want;
	} rows[] = {
		{ NULL, NULL, "fail", NULL,
		    "SPF softfail (_spf.a.test), DKIM pass "
		    "(s._domainkey.a.test), DMARC fail (_dmarc.test, its "
		    "policy: quarantine)" },
		{ "softfail", NULL, NULL, "none",
		    "SPF softfail (_spf.a.test), DKIM pass, DMARC fail (its "
		    "policy: quarantine), DKIM2 none (expired)" },
		{ NULL, "pass", NULL, NULL,
		    "SPF softfail, DKIM pass (s._domainkey.a.test), DMARC "
		    "fail (its policy: quarantine)" },
	};
	static const struct judge_names names = { "_spf.a.test",
	    "s._domainkey.a.test", "_dmarc.test", "expired" };
	struct late_origin named = origin;
	struct str words = STR_INIT;

	named.names = &names;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conf_rule rule = { .action = ACTION_REJECT };

		rule.patterns[PATTERN_SPF] = rows[i].spf;
		rule.patterns[PATTERN_DKIM] = rows[i].dkim;
		rule.patterns[PATTERN_DMARC] = rows[i].dmarc;
		rule.patterns[PATTERN_DKIM2] = rows[i].dkim2;
		str_reset(&words);
		late_add_reply(&words, &rule, &named);
		cr_expect(slice_ends(str_slice(&words), rows[i].want), "%s",
		    words.buf);
	}
	str_release(&words);
}

/* One that is too long for a line of a reply is left out. */
Test(late, names_are_bounded)
{
	static struct judge_names names;
	struct conf_rule rule = { .action = ACTION_REJECT };
	struct late_origin named = origin;
	struct str words = STR_INIT;

	memset(names.spf, 'a', sizeof(names.spf) - 1);
	memset(names.dkim, 'b', sizeof(names.dkim) - 1);
	memset(names.dmarc, 'c', sizeof(names.dmarc) - 1);
	memset(names.dkim2, 'd', sizeof(names.dkim2) - 1);
	named.names = &names;
	rule.patterns[PATTERN_DMARC] = "fail";
	rule.patterns[PATTERN_DKIM2] = "none";
	late_add_reply(&words, &rule, &named);
	cr_expect_lt(words.len, 480);
	cr_expect_not_null(strstr(words.buf, "DKIM pass, DMARC fail (its"));
	str_release(&words);
}

Test(late, the_same_rules)
{
	struct conf_rule one = { .action = ACTION_ACCEPT },
	    two = { .action = ACTION_REJECT };
	struct late_rules a = { .count = 0 }, b = { .count = 0 };

	late_add(&a, &two, true);
	cr_expect_not(a.may_take);
	late_add(&b, &two, true);
	cr_expect(late_rules_equal(&a, &b));
	late_add(&a, &one, false);
	cr_expect_not(a.may_take, "it would relay");
	cr_expect_not(late_rules_equal(&a, &b));
	late_add(&b, &one, true);
	cr_expect(b.may_take);
	cr_expect(late_rules_equal(&a, &b));
	one.is_shadow = true;
	a = (struct late_rules){ .count = 0 };
	late_add(&a, &one, true);
	cr_expect_not(a.may_take, "a shadow takes nothing");
}

/* draft-ietf-dkim-dkim2-spec-04 sections 10.4 and 12.1.2. */
Test(late, dkim2)
{
	struct late_origin chained = { .dkim2 = ORIGIN_FAIL };
	struct conf_rule rule = { .action = ACTION_REJECT };
	struct str out = STR_INIT;

	rule.patterns[PATTERN_DKIM2] = "fail";
	cr_expect(conf_rule_is_of_origin(&rule));
	cr_expect(late_fits(&rule, &chained));
	cr_expect_not(late_fits(&rule, &origin), "it was not asked for");
	late_add_reply(&out, &rule, &chained);
	cr_expect_str_eq(out.buf, "refused by local policy: SPF none, DKIM "
	    "none, DMARC none, DKIM2 fail");
	cr_expect_str_eq(late_status(&rule), "5.7.7");
	rule.action = ACTION_DEFER;
	cr_expect_str_eq(late_status(&rule), "4.7.5");
	rule.patterns[PATTERN_SPF] = "fail";
	cr_expect_not(late_is_of_spf(&rule), "it waits for the message");
	cr_expect_not(late_fits(&rule, &chained));
	str_release(&out);
}

Test(late, a_failure_that_who_is_trusted_saw_pass_is_none)
{
	struct late_origin sealed = { .dmarc = ORIGIN_FAIL,
	    .sealer = SLICE("lists.test") };
	struct conf_rule rule = { .action = ACTION_REJECT };
	struct str out = STR_INIT;

	rule.patterns[PATTERN_DMARC] = "fail";
	cr_expect_not(late_fits(&rule, &sealed));
	late_add_reply(&out, &rule, &sealed);
	cr_expect_str_eq(out.buf, "refused by local policy: SPF none, DKIM "
	    "none, DMARC fail (its policy: none) (passed by the seal of "
	    "lists.test)");
	rule.patterns[PATTERN_DMARC] = "pass";
	cr_expect(late_fits(&rule, &sealed));
	sealed.dmarc = ORIGIN_TEMPERROR;
	cr_expect_not(late_fits(&rule, &sealed));
	str_release(&out);
}

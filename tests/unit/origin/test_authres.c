/* test_authres.c - the field Authentication-Results
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "origin/authres/authres.h"
#include "origin/authres_read.h"

#include "base/banned.h"

TestSuite(authres, .timeout = 60);

Test(authres, a_field_says_what_was_judged)
{
	struct spf spf = { .origin = ORIGIN_FAIL, .reason = "not listed" };
	struct dkim dkim = { .origin = ORIGIN_PASS,
	    .domain = SLICE("a.test"), .identity = SLICE("@a.test"),
	    .selector = SLICE("s1"), .algorithm = SLICE("rsa-sha256"),
	    .signature = SLICE("AbC+/d==") };
	struct dmarc dmarc = { .origin = ORIGIN_PASS,
	    .domain = SLICE("a.test"), .record = SLICE("v=DMARC1"),
	    .policy = DMARC_REJECT };
	struct origins all = { .spf = &spf, .dkims = &dkim, .dkim_count = 1,
	    .dmarc = &dmarc, .sender = SLICE("b@a.test"),
	    .helo = SLICE("h.test") };
	struct str out = STR_INIT;

	authres_add(&out, "mx.test", &all);
	cr_expect_str_eq(out.buf, "Authentication-Results: mx.test;\n"
	    "\tspf=fail reason=\"not listed\" smtp.mailfrom=b@a.test;\n"
	    "\tdkim=pass header.d=a.test header.i=@a.test header.s=s1"
	    " header.a=rsa-sha256 header.b=\"AbC+/d==\";\n"
	    "\tdmarc=pass header.from=a.test policy.dmarc=reject");
	str_release(&out);
	all = (struct origins){ .dkim_count = 0 };
	authres_add(&out, "mx.test", &all);
	cr_expect_str_eq(out.buf, "Authentication-Results: mx.test; none");
	str_release(&out);
}

/* Rules have a word for it, RFC 8601 has none. */
Test(authres, several_authors_are_none)
{
	struct dmarc dmarc = { .origin = ORIGIN_SEVERAL,
	    .reason = "2 of them" };
	struct origins all = { .dmarc = &dmarc };
	struct str out = STR_INIT;

	authres_add(&out, "mx.test", &all);
	cr_expect_str_eq(out.buf, "Authentication-Results: mx.test;\n"
	    "\tdmarc=none reason=\"2 of them\"");
	str_release(&out);
}

/* Nothing of theirs makes a line, a pair or a method. */
Test(authres, values_of_strangers_stay_values)
{
	static const char *const values[] = { "a\r\nX-Evil: 1", "a; dkim=pass",
	    "\" header.d=bank.test", "a b", "a(c)", "\\", "a\\\"", "\xff\xfe",
	    "a=b", "\033[1m", "\x7f", "a\nb" };
	struct spf spf = { .origin = ORIGIN_FAIL };

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		struct origins all = { .spf = &spf,
		    .sender = slice_of(values[i]) };
		struct str out = STR_INIT;
		const char *rest;
		bool is_quoted = false;

		spf.reason = values[i];
		authres_add(&out, "mx.test", &all);
		rest = strstr(out.buf, "spf=fail");
		cr_assert_not_null(rest);
		for (; *rest != '\0'; rest++) {
			cr_expect(*rest >= ' ' && *rest < 127, "%s",
			    values[i]);
			if (*rest == '\\') {
				cr_expect(is_quoted && (rest[1] == '\\' ||
				    rest[1] == '"'), "%s", values[i]);
				rest++;
			} else if (*rest == '"') {
				is_quoted = !is_quoted;
			} else if (!is_quoted) {
				cr_expect(*rest != ';' && *rest != '(');
			}
		}
		cr_expect_not(is_quoted);
		str_release(&out);
	}
}

/* "paypal<U+00E9>.test" is not paypal.test. */
Test(authres, what_cannot_stand_there_makes_no_other_name)
{
	struct spf spf = { .origin = ORIGIN_PASS };
	struct origins all = { .spf = &spf,
	    .sender = SLICE("x@paypal\xc3\xa9.te\001st") };
	struct str out = STR_INIT;

	authres_add(&out, "mx.test", &all);
	cr_expect_not_null(strstr(out.buf,
	    "smtp.mailfrom=\"x@paypal??.te?st\""), "%s", out.buf);
	str_release(&out);
}

/* A next hop refuses lines of more than 998 bytes (RFC 5322 section
 * 2.1.1). */
Test(authres, long_values_make_no_long_lines)
{
	char quotes[400];
	struct dkim dkim = { .origin = ORIGIN_FAIL, .reason = quotes,
	    .domain = { quotes, 300 }, .identity = { quotes, 400 },
	    .selector = { quotes, 300 }, .algorithm = { quotes, 40 } };
	struct origins all = { .dkims = &dkim, .dkim_count = 1 };
	struct str out = STR_INIT;
	struct slice rest, line;

	memset(quotes, '"', sizeof(quotes) - 1);
	quotes[sizeof(quotes) - 1] = '\0';
	authres_add(&out, "mx.test", &all);
	rest = str_slice(&out);
	while (slice_cut(&rest, '\n', &line)) {
		cr_expect_leq(line.n, 998);
		cr_expect(rest.p == NULL || rest.p[0] == '\t');
	}
	str_release(&out);
}

Test(authres, fields_that_claim_to_be_ours_are_known)
{
	static const struct {
		const char	*value;
		bool		 is_ours;
	} rows[] = {
		{ " mx.test; spf=pass", true },
		{ " MX.Test ; spf=pass", true },
		{ " (a comment (in one)) mx.test 1; none", true },
		{ "\r\n\tmx.test;\r\n none", true },
		{ " \"mx.test\"; none", true },
		{ " \"m\\x.test\"; none", true },
		{ " mx.test(x); none", true },
		{ " mx.test", true },
		{ " mx.test/1; none", true }, { " x,mx.test; none", true },
		{ " <mx.test>; none", true }, { " [mx.test]; none", true },
		{ " x\\mx.test; none", true },
		{ " mx.test.; none", true }, { " \"MX.test.\"; none", true },
		{ " mx.test\v; none", true }, { " \bmx.test; none", true },
		{ " mx.test..; none", false }, { " mx..test; none", false },
		{ " m\xc3\xbc.test; none", false },
		{ " \"mx.other\"mx.test; none", true },
		{ " \"mx.other\"; none", false },
		{ " \"mx.other\" 1; none", false },
		{ " spf=pass smtp.mailfrom=mx.test", false },
		{ " mx.tes; none", false },
		{ " mx.test.example; none", false },
		{ " other.test; spf=pass smtp.mailfrom=mx.test", false },
		{ "", true }, { " ; none", true }, { " (open mx.test", true },
		{ " \"mx.other", true },
		{ " ((((((((((((((((((((((((((((((((((((((((((((((((", true },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(authres_is_ours(slice_of(rows[i].value),
		    "mx.test"), rows[i].is_ours, "%s", rows[i].value);
}

/* ---- fields of others (authres_read.h) ---------------------------------- */

Test(authres, what_others_say_is_read)
{
	static const struct {
		const char *value, *want;
	} rows[] = {
		{ "mx.test; dmarc=pass header.from=a.test",
		    "dmarc=pass header.from=a.test|" },
		{ "mx.test 1; spf=fail (no; not \"him\") smtp.mailfrom=\"a b\""
		    "@c.test; dkim/1 = pass header.d=x",
		    "spf=fail smtp.mailfrom=a b@c.test|dkim=pass|" },
		{ "(c;c) \"mx;test\" ; none", "" },
		{ "mx.test; x; =y; a=; dmarc=pass (c) header.from (d) = e",
		    "dmarc=pass header.from=e|" },
		{ "mx.test; dmarc=pass (not closed; dkim=pass", "dmarc=pass|" },
		{ "mx.test; spf=pass\r\n smtp.mailfrom=a@b.test;\r\n",
		    "spf=pass smtp.mailfrom=a@b.test|" },
		{ "mx.test; dmarc=pass reason=\"a \\\"; x=y\" header.from=z",
		    "dmarc=pass header.from=z|" },
		{ "", "" }, { ";", "" }, { ";;;", "" }, { "\"", "" },
		{ "(((", "" }, { "mx.test; \\", "" },
	};
	static const char *const names[] = { "header.from", "smtp.mailfrom" };
	struct arena *arena = arena_new();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct slice rest = slice_of(rows[i].value), value;
		struct authres_result one;
		struct str out = STR_INIT;

		while (authres_next(&rest, &one)) {
			str_addf(&out, SLICE_FMT "=" SLICE_FMT,
			    SLICE_ARG(one.method), SLICE_ARG(one.result));
			for (size_t k = 0; k < 2; k++)
				if (authres_property(&one, names[k], arena,
				    &value))
					str_addf(&out, " %s=" SLICE_FMT,
					    names[k], SLICE_ARG(value));
			str_addc(&out, '|');
		}
		cr_expect_str_eq(out.len > 0 ? out.buf : "", rows[i].want,
		    "row %zu: %s", i, out.buf);
		str_release(&out);
	}
	arena_free(&arena);
}

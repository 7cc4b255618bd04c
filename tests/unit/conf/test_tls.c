/* test_link.c - the statement tls, and what is said about its files
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "daemon/machine/machine.h"
#include "tests/unit/tls/made.h"
#include "conf_case.h"

#include "base/banned.h"

Test(conf_tls, is_read_and_shown)
{
	struct str shown = STR_INIT;
	struct conf_case c;

	case_good(&c, "tls certificate /a.pem key /a.key\n"
	    "tls certificate /b.pem key /b.key for B.example.org\n"
	    "tls min 1.3\n"
	    "tls client-certificates require ca /ca.pem\n"
	    "tls certificates <n>\ntable n { x.test /x.pem }\n"
	    "listen 127.0.0.1:465 submission tls\n");
	cr_assert_eq(c.conf->certificate_count, 2);
	cr_expect_str_eq(c.conf->certificate_table, "n");
	cr_expect_str_eq(c.conf->certificates[0].file, "/a.pem");
	cr_expect_null(c.conf->certificates[0].name);
	cr_expect_str_eq(c.conf->certificates[1].key, "/b.key");
	cr_expect_str_eq(c.conf->certificates[1].name, "b.example.org");
	cr_expect(c.conf->needs_tls13);
	cr_expect_eq(c.conf->client_certificates,
	    CLIENT_CERTIFICATES_REQUIRE);
	cr_expect_str_eq(c.conf->client_ca, "/ca.pem");
	cr_expect(c.conf->listens[0].is_tls &&
	    c.conf->listens[0].is_submission);
	conf_show(c.conf, false, &shown);
	cr_expect_not_null(strstr(shown.buf,
	    "tls certificate /b.pem key /b.key for b.example.org"));
	cr_expect_not_null(strstr(shown.buf, "tls min 1.3"));
	cr_expect_not_null(strstr(shown.buf, "tls certificates <n>"));
	cr_expect_not_null(strstr(shown.buf,
	    "tls client-certificates require ca /ca.pem"));
	cr_expect_not_null(strstr(shown.buf,
	    "listen 127.0.0.1:465 submission tls"), "%s", shown.buf);
	str_release(&shown);
	case_close(&c);
}

Test(conf_tls, complains)
{
	static const struct { const char *in, *want; } rows[] = {
		{ "tls certificate /a.pem\n",
		    "t.conf:1:1: error: a certificate and a key go together" },
		{ "tls\n", "t.conf:1:1: error: a certificate and a key" },
		{ "tls key /a.key\n", "t.conf:1:1: error: a certificate and" },
		{ "tls min 1.1\n", "t.conf:1:9: error: '1.1' is not a choice" },
		{ "tls min 1.2\ntls min 1.3\n",
		    "t.conf:2:1: error: 'tls min' is said twice" },
		{ "tls certificates <a>\ntls certificates <a>\n"
		    "table a { x /y }\n",
		    "t.conf:2:1: error: 'tls certificates' is said twice" },
		{ "tls certificates <a> key /b\ntable a { x /y }\n",
		    "does not go together" },
		{ "tls certificates <a>\n", "no table is called <a>" },
		{ "tls min 1.2 ca /x\n", "t.conf:1:16: error: this does not go "
		    "together in one row" },
		{ "tls certificate /a key /b client-certificates ask\n",
		    "does not go together" },
		{ "tls certificate a.pem key /b\n", "is not an absolute path" },
		{ "listen 465 tls\n", "t.conf:1:1: error: a listener with tls "
		    "needs a certificate" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		case_refused(rows[i].in, rows[i].want);
}

/* ---- by names in a table ------------------------------------------------ */

/* "FILE KEY: NAMES; " of each row, or err. */
static void
named_read(const char *spec, struct str *out)
{
	struct arena *arena = arena_new();
	struct conf_certificate *rows;
	struct err err;
	size_t count;

	str_reset(out);
	if (conf_named_certificates("t", spec, arena, &rows, &count, &err) <
	    0) {
		cr_expect_eq(count, 0);
		str_adds(out, err.text);
	}
	for (size_t i = 0; i < count; i++)
		str_addf(out, "%s %s: %s; ", rows[i].file, rows[i].key,
		    rows[i].name);
	arena_free(&arena);
}

Test(conf_tls, names_in_a_table)
{
	static const struct { const char *spec, *want; } rows[] = {
		{ "inline:a.test /a.pem /a.key\n",
		    "/a.pem /a.key: a.test; " },
		{ "inline:a.test /a.pem\n", "/a.pem /a.pem: a.test; " },
		/* one row a pair, in order, also when they do not stand
		 * together */
		{ "inline:a.test /a.pem\nb.test /b.pem\n*.c.test /a.pem\n"
		    ".d.test /b.pem /b.pem\n_x.e-f.test /b.pem /b.key\n",
		    "/a.pem /a.pem: a.test *.c.test; "
		    "/b.pem /b.pem: b.test .d.test; "
		    "/b.pem /b.key: _x.e-f.test; " },
		{ "inline:a.test a.pem\n", ":1: write: NAME /CERT" },
		{ "inline:a.test /a.pem key\n", ":1: write: NAME /CERT" },
		{ "inline:a.test /a.pem /b /c\n", ":1: write: NAME /CERT" },
		{ "inline:a.test /a\n. /a\n", ":2: this is no name" },
		{ "inline:* /a\n", ":1: this is no name" },
		{ "inline:*. /a\n", ":1: this is no name" },
		{ "inline:a.*.b /a\n", ":1: this is no name" },
		{ "inline:a..b /a\n", ":1: this is no name" },
		{ "inline:..b /a\n", ":1: this is no name" },
		{ "inline:b. /a\n", ":1: this is no name" },
		{ "inline:a,b /a\n", ":1: this is no name" },
		{ "passwd:", "cannot be listed" },
		{ "file:/nonexistent/t", "/nonexistent/t" },
		{ "inline:", "" },
	};
	struct str got = STR_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		named_read(rows[i].spec, &got);
		cr_expect_not_null(strstr(got.buf, rows[i].want),
		    "%s: %s, not %s", rows[i].spec, got.buf, rows[i].want);
		if (rows[i].want[0] == '/')
			cr_expect(strlen(got.buf) == strlen(rows[i].want) ||
			    strstr(got.buf, "No such") != NULL, "%s",
			    got.buf);
	}
	str_release(&got);
}

Test(conf_tls, a_table_of_names_is_bounded)
{
	struct str spec = STR_INIT, got = STR_INIT;

	str_adds(&spec, "inline:");
	for (int i = 0; i < CONF_NAMED_PAIRS_MAX; i++)
		str_addf(&spec, "n%d.test /%d.pem\n", i, i);
	named_read(spec.buf, &got);
	cr_expect(slice_starts(str_slice(&got), "/0.pem /0.pem: n0.test; "));
	str_adds(&spec, "more.test /0.pem\n");
	named_read(spec.buf, &got);
	cr_expect(slice_starts(str_slice(&got),
	    "/0.pem /0.pem: n0.test more.test; "));
	str_adds(&spec, "over.test /more.pem\n");
	named_read(spec.buf, &got);
	cr_expect_not_null(strstr(got.buf, ":1002: too many certificates"),
	    "%s", got.buf);
	str_reset(&spec);
	str_adds(&spec, "inline:");
	for (int i = 0; i <= CONF_NAMED_NAMES_MAX; i++)
		str_addf(&spec, "n%d.test /a.pem\n", i);
	named_read(spec.buf, &got);
	cr_expect_not_null(strstr(got.buf, ":20001: too many names"), "%s",
	    got.buf);
	str_release(&spec);
	str_release(&got);
}

static void
expect_check(const char *text, const char *want, bool is_error)
{
	struct str shown = STR_INIT;
	struct conf_case c;

	case_good(&c, text);
	machine_check(c.conf, c.arena, &c.report);
	conf_report_print(&c.report, "t.conf", &shown);
	if (want == NULL)
		cr_expect_null(strstr(shown.buf, "t.conf:1:1"), "%s",
		    shown.buf);
	else
		cr_expect_not_null(strstr(shown.buf, want), "%s\n%s", want,
		    shown.buf);
	cr_expect_eq(strstr(shown.buf, "t.conf:1:1: error") != NULL,
	    is_error);
	str_release(&shown);
	case_close(&c);
}

/* What it is shown as is among its names; of two that are alike check says
 * which one clients get. */
Test(conf_tls, checks_names)
{
	struct made first, second, other;
	char text[1024];

	made_new(&first, "P-256", "mx.test", NULL, 90);
	made_new(&second, "P-256", "mx.test", NULL, 90);
	made_new(&other, "RSA", "mx.test", NULL, 90);
	snprintf(text, sizeof(text), "tls certificate %s key %s\n"
	    "host mail.test\n", first.certificate, first.key);
	expect_check(text, "(mx.test) is shown as mail.test, which is none",
	    false);
	snprintf(text, sizeof(text), "tls certificate %s key %s "
	    "for other.test\n", first.certificate, first.key);
	expect_check(text, "is shown as other.test, which is none", false);
	snprintf(text, sizeof(text), "host mx.test\n"
	    "tls certificate %s key %s\ntls certificate %s key %s\n",
	    first.certificate, first.key, second.certificate, second.key);
	expect_check(text, "t.conf:3:1: warning: ", false);
	expect_check(text, "(line 2) is, which has its names", false);
	/* a key of another kind stands beside it */
	snprintf(text, sizeof(text), "tls certificate %s key %s\n"
	    "host mx.test\ntls certificate %s key %s\n",
	    first.certificate, first.key, other.certificate, other.key);
	expect_check(text, NULL, false);
	made_free(&first);
	made_free(&second);
	made_free(&other);
}

Test(conf_tls, checks_files)
{
	struct made good, soon, late, other;
	char text[512];

	made_new(&good, "P-256", "mx.test", NULL, 90);
	made_new(&soon, "P-256", "mx.test", NULL, 13);
	made_new(&late, "RSA", "mx.test", NULL, -1);
	made_new(&other, "P-256", "mx.test", NULL, 90);
#define ROW(c, k) (snprintf(text, sizeof(text), \
    "tls certificate %s key %s\nhost mx.test\n", (c), (k)), text)
	expect_check(ROW(good.certificate, good.key), NULL, false);
	expect_check(ROW(soon.certificate, soon.key), "expires in 1",
	    false);
	expect_check(ROW(late.certificate, late.key),
	    "(mx.test) has expired", false);
	expect_check(ROW(good.certificate, other.key),
	    "the key is not that of the certificate", true);
	expect_check(ROW(good.certificate, "/nowhere"), "/nowhere", true);
#undef ROW
	snprintf(text, sizeof(text), "tls client-certificates ask ca %s\n",
	    good.key);
	expect_check(text, "no certificate in it", true);
	snprintf(text, sizeof(text), "tls client-certificates ask ca %s\n",
	    good.certificate);
	expect_check(text, NULL, false);
	made_free(&good);
	made_free(&soon);
	made_free(&late);
	made_free(&other);
}

Test(conf_auth, is_read_and_shown)
{
	static const struct {
		const char *in; enum conf_auth_kind kind;
		const char *mechanisms,
		    *shown;
	} rows[] = {
		{ "auth users <t>\ntable t { a b }\n", AUTH_USERS,
		    "PLAIN LOGIN", "auth users <t>" },
		{ "auth users <t> scram clear loopback\ntable t { a b }\n",
		    AUTH_USERS, "SCRAM-SHA-256-PLUS SCRAM-SHA-256 PLAIN LOGIN",
		    "auth users <t> scram clear loopback" },
		{ "auth dovecot /run/x mechanisms \"plain xoauth2\"\n",
		    AUTH_DOVECOT, "PLAIN XOAUTH2",
		    "auth dovecot unix:/run/x mechanisms \"PLAIN XOAUTH2\"" },
		{ "auth saslauthd /run/mux service imap\n", AUTH_SASLAUTHD,
		    "PLAIN LOGIN",
		    "auth saslauthd unix:/run/mux service imap" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str text = STR_INIT, shown = STR_INIT;
		struct conf_case c;

		str_addf(&text, "%slisten 587 submission\n", rows[i].in);
		case_good(&c, text.buf);
		cr_expect_eq(c.conf->auth.kind, rows[i].kind);
		cr_expect_str_eq(c.conf->auth.mechanisms, rows[i].mechanisms);
		conf_show(c.conf, false, &shown);
		cr_expect_not_null(strstr(shown.buf, rows[i].shown), "%s",
		    shown.buf);
		str_release(&text);
		str_release(&shown);
		case_close(&c);
	}
}

Test(conf_auth, complains)
{
	static const struct { const char *in, *want; bool is_error; } rows[] = {
		{ "auth\n", "this does not say who checks passwords", true },
		{ "auth scram\n", "this does not say who checks", true },
		{ "auth pam dovecot /x\n", "checked in one place", true },
		{ "auth dovecot /x scram\n", "does not belong to", true },
		{ "auth users <t> service x\ntable t { a b }\n",
		    "does not belong to", true },
		{ "auth users <t>\n", "no table is called", true },
		{ "auth dovecot /x\nauth dovecot /y\n",
		    "'auth' is said twice", true },
		{ "auth dovecot relative\n", "not a socket", true },
		{ "auth dovecot /x\n", "nobody can log in", false },
		{ "auth dovecot /x\nlisten 587 submission\n",
		    "without a certificate nobody can log in", false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conf_case c;

		case_open(&c, rows[i].in);
		cr_expect_eq(c.conf == NULL, rows[i].is_error, "%s",
		    rows[i].in);
		cr_expect_not_null(strstr(c.shown.buf, rows[i].want),
		    "%s%s", rows[i].in, c.shown.buf);
		case_close(&c);
	}
}

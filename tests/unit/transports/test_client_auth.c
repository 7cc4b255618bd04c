/* test_client_auth.c - who the client says it is, and to whom
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/unit/transports/client_lab.h"
#include "transports/smtp/auth/auth.h"

static struct conf_table table = { .name = "secrets" };
static char spec[200];

static void
auth_setup(void)
{
	setup();
	conf.auth_to = (struct conf_auth_to){ "secrets", true, { 0 } };
	conf.tables = &table;
	conf.table_count = 1;
}

TestSuite(client_auth, .init = auth_setup, .fini = teardown);

static void
begin(const char *value, const char *text)
{
	struct err err;

	snprintf(spec, sizeof(spec), "inline:127.0.0.1 %s\n", value);
	table.spec = spec;
	client_init(&client, &conf, false);
	cr_assert_eq(client_start(&client, &err), 0, "%s", err.text);
	listen_to(text);
}

#define OFFER(mechanisms) \
	"> 220 x\n< EHLO\n> 250-x\n> 250 AUTH " mechanisms "\n"
#define MAIL_OK \
	OK_TO("MAIL") OK_TO("RCPT") "< DATA\n> 354 go\n.\n> 250 2.0.0 taken\n"
#define YES "> 235 2.7.0 welcome\n" MAIL_OK
/* of RFC 2195 */
#define CRAM "> 334 PDE4OTYuNjk3MTcwOTUyQHBvc3RvZmZpY2UucmVzdG9uLm1jaS5uZXQ+\n"
#define CRAM_ANSWER "< dGltIGI5MTNhNjAyYzdlZGE3YTQ5NWI0ZTZlNzMzNGQzODkw\r\n"

static const struct {
	const char	*name, *value, *script;
	enum verdict_kind kind;
	const char	*status, *words;
} rows[] = {
	{ "PLAIN", "tim secret", OFFER("PLAIN LOGIN")
	    "< AUTH PLAIN AHRpbQBzZWNyZXQ=\r\n" YES, VERDICT_DELIVERED,
	    "2.0.0", "250" },
	{ "LOGIN", "tim secret", OFFER("LOGIN")
	    "< AUTH LOGIN\r\n> 334 VXNlcm5hbWU6\n< dGlt\r\n"
	    "> 334 UGFzc3dvcmQ6\n< c2VjcmV0\r\n" YES, VERDICT_DELIVERED,
	    "2.0.0", "250" },
	{ "LOGIN, refused at the name", "tim secret", OFFER("LOGIN")
	    "< AUTH LOGIN\r\n> 334 VXNlcm5hbWU6\n< dGlt\r\n"
	    "> 535 5.7.8 who\n< QUIT\n", VERDICT_DEFERRED, "4.7.8",
	    "535 5.7.8 who" },
	{ "CRAM-MD5", "tim tanstaaftanstaaf", OFFER("CRAM-MD5 PLAIN")
	    "< AUTH CRAM-MD5\r\n" CRAM CRAM_ANSWER YES, VERDICT_DELIVERED,
	    "2.0.0", "250" },
	{ "CRAM-MD5, no base64", "tim x", OFFER("CRAM-MD5")
	    "< AUTH CRAM-MD5\r\n> 334 !!!\n< *\r\n> 501 cancelled\n< QUIT\n",
	    VERDICT_DEFERRED, "4.7.8", "CRAM-MD5 cannot be done" },
	{ "the mechanism named", "tim secret PLAIN",
	    OFFER("SCRAM-SHA-256 CRAM-MD5 PLAIN")
	    "< AUTH PLAIN AHRpbQBzZWNyZXQ=\r\n" YES, VERDICT_DELIVERED,
	    "2.0.0", "250" },
	{ "an old announcement", "tim secret",
	    "> 220 x\n< EHLO\n> 250-x\n> 250 AUTH=PLAIN\n"
	    "< AUTH PLAIN AHRpbQBzZWNyZXQ=\r\n" YES, VERDICT_DELIVERED,
	    "2.0.0", "250" },
	{ "wrong password", "tim secret", OFFER("PLAIN")
	    "< AUTH PLAIN\n> 535 5.7.8 wrong\n< QUIT\n", VERDICT_DEFERRED,
	    "4.7.8", "535 5.7.8 wrong" },
	{ "not now", "tim secret", OFFER("PLAIN")
	    "< AUTH PLAIN\n> 454 4.7.0 later\n< QUIT\n", VERDICT_DEFERRED,
	    "4.7.0", "454 4.7.0 later" },
	{ "421", "tim secret", OFFER("PLAIN") "< AUTH PLAIN\n> 421 bye\n",
	    VERDICT_DEFERRED, "4.0.0", "421 bye" },
	{ "closed", "tim secret", OFFER("PLAIN") "< AUTH PLAIN\n!\n",
	    VERDICT_DEFERRED, "4.4.2",
	    "connection lost while waiting for the reply to AUTH" },
	{ "an unexpected challenge", "tim secret", OFFER("PLAIN")
	    "< AUTH PLAIN\n> 334 more\n< QUIT\n", VERDICT_DEFERRED, "4.5.0",
	    "334 more" },
	{ "nothing in common", "tim secret", OFFER("GSSAPI")
	    "< QUIT\n", VERDICT_DEFERRED, "4.7.4",
	    "the host offers no way to authenticate" },
	{ "not offered", "tim secret", HELLO "< QUIT\n", VERDICT_DEFERRED,
	    "4.7.4", "the host offers no way to authenticate" },
	{ "SCRAM, a server that knows nothing", "tim secret",
	    OFFER("SCRAM-SHA-256")
	    "< AUTH SCRAM-SHA-256 biws\n> 235 come in\n< QUIT\n",
	    VERDICT_DEFERRED, "4.7.8", "SCRAM: the server proves nothing" },
	{ "SCRAM, a foreign nonce", "tim secret", OFFER("SCRAM-SHA-256")
	    "< AUTH SCRAM-SHA-256 biws\n"
	    "> 334 cj1hYmMscz1jMkZzZEE9PSxpPTQwOTY=\n"
	    "< *\r\n> 501 cancelled\n< QUIT\n", VERDICT_DEFERRED, "4.7.8",
	    "SCRAM: the server repeats a nonce that is not ours" },
	{ "a token that is not there", "tim token:/nonexistent/token",
	    OFFER("XOAUTH2 PLAIN") "< QUIT\n", VERDICT_DEFERRED, "4.7.8",
	    "token /nonexistent/token: No such file" },
};

Test(client_auth, each_mechanism_and_each_answer)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		begin(rows[i].value, rows[i].script);
		deliver(1);
		end();
		cr_expect_eq(verdicts[0].kind, rows[i].kind, "%s: %s",
		    rows[i].name, verdicts[0].text);
		cr_expect_str_eq(verdicts[0].status, rows[i].status, "%s: %s",
		    rows[i].name, verdicts[0].text);
		cr_expect(slice_starts(slice_of(verdicts[0].text),
		    rows[i].words), "%s: %s", rows[i].name,
		    verdicts[0].text);
		cr_expect_str_empty(script.wrong, "%s: %s", rows[i].name,
		    script.wrong);
		script_release(&script);
	}
}

Test(client_auth, a_token_is_read_anew_each_time)
{
	char path[] = "/tmp/zm-token-XXXXXX", value[100];
	int fd = mkstemp(path);

	cr_assert_eq(write(fd, "tok1\n", 5), 5);
	snprintf(value, sizeof(value), "tim token:%s", path);
	begin(value, OFFER("XOAUTH2")
	    "< AUTH XOAUTH2 dXNlcj10aW0BYXV0aD1CZWFyZXIgdG9rMQEB\r\n" YES
	    "< QUIT\n!\n" OFFER("XOAUTH2")
	    "< AUTH XOAUTH2 dXNlcj10aW0BYXV0aD1CZWFyZXIgdG9rMgEB\r\n"
	    "> 334 eyJzdGF0dXMiOiI0MDEifQ==\n< \r\n> 535 5.7.8 stale\n");
	deliver(1);
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    verdicts[0].text);
	client_quit(&client);
	cr_assert_eq(pwrite(fd, "tok2\n", 5, 0), 5);
	deliver(1);
	end();
	cr_expect_str_eq(verdicts[0].text, "535 5.7.8 stale");
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	script_release(&script);
	close(fd);
	unlink(path);
}

Test(client_auth, no_password_crosses_the_line_in_the_clear)
{
	conf.auth_to.is_plain_ok = false;
	begin("tim secret", OFFER("PLAIN SCRAM-SHA-256") "< QUIT\n");
	deliver(1);
	end();
	cr_expect_str_eq(verdicts[0].status, "4.7.11");
	cr_expect_eq(script_heard(&script, "AUTH"), 0);
	script_release(&script);
}

Test(client_auth, a_table_with_a_bad_line_is_refused)
{
	static const char *const values[] = { "tim", "tim secret FOO" };

	for (size_t i = 0; i < 2; i++) {
		struct err err;

		snprintf(spec, sizeof(spec), "inline:h %s\n", values[i]);
		table.spec = spec;
		client_init(&client, &conf, false);
		cr_expect_eq(client_start(&client, &err), -1);
		cr_expect(strstr(err.text, "line 1"), "%s", err.text);
		client_release(&client);
	}
}

/* ---- SCRAM: the example of RFC 7677 section 3 -------------------------- */

#define SERVER_FIRST "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0," \
	"s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"

static void
scram_begin(struct scram *scram, struct str *out)
{
	scram_init(scram);
	strlcpy(scram->nonce, "rOprNGfwEbeRWgbNEkqO", sizeof(scram->nonce));
	scram_first(scram, "user", out);
}

Test(client_auth, scram_speaks_the_example_of_the_rfc)
{
	struct str out = STR_INIT;
	struct scram scram;
	struct err err;

	scram_begin(&scram, &out);
	cr_expect_str_eq(out.buf, "n,,n=user,r=rOprNGfwEbeRWgbNEkqO");
	str_reset(&out);
	cr_expect_eq(scram_final(&scram, SLICE(SERVER_FIRST), "pencil", &out,
	    &err), 0, "%s", err.text);
	cr_expect_str_eq(out.buf, "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaT"
	    "CAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
	    );
	cr_expect_eq(scram_verify(&scram,
	    SLICE("v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="), &err),
	    0, "%s", err.text);
	cr_expect_eq(scram_verify(&scram,
	    SLICE("v=7rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="), &err),
	    -1);
	cr_expect_eq(scram_verify(&scram, SLICE("e=no"), &err), -1);
	scram_release(&scram);
	str_release(&out);
}

static const char *const bad_challenges[] = {
	"", "r=x", "r=rOprNGfwEbeRWgbNEkqO,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
	"r=rOprNGfwEbeRWgbNEkqOx,s=!,i=4096",
	"r=rOprNGfwEbeRWgbNEkqOx,s=W22Z,i=1",
	"r=rOprNGfwEbeRWgbNEkqOx,s=W22Z,i=2147483647",
	"r=rOprNGfwEbeRWgbNEkqOx,i=4096,s=W22Z",
	"m=ext,r=rOprNGfwEbeRWgbNEkqOx,s=W22Z,i=4096",
};

Test(client_auth, scram_refuses_what_is_no_challenge)
{
	for (size_t i = 0; i < sizeof(bad_challenges) /
	    sizeof(bad_challenges[0]); i++) {
		struct str out = STR_INIT;
		struct scram scram;
		struct err err;

		scram_begin(&scram, &out);
		cr_expect_eq(scram_final(&scram, slice_of(bad_challenges[i]),
		    "pencil", &out, &err), -1, "%s", bad_challenges[i]);
		scram_release(&scram);
		str_release(&out);
	}
}

Test(client_auth, commas_and_equal_signs_in_a_name)
{
	struct str out = STR_INIT;
	struct scram scram;

	scram_init(&scram);
	scram_first(&scram, "a=b,c", &out);
	cr_expect(slice_starts(str_slice(&out), "n,,n=a=3Db=2Cc,r="), "%s",
	    out.buf);
	cr_expect_eq(strlen(scram.nonce), 32);
	scram_release(&scram);
	str_release(&out);
}

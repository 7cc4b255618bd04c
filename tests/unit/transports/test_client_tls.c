/* test_client_tls.c - policies and certificates, good and bad, and what
 * becomes of the mail
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/unit/transports/certs.h"
#include "tests/unit/transports/client_lab.h"

static struct conf_tls_to policy;
static const char *names[] = { "mx.test", "other.test" };

static void
tls_setup(void)
{
	setup();
	certs_make();
	policy = (struct conf_tls_to){ .pattern = "*",
	    .level = TLS_LEVEL_MAY, .roots = certs_roots_path() };
	conf.tls_to = &policy;
	conf.tls_to_count = 1;
}

static void
tls_teardown(void)
{
	teardown();
	certs_remove();
}

TestSuite(client_tls, .init = tls_setup, .fini = tls_teardown);

static void
begin(const char *text)
{
	struct err err;

	client_init(&client, &conf, false);
	cr_assert_eq(client_start(&client, &err), 0, "%s", err.text);
	listen_to(text);
}

#define OFFER \
	"> 220 mx.test\n< EHLO me.test\n> 250-mx.test\n> 250 STARTTLS\n"
#define START OFFER "< STARTTLS\n> 220 go\n"
#define AFTER "< EHLO me.test\n> 250 mx.test\n"
#define MAIL_OK OK_TO("MAIL") OK_TO("RCPT") \
	"< DATA\n> 354 go\n.\n> 250 2.0.0 taken\n"

struct tls_row {
	const char	*name, *script;
	enum conf_tls_level level;
	bool		 needs_tls, is_named;
	enum verdict_kind kind;
	const char	*status, *words;
	bool		 is_tls, is_verified;
};

static const struct tls_row tls_rows[] = {
	/* may */
	{ "may, good", START "T good\n" AFTER MAIL_OK, TLS_LEVEL_MAY,
	    false, false, VERDICT_DELIVERED, "2.0.0", "250", true, true },
	{ "may, not offered", HELLO MAIL_OK, TLS_LEVEL_MAY, false, false,
	    VERDICT_DELIVERED, "2.0.0", "250", false, false },
	{ "may, unknown root", START "T unknown\n" AFTER MAIL_OK,
	    TLS_LEVEL_MAY, false, false, VERDICT_DELIVERED, "2.0.0", "250",
	    true, false },
	{ "may, expired", START "T expired\n" AFTER MAIL_OK, TLS_LEVEL_MAY,
	    false, false, VERDICT_DELIVERED, "2.0.0", "250", true, false },
	{ "may, STARTTLS 454: in the clear", OFFER
	    "< STARTTLS\n> 454 4.7.0 no\n" MAIL_OK, TLS_LEVEL_MAY, false,
	    false, VERDICT_DELIVERED, "2.0.0", "250", false, false },
	{ "may, STARTTLS 554: in the clear", OFFER
	    "< STARTTLS\n> 554 5.7.0 no\n" MAIL_OK, TLS_LEVEL_MAY, false,
	    false, VERDICT_DELIVERED, "2.0.0", "250", false, false },
	{ "may, STARTTLS 421", OFFER "< STARTTLS\n> 421 4.7.0 no\n",
	    TLS_LEVEL_MAY, false, false, VERDICT_DEFERRED, "4.7.0",
	    "421 4.7.0 no", false, false },
	{ "may, closed at STARTTLS", OFFER "< STARTTLS\n!\n", TLS_LEVEL_MAY,
	    false, false, VERDICT_DEFERRED, "4.4.2", "connection lost while "
	    "waiting for the reply to STARTTLS", false, false },
	{ "may, handshake cut: again in the clear", START "!\n" OFFER
	    MAIL_OK, TLS_LEVEL_MAY, false, false, VERDICT_DELIVERED, "2.0.0",
	    "250", false, false },
	{ "may, garbage for a handshake: again in the clear", START
	    ">> nonsense nonsense nonsense\n~\n!\n" OFFER MAIL_OK,
	    TLS_LEVEL_MAY, false, false, VERDICT_DELIVERED, "2.0.0", "250",
	    false, false },
	{ "may, second EHLO refused", START "T good\n"
	    "< EHLO\n> 421 4.3.2 no\n", TLS_LEVEL_MAY, false, false,
	    VERDICT_DEFERRED, "4.3.2", "421", true, true },
	{ "may, closed after the handshake", START "T good\n< EHLO\n!\n",
	    TLS_LEVEL_MAY, false, false, VERDICT_DEFERRED, "4.4.2",
	    "connection lost while waiting for the reply to EHLO", true,
	    true },
	/* none */
	{ "none", OFFER MAIL_OK, TLS_LEVEL_NONE, false, false,
	    VERDICT_DELIVERED, "2.0.0", "250", false, false },
	/* encrypt */
	{ "encrypt, good", START "T good\n" AFTER MAIL_OK,
	    TLS_LEVEL_ENCRYPT, false, false, VERDICT_DELIVERED, "2.0.0",
	    "250", true, true },
	{ "encrypt, unknown root", START "T unknown\n" AFTER MAIL_OK,
	    TLS_LEVEL_ENCRYPT, false, false, VERDICT_DELIVERED, "2.0.0",
	    "250", true, false },
	{ "encrypt, not offered", HELLO "< QUIT\n", TLS_LEVEL_ENCRYPT, false,
	    false, VERDICT_DEFERRED, "4.7.4", "the host does not offer TLS",
	    false, false },
	{ "encrypt, 454", OFFER "< STARTTLS\n> 454 4.7.0 not now\n< QUIT\n",
	    TLS_LEVEL_ENCRYPT, false, false, VERDICT_DEFERRED, "4.7.4",
	    "454 4.7.0 not now", false, false },
	{ "encrypt, handshake cut", START "!\n", TLS_LEVEL_ENCRYPT, false,
	    false, VERDICT_DEFERRED, "4.7.5", "TLS handshake: ", false,
	    false },
	{ "encrypt, garbage", START ">> nonsense nonsense nonsense\n~\n",
	    TLS_LEVEL_ENCRYPT, false, false, VERDICT_DEFERRED, "4.7.5",
	    "TLS handshake: TLS: error", false, false },
	/* verify */
	{ "verify, good", START "T good\n" AFTER MAIL_OK, TLS_LEVEL_VERIFY,
	    false, true, VERDICT_DELIVERED, "2.0.0", "250", true, true },
	{ "verify, by address", START "T good\n" AFTER MAIL_OK,
	    TLS_LEVEL_VERIFY, false, false, VERDICT_DELIVERED, "2.0.0",
	    "250", true, true },
	{ "verify, expired", START "T expired\n", TLS_LEVEL_VERIFY, false,
	    true, VERDICT_DEFERRED, "4.7.5",
	    "TLS handshake: certificate: certificate has expired", false,
	    false },
	{ "verify, unknown root", START "T unknown\n", TLS_LEVEL_VERIFY,
	    false, true, VERDICT_DEFERRED, "4.7.5",
	    "TLS handshake: certificate: unable to get local issuer", false,
	    false },
	{ "verify, wrong name", START "T other\n", TLS_LEVEL_VERIFY, false,
	    false, VERDICT_DEFERRED, "4.7.5",
	    "TLS handshake: certificate: IP address mismatch", false,
	    false },
	{ "verify, one of two names", START "T other\n" AFTER MAIL_OK,
	    TLS_LEVEL_VERIFY, false, true, VERDICT_DELIVERED, "2.0.0", "250",
	    true, true },
	{ "verify, not offered", HELLO "< QUIT\n", TLS_LEVEL_VERIFY, false,
	    true, VERDICT_DEFERRED, "4.7.4", "the host does not offer TLS",
	    false, false },
	{ "verify, cut", START "!\n", TLS_LEVEL_VERIFY, false, true,
	    VERDICT_DEFERRED, "4.7.5", "TLS handshake: ", false, false },
	/* REQUIRETLS */
	{ "required, good", START "T good\n"
	    "< EHLO\n> 250-mx\n> 250 REQUIRETLS\n"
	    OK_TO("MAIL FROM:<a@src.test> REQUIRETLS") OK_TO("RCPT")
	    "< DATA\n> 354 go\n.\n> 250 2.0.0 taken\n", TLS_LEVEL_MAY, true,
	    true, VERDICT_DELIVERED, "2.0.0", "250", true, true },
	{ "required, no keyword", START "T good\n" AFTER "< QUIT\n",
	    TLS_LEVEL_MAY, true, true, VERDICT_FAILED, "5.7.30",
	    "the sender requires TLS (REQUIRETLS): the host does not "
	    "announce", true, true },
	{ "required, not verified", START "T unknown\n", TLS_LEVEL_MAY, true,
	    true, VERDICT_FAILED, "5.7.30", "the sender requires TLS "
	    "(REQUIRETLS): TLS handshake: certificate: ", false, false },
	{ "required, not offered", HELLO "< QUIT\n", TLS_LEVEL_NONE, true,
	    true, VERDICT_FAILED, "5.7.30", "the sender requires TLS", false,
	    false },
	{ "required, cut: another time", START "!\n", TLS_LEVEL_MAY, true,
	    true, VERDICT_DEFERRED, "4.7.5", "TLS handshake: ", false,
	    false },
};

Test(client_tls, each_policy_meets_each_server)
{
	for (size_t i = 0; i < sizeof(tls_rows) / sizeof(tls_rows[0]); i++) {
		const struct tls_row *row = &tls_rows[i];

		policy.level = row->level;
		policy.names = names;
		policy.name_count = row->is_named ? 2 : 0;
		job.terms.needs_tls = row->needs_tls;
		begin(row->script);
		deliver(1);
		cr_expect_eq(client.tls.version[0] != '\0', row->is_tls,
		    "%s: TLS", row->name);
		cr_expect_eq(client.tls.is_verified, row->is_verified,
		    "%s: %s", row->name, client.tls.why);
		end();
		expect_verdict(row->name, row->kind, row->status, row->words);
		cr_expect_str_empty(script.wrong, "%s: %s", row->name,
		    script.wrong);
		script_release(&script);
	}
}

/* CVE-2011-0411 turned round: what a man in the middle put after the 220
 * is not what the server announces. */
Test(client_tls, what_was_said_before_the_handshake_is_forgotten)
{
	begin(OFFER "< STARTTLS\n"
	    ">> 220 go\\r\\n250-evil\\r\\n250 SMTPUTF8\\r\\n\n"
	    "T good\n< EHLO\n> 250 mx.test\n" MAIL_OK);
	deliver(1);
	cr_expect_eq(client.offer.extensions, 0u);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    verdicts[0].text);
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	script_release(&script);
}

Test(client_tls, broken_tls_is_remembered)
{
	struct str text = STR_INIT;

	str_adds(&text, START "!\n" OFFER MAIL_OK "!\n" OFFER MAIL_OK);
	begin(text.buf);
	deliver(1);
	client_quit(&client);
	deliver(1);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    verdicts[0].text);
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	cr_expect_eq(script.connections, 3);
	cr_expect_eq(script_heard(&script, "STARTTLS"), 1);
	script_release(&script);
	str_release(&text);
}

Test(client_tls, a_session_is_resumed)
{
	begin(START "T good\n" AFTER MAIL_OK "< QUIT\n!\n"
	    START "T good\n" AFTER MAIL_OK);
	deliver(1);
	cr_expect_not(client.tls.is_resumed);
	client_quit(&client);
	deliver(1);
	cr_expect(client.tls.is_resumed);
	cr_expect(client.tls.is_verified);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    verdicts[0].text);
	cr_expect_eq(script.resumed, 1u);
	script_release(&script);
}

/* What may made, verify does not take: the names were never asked for. */
Test(client_tls, a_session_is_not_resumed_under_another_policy)
{
	begin(START "T other\n" AFTER MAIL_OK "< QUIT\n!\n"
	    START "T other\n" AFTER MAIL_OK);
	deliver(1);
	client_quit(&client);
	policy.level = TLS_LEVEL_VERIFY;
	deliver(1);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DEFERRED);
	cr_expect_eq(script.resumed, 0u);
	cr_expect_eq(script.handshakes, 1u);
	script_release(&script);
}

Test(client_tls, our_certificate_is_shown_when_asked_for)
{
	begin(START "T asks\n" AFTER MAIL_OK);
	deliver(1);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DEFERRED, "%s",
	    verdicts[0].text);
	script_release(&script);

	policy.level = TLS_LEVEL_ENCRYPT;
	policy.certificate = certs_client_path();
	begin(START "T asks\n" AFTER MAIL_OK);
	deliver(1);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    verdicts[0].text);
	cr_expect_str_eq(script.client_name, "me.test");
	script_release(&script);
}

Test(client_tls, smtps_speaks_tls_from_the_first_byte)
{
	char field[80];

	policy.level = TLS_LEVEL_NONE;
	begin("T good\n> 220 mx.test\n" AFTER MAIL_OK);
	snprintf(field, sizeof(field), "smtps:%s", host);
	job.host = slice_of(field);
	deliver(1);
	cr_expect(client.tls.version[0] != '\0');
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    verdicts[0].text);
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	script_release(&script);
}

Test(client_tls, a_handshake_ends_at_its_deadline)
{
	policy.level = TLS_LEVEL_ENCRYPT;
	conf.timeouts.helo_ms = 1000;	/* of the answer to EHLO, too */
	begin(START "~\n");
	deliver(1);
	end();
	cr_expect_str_eq(verdicts[0].text, "TLS handshake: timed out");
	script_release(&script);
}

/* Big messages cross many records, in both pipes' buffers. */
Test(client_tls, a_big_message_arrives_whole)
{
	size_t n = 3 << 20;
	char *body = malloc(n);

	for (size_t i = 0; i < n; i++)
		body[i] = i % 70 == 69 ? '\n' : (char)('a' + i % 23);
	body_set(body, n);
	job.body_offset = 0;
	job.size_bytes = n;
	begin(START "T good\n" AFTER MAIL_OK);
	deliver(1);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    verdicts[0].text);
	cr_expect_geq(script.heard.len, n + n / 70);
	cr_expect_eq(script_heard(&script, "\r\n.\r\n"), 1);
	script_release(&script);
	free(body);
}

static const struct {
	const char *roots, *certificate, *words;
} file_rows[] = {
	{ "/nonexistent/roots", NULL, "No such file" },
	{ NULL, "/nonexistent/cert", "No such file" },
};

Test(client_tls, a_file_that_is_not_there_stops_the_agent)
{
	for (size_t i = 0; i < sizeof(file_rows) / sizeof(file_rows[0]);
	    i++) {
		struct err err;

		policy.roots = file_rows[i].roots;
		policy.certificate = file_rows[i].certificate;
		client_init(&client, &conf, false);
		cr_expect_eq(client_start(&client, &err), -1);
		cr_expect(strstr(err.text, file_rows[i].words), "%s",
		    err.text);
		client_release(&client);
	}
}

Test(client_tls, policies_of_different_names_do_not_share)
{
	struct client_target a = { .kind = TARGET_MX, .name = "a.test" };
	struct client_target b = { .kind = TARGET_MX, .name = "b.test" };
	struct client_policy of_a, of_b;
	struct err err;

	client_init(&client, &conf, false);
	cr_assert_eq(client_start(&client, &err), 0);
	client_policy(&client, &a, WISH_NONE, &of_a);
	client_policy(&client, &b, WISH_NONE, &of_b);
	cr_expect_str_eq(of_a.key, of_b.key);
	client_policy(&client, &a, WISH_TLS, &of_a);
	client_policy(&client, &b, WISH_TLS, &of_b);
	cr_expect_str_neq(of_a.key, of_b.key);
	cr_expect_eq(of_a.name_count, 2);
	cr_expect_str_eq(of_a.names[1], ".a.test");
}

/* "[127.0.0.1]:port" and "inet:127.0.0.1:port" stand for two domains with
 * the same MX. */
Test(client_tls, domains_of_the_same_host_share_a_connection)
{
	char other[80];

	begin(START "T good\n" AFTER MAIL_OK MAIL_OK "< QUIT\n");
	snprintf(other, sizeof(other), "inet:127.0.0.1:%u", script.port);
	deliver(1);
	job.host = slice_of(other);
	deliver(1);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    verdicts[0].text);
	cr_expect_eq(script.connections, 1);
	cr_expect_str_empty(script.wrong, "%s", script.wrong);
	script_release(&script);
}

Test(client_tls, what_needs_more_protection_does_not_share)
{
	char other[80];

	begin(START "T good\n" AFTER MAIL_OK "< QUIT\n!\n"
	    START "T good\n< EHLO\n> 250-x\n> 250 REQUIRETLS\n" MAIL_OK);
	snprintf(other, sizeof(other), "inet:127.0.0.1:%u", script.port);
	deliver(1);
	job.host = slice_of(other);
	job.terms.needs_tls = true;
	deliver(1);
	end();
	cr_expect_eq(verdicts[0].kind, VERDICT_DELIVERED, "%s",
	    verdicts[0].text);
	cr_expect_eq(script.connections, 2);
	cr_expect_eq(script.resumed, 0u);
	script_release(&script);
}

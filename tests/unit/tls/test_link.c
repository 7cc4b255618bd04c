/* test_link.c - pairs of certificates and keys, handshakes, names
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/unit/tls/link_case.h"

/* ---- pairs ------------------------------------------------------------ */

Test(tls_pair, loads_what_fits)
{
	static const char *const kinds[] = { "RSA", "P-256", "ED25519" };

	for (size_t i = 0; i < COUNT(kinds); i++) {
		struct tls_pair pair;
		struct made made;
		struct err err;

		made_new(&made, kinds[i], "mx.example.org", NULL, 30);
		cr_expect_eq(tls_pair_load(&pair, made.certificate, made.key,
		    &err), 0, "%s", err.text);
		cr_expect_str_eq(pair.subject, "mx.example.org");
		cr_expect_eq(strlen(pair.fingerprint), 64);
		cr_expect_eq(pair.expires_s - pair.begins_s, 31 * 86400);
		cr_expect_gt(pair.chain.len, 100);
		tls_pair_release(&pair);
		made_free(&made);
	}
}

static void
lock_key(const struct made *made)
{
	FILE *file = fopen(made->key, "r");
	EVP_PKEY *key = PEM_read_PrivateKey(file, NULL, NULL, NULL);

	fclose(file);
	file = fopen(made->key, "w");
	PEM_write_PrivateKey(file, key, EVP_aes_256_cbc(), NULL, 0, NULL,
	    (void *)(uintptr_t) "secret");
	fclose(file);
	EVP_PKEY_free(key);
}

Test(tls_pair, says_what_is_wrong)
{
	struct made one, other, locked;
	struct tls_pair pair;
	struct err err;

	made_new(&one, "P-256", "one.example", NULL, 1);
	made_new(&other, "P-256", "other.example", NULL, 1);
	made_new(&locked, "RSA", "locked.example", NULL, 1);
	lock_key(&locked);
	cr_expect_eq(tls_pair_load(&pair, one.certificate, other.key, &err),
	    -1);
	cr_expect_not_null(strstr(err.text, "not that of the certificate"));
	cr_expect_eq(tls_pair_load(&pair, one.certificate, "/nowhere/key",
	    &err), -1);
	cr_expect_not_null(strstr(err.text, "/nowhere/key"));
	cr_expect_eq(tls_pair_load(&pair, one.key, one.key, &err), -1);
	cr_expect_not_null(strstr(err.text, one.key));
	cr_expect_eq(tls_pair_load(&pair, one.dir, one.key, &err), -1);
	cr_expect_not_null(strstr(err.text, "not a file"));
	cr_expect_eq(tls_pair_load(&pair, locked.certificate, locked.key,
	    &err), -1);
	cr_expect_not_null(strstr(err.text, "pass phrase"), "%s", err.text);
	made_free(&one);
	made_free(&other);
	made_free(&locked);
}

/* ---- handshakes ------------------------------------------------------- */

Test(tls, talks_both_ways_in_every_kind_and_version)
{
	static const struct {
		const char	*kind;
		int		 version;
		const char	*want;
	} rows[] = {
		{ "RSA", TLS1_2_VERSION, "TLSv1.2" },
		{ "RSA", TLS1_3_VERSION, "TLSv1.3" },
		{ "P-256", TLS1_2_VERSION, "TLSv1.2" },
		{ "P-256", TLS1_3_VERSION, "TLSv1.3" },
		{ "ED25519", TLS1_2_VERSION, "TLSv1.2" },
		{ "ED25519", TLS1_3_VERSION, "TLSv1.3" },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str got = STR_INIT;
		struct tls_info info;
		struct both both;
		struct made made;

		made_new(&made, rows[i].kind, "mx.example.org", NULL, 30);
		both_init(&both, NULL);
		both_add(&both, &made, NULL);
		SSL_CTX_set_max_proto_version(both.context, rows[i].version);
		both_start(&both, "mx.example.org");
		cr_assert(both_shake(&both), "%s %d", rows[i].kind,
		    rows[i].version);
		SSL_write(both.client, "hello", 5);
		loop_turn(both.loop, 100);
		cr_expect_str_eq(both.got.buf, "hello");
		stream_say(both.stream, SLICE("world"));
		cr_expect_eq(stream_flush(both.stream), STREAM_FLUSH_ALL);
		client_read(&both, &got);
		cr_expect_str_eq(got.buf, "world");
		stream_tls_info(both.stream, &info);
		cr_expect_str_eq(info.version, rows[i].want);
		cr_expect_str_eq(info.asked, "mx.example.org");
		both_close(&both);
		both_free(&both);
		str_release(&got);
		made_free(&made);
	}
}

Test(tls, refuses_what_is_old)
{
	struct tls_terms new_only = { .needs_tls13 = true };
	struct made made;
	struct both both;

	made_new(&made, "P-256", "mx.example.org", NULL, 30);
	both_init(&both, NULL);
	both_add(&both, &made, NULL);
	SSL_CTX_set_security_level(both.context, 0);
	SSL_CTX_set_min_proto_version(both.context, TLS1_VERSION);
	SSL_CTX_set_max_proto_version(both.context, TLS1_1_VERSION);
	both_start(&both, NULL);
	cr_expect_not(both_shake(&both));
	cr_expect_eq(stream_tls(both.stream), STREAM_TLS_FAILED);
	cr_expect_not_null(strstr(stream_tls_trouble(both.stream),
	    "protocol"), "%s", stream_tls_trouble(both.stream));
	both_close(&both);
	both_free(&both);

	both_init(&both, &new_only);
	both_add(&both, &made, NULL);
	SSL_CTX_set_max_proto_version(both.context, TLS1_2_VERSION);
	both_start(&both, NULL);
	cr_expect_not(both_shake(&both));
	both_close(&both);
	both_free(&both);
	made_free(&made);
}

Test(tls, drops_what_was_said_in_the_clear)
{
	struct made made;
	struct both both;
	size_t dropped;
	struct err err;
	char line[64];

	made_new(&made, "P-256", "mx.example.org", NULL, 30);
	both_init(&both, NULL);
	both_add(&both, &made, NULL);
	both_open(&both);
	cr_assert_eq(write(both.peer, "STARTTLS\r\nRSET\r\n", 16), 16);
	cr_assert_eq(stream_fill(both.stream), STREAM_GOT);
	stream_consume(both.stream, 10);
	stream_say(both.stream, SLICE("220 go\r\n"));
	cr_assert_eq(stream_start_tls(both.stream, both.server, &dropped,
	    &err), 0);
	cr_expect_eq(dropped, 6);
	cr_expect_eq(stream_input(both.stream).n, 0);
	/* In the clear, and not before. */
	cr_expect_eq(stream_flush(both.stream), STREAM_FLUSH_ALL);
	stream_await(both.stream, true);
	cr_expect_eq(read(both.peer, line, sizeof(line)), 8);
	both.client = made_client(both.context, both.peer, NULL);
	cr_expect(both_shake(&both));
	cr_expect_eq(both.got.len, 0);
	both_close(&both);
	both_free(&both);
	made_free(&made);
}

Test(tls, garbage_and_a_closed_door_fail)
{
	struct made made;
	struct both both;

	made_new(&made, "P-256", "mx.example.org", NULL, 30);
	both_init(&both, NULL);
	both_add(&both, &made, NULL);
	both_start(&both, NULL);
	cr_assert_eq(write(both.peer, "EHLO not.tls\r\n", 14), 14);
	loop_turn(both.loop, 100);
	cr_expect(both.is_over);
	cr_expect_eq(stream_tls(both.stream), STREAM_TLS_FAILED);
	both_close(&both);
	both_start(&both, NULL);
	shutdown(both.peer, SHUT_RDWR);
	loop_turn(both.loop, 100);
	cr_expect(both.is_over);
	cr_expect_str_eq(stream_tls_trouble(both.stream),
	    "the client closed the connection");
	both_close(&both);
	both_free(&both);
	made_free(&made);
}

/* More than a record, a bench and a socket hold; and the end is seen. */
Test(tls, much_both_ways)
{
	enum { MUCH = 1 << 20 };
	struct str sent = STR_INIT, back = STR_INIT;
	struct made made;
	struct both both;
	size_t at = 0;

	made_new(&made, "P-256", "mx.example.org", NULL, 30);
	both_init(&both, NULL);
	both_add(&both, &made, NULL);
	both_start(&both, NULL);
	cr_assert(both_shake(&both));
	for (size_t i = 0; i < MUCH; i++)
		str_addc(&sent, (char)('a' + i * 7 % 26));
	stream_say(both.stream, str_slice(&sent));
	for (int i = 0; i < TURNS_MAX && (both.got.len < MUCH ||
	    back.len < MUCH); i++) {
		int n = at < MUCH ? SSL_write(both.client, sent.buf + at,
		    (int)(MUCH - at > 50000 ? 50000 : MUCH - at)) : 0;

		if (n > 0)
			at += (size_t)n;
		loop_turn(both.loop, 0);
		client_read(&both, &back);
	}
	cr_expect(slice_equal(str_slice(&sent), str_slice(&both.got)));
	cr_expect(slice_equal(str_slice(&sent), str_slice(&back)));
	/* Last words and the end in one piece. */
	SSL_write(both.client, "bye", 3);
	SSL_shutdown(both.client);
	for (int i = 0; i < 10 && !both.is_over; i++)
		loop_turn(both.loop, 100);
	cr_expect(both.is_over);
	cr_expect(slice_ends(str_slice(&both.got), "bye"));
	both_close(&both);
	both_free(&both);
	str_release(&sent);
	str_release(&back);
	made_free(&made);
}

/* ---- names ------------------------------------------------------------ */

static void
expect_shown(struct both *both, const char *asked, const char *common)
{
	char name[128] = "";
	X509 *shown;

	both_start(both, asked);
	cr_assert(both_shake(both), "%s", asked ? asked : "nobody");
	shown = SSL_get1_peer_certificate(both->client);
	X509_NAME_get_text_by_NID(X509_get_subject_name(shown),
	    NID_commonName, name, sizeof(name));
	X509_free(shown);
	cr_expect_str_eq(name, common, "%s: %s", asked ? asked : "nobody",
	    name);
	both_close(both);
}

Test(tls, shows_the_certificate_that_was_asked_for)
{
	struct made first, wild, named, rsa, below;
	struct both both;

	made_new(&first, "P-256", "first", "DNS:mx.example.org", 30);
	made_new(&wild, "P-256", "wild",
	    "DNS:Example.NET,DNS:*.example.net", 30);
	made_new(&named, "P-256", "named", "DNS:x.example", 30);
	made_new(&rsa, "RSA", "rsa", "DNS:mx.example.org", 30);
	made_new(&below, "P-256", "below", NULL, 30);
	both_init(&both, NULL);
	both_add(&both, &first, NULL);
	both_add(&both, &wild, NULL);
	both_add(&both, &named, "Smtp.Example.com");
	both_add(&both, &rsa, NULL);
	both_add(&both, &below, ".deep.example");
	expect_shown(&both, NULL, "first");
	expect_shown(&both, "mx.example.org", "first");
	expect_shown(&both, "nobody.example", "first");
	expect_shown(&both, "example.net", "wild");
	expect_shown(&both, "A.EXAMPLE.net", "wild");
	expect_shown(&both, "a.b.example.net", "first");
	expect_shown(&both, "smtp.example.com", "named");
	expect_shown(&both, "x.example", "first");
	expect_shown(&both, "a.deep.example", "below");
	expect_shown(&both, "a.b.deep.example", "below");
	expect_shown(&both, "deep.example", "first");
	/* The same names, another kind of key: the client chooses. */
	SSL_CTX_set1_sigalgs_list(both.context, "RSA-PSS+SHA256");
	expect_shown(&both, "mx.example.org", "rsa");
	both_free(&both);
	made_free(&first);
	made_free(&wild);
	made_free(&named);
	made_free(&rsa);
	made_free(&below);
}

/* ---- dates ------------------------------------------------------------ */

Test(tls_about, what_its_dates_say)
{
	enum { NOW = 1700000000, DAY = TLS_DAY_S };
	static const struct {
		int64_t		begins_s, expires_s;
		enum tls_term	want;
	} rows[] = {
		{ NOW - DAY, NOW + 90 * DAY, TLS_TERM_GOOD },
		{ NOW, NOW + TLS_WARN_DAYS * DAY, TLS_TERM_GOOD },
		{ NOW, NOW + TLS_WARN_DAYS * DAY - 1, TLS_TERM_SOON },
		{ NOW - DAY, NOW, TLS_TERM_SOON },
		{ NOW - DAY, NOW - 1, TLS_TERM_OVER },
		{ NOW + 1, NOW + 90 * DAY, TLS_TERM_EARLY },
		{ NOW + 1, NOW - 1, TLS_TERM_EARLY },
		{ 0, 0, TLS_TERM_OVER },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		cr_expect_eq(tls_term(rows[i].begins_s, rows[i].expires_s,
		    NOW), rows[i].want, "row %zu", i);
}

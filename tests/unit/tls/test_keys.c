/* test_keys.c - tickets, client certificates, binding, keys elsewhere
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/unit/tls/link_case.h"

/* ---- tickets ---------------------------------------------------------- */

static bool
resumes(struct both *both)
{
	struct str none = STR_INIT;
	struct tls_info info;

	both_start(both, NULL);
	cr_assert(both_shake(both));
	client_read(both, &none);
	str_release(&none);
	SSL_SESSION_free(both->session);
	both->session = SSL_get1_session(both->client);
	stream_tls_info(both->stream, &info);
	both_close(both);
	return info.is_resumed;
}

Test(tls, tickets_outlive_one_change_of_keys)
{
	static const int versions[] = { TLS1_2_VERSION, TLS1_3_VERSION };
	char keys[4][TLS_TICKET_KEY_BYTES];
	struct made made;

	made_new(&made, "P-256", "mx.example.org", NULL, 30);
	for (size_t k = 0; k < 4; k++)
		tls_ticket_key_make(keys[k]);
#define KEY(k) (struct slice){ keys[k], TLS_TICKET_KEY_BYTES }
	for (size_t i = 0; i < COUNT(versions); i++) {
		struct slice none = { NULL, 0 };
		struct both both;

		both_init(&both, NULL);
		both_add(&both, &made, NULL);
		SSL_CTX_set_max_proto_version(both.context, versions[i]);
		cr_assert_eq(tls_tickets_set(both.tickets, KEY(0), none), 0);
		cr_expect_not(resumes(&both));
		cr_expect(resumes(&both));
		cr_assert_eq(tls_tickets_set(both.tickets, KEY(1), KEY(0)),
		    0);
		cr_expect(resumes(&both));	/* and gets one of key 1 */
		cr_assert_eq(tls_tickets_set(both.tickets, KEY(2), KEY(1)),
		    0);
		cr_expect(resumes(&both));
		cr_assert_eq(tls_tickets_set(both.tickets, KEY(3), none), 0);
		cr_expect_not(resumes(&both));
		both_free(&both);
	}
#undef KEY
	cr_expect_eq(tls_tickets_set(NULL, SLICE("short"), SLICE("")), -1);
	made_free(&made);
}

/* ---- client certificates ---------------------------------------------- */

static void
client_shows(struct both *both, const struct made *made)
{
	cr_assert_eq(SSL_CTX_use_certificate_file(both->context,
	    made->certificate, SSL_FILETYPE_PEM), 1);
	cr_assert_eq(SSL_CTX_use_PrivateKey_file(both->context, made->key,
	    SSL_FILETYPE_PEM), 1);
}

Test(tls, asks_clients_who_they_are)
{
	static const struct {
		enum tls_ask	ask;
		int		shows;	/* 0 nothing, 1 the known one, 2 else */
		bool		is_let_in, is_verified;
	} rows[] = {
		{ TLS_ASK_NOBODY, 1, true, false },
		{ TLS_ASK, 0, true, false },
		{ TLS_ASK, 1, true, true },
		{ TLS_ASK, 2, true, false },
		{ TLS_REQUIRE, 0, false, false },
		{ TLS_REQUIRE, 1, true, true },
		{ TLS_REQUIRE, 2, false, false },
	};
	struct made made, known, other;
	struct str roots = STR_INIT;
	struct err err;

	made_new(&made, "P-256", "mx.example.org", NULL, 30);
	made_new(&known, "P-256", "known", NULL, 30);
	made_new(&other, "P-256", "other", NULL, 30);
	cr_assert_eq(tls_file_read(known.certificate, &roots, &err), 0);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct tls_terms terms = { false, rows[i].ask,
		    str_slice(&roots) };
		struct str bytes = STR_INIT;
		struct tls_info info;
		struct both both;

		both_init(&both, &terms);
		both_add(&both, &made, NULL);
		if (rows[i].shows != 0)
			client_shows(&both, rows[i].shows == 1 ? &known :
			    &other);
		both_start(&both, NULL);
		cr_expect_eq(both_shake(&both), rows[i].is_let_in, "row %zu",
		    i);
		if (rows[i].is_let_in) {
			stream_tls_info(both.stream, &info);
			cr_expect_eq(info.is_verified, rows[i].is_verified,
			    "row %zu: %s", i, info.why);
			cr_expect_eq(info.fingerprint[0] != '\0',
			    rows[i].shows != 0 && rows[i].ask, "row %zu", i);
		}
		str_release(&bytes);
		both_close(&both);
		both_free(&both);
	}
	str_release(&roots);
	made_free(&made);
	made_free(&known);
	made_free(&other);
}

/* ---- channel binding -------------------------------------------------- */

Test(tls, both_sides_know_the_channel)
{
	static const char label[] = "EXPORTER-Channel-Binding";
	unsigned char exported[32], hash[64];
	char ours[64], end_point[64];
	struct made made;
	struct both both;
	unsigned n = 0;
	X509 *shown;

	made_new(&made, "P-256", "mx.example.org", NULL, 30);
	both_init(&both, NULL);
	both_add(&both, &made, NULL);
	both_start(&both, NULL);
	cr_expect_eq(stream_tls_binding(both.stream, TLS_EXPORTER, ours), 0);
	cr_assert(both_shake(&both));
	SSL_export_keying_material(both.client, exported, 32, label,
	    sizeof(label) - 1, NULL, 0, 0);
	cr_expect_eq(stream_tls_binding(both.stream, TLS_EXPORTER, ours), 32);
	cr_expect_arr_eq(ours, exported, 32);
	shown = SSL_get1_peer_certificate(both.client);
	X509_digest(shown, EVP_sha256(), hash, &n);
	X509_free(shown);
	cr_expect_eq(stream_tls_binding(both.stream, TLS_SERVER_END_POINT,
	    end_point), 32);
	cr_expect_arr_eq(end_point, hash, 32);
	both_close(&both);
	both_free(&both);
	made_free(&made);
}

/* ---- keys elsewhere --------------------------------------------------- */

struct elsewhere {
	struct tls_pair	 pair;
	bool		 sleeps;	/* wait for an answer */
	bool		 is_answered, refuses;
	struct tls_link	*asker;
	unsigned	 calls;
};

static int
sign_elsewhere(void *context, const struct tls_signing *what, struct str *out)
{
	struct elsewhere *elsewhere = context;
	struct err err;

	elsewhere->calls++;
	cr_expect_eq(what->key, 7);
	elsewhere->asker = tls_link_current();
	while (elsewhere->sleeps && !elsewhere->is_answered)
		cr_assert(tls_link_pause());
	if (elsewhere->refuses)
		return -1;
	return tls_sign(elsewhere->pair.key, what, out, &err);
}

static void
elsewhere_add(struct elsewhere *elsewhere, struct both *both,
    const struct made *made)
{
	struct tls_remote remote = { 7, sign_elsewhere, elsewhere };
	struct err err;

	memset(elsewhere, 0, sizeof(*elsewhere));
	cr_assert_eq(tls_pair_load(&elsewhere->pair, made->certificate,
	    made->key, &err), 0);
	cr_assert_eq(tls_server_add_remote(both->server, NULL,
	    str_slice(&elsewhere->pair.chain), &remote, &err), 0, "%s",
	    err.text);
}

Test(tls_remote, signs_in_every_kind_and_version)
{
	static const char *const kinds[] = { "RSA", "P-256", "ED25519" };
	static const int versions[] = { TLS1_2_VERSION, TLS1_3_VERSION };

	for (size_t i = 0; i < COUNT(kinds) * COUNT(versions); i++) {
		struct elsewhere elsewhere;
		struct made made;
		struct both both;

		made_new(&made, kinds[i / 2], "mx.example.org", NULL, 30);
		both_init(&both, NULL);
		elsewhere_add(&elsewhere, &both, &made);
		SSL_CTX_set_max_proto_version(both.context, versions[i % 2]);
		both_start(&both, NULL);
		cr_expect(both_shake(&both), "%s %d: %s", kinds[i / 2],
		    versions[i % 2], stream_tls_trouble(both.stream));
		cr_expect_eq(elsewhere.calls, 1);
		both_close(&both);
		both_free(&both);
		tls_pair_release(&elsewhere.pair);
		made_free(&made);
	}
}

Test(tls_pair, files_in_each_others_place_are_named)
{
	struct tls_pair pair;
	struct made made;
	struct err err;

	made_new(&made, "P-256", "mx.example.org", NULL, 30);
	cr_expect_eq(tls_pair_load(&pair, made.key, made.certificate, &err),
	    -1);
	cr_expect(strstr(err.text, "holds a certificate and no key"), "%s",
	    err.text);
	cr_expect_eq(tls_pair_load(&pair, made.key, made.key, &err), -1);
	cr_expect(strstr(err.text, "holds a key and no certificate"), "%s",
	    err.text);
	made_free(&made);
}

Test(tls_remote, another_key_convinces_nobody)
{
	struct elsewhere elsewhere;
	struct made made, wrong;
	struct both both;
	struct err err;

	made_new(&made, "P-256", "mx.example.org", NULL, 30);
	made_new(&wrong, "P-256", "mx.example.org", NULL, 30);
	both_init(&both, NULL);
	elsewhere_add(&elsewhere, &both, &made);
	tls_pair_release(&elsewhere.pair);
	cr_assert_eq(tls_pair_load(&elsewhere.pair, wrong.certificate,
	    wrong.key, &err), 0);
	both_start(&both, NULL);
	cr_expect_not(both_shake(&both));
	both_close(&both);
	both_free(&both);
	tls_pair_release(&elsewhere.pair);
	made_free(&made);
	made_free(&wrong);
}

static void
sleep_begin(struct both *both, struct elsewhere *elsewhere,
    const struct made *made)
{
	both_init(both, NULL);
	elsewhere_add(elsewhere, both, made);
	if (!ASYNC_is_capable())
		cr_skip_test("this OpenSSL has no jobs that sleep");
	elsewhere->sleeps = true;
	both_start(both, NULL);
	for (int i = 0; i < TURNS_MAX && elsewhere->calls == 0; i++) {
		(void)SSL_do_handshake(both->client);
		loop_turn(both->loop, 0);
	}
	cr_assert_eq(elsewhere->calls, 1);
	cr_expect_eq(stream_tls(both->stream), STREAM_SHAKING);
}

Test(tls_remote, a_handshake_sleeps_until_it_is_answered)
{
	struct elsewhere elsewhere;
	struct made made;
	struct both both;

	made_new(&made, "RSA", "mx.example.org", NULL, 30);
	sleep_begin(&both, &elsewhere, &made);
	loop_turn(both.loop, 0);
	cr_expect_eq(stream_tls(both.stream), STREAM_SHAKING);
	elsewhere.is_answered = true;
	tls_link_wake(elsewhere.asker);
	cr_expect(both_shake(&both));
	cr_expect_eq(elsewhere.calls, 1);
	both_close(&both);
	both_free(&both);
	tls_pair_release(&elsewhere.pair);

	sleep_begin(&both, &elsewhere, &made);
	elsewhere.is_answered = elsewhere.refuses = true;
	tls_link_wake(elsewhere.asker);
	cr_expect_not(both_shake(&both));
	cr_expect_eq(stream_tls(both.stream), STREAM_TLS_FAILED);
	both_close(&both);
	both_free(&both);
	tls_pair_release(&elsewhere.pair);
	made_free(&made);
}

Test(tls_remote, a_client_that_leaves_meanwhile_leaves_nothing)
{
	struct elsewhere elsewhere;
	struct made made;
	struct both both;

	made_new(&made, "P-256", "mx.example.org", NULL, 30);
	sleep_begin(&both, &elsewhere, &made);
	both_close(&both);
	elsewhere.is_answered = true;
	tls_link_wake(elsewhere.asker);	/* the leak checker looks */
	both_free(&both);
	tls_pair_release(&elsewhere.pair);
	made_free(&made);
}

Test(tls_sign, signs_handshakes_only)
{
	static const char tls13[] = "TLS 1.3, server CertificateVerify";
	char bytes[160], ske[101];
	struct tls_signing what = { 0, "SHA2-256", false, { NULL, 0 } };
	struct str out = STR_INIT;
	struct tls_pair pair;
	struct made made;
	struct err err;

	made_new(&made, "P-256", "mx.example.org", NULL, 30);
	cr_assert_eq(tls_pair_load(&pair, made.certificate, made.key, &err),
	    0);
	memset(bytes, ' ', 64);
	memcpy(bytes + 64, tls13, sizeof(tls13));
	memset(bytes + 64 + sizeof(tls13), 0xaa, 32);
	what.bytes = (struct slice){ bytes, 64 + sizeof(tls13) + 32 };
	cr_expect_eq(tls_sign(pair.key, &what, &out, &err), 0, "%s",
	    err.text);
	cr_expect_gt(out.len, 60);
	bytes[64 + 9] = 'c';		/* "client", say */
	cr_expect_eq(tls_sign(pair.key, &what, &out, &err), -1);
	memset(ske, 0, sizeof(ske));
	ske[64] = 3;
	ske[67] = 33;
	what.bytes = (struct slice){ ske, 101 };
	cr_expect_eq(tls_sign(pair.key, &what, &out, &err), 0);
	ske[64] = 1;
	cr_expect_eq(tls_sign(pair.key, &what, &out, &err), -1);
	ske[64] = 3;
	what.bytes.n = 100;
	cr_expect_eq(tls_sign(pair.key, &what, &out, &err), -1);
	what.bytes = SLICE("From: somebody\r\n");
	cr_expect_eq(tls_sign(pair.key, &what, &out, &err), -1);
	what.bytes = (struct slice){ ske, 101 };
	memcpy(what.digest, "MD5", 4);
	cr_expect_eq(tls_sign(pair.key, &what, &out, &err), -1);
	what.digest[0] = '\0';
	cr_expect_eq(tls_sign(pair.key, &what, &out, &err), -1);
	str_release(&out);
	tls_pair_release(&pair);
	made_free(&made);
}

/* test_tls.c - handshakes, names, tickets, and keys that are elsewhere
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/stream.h"
#include "tls_made.h"

#include "base/banned.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

enum { TURNS_MAX = 2000 };

/* ---- one connection --------------------------------------------------- */

struct both {
	struct loop		*loop;
	struct tls_tickets	*tickets;
	struct tls_server	*server;
	struct stream		*stream;
	int			 peer;
	struct str		 got;		/* by the server */
	bool			 is_over;
	SSL_CTX			*context;
	SSL			*client;
	SSL_SESSION		*session;
};

static void
on_ready(void *context)
{
	struct both *both = context;

	switch (stream_fill(both->stream)) {
	case STREAM_GOT:
		str_add_slice(&both->got, stream_input(both->stream));
		stream_consume(both->stream, stream_input(both->stream).n);
		break;
	case STREAM_EOF:
	case STREAM_BROKEN:
		both->is_over = true;
		break;
	case STREAM_NOTHING:
		break;
	}
	(void)stream_flush(both->stream);
	stream_await(both->stream, !both->is_over);
}

static void
both_init(struct both *both, const struct tls_terms *terms)
{
	static const struct tls_terms plain;
	struct err err;

	memset(both, 0, sizeof(*both));
	str_init(&both->got);
	both->loop = loop_new();
	both->tickets = tls_tickets_new();
	both->server = tls_server_new(terms != NULL ? terms : &plain,
	    both->tickets, &err);
	cr_assert_not_null(both->server, "%s", err.text);
	both->context = SSL_CTX_new(TLS_client_method());
}

static void
both_add(struct both *both, const struct made *made, const char *name)
{
	struct tls_pair pair;
	struct err err;

	cr_assert_eq(tls_pair_load(&pair, made->certificate, made->key, &err),
	    1, "%s", err.text);
	cr_assert_eq(tls_server_add(both->server, name, str_slice(&pair.chain),
	    pair.key, &err), 1, "%s", err.text);
	tls_pair_release(&pair);
}

static void
both_open(struct both *both)
{
	int ends[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
	    0);
	both->peer = ends[0];
	both->is_over = false;
	both->stream = stream_new(both->loop, ends[1], on_ready, both);
}

static void
both_start(struct both *both, const char *name)
{
	size_t dropped;
	struct err err;

	both_open(both);
	cr_assert_eq(stream_start_tls(both->stream, both->server, &dropped,
	    &err), 1);
	stream_await(both->stream, true);
	both->client = made_client(both->context, both->peer, name);
	if (both->session != NULL)
		SSL_set_session(both->client, both->session);
}

/* Until both sides are through, or one gave up.  true: they are. */
static bool
both_shake(struct both *both)
{
	int result = -1;

	for (int i = 0; i < TURNS_MAX && !both->is_over; i++) {
		int why;

		loop_turn(both->loop, 0);
		result = SSL_do_handshake(both->client);
		why = SSL_get_error(both->client, result);
		if (result == 1 &&
		    stream_tls(both->stream) == STREAM_ENCRYPTED)
			return true;
		if (result != 1 && why != SSL_ERROR_WANT_READ &&
		    why != SSL_ERROR_WANT_WRITE)
			break;
	}
	return false;
}

/* The client takes in what has come (tickets, too). */
static void
client_read(struct both *both, struct str *out)
{
	char bytes[4096];
	int n;

	while ((n = SSL_read(both->client, bytes, sizeof(bytes))) > 0)
		str_add(out, bytes, (size_t)n);
}

static void
both_close(struct both *both)
{
	if (SSL_is_init_finished(both->client))
		SSL_shutdown(both->client);	/* else nothing is resumed */
	SSL_free(both->client);
	both->client = NULL;
	for (int i = 0; i < 10; i++)
		loop_turn(both->loop, 0);
	stream_free(&both->stream);
	str_reset(&both->got);
}

static void
both_free(struct both *both)
{
	SSL_SESSION_free(both->session);
	SSL_CTX_free(both->context);
	tls_server_drop(&both->server);
	tls_tickets_free(&both->tickets);
	str_release(&both->got);
	loop_free(&both->loop);
}

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
		    &err), 1, "%s", err.text);
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
	    (void *)(uintptr_t)"secret");
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
		cr_expect_eq(stream_flush(both.stream), 1);
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
	    &err), 1);
	cr_expect_eq(dropped, 6);
	cr_expect_eq(stream_input(both.stream).n, 0);
	/* In the clear, and not before. */
	cr_expect_eq(stream_flush(both.stream), 1);
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
		cr_assert_eq(tls_tickets_set(both.tickets, KEY(0), none), 1);
		cr_expect_not(resumes(&both));
		cr_expect(resumes(&both));
		cr_assert_eq(tls_tickets_set(both.tickets, KEY(1), KEY(0)),
		    1);
		cr_expect(resumes(&both));	/* and gets one of key 1 */
		cr_assert_eq(tls_tickets_set(both.tickets, KEY(2), KEY(1)),
		    1);
		cr_expect(resumes(&both));
		cr_assert_eq(tls_tickets_set(both.tickets, KEY(3), none), 1);
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
	cr_assert_eq(tls_file_read(known.certificate, &roots, &err), 1);
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
	    made->key, &err), 1);
	cr_assert_eq(tls_server_add_remote(both->server, NULL,
	    str_slice(&elsewhere->pair.chain), &remote, &err), 1, "%s",
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
	    wrong.key, &err), 1);
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
	    1);
	memset(bytes, ' ', 64);
	memcpy(bytes + 64, tls13, sizeof(tls13));
	memset(bytes + 64 + sizeof(tls13), 0xaa, 32);
	what.bytes = (struct slice){ bytes, 64 + sizeof(tls13) + 32 };
	cr_expect_eq(tls_sign(pair.key, &what, &out, &err), 1, "%s",
	    err.text);
	cr_expect_gt(out.len, 60);
	bytes[64 + 9] = 'c';		/* "client", say */
	cr_expect_eq(tls_sign(pair.key, &what, &out, &err), -1);
	memset(ske, 0, sizeof(ske));
	ske[64] = 3;
	ske[67] = 33;
	what.bytes = (struct slice){ ske, 101 };
	cr_expect_eq(tls_sign(pair.key, &what, &out, &err), 1);
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

/* test_login.c - exchanges of AUTH, with the real checker at the other end
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "grammar/base64.h"
#include "tls/login/password.h"
#include "tls/scram.h"
#include "smtpserver/auth/check.h"
#include "smtpserver/auth/failures.h"
#include "smtpserver/auth/login.h"

#include "base/banned.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define OFFERS "SCRAM-SHA-256-PLUS SCRAM-SHA-256 PLAIN LOGIN"

/* `openssl passwd -6 -salt s builder` */
#define BUILDER "$6$s$BbwdWx154aCwqU44954On1G4r10O9YKyEUHh3bPzSGHkSerbJX" \
	"07MLpBUnvAd1D3sMUXnKzpD9d29.1tcqcwx."

/* What the table of users has of them. */
static void
entry_add(struct str *out, const struct scram_keys *keys)
{
	str_addf(out, "{SCRAM-SHA-256}%u,", keys->rounds);
	base64_add(out, (struct slice){ (const char *)keys->salt,
	    keys->salt_bytes });
	str_addc(out, ',');
	base64_add(out, (struct slice){ (const char *)keys->stored,
	    SCRAM_KEY_BYTES });
	str_addc(out, ',');
	base64_add(out, (struct slice){ (const char *)keys->server,
	    SCRAM_KEY_BYTES });
}

/* RFC 7677 section 3 */
Test(scram_keys, vectors)
{
	static const char message[] = "n=user,r=rOprNGfwEbeRWgbNEkqO,"
	    "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,"
	    "s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,"
	    "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
	struct str salt = STR_INIT, proof = STR_INIT, signature = STR_INIT;
	struct str letters = STR_INIT, entry = STR_INIT;
	struct scram_keys keys, again;
	struct err err;

	base64_decode(SLICE("W22ZaJ0SNY7soEsUEjb6gQ=="), &salt, &err);
	base64_decode(SLICE("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="),
	    &proof, &err);
	scram_keys_make(SLICE("pencil"), str_slice(&salt), 4096, &keys);
	cr_expect(scram_proof_fits(&keys, slice_of(message),
	    str_slice(&proof), &signature));
	base64_add(&letters, str_slice(&signature));
	cr_expect_str_eq(letters.buf,
	    "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=");
	proof.buf[5] ^= 1;
	cr_expect_not(scram_proof_fits(&keys, slice_of(message),
	    str_slice(&proof), &signature));
	cr_expect_not(scram_proof_fits(&keys, slice_of(message), SLICE("x"),
	    &signature));
	cr_expect(scram_password_fits(&keys, SLICE("pencil")));
	cr_expect_not(scram_password_fits(&keys, SLICE("Pencil")));
	entry_add(&entry, &keys);
	cr_expect_eq(scram_keys_parse(str_slice(&entry), &again, &err),
	    SCRAM_ENTRY_KEYS);
	cr_expect_arr_eq(again.stored, keys.stored, SCRAM_KEY_BYTES);
	str_release(&salt);
	str_release(&proof);
	str_release(&signature);
	str_release(&letters);
	str_release(&entry);
}

Test(scram_keys, bad_entries)
{
	static const struct { const char *in; int want; } rows[] = {
		{ "$6$x$y", 0 }, { "", 0 }, { "{SCRAM-SHA-1}4096,a,b,c", 0 },
		{ "{SCRAM-SHA-256}", -1 },
		{ "{SCRAM-SHA-256}100,YQ==,YQ==,YQ==", -1 },
		{ "{SCRAM-SHA-256}4096,YQ==,YQ==,YQ==", -1 },
		{ "{SCRAM-SHA-256}4096,,,", -1 },
		{ "{SCRAM-SHA-256}99999999,YQ==,YQ==,YQ==", -1 },
	};
	struct scram_keys keys;
	struct err err;

	for (size_t i = 0; i < COUNT(rows); i++)
		cr_expect_eq(scram_keys_parse(slice_of(rows[i].in), &keys,
		    &err), rows[i].want, "%s", rows[i].in);
}

Test(auth_entry, rows)
{
	static const struct {
		const char *entry, *password; enum password_result want;
	} rows[] = {
		{ BUILDER, "builder", PASSWORD_FITS },
		{ BUILDER, "Builder", PASSWORD_WRONG },
		{ BUILDER, "", PASSWORD_WRONG },
		{ "{CRYPT}" BUILDER, "builder", PASSWORD_FITS },
		{ "{SHA512-CRYPT}" BUILDER, "builder", PASSWORD_FITS },
		{ "plaintext", "plaintext", PASSWORD_WRONG },
		{ "", "", PASSWORD_TROUBLE },
		{ "*", "*", PASSWORD_TROUBLE },
		{ "{SCRAM-SHA-256}1,2,3,4", "x", PASSWORD_TROUBLE },
	};
	struct err err;

	for (size_t i = 0; i < COUNT(rows); i++)
		cr_expect_eq(password_check_entry(slice_of(rows[i].entry),
		    slice_of(rows[i].password), &err), rows[i].want,
		    "row %zu", i);
}

#ifdef HAVE_SODIUM
#define ARGON2ID "$argon2id$v=19$m=8192,t=1,p=1$yv2LkvzRMAh3/eZ9/suFpw$" \
	"3GkmAz8cbzaCYYMC39vd4Ub/8m4gpnUTghAEINYdjW8"
#define ARGON2I "$argon2i$v=19$m=8192,t=3,p=1$ii/+14o1C+dJbcrRuh1APQ$" \
	"jr+uvpq9vLwJs4bgkVAL+Xj1BHMxzATdpjaqU3aOnNQ"

/* What an entry wants of memory and time has its bound. */
Test(auth_entry, argon2)
{
	static const struct {
		const char *entry, *password; enum password_result want;
	} rows[] = {
		{ ARGON2ID, "secret", PASSWORD_FITS },
		{ ARGON2ID, "Secret", PASSWORD_WRONG },
		{ ARGON2ID, "", PASSWORD_WRONG },
		{ ARGON2I, "secret", PASSWORD_FITS },
		{ "{ARGON2ID}" ARGON2ID, "secret", PASSWORD_FITS },
		{ "$argon2id$v=19$m=9999999,t=1,p=1$eA$eA", "x",
		    PASSWORD_TROUBLE },
		{ "$argon2id$v=19$m=8192,t=9999,p=1$eA$eA", "x",
		    PASSWORD_TROUBLE },
		{ "$argon2id$", "x", PASSWORD_TROUBLE },
		{ "$argon2id$v=19$m=8192,t=1,p=1$!$!", "x", PASSWORD_WRONG },
	};
	struct err err;

	for (size_t i = 0; i < COUNT(rows); i++)
		cr_expect_eq(password_check_entry(slice_of(rows[i].entry),
		    slice_of(rows[i].password), &err), rows[i].want,
		    "row %zu", i);
}
#endif

/* ---- exchanges -------------------------------------------------------- */

struct desk {			/* a server's side, with its back end */
	struct arena		*arena;
	struct conf		*conf;
	struct auth_check	*check;
	struct login_place	 place;
	char			 file[64];
};

static void
desk_open(struct desk *desk)
{
	struct str text = STR_INIT;
	struct conf_report report;
	struct scram_keys keys;
	int fd;

	memset(desk, 0, sizeof(*desk));
	desk->arena = arena_new();
	scram_keys_make(SLICE("wonder"), SLICE("salt"), 4096, &keys);
	str_adds(&text, "alice ");
	entry_add(&text, &keys);
	str_adds(&text, "\nbob " BUILDER "\n");
	snprintf(desk->file, sizeof(desk->file), "/tmp/unit-login.XXXXXX");
	fd = mkstemp(desk->file);
	cr_assert_eq(write(fd, text.buf, text.len), (ssize_t)text.len);
	close(fd);
	str_reset(&text);
	str_addf(&text, "auth users <u> scram\nlisten 25 submission\n"
	    "table u file:%s\n", desk->file);
	desk->conf = conf_parse("t.conf", str_slice(&text), desk->arena,
	    &report);
	cr_assert_not_null(desk->conf);
	str_release(&text);
	desk->check = auth_check_new(desk->conf, SLICE("secret"));
	desk->place.server = "127.0.0.1:587";
	desk->place.client = "192.0.2.7:4711";
	desk->place.offers_binding = true;
	desk->place.exporter = SLICE("exported exported exported expor");
}

static void
desk_close(struct desk *desk)
{
	auth_check_free(&desk->check);
	unlink(desk->file);
	conf_free(&desk->conf);
	arena_free(&desk->arena);
}

/* One response, and what the back end says to it. */
static enum login_next
put(struct desk *desk, struct login *login, struct slice response,
    struct str *out)
{
	enum login_next next = login_take(login, response, out);
	struct str answer = STR_INIT;
	bool is_ok;

	if (next != LOGIN_ASK)
		return next;
	cr_expect_str_eq(login->kind, "auth");
	is_ok = auth_check_answer(desk->check, str_slice(out), &answer);
	next = login_answered(login, is_ok ? ASK_ANSWERED : ASK_TROUBLE,
	    str_slice(&answer), out);
	str_release(&answer);
	return next;
}

Test(login, plain)
{
	static const struct {
		struct slice in; enum login_next want; const char *user;
	} rows[] = {
		{ SLICE("\0bob\0builder"), LOGIN_GOOD, "bob" },
		{ SLICE("\0alice\0wonder"), LOGIN_GOOD, "alice" },
		{ SLICE("alice\0alice\0wonder"), LOGIN_GOOD, "alice" },
		{ SLICE("bob\0alice\0wonder"), LOGIN_BAD, NULL },
		{ SLICE("\0alice\0wrong"), LOGIN_BAD, NULL },
		{ SLICE("\0nobody\0wonder"), LOGIN_BAD, NULL },
		{ SLICE("\0\0wonder"), LOGIN_BAD, NULL },
		{ SLICE("\0alice\0"), LOGIN_BAD, NULL },
		{ SLICE("\0al ice\0wonder"), LOGIN_BAD, NULL },
		{ SLICE("\0alice\0wonder\0more"), LOGIN_MALFORMED, NULL },
		{ SLICE("alice\0wonder"), LOGIN_MALFORMED, NULL },
		{ SLICE(""), LOGIN_MALFORMED, NULL },
		{ SLICE("alice"), LOGIN_MALFORMED, NULL },
	};
	struct desk desk;

	desk_open(&desk);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct login *login = login_new(SLICE("plain"), SLICE(OFFERS),
		    false, &desk.place);
		struct str out = STR_INIT;

		cr_expect_eq(login_begin(login, &out), LOGIN_CHALLENGE);
		cr_expect_eq(out.len, 0);
		cr_expect_eq(put(&desk, login, rows[i].in, &out),
		    rows[i].want, "row %zu: %s", i, out.buf);
		if (rows[i].user != NULL)
			cr_expect_str_eq(login->user.buf, rows[i].user);
		str_release(&out);
		login_free(&login);
	}
	desk_close(&desk);
}

Test(login, login)
{
	struct str out = STR_INIT;
	struct login *login;
	struct desk desk;

	desk_open(&desk);
	login = login_new(SLICE("LOGIN"), SLICE(OFFERS), false, &desk.place);
	cr_expect_eq(login_begin(login, &out), LOGIN_CHALLENGE);
	cr_expect_str_eq(out.buf, "Username:");
	cr_expect_eq(put(&desk, login, SLICE("bob"), &out), LOGIN_CHALLENGE);
	cr_expect_str_eq(out.buf, "Password:");
	cr_expect_eq(put(&desk, login, SLICE("builder"), &out), LOGIN_GOOD);
	login_free(&login);
	cr_expect_null(login_new(SLICE("CRAM-MD5"), SLICE(OFFERS), false,
	    &desk.place));
	cr_expect_null(login_new(SLICE("LOGIN"), SLICE("PLAIN"), false,
	    &desk.place));
	str_release(&out);
	desk_close(&desk);
}

/* ---- SCRAM, with a client --------------------------------------------- */

struct scram_case {
	const char	*mechanism, *gs2, *user, *password;
	const char	*binding;	/* what the client binds; "": nothing */
	bool		 other_nonce;
	enum login_next	 first, last;
};

static void
hmac(const void *key, struct slice text, unsigned char *out)
{
	unsigned n = 32;

	HMAC(EVP_sha256(), key, 32, (const unsigned char *)text.p, text.n,
	    out, &n);
}

/* RFC 5802 section 3, the other side. */
static void
client_proof(struct slice password, struct slice salt, struct slice message,
    unsigned char out[32])
{
	unsigned char salted[32], client[32], stored[32], signature[32];

	PKCS5_PBKDF2_HMAC(password.p, (int)password.n,
	    (const unsigned char *)salt.p, (int)salt.n, 4096, EVP_sha256(),
	    32, salted);
	hmac(salted, SLICE("Client Key"), client);
	EVP_Digest(client, 32, stored, NULL, EVP_sha256(), NULL);
	hmac(stored, message, signature);
	for (size_t i = 0; i < 32; i++)
		out[i] = client[i] ^ signature[i];
}

/* A client's last message for what the server said. */
static void
add_final(struct str *out, const struct scram_case *c, struct slice said,
    const char *bare)
{
	struct str salt = STR_INIT, channel = STR_INIT, message = STR_INIT;
	struct slice rest = said, nonce, letters, rounds;
	struct str proof = STR_INIT;
	unsigned char bytes[32];

	slice_cut(&rest, ',', &nonce);
	slice_cut(&rest, ',', &letters);
	slice_cut(&rest, ',', &rounds);
	base64_decode(slice_from(letters, 2), &salt, NULL);
	str_addf(&channel, "%s%s", c->gs2, c->binding);
	str_adds(out, "c=");
	base64_add(out, str_slice(&channel));
	str_addf(out, "," SLICE_FMT "%s", SLICE_ARG(nonce),
	    c->other_nonce ? "x" : "");
	str_addf(&message, "%s," SLICE_FMT ",%s", bare, SLICE_ARG(said),
	    out->buf);
	client_proof(slice_of(c->password), str_slice(&salt),
	    str_slice(&message), bytes);
	str_add(&proof, bytes, sizeof(bytes));
	str_adds(out, ",p=");
	base64_add(out, str_slice(&proof));
	str_release(&salt);
	str_release(&channel);
	str_release(&message);
	str_release(&proof);
}

static void
scram_run(struct desk *desk, const struct scram_case *c, size_t number)
{
	struct login *login = login_new(slice_of(c->mechanism),
	    SLICE(OFFERS), false, &desk->place);
	struct str out = STR_INIT, final = STR_INIT;
	char first[128], bare[64];

	snprintf(bare, sizeof(bare), "n=%s,r=abcdefgh", c->user);
	snprintf(first, sizeof(first), "%s%s", c->gs2, bare);
	cr_assert_eq(put(desk, login, slice_of(first), &out), c->first,
	    "row %zu: %s", number, out.buf);
	if (c->first == LOGIN_CHALLENGE) {
		cr_expect(slice_starts(str_slice(&out), "r=abcdefgh"));
		add_final(&final, c, str_slice(&out), bare);
		cr_expect_eq(put(desk, login, str_slice(&final), &out),
		    c->last, "row %zu: %s", number, out.buf);
	}
	if (c->first == LOGIN_CHALLENGE && c->last == LOGIN_CHALLENGE) {
		cr_expect(slice_starts(str_slice(&out), "v="));
		cr_expect_eq(put(desk, login, SLICE(""), &out), LOGIN_GOOD);
		cr_expect_str_eq(login->user.buf, c->user);
	}
	str_release(&out);
	str_release(&final);
	login_free(&login);
}

Test(login, scram)
{
	static const struct scram_case rows[] = {
		{ "SCRAM-SHA-256", "n,,", "alice", "wonder", "", false,
		    LOGIN_CHALLENGE, LOGIN_CHALLENGE },
		{ "SCRAM-SHA-256", "n,,", "alice", "wrong", "", false,
		    LOGIN_CHALLENGE, LOGIN_BAD },
		/* not there, or with an entry of another kind: as it were */
		{ "SCRAM-SHA-256", "n,,", "nobody", "wonder", "", false,
		    LOGIN_CHALLENGE, LOGIN_BAD },
		{ "SCRAM-SHA-256", "n,,", "bob", "builder", "", false,
		    LOGIN_CHALLENGE, LOGIN_BAD },
		{ "SCRAM-SHA-256", "n,,", "alice", "wonder", "", true,
		    LOGIN_CHALLENGE, LOGIN_BAD },
		/* somebody took our -PLUS out */
		{ "SCRAM-SHA-256", "y,,", "alice", "wonder", "", false,
		    LOGIN_BAD, 0 },
		{ "SCRAM-SHA-256", "p=tls-exporter,,", "alice", "wonder", "",
		    false, LOGIN_BAD, 0 },
		{ "SCRAM-SHA-256-PLUS", "n,,", "alice", "wonder", "", false,
		    LOGIN_BAD, 0 },
		{ "SCRAM-SHA-256-PLUS", "p=tls-exporter,,", "alice", "wonder",
		    "exported exported exported expor", false,
		    LOGIN_CHALLENGE, LOGIN_CHALLENGE },
		{ "SCRAM-SHA-256-PLUS", "p=tls-exporter,,", "alice", "wonder",
		    "of another connection ..........", false,
		    LOGIN_CHALLENGE, LOGIN_BAD },
		{ "SCRAM-SHA-256-PLUS", "p=tls-unique,,", "alice", "wonder",
		    "x", false, LOGIN_BAD, 0 },
		{ "SCRAM-SHA-256", "n,a=bob,", "alice", "wonder", "", false,
		    LOGIN_BAD, 0 },
	};
	struct desk desk;

	desk_open(&desk);
	for (size_t i = 0; i < COUNT(rows); i++)
		scram_run(&desk, &rows[i], i);
	desk_close(&desk);
}

/* Whether somebody is there must not show. */
Test(login, pretended_salts_stay_the_same)
{
	struct str first = STR_INIT, second = STR_INIT, other = STR_INIT;
	struct desk desk;

	desk_open(&desk);
	cr_expect(auth_check_answer(desk.check, SLICE("scram-first bm8="),
	    &first));
	cr_expect(auth_check_answer(desk.check, SLICE("scram-first bm8="),
	    &second));
	cr_expect(auth_check_answer(desk.check, SLICE("scram-first bm9v"),
	    &other));
	cr_expect_str_eq(first.buf, second.buf);
	cr_expect_str_neq(first.buf, other.buf);
	cr_expect(slice_ends(str_slice(&first), " 4096"));
	str_release(&first);
	str_release(&second);
	str_release(&other);
	desk_close(&desk);
}

Test(login, nonsense_is_no_question)
{
	static const char *const rows[] = { "", "plain", "plain YQ==",
	    "plain YQ== YQ==", "plain !! YQ== YQ==", "scram-first",
	    "scram-final YQ==", "plain AA== YQ== YQ==", "what YQ==" };
	struct desk desk;

	desk_open(&desk);
	for (size_t i = 0; i < COUNT(rows); i++) {
		struct str out = STR_INIT;

		cr_expect_not(auth_check_answer(desk.check,
		    slice_of(rows[i]), &out), "%s", rows[i]);
		cr_expect_gt(out.len, 0);
		str_release(&out);
	}
	desk_close(&desk);
}

/* ---- passed on -------------------------------------------------------- */

Test(login, relay)
{
	struct login_place place = { .server = "127.0.0.1:587",
	    .client = "[2001:db8::1]:4711", .is_encrypted = true };
	struct str out = STR_INIT;
	struct login *login = login_new(SLICE("xoauth2"),
	    SLICE("PLAIN XOAUTH2"), true, &place);

	cr_expect_str_eq(login->kind, "dovecot");
	cr_expect_eq(login_take(login, SLICE("abc"), &out), LOGIN_ASK);
	cr_expect_str_eq(out.buf, "start XOAUTH2 127.0.0.1:587 "
	    "[2001:db8::1]:4711 tls YWJj");
	cr_expect_eq(login_answered(login, ASK_ANSWERED,
	    SLICE("more 7.abc eyJ9"), &out), LOGIN_CHALLENGE);
	cr_expect_str_eq(out.buf, "{\"}");
	cr_expect(login->is_refused);
	str_reset(&out);
	login_give_up(login, &out);
	cr_expect_str_eq(out.buf, "give-up 7.abc");
	cr_expect_eq(login_take(login, SLICE(""), &out), LOGIN_ASK);
	cr_expect_str_eq(out.buf, "go-on 7.abc =");
	cr_expect_eq(login_answered(login, ASK_ANSWERED, SLICE("no"), &out),
	    LOGIN_BAD);
	cr_expect_eq(login->user.len, 0);
	cr_expect_eq(login_answered(login, ASK_ANSWERED, SLICE("no YW5u"),
	    &out), LOGIN_BAD);
	cr_expect_str_eq(login->user.buf, "ann");
	cr_expect_eq(login_answered(login, ASK_ANSWERED, SLICE("later"),
	    &out), LOGIN_TROUBLE);
	cr_expect_eq(login_answered(login, ASK_TROUBLE, SLICE("gone"), &out),
	    LOGIN_TROUBLE);
	cr_expect_eq(login_answered(login, ASK_ANSWERED, SLICE("ok Ym9i"),
	    &out), LOGIN_GOOD);
	cr_expect_str_eq(login->user.buf, "bob");
	str_release(&out);
	login_free(&login);
}

/* ---- failures --------------------------------------------------------- */

Test(failures, are_counted_and_forgotten)
{
	struct failures *failures;
	char key[32];
	struct err err;

	failures = failures_new(&err);
	cr_assert_not_null(failures);
	cr_expect_eq(failures_count(failures, SLICE("user a")), 0);
	cr_expect_eq(failures_add(failures, SLICE("user a")), 1);
	cr_expect_eq(failures_add(failures, SLICE("user a")), 2);
	cr_expect_eq(failures_count(failures, SLICE("user a")), 2);
	cr_expect_eq(failures_count(failures, SLICE("user b")), 0);
	failures_clear(failures, SLICE("user a"));
	cr_expect_eq(failures_count(failures, SLICE("user a")), 0);
	for (int i = 0; i < 4 * FAILURES_SLOTS; i++) {
		snprintf(key, sizeof(key), "address %d", i);
		cr_expect_geq(failures_add(failures, slice_of(key)), 1);
	}
	cr_expect_eq(failures_count(failures, slice_of(key)), 1);
	failures_free(&failures);
	cr_expect_eq(failures_count(NULL, SLICE("x")), 0);
}

/* By their sums, which say nothing of the key but are the same everywhere. */
Test(failures, of_other_machines_count_here)
{
	char sum[FAILURES_SUM_BYTES], other[FAILURES_SUM_BYTES];
	struct failures *failures;
	struct err err;

	failures = failures_new(&err);
	cr_assert_not_null(failures);
	failures_sum(SLICE("user a"), sum);
	failures_sum(SLICE("user b"), other);
	cr_expect_eq(strlen(sum), 32);
	cr_expect_str_neq(sum, other);
	cr_expect_eq(failures_add(failures, SLICE("user a")), 1);
	failures_hear(failures, slice_of(sum), 0);
	failures_hear(failures, slice_of(sum), 1000);
	cr_expect_eq(failures_count(failures, SLICE("user a")), 3);
	cr_expect_eq(failures_count(failures, SLICE("user b")), 0);
	failures_hear_clear(failures, slice_of(other));
	cr_expect_eq(failures_count(failures, SLICE("user a")), 3);
	failures_hear_clear(failures, slice_of(sum));
	cr_expect_eq(failures_count(failures, SLICE("user a")), 0);
	/* too long ago */
	failures_hear(failures, slice_of(sum), FAILURES_FOR_MS);
	cr_expect_eq(failures_count(failures, SLICE("user a")), 0);
	failures_free(&failures);
}

/* What other nodes heard long ago pushes out nothing of now. */
Test(failures, old_news_takes_no_place)
{
	enum { HERE = 8192 };	/* some fill a bucket */
	char name[32], sum[FAILURES_SUM_BYTES];
	struct failures *failures;
	unsigned counts[HERE];
	struct err err;

	failures = failures_new(&err);
	cr_assert_not_null(failures);
	for (int i = 0; i < HERE; i++) {
		snprintf(name, sizeof(name), "here%d", i);
		(void)failures_add(failures, slice_of(name));
	}
	for (int i = 0; i < HERE; i++) {
		snprintf(name, sizeof(name), "here%d", i);
		counts[i] = failures_count(failures, slice_of(name));
	}
	for (int i = 0; i < 100000; i++) {
		snprintf(name, sizeof(name), "there%d", i);
		failures_sum(slice_of(name), sum);
		failures_hear(failures, slice_of(sum), 60000);
	}
	for (int i = 0; i < HERE; i++) {
		snprintf(name, sizeof(name), "here%d", i);
		cr_expect_eq(failures_count(failures, slice_of(name)),
		    counts[i], "%s", name);
	}
	failures_free(&failures);
}

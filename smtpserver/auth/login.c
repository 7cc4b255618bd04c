/* login.c - PLAIN and LOGIN, and passing on what somebody else judges
 *
 * In     responses, answers of helpers
 * Out    challenges, questions, who it is
 * Holds  no password longer than the question takes
 * Trusts nothing the client says; a helper's yes is a yes
 * Spec   RFC 4616 (PLAIN), draft-murchison-sasl-login, RFC 4422 section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "grammar/base64.h"
#include "smtpserver/auth/login_internal.h"

#include "base/banned.h"

enum login_next
login_say(enum login_next next, struct str *out, const char *words)
{
	str_reset(out);
	str_adds(out, words);
	return next;
}

bool
login_claim(struct login *login, struct slice user)
{
	if (user.n == 0 || user.n > LOGIN_USER_BYTES_MAX)
		return false;
	for (size_t i = 0; i < user.n; i++)
		if ((unsigned char)user.p[i] <= ' ' || user.p[i] == 0x7f)
			return false;
	str_reset(&login->user);
	str_add_slice(&login->user, user);
	return true;
}

/* "ok NAME" of a helper: the name becomes the user. */
static enum login_next
login_is(struct login *login, struct slice letters, struct str *out)
{
	struct str name = STR_INIT;
	bool is_good = base64_decode(letters, &name, NULL) == 0 &&
	    login_claim(login, str_slice(&name));

	str_release(&name);
	return is_good ? LOGIN_GOOD : login_say(LOGIN_TROUBLE, out,
	    "the back end names a user that cannot be");
}

/* ---- passwords -------------------------------------------------------- */

static void
login_add_word(struct str *out, struct slice bytes)
{
	str_addc(out, ' ');
	base64_add(out, bytes);
}

static enum login_next
ask_password(struct login *login, struct slice password, struct str *out)
{
	if (password.n == 0 || password.n > LOGIN_PASSWORD_BYTES_MAX ||
	    slice_find(password, '\0') < password.n)
		return login_say(LOGIN_BAD, out, "no password can be that");
	str_reset(out);
	str_adds(out, "plain");
	login_add_word(out, str_slice(&login->user));
	login_add_word(out, password);
	login_add_word(out, slice_of(login->place->client));
	return LOGIN_ASK;
}

static enum login_next
password_answered(struct login *login, struct slice answer, struct str *out)
{
	struct slice verb, letters;

	if (slice_word(&answer, &verb) && slice_is(verb, "ok") &&
	    slice_word(&answer, &letters))
		return login_is(login, letters, out);
	return login_say(LOGIN_BAD, out, "wrong user or password");
}

/* [authzid] NUL authcid NUL passwd, which has no NUL.  RFC 4616 section 2 */
static enum login_next
plain_take(struct login *login, struct slice response, struct str *out)
{
	struct slice rest = response, authzid, authcid;

	if (!slice_cut(&rest, '\0', &authzid) || rest.p == NULL ||
	    !slice_cut(&rest, '\0', &authcid) || rest.p == NULL ||
	    slice_find(rest, '\0') < rest.n)
		return login_say(LOGIN_MALFORMED, out,
		    "PLAIN takes a user and a password");
	if (!login_claim(login, authcid))
		return login_say(LOGIN_BAD, out, "no user can be that");
	if (authzid.n > 0 && !slice_equal(authzid, authcid))
		return login_say(LOGIN_BAD, out,
		    "one user may not act as another");
	return ask_password(login, rest, out);
}

static enum login_next
login_begins(struct login *login, struct str *out)
{
	return login_say(LOGIN_CHALLENGE, out, "Username:");
}

static enum login_next
login_takes(struct login *login, struct slice response, struct str *out)
{
	if (login->user.len > 0)
		return ask_password(login, response, out);
	if (!login_claim(login, response))
		return login_say(LOGIN_BAD, out, "no user can be that");
	return login_say(LOGIN_CHALLENGE, out, "Password:");
}

/* ---- passed on -------------------------------------------------------- */

static enum login_next
relay_take(struct login *login, struct slice response, struct str *out)
{
	const struct login_place *place = login->place;

	str_reset(out);
	if (login->token.len > 0)
		str_addf(out, "go-on %s", login->token.buf);
	else
		str_addf(out, "start %s %s %s %s", login->mechanism,
		    place->server, place->client,
		    place->is_encrypted ? "tls" : "clear");
	if (response.p == NULL)
		str_adds(out, " -");
	else if (response.n == 0)
		str_adds(out, " =");
	else
		login_add_word(out, response);
	return LOGIN_ASK;
}

static enum login_next
relay_begin(struct login *login, struct str *out)
{
	return relay_take(login, (struct slice){ NULL, 0 }, out);
}

/* A no may name the user it is about: who is counted, then. */
static enum login_next
relay_refused(struct login *login, struct slice rest, struct str *out)
{
	struct str name = STR_INIT;
	struct slice letters;

	if (slice_word(&rest, &letters) &&
	    base64_decode(letters, &name, NULL) == 0)
		(void)login_claim(login, str_slice(&name));
	str_release(&name);
	return login_say(LOGIN_BAD, out, "the back end refused it");
}

/* The mechanisms of RFC 7628 have no challenge but the one that tells what
 * was wrong. */
static bool
is_of_tokens(const struct login *login)
{
	return strcmp(login->mechanism, "OAUTHBEARER") == 0 ||
	    strcmp(login->mechanism, "XOAUTH2") == 0;
}

static enum login_next
relay_answered(struct login *login, struct slice answer, struct str *out)
{
	struct slice verb = { NULL, 0 }, word = { NULL, 0 }, letters;

	(void)slice_word(&answer, &verb);
	if (slice_is(verb, "no"))
		return relay_refused(login, answer, out);
	(void)slice_word(&answer, &word);
	if (slice_is(verb, "ok"))
		return login_is(login, word, out);
	if (!slice_is(verb, "more") || word.n == 0)
		return login_say(LOGIN_TROUBLE, out, "the back end is busy");
	str_reset(&login->token);
	str_add_slice(&login->token, word);
	str_reset(out);
	if (slice_word(&answer, &letters) &&
	    base64_decode(letters, out, NULL) != 0)
		return login_say(LOGIN_TROUBLE, out,
		    "the back end talks nonsense");
	login->is_refused = out->len > 0 && is_of_tokens(login);
	return LOGIN_CHALLENGE;
}

/* ---- mechanisms ------------------------------------------------------- */

static const struct login_row checked_rows[] = {
	{ "PLAIN", NULL, plain_take, password_answered },
	{ "LOGIN", login_begins, login_takes, password_answered },
	{ "SCRAM-SHA-256", NULL, login_scram_take, scram_answered },
	{ "SCRAM-SHA-256-PLUS", NULL, login_scram_take, scram_answered },
};

static const struct login_row relay_row = { "", relay_begin, relay_take,
	relay_answered };

static bool
is_offered(struct slice mechanism, struct slice offers)
{
	struct slice name;

	while (slice_word(&offers, &name))
		if (slice_equal_nocase(name, mechanism))
			return true;
	return false;
}

static const struct login_row *
login_row_find(struct slice mechanism, bool is_relay)
{
	if (is_relay)
		return &relay_row;
	for (size_t i = 0; i < sizeof(checked_rows) / sizeof(checked_rows[0]);
	    i++)
		if (slice_is_nocase(mechanism, checked_rows[i].name))
			return &checked_rows[i];
	return NULL;
}

struct login *
login_new(struct slice mechanism, struct slice offers, bool is_relay,
    const struct login_place *place)
{
	const struct login_row *row = login_row_find(mechanism, is_relay);
	struct login *login;

	if (row == NULL || mechanism.n >= sizeof(login->mechanism) ||
	    !is_offered(mechanism, offers))
		return NULL;
	login = mem_alloc(1, sizeof(*login));
	login->row = row;
	login->kind = is_relay ? "dovecot" : "auth";
	login->place = place;
	for (size_t i = 0; i < mechanism.n; i++) {
		char c = mechanism.p[i];

		login->mechanism[i] = ascii_upper(c);
	}
	str_init(&login->initial);
	str_init(&login->user);
	str_init(&login->gs2);
	str_init(&login->first);
	str_init(&login->server_first);
	str_init(&login->binding);
	str_init(&login->token);
	return login;
}

void
login_free(struct login **login)
{
	struct login *l = *login;

	if (l == NULL)
		return;
	explicit_bzero(l->initial.buf, l->initial.len);
	str_release(&l->initial);
	str_release(&l->user);
	str_release(&l->gs2);
	str_release(&l->first);
	str_release(&l->server_first);
	str_release(&l->binding);
	str_release(&l->token);
	mem_free(login);
}

enum login_next
login_say_malformed(struct str *out, const char *words)
{
	return login_say(LOGIN_MALFORMED, out, words);
}

enum login_next
login_begin(struct login *login, struct str *out)
{
	if (login->row->begin != NULL)
		return login->row->begin(login, out);
	return login_say(LOGIN_CHALLENGE, out, "");
}

enum login_next
login_take(struct login *login, struct slice response, struct str *out)
{
	if (++login->round > LOGIN_ROUNDS_MAX)
		return login_say(LOGIN_MALFORMED, out,
		    "this goes on for too long");
	return login->row->take(login, response, out);
}

void
login_give_up(const struct login *login, struct str *out)
{
	if (login->token.len > 0)
		str_addf(out, "give-up %s", login->token.buf);
}

enum login_next
login_answered(struct login *login, enum ask_state state,
    struct slice answer, struct str *out)
{
	if (state == ASK_ANSWERED)
		return login->row->answered(login, answer, out);
	str_reset(out);
	str_add_slice(out, answer);
	return LOGIN_TROUBLE;
}

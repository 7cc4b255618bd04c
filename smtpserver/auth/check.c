/* check.c - whether a password is a user's
 *
 * In     questions of login.c; a table of users
 * Out    yes, no, or trouble
 * Holds  the table; a password only while it is looked at
 * Trusts the table; who is not in it takes as long as who is
 * Spec   login.h; crypt(5); RFC 5802
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "grammar/base64.h"
#include "tls/login/password.h"
#include "tls/scram.h"
#include "mail/table/table.h"
#include "smtpserver/auth/check.h"

#include "base/banned.h"

struct auth_check {
	const struct conf	*conf;
	struct table		*users;		/* NULL: another back end */
	struct str		 secret;
	unsigned		 line;
};

struct auth_check *
auth_check_new(const struct conf *conf, struct slice secret)
{
	struct auth_check *check = mem_alloc(1, sizeof(*check));
	const struct conf_table *table = conf->auth.table == NULL ? NULL :
	    conf_table_find(conf, conf->auth.table);

	check->conf = conf;
	str_init(&check->secret);
	str_add_slice(&check->secret, secret);
	if (table != NULL)
		check->users = table_new(table->name, table->spec);
	return check;
}

void
auth_check_free(struct auth_check **check)
{
	struct auth_check *c = *check;

	if (c == NULL)
		return;
	table_free(&c->users);
	str_release(&c->secret);
	mem_free(check);
}

static void
check_forget(struct str *secret)
{
	explicit_bzero(secret->buf, secret->len);
	str_release(secret);
}

/* ---- the table -------------------------------------------------------- */

static enum auth_result
users_check(struct auth_check *check, struct slice user,
    struct slice password, struct err *err)
{
	struct slice entry;

	switch (table_lookup(check->users, user, &entry, &check->line, err)) {
	case TABLE_FOUND:
		return (enum auth_result)password_check_entry(slice_trim(entry),
		    password, err);
	case TABLE_NONE:
		(void)password_check_entry(slice_of(PASSWORD_NOBODY),
		    password, err);
		return AUTH_NO;
	case TABLE_TROUBLE:
		break;
	}
	return AUTH_TROUBLE;
}

/* Who is meant by the name of a login: the account of a whole address, as many
 * programs are set up to give it, where mail for that address goes to the
 * mailbox of that account.  A table that has the address itself means that. */
static enum auth_result
check_account(struct auth_check *check, struct slice user,
    struct slice *out_account, struct err *err)
{
	char domain[256];
	size_t at = user.n;
	struct slice entry, name;
	const struct conf_domain *ours;
	enum table_result is_ours;

	*out_account = user;
	while (at > 0 && user.p[at - 1] != '@')
		at--;
	name = slice_from(user, at);
	if (at < 2 || name.n == 0 || name.n >= sizeof(domain) ||
	    (check->users != NULL && table_lookup(check->users, user, &entry,
	    &check->line, err) != TABLE_NONE) ||
	    check->conf->mailbox_is_addressed)
		return AUTH_YES;
	for (size_t i = 0; i < name.n; i++)
		domain[i] = ascii_lower(name.p[i]);
	is_ours = conf_domain_ask(check->conf, (struct slice){ domain,
	    name.n }, &ours, err);
	if (is_ours == TABLE_TROUBLE)
		return AUTH_TROUBLE;
	if (is_ours == TABLE_FOUND &&
	    strcmp(ours->deliver.channel, "local") == 0)
		*out_account = slice_first(user, at - 1);
	return AUTH_YES;
}

/* AUTH_YES, or AUTH_TROUBLE (err): nobody can tell now who is meant. */
static enum auth_result
check_settle_account(struct auth_check *check, struct str *user,
    struct err *err)
{
	struct slice account;
	enum auth_result result = check_account(check, str_slice(user),
	    &account, err);

	str_truncate(user, account.n);
	return result;
}

/* ---- questions -------------------------------------------------------- */

static enum auth_result
password_check(struct auth_check *check, const struct str *user,
    const struct str *password, const struct str *client, struct err *err)
{
	const struct conf_auth *auth = &check->conf->auth;

	switch (auth->kind) {
	case AUTH_USERS:
		return users_check(check, str_slice(user),
		    str_slice(password), err);
	case AUTH_PAM:
		return auth_pam_check(auth->service, user->buf,
		    password->buf, client->buf, err);
	case AUTH_SASLAUTHD:
		return auth_saslauthd_check(auth->path, auth->service,
		    user->buf, password->buf, err);
	case AUTH_NONE:
	case AUTH_DOVECOT:
		break;
	}
	err_set(err, "there is nobody to ask for a password");
	return AUTH_TROUBLE;
}

/* Words of base64 without NUL in them, up to `count`. */
static bool
check_words_take(struct slice rest, struct str *words, size_t count)
{
	struct slice letters;

	for (size_t i = 0; i < count; i++)
		if (!slice_word(&rest, &letters) ||
		    base64_decode(letters, &words[i], NULL) != 0)
			return false;
	return true;
}

static bool
say_result(enum auth_result result, const struct str *user,
    const struct err *err, struct str *out)
{
	if (result == AUTH_TROUBLE) {
		str_adds(out, err->text);
		return false;
	}
	str_adds(out, result == AUTH_YES ? "ok " : "no");
	if (result == AUTH_YES)
		base64_add(out, str_slice(user));
	return true;
}

static bool
answer_plain(struct auth_check *check, struct slice args, struct str *out)
{
	struct str words[3] = { STR_INIT, STR_INIT, STR_INIT };
	struct err err = { "this is no question" };
	enum auth_result result = AUTH_TROUBLE;
	bool is_answer;

	if (check_words_take(args, words, 3) &&
	    strlen(words[0].buf) == words[0].len &&
	    strlen(words[1].buf) == words[1].len) {
		result = check_settle_account(check, &words[0], &err);
		if (result == AUTH_YES)
			result = password_check(check, &words[0], &words[1],
			    &words[2], &err);
	}
	is_answer = say_result(result, &words[0], &err, out);
	for (size_t i = 0; i < 3; i++)
		check_forget(&words[i]);
	return is_answer;
}

/* The keys of a user; of one who is not there, or has none of this kind,
 * something that looks like keys. */
static enum auth_result
keys_find(struct auth_check *check, const struct str *user,
    struct scram_keys *out, struct err *err)
{
	enum table_result found;
	struct slice entry;

	if (check->users == NULL) {
		err_set(err, "SCRAM needs a table of users");
		return AUTH_TROUBLE;
	}
	found = table_lookup(check->users, str_slice(user), &entry,
	    &check->line, err);
	if (found == TABLE_TROUBLE)
		return AUTH_TROUBLE;
	if (found == TABLE_FOUND) {
		int kind = scram_keys_parse(slice_trim(entry), out, err);

		if (kind != 0)
			return kind < 0 ? AUTH_TROUBLE : AUTH_YES;
	}
	scram_keys_pretend(str_slice(&check->secret), str_slice(user), out);
	return AUTH_NO;
}

static bool
answer_scram_first(struct auth_check *check, struct slice args,
    struct str *out)
{
	struct err err = { "this is no question" };
	enum auth_result found = AUTH_TROUBLE;
	struct str user = STR_INIT;
	struct scram_keys keys;

	if (check_words_take(args, &user, 1)) {
		found = check_settle_account(check, &user, &err);
		if (found == AUTH_YES)
			found = keys_find(check, &user, &keys, &err);
	}
	if (found == AUTH_TROUBLE) {
		str_adds(out, err.text);
	} else {
		base64_add(out, (struct slice){ (const char *)keys.salt,
		    keys.salt_bytes });
		str_addf(out, " %u", keys.rounds);
	}
	str_release(&user);
	return found != AUTH_TROUBLE;
}

static bool
answer_scram_final(struct auth_check *check, struct slice args,
    struct str *out)
{
	struct str words[3] = { STR_INIT, STR_INIT, STR_INIT };
	struct str signature = STR_INIT;
	struct err err = { "this is no question" };
	enum auth_result found = AUTH_TROUBLE;
	struct scram_keys keys;

	if (check_words_take(args, words, 3)) {
		found = check_settle_account(check, &words[0], &err);
		if (found == AUTH_YES)
			found = keys_find(check, &words[0], &keys, &err);
	}
	if (found == AUTH_TROUBLE) {
		str_adds(out, err.text);
	} else if (scram_proof_fits(&keys, str_slice(&words[1]),
	    str_slice(&words[2]), &signature) && found == AUTH_YES) {
		str_adds(out, "ok ");
		base64_add(out, str_slice(&signature));
		str_addc(out, ' ');
		base64_add(out, str_slice(&words[0]));
	} else {
		str_adds(out, "no");
	}
	for (size_t i = 0; i < 3; i++)
		str_release(&words[i]);
	str_release(&signature);
	return found != AUTH_TROUBLE;
}

bool
auth_check_answer(void *context, struct slice question, struct str *out)
{
	struct auth_check *check = context;
	struct slice verb;

	if (!slice_word(&question, &verb))
		verb = (struct slice){ NULL, 0 };
	if (slice_is(verb, "plain"))
		return answer_plain(check, question, out);
	if (slice_is(verb, "scram-first"))
		return answer_scram_first(check, question, out);
	if (slice_is(verb, "scram-final"))
		return answer_scram_final(check, question, out);
	str_adds(out, "this is no question");
	return false;
}

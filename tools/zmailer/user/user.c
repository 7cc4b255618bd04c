/* user.c - zmailer user: who may log in and has a mailbox, in tables
 *
 * In     zmailer user add|delete|password NAME[@DOMAIN], user list [DOMAIN]
 * Out    rows of the tables of passwords and of users: a file is edited, a
 *        database is written to
 * Holds  a password until its entry is made
 * Trusts no password on the command line, where everybody could read it
 * Spec   zmailer-user(8); doc/INTERNALS.md row E1
 *
 * SPDX-License-Identifier: ISC
 */
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/json.h"
#include "grammar/smtp/path.h"
#include "journal/event.h"
#include "tls/scram.h"
#include "tools/screen/hidden.h"
#include "tools/screen/question.h"
#include "tools/zmailer/user/user.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { PASSWORD_BYTES_MAX = 1000 };

/* ---- who ---------------------------------------------------------------- */

static int
user_complain_name(const char *word, const char *what)
{
	struct str shown = STR_INIT;

	str_add_escaped(&shown, slice_of(word));
	fprintf(stderr, "zmailer: user: '%s' %s\n", shown.buf, what);
	str_release(&shown);
	return EX_USAGE;
}

/* A name without quotes: a key of a table, a part of paths. */
static bool
user_is_name(struct slice local)
{
	if (local.n == 0 || local.p[0] == '#')
		return false;
	for (size_t i = 0; i < local.n; i++)
		if ((unsigned char)local.p[i] <= 32 || local.p[i] == 127 ||
		    ascii_is_among(local.p[i], ":,;\"'()<>\\|/@"))
			return false;
	return true;
}

/* The domain statement that has the name; a database of domains is asked. */
static enum table_result
user_domain_find(struct user *user, struct err *err)
{
	const struct conf *conf = user->change->conf;
	enum table_result found = TABLE_NONE;
	const struct conf_domain *domain;
	const char *name;

	user->ours = conf_domain_find(conf, slice_of(user->domain));
	for (size_t i = 0; user->ours == NULL && found != TABLE_TROUBLE &&
	    (name = conf_domain_table(conf, i, &domain)) != NULL; i++) {
		struct user_base *base = user_base_open(conf_table_find(conf,
		    name)->spec, err);

		found = base == NULL ? TABLE_TROUBLE : user_base_ask(base,
		    "get", slice_of(user->domain), SLICE(""), NULL, err);
		user_base_close(&base);
		if (found == TABLE_FOUND)
			user->ours = domain;
		else if (found == TABLE_TROUBLE)
			err_prefix(err, "<%s>", name);
	}
	return user->ours != NULL ? TABLE_FOUND : found;
}

static int
user_name_take(struct user *user, const char *word)
{
	struct slice whole = slice_of(word), local, domain;
	struct err err = { "" };

	local = slice_first(whole, slice_find(whole, '@'));
	domain = slice_from(whole, local.n + 1);
	if (whole.n > USER_NAME_BYTES_MAX || !user_is_name(local) ||
	    (local.n < whole.n && (domain.n == 0 || domain.p[0] == '[' ||
	    domain_parse(domain, &err) != 0)))
		return user_complain_name(word, "is no name of a user: write "
		    "NAME@DOMAIN, or NAME");
	user->name = slice_dup(user->change->arena,
	    slice_lower(user->change->arena, whole));
	if (local.n == whole.n)
		return EX_OK;
	user->domain = user->name + local.n + 1;
	switch (user_domain_find(user, &err)) {
	case TABLE_FOUND:
		return EX_OK;
	case TABLE_TROUBLE:
		err_prefix(&err, "whose domain %s is cannot be known",
		    user->domain);
		return verb_failed("user", &err, EX_TEMPFAIL);
	case TABLE_NONE:
		break;
	}
	fprintf(stderr, "zmailer: user: %s is no domain of this machine; "
	    "first: zmailer domain add %s\n", user->domain, user->domain);
	return EX_NOHOST;
}

/* ---- what the tables have ----------------------------------------------- */

/* In the file of a place, which is part of the change from then on. */
static enum table_result
user_file_get(struct user *user, const struct user_place *place,
    struct str **out_text, unsigned *out_line, struct err *err)
{
	struct change *change = user->change;
	struct user_line entry;

	if (access(place->file, R_OK) != 0 && access(place->file, F_OK) == 0) {
		err_sys(err, "%s", place->file);
		return TABLE_TROUBLE;
	}
	*out_text = change_file(change, place->file, true,
	    place->is_login ? 0600 : 0644);
	if (*out_text == NULL) {
		err_set(err, "%s: it is as it was", place->file);
		return TABLE_TROUBLE;
	}
	for (size_t i = 0; i < change->file_count; i++)
		if (&change->files[i].after == *out_text)
			change->files[i].is_secret = place->is_login;
	change->is_quiet_table = true;
	if (!user_line_find(str_slice(*out_text), user->name, &entry))
		return TABLE_NONE;
	*out_line = entry.line;
	return TABLE_FOUND;
}

static enum table_result
user_base_get(const struct user *user, const struct user_place *place,
    struct err *err)
{
	struct user_base *base = user_base_open(place->spec, err);
	enum table_result found = base == NULL ? TABLE_TROUBLE :
	    user_base_ask(base, "get", slice_of(user->name), SLICE(""), NULL,
	    err);

	user_base_close(&base);
	return found;
}

/* *out_line: of a file; else 0. */
static enum table_result
user_get(struct user *user, const struct user_place *place,
    unsigned *out_line, struct err *err)
{
	struct str *text;
	enum table_result found;

	*out_line = 0;
	found = place->file != NULL ? user_file_get(user, place, &text,
	    out_line, err) : user_base_get(user, place, err);
	if (found == TABLE_TROUBLE && place->file == NULL)
		err_prefix(err, "%s", place->name);
	return found;
}

/* ---- writing ------------------------------------------------------------ */

static void
user_tell(const struct user *user, const struct user_place *place)
{
	const struct change *change = user->change;
	const char *type;
	char by[64];

	verb_who(by, sizeof(by));
	event_open(change->conf->log_dir);
	event(EV_CONFIG_CHANGED, NULL, "op", slice_of(change->verb),
	    "file", slice_of(table_definition_path(place->spec, &type)),
	    "by", slice_of(by), "reason", slice_of(change->reason),
	    "version", event_number(0), NULL);
	event_flush();
}

/* The text of a file, or at once the row of a database. */
static int
user_write(struct user *user, const struct user_place *place,
    const char *verb, struct slice value)
{
	struct str rows = STR_INIT;
	enum table_result done;
	struct user_base *base;
	struct err err = { "" };
	struct str *text;
	unsigned line;

	if (place->file != NULL) {
		if (user_file_get(user, place, &text, &line, &err) ==
		    TABLE_TROUBLE)
			return verb_failed("user", &err, EX_NOINPUT);
		if (strcmp(verb, "remove") == 0)
			(void)user_line_take(text, user->name);
		else
			user_line_put(text, user->name, value);
		return EX_OK;
	}
	base = user_base_open(place->spec, &err);
	done = base == NULL ? TABLE_TROUBLE : user_base_ask(base, verb,
	    slice_of(user->name), value, &rows, &err);
	user_base_close(&base);
	if (done == TABLE_FOUND)
		user_tell(user, place);
	if (done == TABLE_FOUND && slice_is(str_slice(&rows), "1")) {
		str_release(&rows);
		return EX_OK;
	}
	if (done == TABLE_FOUND)
		err_set(&err, "%s wrote %s rows, not one", verb, rows.buf);
	str_release(&rows);
	err_prefix(&err, "%s", place->name);
	return verb_failed("user", &err, EX_TEMPFAIL);
}

/* Files after databases: these are what can still fail. */
static int
user_write_all(struct user *user, const char *verb, struct slice login)
{
	struct change *change = user->change;
	int status = EX_OK;

	change->is_yes = true;		/* it was asked, or typed twice */
	for (int pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < user->count && status == EX_OK; i++)
			if ((user->places[i].file != NULL) == (pass == 1))
				status = user_write(user, &user->places[i],
				    verb, user->places[i].is_login ? login :
				    SLICE("-"));
	return status == EX_OK && !change_is_empty(change) ?
	    change_carry_out(change) : status;
}

/* "the row in <passwords>, the line in <people>" */
static void
user_places_name(const struct user *user, struct str *out)
{
	for (size_t i = 0; i < user->count; i++)
		str_addf(out, "%s%s in %s", i == 0 ? "" : ", ",
		    user->places[i].is_login ? "password" : "mailbox",
		    user->places[i].name);
}

/* ---- the password ------------------------------------------------------- */

static bool
user_is_password(struct slice password)
{
	for (size_t i = 0; i < password.n; i++)
		if ((unsigned char)password.p[i] < 32 ||
		    password.p[i] == 127)
			return false;
	return password.n > 0 && password.n <= PASSWORD_BYTES_MAX;
}

static int
user_password_read(struct user *user, struct str *out)
{
	bool is_program = arguments_has(user->change->arguments,
	    OPT_PASSWORD_STDIN), is_same = true;
	struct str again = STR_INIT;
	int result;

	if (!is_program && !question_can_be_asked())
		return arguments_refuse(user->change->arguments, "the "
		    "password is asked for on a terminal; for a line of "
		    "standard input say --password-stdin");
	result = hidden_line_read(STDIN_FILENO, is_program ? NULL :
	    arena_printf(user->change->arena, "New password of %s: ",
	    user->name), PASSWORD_BYTES_MAX, out);
	if (!is_program && result == 0) {
		result = hidden_line_read(STDIN_FILENO, "The same again: ",
		    PASSWORD_BYTES_MAX, &again);
		is_same = slice_equal(str_slice(out), str_slice(&again));
		explicit_bzero(again.buf, again.len);
		str_release(&again);
	}
	if (result == 0 && is_same && user_is_password(str_slice(out)))
		return EX_OK;
	fprintf(stderr, "zmailer: user: %s; nothing was changed\n", !is_same ?
	    "these are two passwords" : "a password is a line of 1 to 1000 "
	    "bytes, without control characters");
	return EX_DATAERR;
}

/* Of those who log in by a table: others have a password elsewhere. */
static int
user_entry_make(struct user *user, struct str *out)
{
	struct str password = STR_INIT;
	bool has_login = false;
	int status = EX_OK;

	for (size_t i = 0; i < user->count; i++)
		has_login = has_login || user->places[i].is_login;
	if (!has_login || user->change->is_dry)
		return EX_OK;
	status = user_password_read(user, &password);
	if (status == EX_OK)
		scram_entry_add(str_slice(&password), out);
	if (password.cap > 0)
		explicit_bzero(password.buf, password.cap);
	str_release(&password);
	return status;
}

/* ---- add, password, delete ---------------------------------------------- */

static int
user_say(const struct user *user, const char *done)
{
	struct str places = STR_INIT;

	if (user->change->is_json) {
		json_open_answer(&places);
		json_text(&places, "user", slice_of(user->name));
		json_text(&places, "op", slice_of(
		    user->change->arguments->form));
		json_bool(&places, "done", !user->change->is_dry);
		json_close(&places);
		fputs(places.buf, stdout);
		str_release(&places);
		return EX_OK;
	}
	user_places_name(user, &places);
	printf("%s %s %s\n", user->name, user->change->is_dry ?
	    "would be" : "is", done);
	printf("  %s\n", places.buf);
	str_release(&places);
	return EX_OK;
}

/* Keep the places that have the user, or those that do not.  An exit status. */
static int
user_places_keep(struct user *user, bool is_there)
{
	struct err err = { "" };
	size_t kept = 0;
	unsigned line;

	for (size_t i = 0; i < user->count; i++) {
		enum table_result found = user_get(user, &user->places[i],
		    &line, &err);

		if (found == TABLE_TROUBLE)
			return verb_failed("user", &err, EX_TEMPFAIL);
		if ((found == TABLE_FOUND) == is_there)
			user->places[kept++] = user->places[i];
		else if (!is_there && user->places[i].is_login) {
			fprintf(stderr, "zmailer: user: %s is in %s already",
			    user->name, user->places[i].name);
			if (line > 0)
				fprintf(stderr, " (%s:%u)",
				    user->places[i].file, line);
			fprintf(stderr, "; another password: zmailer user "
			    "password %s\n", user->name);
			return 1;
		}
	}
	user->count = kept;
	return EX_OK;
}

/* Is a mailbox there the account's own?  Not if one account has them all, or
 * nobody changes to another (an instance of its own). */
static bool
user_has_own_mailbox(const struct user *user)
{
	const struct conf *conf = user->change->conf;

	return user->ours->users == USERS_TABLE && geteuid() == 0 &&
	    strcmp(user->ours->deliver.channel, "local") == 0 &&
	    conf->mailbox_account == NULL &&
	    strcmp(conf->accounts[ROLE_AGENT], "-") != 0;
}

/* Where accounts of the machine get the mail, one must be made. */
static void
user_warn_mailbox(const struct user *user)
{
	bool is_table = user->ours != NULL && user_has_own_mailbox(user);
	const char *local;

	if (user->ours == NULL ||
	    (user->ours->users != USERS_PASSWD && !is_table))
		return;
	local = slice_dup(user->change->arena, slice_first(slice_of(
	    user->name), slice_find(slice_of(user->name), '@')));
	if (getpwnam(local) == NULL)
		fprintf(stderr, "zmailer: user: warning: mail for %s goes to "
		    "the account %s of this machine, and there is none: it %s "
		    "until adduser %s%s\n", user->name, local, is_table ?
		    "comes back" : "is refused", local, is_table ?
		    ", or mailbox maildir PATH as ACCOUNT" : "");
}

static int
user_add(struct user *user)
{
	struct str entry = STR_INIT;
	int status = user_places_that_can(user, "add");

	if (status == EX_OK)
		status = user_places_keep(user, false);
	if (status == EX_OK && user->count == 0) {
		fprintf(stderr, "zmailer: user: %s is there already\n",
		    user->name);
		status = 1;
	}
	if (status == EX_OK)
		status = user_entry_make(user, &entry);
	if (status == EX_OK && !user->change->is_dry)
		status = user_write_all(user, "add", str_slice(&entry));
	if (entry.len > 0)
		explicit_bzero(entry.buf, entry.len);
	str_release(&entry);
	if (status != EX_OK)
		return status;
	user_warn_mailbox(user);
	return user_say(user, "added");
}

static int
user_is_unknown(const struct user *user)
{
	fprintf(stderr, "zmailer: user: there is no user %s; zmailer user "
	    "list%s%s shows those that are\n", user->name,
	    user->domain == NULL ? "" : " ",
	    user->domain == NULL ? "" : user->domain);
	return 1;
}

static int
user_password(struct user *user)
{
	struct str entry = STR_INIT;
	size_t kept = 0;
	int status;

	for (size_t i = 0; i < user->count; i++)
		if (user->places[i].is_login)
			user->places[kept++] = user->places[i];
	user->count = kept;
	status = kept == 0 ? user_places_check(user) :
	    user_places_that_can(user, "change");
	if (status == EX_OK)
		status = user_places_keep(user, true);
	if (status == EX_OK && user->count == 0)
		status = user_is_unknown(user);
	if (status == EX_OK)
		status = user_entry_make(user, &entry);
	if (status == EX_OK && !user->change->is_dry)
		status = user_write_all(user, "change", str_slice(&entry));
	if (entry.len > 0)
		explicit_bzero(entry.buf, entry.len);
	str_release(&entry);
	return status == EX_OK ? user_say(user, "given another password") :
	    status;
}

/* What is no row of a table. */
static void
user_say_stays(const struct user *user)
{
	const struct conf *conf = user->change->conf;

	if (user->change->is_json)
		return;
	if (user->ours == NULL || strcmp(user->ours->deliver.channel,
	    "local") != 0)
		printf("  what stays: the mail that %s has, where it was "
		    "delivered, and aliases that lead there\n", user->name);
	else
		printf("  what stays: the mailbox and the mail in it (mailbox "
		    "%s), and aliases that lead there\n", conf->mailbox_path);
}

static int
user_delete_confirm(const struct user *user)
{
	const struct change *change = user->change;

	if (change->is_dry || change->is_yes)
		return EX_OK;
	if (!question_can_be_asked()) {
		fprintf(stderr, "zmailer: user: say --yes to delete %s\n",
		    user->name);
		return EX_USAGE;
	}
	return question_is_yes("Delete %s, which cannot log in and gets no "
	    "mail then", user->name) ? EX_OK : 1;
}

static int
user_delete(struct user *user)
{
	int status = user_places_that_can(user, "remove");

	if (status == EX_OK)
		status = user_places_keep(user, true);
	if (status == EX_OK && user->count == 0)
		status = user_is_unknown(user);
	if (status == EX_OK)
		status = user_delete_confirm(user);
	if (status == EX_OK && !user->change->is_dry)
		status = user_write_all(user, "remove", SLICE(""));
	if (status != EX_OK)
		return status;
	(void)user_say(user, "deleted");
	user_say_stays(user);
	return EX_OK;
}

/* ---- the command line --------------------------------------------------- */

static int
user_list_run(struct user *user)
{
	const struct conf *conf = user->change->conf;
	const char *domain = arguments_word(user->change->arguments, 0);
	int status;

	for (size_t i = 0; i < conf->domain_count; i++)
		user_mailboxes_add(user, &conf->domains[i]);
	status = user_places_check(user);
	return status == EX_OK ? user_list(user->change, user->places,
	    user->count, domain) : status;
}

static int
user_run(struct change *change, const struct arguments *arguments)
{
	struct user user = { .change = change };
	int status = user_logins_add(&user);

	if (status != EX_OK)
		return status;
	if (arguments_is(arguments, "list"))
		return user_list_run(&user);
	status = user_name_take(&user, arguments->words[0]);
	if (status != EX_OK)
		return status;
	user_mailboxes_add(&user, user.ours);
	status = user_places_check(&user);
	if (status != EX_OK)
		return status;
	change->reason = arena_printf(change->arena, "%s %s%s%s",
	    arguments->form, user.name, change->reason[0] == '\0' ? "" : ": ",
	    change->reason);
	if (arguments_is(arguments, "add"))
		return user_add(&user);
	if (arguments_is(arguments, "password"))
		return user_password(&user);
	return user_delete(&user);
}

int
verb_user(struct arguments *arguments)
{
	return change_verb(arguments, user_run);
}

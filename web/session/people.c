/* people.c - who may log in, and what each may
 *
 * In     a name and a password: from anybody
 * Out    yes or no; a role
 * Holds  two tables, or one
 * Trusts nothing of a name: letters, digits and .-_+@
 * Spec   people.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <poll.h>
#include <string.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/mem.h"
#include "daemon/auth/servers.h"
#include "mail/table/table.h"
#include "web/session/people.h"

#include "base/banned.h"

void
people_open(struct people *people, const struct conf_auth *auth,
    const char *users, const char *roles, const char *run_dir)
{
	struct str spec = STR_INIT;

	table_ask_at(run_dir);
	str_addf(&spec, "file:%s", roles);
	people->auth = auth;
	people->users = auth->kind == AUTH_USERS ?
	    table_new("users", users) : NULL;
	people->roles = table_new("roles", spec.buf);
	str_release(&spec);
}

static bool
people_is_name(struct slice user)
{
	for (size_t i = 0; i < user.n; i++)
		if (!ascii_is_alnum(user.p[i]) &&
		    !ascii_is_among(user.p[i], ".-_+@"))
			return false;
	return user.n > 0 && user.n < PEOPLE_NAME_BYTES;
}

static bool
people_is_domain(struct slice name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!ascii_is_alnum(name.p[i]) &&
		    !ascii_is_among(name.p[i], ".-_"))
			return false;
	return name.n > 0 && name.p[0] != '-' && name.p[0] != '.';
}

/* "help" has domains, the others have none. */
static enum role
role_read(struct slice value, char domains[PEOPLE_DOMAINS_BYTES])
{
	struct slice word = SLICE("");
	enum role role;
	size_t n = 0;

	domains[0] = '\0';
	(void)slice_word(&value, &word);
	role = role_parse(word);
	while (slice_word(&value, &word)) {
		if (role != ROLE_HELP || !people_is_domain(word) ||
		    n + word.n + 2 > PEOPLE_DOMAINS_BYTES)
			return ROLE_NONE;
		if (n > 0)
			domains[n++] = ' ';
		for (size_t i = 0; i < word.n; i++)
			domains[n++] = ascii_lower(word.p[i]);
		domains[n] = '\0';
	}
	return role == ROLE_HELP && n == 0 ? ROLE_NONE : role;
}

enum role
people_role(struct people *people, struct slice user,
    char domains[PEOPLE_DOMAINS_BYTES], struct err *err)
{
	char unwanted[PEOPLE_DOMAINS_BYTES];
	struct slice value;

	if (domains == NULL)
		domains = unwanted;
	domains[0] = '\0';
	err->text[0] = '\0';
	if (!people_is_name(user) || table_lookup(people->roles, user,
	    &value, NULL, err) != TABLE_FOUND)
		return ROLE_NONE;
	return role_read(slice_trim(value), domains);
}

/* The table's. */
static enum password_result
people_check_entry(struct people *people, bool has_role, struct slice user,
    struct slice password, struct err *err)
{
	struct slice entry = SLICE(PASSWORD_NOBODY);
	enum table_result found = TABLE_NONE;
	enum password_result result;

	if (has_role)
		found = table_lookup(people->users, user, &entry, NULL, err);
	if (found == TABLE_TROUBLE)
		return PASSWORD_TROUBLE;
	if (found != TABLE_FOUND)
		entry = SLICE(PASSWORD_NOBODY);
	result = password_check_entry(slice_trim(entry), password, err);
	return found == TABLE_FOUND ? result : PASSWORD_WRONG;
}

/* Another server's. */
static enum password_result
people_ask_server(const struct people *people, const char *user,
    const char *password, const char *client, struct err *err)
{
	const struct conf_auth *auth = people->auth;

	if (auth->kind == AUTH_PAM)
		return (enum password_result)auth_pam_check(auth->service,
		    user, password, client, err);
	if (auth->kind == AUTH_SASLAUTHD)
		return (enum password_result)auth_saslauthd_check(auth->path,
		    auth->service, user, password, err);
	if (auth->kind == AUTH_DOVECOT)
		return (enum password_result)auth_dovecot_check(auth->path,
		    user, password, client, err);
	(void)err_set(err, "there is nobody to ask for a password");
	return PASSWORD_TROUBLE;
}

static enum password_result
people_check_server(const struct people *people, bool has_role,
    struct slice user, struct slice password, const char *client,
    struct err *err)
{
	int64_t end_ms = clock_steady_ms() + PEOPLE_REFUSAL_MS;
	struct arena *arena = arena_new();
	char *secret = slice_dup(arena, password);
	enum password_result result = PASSWORD_WRONG;
	int64_t left_ms;

	if (has_role && password.n > 0)
		result = people_ask_server(people, slice_dup(arena, user),
		    secret, client, err);
	explicit_bzero(secret, password.n);
	arena_free(&arena);
	left_ms = end_ms - clock_steady_ms();
	if (result == PASSWORD_WRONG && left_ms > 0)
		(void)poll(NULL, 0, (int)left_ms);
	return result;
}

enum password_result
people_check(struct people *people, struct slice user, struct slice password,
    const char *client, struct err *err)
{
	bool has_role = people_role(people, user, NULL, err) != ROLE_NONE;

	if (err->text[0] != '\0')
		return PASSWORD_TROUBLE;
	return people->auth->kind == AUTH_USERS ?
	    people_check_entry(people, has_role, user, password, err) :
	    people_check_server(people, has_role, user, password, client,
	    err);
}

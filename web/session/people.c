/* people.c - who may log in, and what each may
 *
 * In     a name and a password: from anybody
 * Out    yes or no; a role
 * Holds  two tables
 * Trusts nothing of a name: letters, digits and .-_+@
 * Spec   people.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "mail/table/table.h"
#include "web/session/people.h"

#include "base/banned.h"

void
people_open(struct people *people, const char *users, const char *roles,
    const char *run_dir)
{
	struct str spec = STR_INIT;

	table_ask_at(run_dir);
	str_addf(&spec, "file:%s", roles);
	people->users = table_new("users", users);
	people->roles = table_new("roles", spec.buf);
	str_release(&spec);
}

void
people_close(struct people *people)
{
	table_free(&people->users);
	table_free(&people->roles);
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

enum password_result
people_check(struct people *people, struct slice user, struct slice password,
    const char *client, struct err *err)
{
	enum role role = people_role(people, user, NULL, err);
	struct slice entry = SLICE(PASSWORD_NOBODY);
	enum table_result found = TABLE_NONE;
	enum password_result result;

	if (role != ROLE_NONE)
		found = table_lookup(people->users, user, &entry, NULL, err);
	if (found == TABLE_TROUBLE || err->text[0] != '\0')
		return PASSWORD_TROUBLE;
	if (found != TABLE_FOUND)
		entry = SLICE(PASSWORD_NOBODY);
	result = password_check_entry(slice_trim(entry), password, err);
	return found == TABLE_FOUND ? result : PASSWORD_WRONG;
}

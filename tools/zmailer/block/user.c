/* user.c - can the user who is to be blocked log in at all?
 *
 * In     a name; the configuration
 * Out    yes, or words about it
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "mail/table/table.h"
#include "tools/zmailer/block/user.h"

#include "base/banned.h"

/* Is the name in the table of users who may log in?  The user
 * ann@example.org may be there as ann. */
static enum table_result
user_find(const struct change *change, const char *user,
    const struct conf_table *entry)
{
	struct slice whole = slice_of(user), value;
	struct table *table = table_new(entry->name, entry->spec);
	size_t at = slice_find(whole, '@');
	enum table_result found;
	struct err err;
	unsigned line;

	found = table_lookup(table, whole, &value, &line, &err);
	if (found == TABLE_NONE && at < whole.n &&
	    conf_domain_find(change->conf, slice_from(whole, at + 1)) != NULL)
		found = table_lookup(table, slice_first(whole, at), &value,
		    &line, &err);
	table_free(&table);
	return found;
}

int
user_look(const struct change *change, const char *user)
{
	const struct conf_auth *auth = &change->conf->auth;
	const struct conf_table *entry = auth->table == NULL ? NULL :
	    conf_table_find(change->conf, auth->table);

	if (auth->kind == AUTH_NONE)
		fprintf(stderr, "zmailer: block: warning: nobody can log in "
		    "here now: there is no auth statement\n");
	else if (auth->kind == AUTH_PAM && getpwnam(user) == NULL &&
	    strchr(user, '@') == NULL)
		fprintf(stderr, "zmailer: block: warning: there is no account "
		    "%s on this machine; PAM may know one\n", user);
	if (auth->kind != AUTH_USERS || entry == NULL ||
	    user_find(change, user, entry) != TABLE_NONE)
		return EX_OK;
	fprintf(stderr, "zmailer: block: there is no user %s: <%s>, who may "
	    "log in, has no such name; nothing was changed\n", user,
	    entry->name);
	return EX_NOUSER;
}

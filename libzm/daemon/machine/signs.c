/* signs.c - the keys that sign statements and their tables name are any good
 *
 * In     a conf that is right in itself; tables; files of keys
 * Out    complaints: unreadable, no key, everybody's
 * Holds  nothing: a key that was read is freed at once
 * Spec   zmailer.conf(5), sign
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/machine/look.h"
#include "daemon/skeleton.h"
#include "mail/table/table.h"
#include "tls/dkim.h"
#include "tls/pair.h"

#include "base/banned.h"

enum { KEY_OTHERS = S_IROTH | S_IWOTH };

static const char *
key_others_can(mode_t mode)
{
	return (mode & S_IWOTH) == 0 ? "read" : (mode & S_IROTH) == 0 ?
	    "changed" : "read and changed";
}

/* Whoever owns a file may read it, and give it another key.  NULL: that is
 * root, who looks, or the account that the router has. */
static const char *
key_owner(const struct machine_look *look, uid_t owner)
{
	const struct passwd *known;
	struct err err;
	uid_t router;
	gid_t group;

	if (owner == 0 || owner == geteuid() ||
	    (daemon_account(look->conf, ROLE_ROUTER, &router, &group,
	    &err) == 0 && owner == router))
		return NULL;
	known = getpwuid(owner);
	return known != NULL ? arena_printf(look->arena, "%s", known->pw_name)
	    : arena_printf(look->arena, "%lu", (unsigned long)owner);
}

static void
sign_check(const struct machine_look *look, const struct conf_sign *one)
{
	struct evp_pkey_st *key;
	const char *owner;
	struct err err;
	struct stat st;

	if (geteuid() != 0 && access(one->key, R_OK) != 0 && errno == EACCES) {
		machine_tell(look, CONF_WARNING, one->at, "check it as root",
		    arena_printf(look->arena, "%s cannot be read by you",
		    one->key));
		return;
	}
	key = dkim_private_load(one->key, &err);
	if (key == NULL) {
		machine_tell(look, one->else_send ? CONF_WARNING :
		    CONF_ERROR, one->at, arena_printf(
		    look->arena, "name a key that signs; zmailer dkim new %s "
		    "makes one; until then mail of %s %s", one->domain,
		    one->domain, one->else_send ? "goes unsigned" :
		    "waits in deferred/"), err.text);
		return;
	}
	dkim_private_free(&key);
	if (stat(one->key, &st) == 0 && (st.st_mode & KEY_OTHERS) != 0)
		machine_tell(look, CONF_WARNING, one->at,
		    arena_printf(look->arena, "chmod o= %s", one->key),
		    arena_printf(look->arena, "the key %s can be %s by "
		    "everybody on this machine", one->key,
		    key_others_can(st.st_mode)));
	else if (stat(one->key, &st) == 0 && (owner = key_owner(look,
	    st.st_uid)) != NULL)
		machine_tell(look, CONF_WARNING, one->at,
		    arena_printf(look->arena, "chown root %s", one->key),
		    arena_printf(look->arena, "the key %s is the account "
		    "%s's, which can read and change it", one->key, owner));
}

/* ---- tables ------------------------------------------------------------- */

enum { SIGN_TABLE_SAID_MAX = 20 };	/* complaints about one table */

struct sign_table_look {
	struct machine_table		*place;
	const struct conf_sign_table	*row;
	struct arena			*arena;		/* of one line */
	unsigned			 said;
};

static bool
sign_table_complain(struct sign_table_look *look, unsigned line,
    struct slice domain, const char *text)
{
	struct arena *arena = look->place->look->arena;
	bool is_loose = look->row->else_send;

	machine_tell_line(look->place, is_loose ? CONF_WARNING : CONF_ERROR,
	    line, domain, arena_printf(arena, "write: DOMAIN SELECTOR...; "
	    "zmailer dkim new DOMAIN makes a key; until then its mail %s",
	    is_loose ? "goes unsigned" : "waits in deferred/"), text);
	return ++look->said < SIGN_TABLE_SAID_MAX;
}

static bool
sign_table_check_key(struct sign_table_look *look, const struct conf_sign *one,
    unsigned line, struct slice domain)
{
	struct arena *arena = look->place->look->arena;
	const char *path = one->key, *owner;
	struct evp_pkey_st *key;
	struct stat seen;
	struct err err;

	key = dkim_private_load_beneath(look->row->dir,
	    conf_sign_file(look->arena, slice_of(one->selector),
	    slice_of(one->domain)), &seen, &err);
	if (key == NULL && errno == EACCES && geteuid() != 0)
		return true;	/* the directory has been told about */
	if (key == NULL)
		return sign_table_complain(look, line, domain, err.text);
	dkim_private_free(&key);
	owner = key_owner(look->place->look, seen.st_uid);
	if ((seen.st_mode & KEY_OTHERS) != 0)
		machine_tell_line(look->place, CONF_WARNING, line, domain,
		    arena_printf(arena, "chmod o= %s", path),
		    arena_printf(arena, "the key %s can be %s by everybody on "
		    "this machine", path, key_others_can(seen.st_mode)));
	else if (owner != NULL)
		machine_tell_line(look->place, CONF_WARNING, line, domain,
		    arena_printf(arena, "chown root %s", path),
		    arena_printf(arena, "the key %s is the account %s's, "
		    "which can read and change it", path, owner));
	else
		return true;
	return ++look->said < SIGN_TABLE_SAID_MAX;
}

/* table_fn */
static bool
sign_table_check_line(void *context, struct slice domain, struct slice value,
    unsigned line)
{
	struct sign_table_look *look = context;
	struct conf_sign found[CONF_SIGN_KEYS_MAX];
	bool goes_on = true;
	size_t count;
	struct err err;

	look->arena = arena_new();
	if (conf_sign_of_value(look->row, slice_lower(look->arena, domain),
	    value, look->arena, found, &count, &err) != 0) {
		goes_on = sign_table_complain(look, line, domain, err.text);
		count = 0;
	}
	for (size_t i = 0; i < count && goes_on; i++)
		goes_on = sign_table_check_key(look, &found[i], line, domain);
	arena_free(&look->arena);
	return goes_on;
}

static void
sign_table_check(struct machine_table *place,
    const struct conf_sign_table *row)
{
	struct sign_table_look look = { .place = place, .row = row };
	struct machine_look *all = place->look;
	struct err err;

	if (geteuid() != 0 && access(row->dir, R_OK | X_OK) != 0 &&
	    errno == EACCES)
		machine_tell(all, CONF_WARNING, row->at, "check it as root",
		    arena_printf(all->arena, "the keys in %s cannot be read "
		    "by you", row->dir));
	else if (table_each(place->table, sign_table_check_line, &look,
	    &err) == TABLE_TROUBLE)
		machine_tell(all, CONF_WARNING, row->at, "zmailer dkim check "
		    "DOMAIN looks at those of a domain", arena_printf(
		    all->arena, "%s: none of its keys was checked", err.text));
}

void
machine_check_sign_table(struct machine_table *place)
{
	const struct conf *conf = place->look->conf;

	for (size_t i = 0; i < conf->sign_table_count; i++)
		if (strcmp(conf->sign_tables[i].table,
		    place->entry->name) == 0)
			sign_table_check(place, &conf->sign_tables[i]);
}

static void
sign_table_check_dir(const struct machine_look *look,
    const struct conf_sign_table *row)
{
	struct stat st;

	if (stat(row->dir, &st) == 0 && S_ISDIR(st.st_mode))
		return;
	machine_tell(look, row->else_send ? CONF_WARNING : CONF_ERROR, row->at,
	    arena_printf(look->arena, "mkdir -m 0700 %s", row->dir),
	    arena_printf(look->arena, "%s is no directory", row->dir));
}

void
machine_check_signs(const struct machine_look *look)
{
	for (size_t i = 0; i < look->conf->sign_count; i++)
		sign_check(look, &look->conf->signs[i]);
	for (size_t i = 0; i < look->conf->sign_table_count; i++)
		sign_table_check_dir(look, &look->conf->sign_tables[i]);
}

/* delivery.c - mailboxes, and how long mail is tried
 *
 * In     home_mailbox, virtual mailboxes, times of the queue
 * Out    mailbox, quota, schedule; tables of users
 * Holds  nothing
 * Spec   local(8), virtual(8) of Postfix; zmailer.conf(5), mailbox
 *
 * SPDX-License-Identifier: ISC
 */
#include <pwd.h>
#include <string.h>

#include "tools/zmailer/import/postfix/postfix.h"

#include "base/banned.h"

const char *
import_users_add(struct import *import, const char *name, struct slice maps)
{
	struct str text = STR_INIT;
	struct import_map map, first, before;
	size_t count = 0, asked = 0;
	const char *out = "", *table = NULL;

	while (import_map_next(import, name, &maps, &map)) {
		if (import_map_is_question(&map)) {
			if (asked++ == 1)
				table = import_question_join(import, name,
				    "users", &before, &map);
			else if (asked > 2)
				import_note(import, name, map.spec,
				    IMPORT_MISSING, "a domain has one table "
				    "of users: make one query of all (UNION)");
			else
				before = map;
			continue;
		}
		count++;
		first = map;
		for (size_t i = 0; map.is_lines && i < map.entries.count; i++)
			if (map.entries.rows[i].value.n > 0)
				str_addf(&text, SLICE_FMT " -\n",
				    SLICE_ARG(map.entries.rows[i].key));
		if (!map.is_lines && count > 1)
			import_note(import, name, map.spec, IMPORT_MISSING,
			    "a domain has one table of users: write its keys "
			    "into it");
	}
	if (asked == 1 && count == 0)
		table = import_question_add(import, name, "users", &before);
	if (asked > 0 && count > 0)
		import_note(import, name, before.spec, IMPORT_MISSING,
		    "a domain has one table of users: write the others into "
		    "the database");
	if (table != NULL)
		out = arena_printf(import->arena, "<%s>", table);
	else if (asked > 0)
		out = "";
	else if (count == 1 && !first.is_lines)
		out = arena_printf(import->arena, "<%s>", import_map_add(
		    import, name, "users", &first, NULL));
	else if (count > 0)
		out = arena_printf(import->arena, "<%s>", import_table_add(
		    import, name, "file", "users", &text,
		    IMPORT_EVERYBODY));
	str_release(&text);
	return out;
}

/* The ways in which places are commonly written; the / at the end of a
 * Maildir is cut off before. */
static const char *const shapes[] = {
	"{domain}/{user}", "{user}", "{user}@{domain}", "{domain}/{user}/mail",
	"{domain}/{user}/Maildir", "{user}/Maildir",
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

/* The shape with user and domain of a key in it. */
static struct slice
shape_fill(struct import *import, const char *shape, struct slice key)
{
	size_t at = slice_find(key, '@');
	struct str text = STR_INIT;
	struct slice out;

	for (; *shape != '\0'; shape++) {
		if (*shape != '{') {
			str_addc(&text, *shape);
			continue;
		}
		str_add_slice(&text, shape[1] == 'u' ? slice_first(key, at) :
		    slice_from(key, at + 1));
		shape += strcspn(shape, "}");
	}
	out = slice_copy(import->arena, str_slice(&text));
	str_release(&text);
	return out;
}

/* The form that all entries have in common; NULL: there is none.  *out_maildir:
 * they end in a slash. */
static const char *
mailbox_shape(struct import *import, const struct import_map *map,
    bool *out_maildir)
{
	for (size_t k = 0; k < SHAPES && map->entries.count > 0; k++) {
		size_t i = 0;

		*out_maildir = slice_ends(map->entries.rows[0].value, "/");
		for (; i < map->entries.count; i++) {
			struct slice value = map->entries.rows[i].value;

			if (slice_ends(value, "/") != *out_maildir)
				break;
			value.n -= *out_maildir;
			if (!slice_equal(value, shape_fill(import, shapes[k],
			    map->entries.rows[i].key)))
				break;
		}
		if (i == map->entries.count)
			return shapes[k];
	}
	return NULL;
}

/* The only account of virtual_uid_maps; NULL: there is none here. */
static const char *
mailbox_account(struct import *import)
{
	struct slice uids = import_value(import, "virtual_uid_maps");
	struct passwd *account;
	uint64_t uid;

	if (!slice_starts(uids, "static:") || !slice_number(slice_from(uids,
	    7), 1, 0x7fffffff, &uid))
		return NULL;
	account = getpwuid((uid_t)uid);
	return account == NULL ? NULL : arena_printf(import->arena, "%s",
	    account->pw_name);
}

void
import_virtual_mailboxes(struct import *import)
{
	static const char from[] = "virtual_mailbox_base virtual_uid_maps "
	    "virtual_gid_maps virtual_transport";
	static const char name[] = "virtual_mailbox_maps";
	struct slice maps = import_value(import, name);
	const char *base = import_word(import, import_value(import,
	    "virtual_mailbox_base"));
	const char *account = mailbox_account(import), *shape = NULL;
	struct import_map map = { .is_lines = false };
	bool is_maildir = false;

	if (import_map_next(import, name, &maps, &map) && map.is_lines)
		shape = mailbox_shape(import, &map, &is_maildir);
	if (base == NULL || shape == NULL || account == NULL) {
		import_note(import, name, SLICE(""), IMPORT_MISSING,
		    "write `mailbox maildir %s/{domain}/{user} as ACCOUNT`: "
		    "one pattern for all places%s, and an account of this "
		    "machine for virtual_uid_maps%s", base == NULL ? "/PATH" :
		    base, shape == NULL ? " (there is none in the map)" : "",
		    account == NULL ? " (there is none of that number)" : "");
		return;
	}
	import_say(import, IMPORT_DELIVERY, from, "mailbox %s %s/%s as %s",
	    is_maildir ? "maildir" : "mbox", base, shape, account);
	import->has_mailbox = true;
	import_note(import, name, SLICE(""), IMPORT_DIFFERS,
	    "mailbox is one statement: the accounts of mydestination have "
	    "their mail there, too, in the domain's own folder");
}

void
import_home_mailbox(struct import *import, const char *name)
{
	struct slice home = import_value(import, name);
	struct slice spool = import_value(import, "mail_spool_directory");
	const char *word = import_word(import, home.n > 0 ? home : spool);
	bool is_maildir;

	if (home.n == 0 && !import_is_set(import, "mail_spool_directory"))
		return;
	if (home.n == 0)
		name = "mail_spool_directory";
	if (word == NULL || import->has_mailbox) {
		import_note(import, name, SLICE(""), IMPORT_MISSING,
		    import->has_mailbox ? "mailbox is one statement, and "
		    "virtual mailboxes have it: give one of both `deliver "
		    "lmtp`" : "write `mailbox maildir|mbox PATH`");
		return;
	}
	is_maildir = word[strlen(word) - 1] == '/';
	word = arena_printf(import->arena, "%.*s", (int)(strlen(word) -
	    is_maildir), word);
	import_say(import, IMPORT_DELIVERY, name, "mailbox %s %s%s%s",
	    is_maildir ? "maildir" : "mbox", home.n > 0 ? "{home}/" : "",
	    word, home.n > 0 ? "" : "/{user}");
}

void
import_mailbox_limit(struct import *import, const char *name)
{
	struct slice value = import_value(import, name);
	uint64_t bytes;

	if (import_setting(import, name) == NULL || slice_is(value, "0"))
		return;
	if (!slice_number(value, 1, INT64_MAX, &bytes))
		import_note(import, name, SLICE(""), IMPORT_MISSING,
		    "write `quota SIZE`");
	else
		import_say(import, IMPORT_DELIVERY, name, "quota "
		    SLICE_FMT "B", SLICE_ARG(value));
}

/* ---- the queue ---------------------------------------------------------- */

/* A time of Postfix in seconds; unit is that of a bare number.  -1: it is not a
 * time. */
static int64_t
time_s(struct slice value, char unit)
{
	static const struct { char unit; int64_t s; } units[] = {
		{ 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 },
		{ 'w', 604800 },
	};
	uint64_t number;

	if (value.n > 0 && (value.p[value.n - 1] < '0' ||
	    value.p[value.n - 1] > '9')) {
		unit = value.p[value.n - 1];
		value.n--;
	}
	if (!slice_number(value, 0, 100000000, &number))
		return -1;
	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].unit == unit)
			return (int64_t)number * units[i].s;
	return -1;
}

/* A setting that is there and differs from Postfix's preset. */
static int64_t
time_given(struct import *import, const char *name, char unit)
{
	int64_t seconds = time_s(import_value(import, name), unit);
	const char *preset = import_preset(slice_of(name));

	if (import_setting(import, name) == NULL)
		return -1;
	if (seconds < 0)
		import_note(import, name, SLICE(""), IMPORT_MISSING,
		    "it is no time");
	return seconds == time_s(slice_of(preset), unit) ? -1 : seconds;
}

/* As people write it: 2d, 4h, 90s. */
static void
wait_add(struct str *out, const char *word, int64_t seconds)
{
	static const struct { int64_t s; char unit; } units[] = {
		{ 86400, 'd' }, { 3600, 'h' }, { 60, 'm' }, { 1, 's' },
	};
	size_t i = 0;

	while (seconds % units[i].s != 0 || seconds == 0)
		if (units[i].s == 1)
			break;
		else
			i++;
	str_addf(out, "%s %lld%c", word, (long long)(seconds / units[i].s),
	    units[i].unit);
}

/* Waits that double, as Postfix's do. */
static void
retry_add(struct import *import, struct str *items)
{
	int64_t least = time_given(import, "minimal_backoff_time", 's');
	int64_t most = time_given(import, "maximal_backoff_time", 's');
	int steps = 0;

	if (least < 0 && most < 0)
		return;
	least = least > 0 ? least : 300;
	most = most > 0 ? most : 4000;
	str_adds(items, "; retry");
	for (; least < most && steps < 10; least *= 2, steps++)
		wait_add(items, "", least);
	wait_add(items, "", most);
}

void
import_lifetime(struct import *import, const char *name)
{
	int64_t expire = time_given(import, name, 'd');
	int64_t warn = time_given(import, "delay_warning_time", 'h');
	struct slice parallel = import_value(import,
	    "smtp_destination_concurrency_limit");
	struct str items = STR_INIT;
	uint64_t number;

	if (expire > 0)
		wait_add(&items, "; expire", expire);
	if (warn > 0)
		wait_add(&items, "; warn", warn);
	retry_add(import, &items);
	if (slice_number(parallel, 1, 10000, &number) && number != 20)
		str_addf(&items, "; parallel %llu",
		    (unsigned long long)number);
	if (items.len > 0)
		import_say(import, IMPORT_QUEUE, "maximal_queue_lifetime "
		    "delay_warning_time minimal_backoff_time "
		    "maximal_backoff_time "
		    "default_destination_concurrency_limit "
		    "smtp_destination_concurrency_limit",
		    "schedule smtp/* { %s }", items.buf + 2);
	str_release(&items);
}

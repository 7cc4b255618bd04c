/* table.c - lookup tables that follow their files
 *
 * In     a spec, keys
 * Out    values; TABLE_TROUBLE with words when the table cannot be asked
 * Holds  the state of its back end, and what the file looked like when it
 *        was opened
 * Trusts nothing in a file: the back ends check every line
 * Spec   mail/table/table.h, mail/table/type.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "journal/counters.h"
#include "journal/event.h"
#include "mail/table/internal.h"
#include "mail/table/type.h"

#include "base/banned.h"

enum { CHECK_EVERY_MS = 1000, YOUNG_S = 2 };

struct table {
	char			*name, *spec;
	const struct table_type	*type;		/* NULL: no such type */
	const char		*argument;	/* in spec */
	void			*state;		/* NULL: trouble says why */
	struct err		 trouble;
	struct err		 told;		/* of it, to the journal */
	bool			 may_be_absent;	/* '?', and never seen yet */
	struct stat		 seen;		/* the file as it was read */
	bool			 is_young;	/* changed so lately that it
						 * may change unseen */
	bool			 was_checked;
	int64_t			 checked_at;	/* steady clock, ms */
	unsigned		 generation;
};

struct table *
table_new(const char *name, const char *spec)
{
	struct table *table = mem_alloc(1, sizeof(*table));

	table->name = mem_strdup(name);
	table->spec = mem_strdup(spec);
	table->type = table_type_of(table->spec, &table->argument);
	table->may_be_absent = spec[0] == '?';
	if (table->type == NULL)
		err_set(&table->trouble, "table %s: '%.100s' is no source of "
		    "a table: write file:/PATH", name, spec);
	else if (table->type->package != NULL)
		err_set(&table->trouble, "table %s: this zmailer was built "
		    "without %s: install %s and build it again", name,
		    table->type->name, table->type->package);
	if (table->type != NULL && table->type->package != NULL)
		table->type = NULL;
	return table;
}

void
table_free(struct table **table)
{
	if (*table == NULL)
		return;
	if ((*table)->state != NULL)
		(*table)->type->close((*table)->state);
	mem_release((*table)->name);
	mem_release((*table)->spec);
	mem_free(table);
}

/* ---- following the file ---------------------------------------------- */

bool
table_looks_the_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	    a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	    a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static bool
has_path(const struct table *table)
{
	return table->type != NULL && (table->type->traits & TABLE_HAS_PATH);
}

/* "FILE:LINE: what", or "table NAME: FILE: what". */
static int
say_where(const struct table *table, struct err *err)
{
	bool has_line = ascii_is_digit(err->text[0]);

	if (has_path(table))
		table_err_at(err, table->argument);
	else if (has_line)
		return table_err_at(err, table->name);
	return has_line ? -1 : err_prefix(err, "table %s", table->name);
}

/* State and trouble change together. */
static void
table_take_over(struct table *table, void *state)
{
	if (table->state == state && state != NULL)
		return;
	if (table->state != NULL || state != NULL)
		table->generation++;
	if (table->state != NULL)
		table->type->close(table->state);
	table->state = state;
}

static void
table_load(struct table *table)
{
	struct table_source source = { .name = table->name,
	    .argument = table->argument, .old = table->state,
	    .may_be_absent = table->may_be_absent };
	struct err why = { "" };
	void *state = NULL;
	bool is_good;

	is_good = table->type->open(&source, &state, &why) == 1;
	table->seen = source.seen;
	/* from now on it is missed */
	if (is_good && source.seen.st_ino != 0)
		table->may_be_absent = false;
	table->is_young = llabs(clock_wall_s() -
	    source.seen.st_mtim.tv_sec) <= YOUNG_S;
	if (!is_good) {
		table->trouble = why;
		say_where(table, &table->trouble);
	}
	table_take_over(table, is_good ? state : NULL);
}

/* Once for each trouble: mail that needs the table waits, and nobody else
 * would say why. */
static void
table_tell_trouble(struct table *table)
{
	if (!event_is_kept() ||
	    strcmp(table->told.text, table->trouble.text) == 0)
		return;
	table->told = table->trouble;
	event(EV_TABLE_TROUBLE, NULL, "table", slice_of(table->name), "file",
	    slice_of(table->argument), "reason",
	    slice_of(table->trouble.text), NULL);
}

/* Look whether the file changed, at most once a second. */
static int
table_refresh(struct table *table, bool is_forced, struct err *err)
{
	int64_t now;
	struct stat st;

	if (table->type != NULL && (table->state == NULL || is_forced ||
	    has_path(table))) {
		now = clock_steady_ms();
		if (is_forced || !table->was_checked ||
		    now - table->checked_at >= CHECK_EVERY_MS) {
			table->was_checked = true;
			table->checked_at = now;
			if (is_forced || table->is_young ||
			    !has_path(table) ||
			    stat(table->argument, &st) != 0 ||
			    !table_looks_the_same(&st, &table->seen))
				table_load(table);
		}
	}
	if (table->state != NULL) {
		table->told.text[0] = '\0';
		return 1;
	}
	table_tell_trouble(table);
	return err_set(err, "%s", table->trouble.text);
}

/* ---- questions ------------------------------------------------------- */

static enum table_result
table_counted(enum table_result result)
{
	counters_tally(result == TABLE_FOUND ? TALLY_LOOKUP_FOUND :
	    result == TABLE_NONE ? TALLY_LOOKUP_NONE : TALLY_LOOKUP_TROUBLE);
	return result;
}

static enum table_result
table_answer(const struct table *table, enum table_result result,
    const struct table_hit *hit, struct slice *out_value, unsigned *out_line,
    struct err *err)
{
	if (result == TABLE_TROUBLE)
		say_where(table, err);
	if (result == TABLE_FOUND && out_value != NULL)
		*out_value = hit->value;
	if (result != TABLE_TROUBLE && out_line != NULL)
		*out_line = hit->line;
	return result;
}

/* key in lower case, in room.  false: it is longer. */
static bool
key_fold(struct slice key, char room[TABLE_KEY_BYTES_MAX])
{
	if (key.n == 0 || key.n > TABLE_KEY_BYTES_MAX)
		return false;
	for (size_t i = 0; i < key.n; i++)
		room[i] = ascii_lower(key.p[i]);
	return true;
}

void
table_expect(struct table *table, struct slice key)
{
	char folded[TABLE_KEY_BYTES_MAX];
	struct err err;

	if (table_is_asked(table) && table->type->expect != NULL &&
	    table_refresh(table, false, &err) == 1 && key_fold(key, folded))
		table->type->expect(table->state,
		    (struct slice){ folded, key.n });
}

enum table_result
table_lookup(struct table *table, struct slice key, struct slice *out_value,
    unsigned *out_line, struct err *err)
{
	char folded[TABLE_KEY_BYTES_MAX];
	struct table_hit hit = { .line = 0 };
	enum table_result result;

	if (table_refresh(table, false, err) != 1)
		return table_counted(TABLE_TROUBLE);
	if (!key_fold(key, folded))
		return TABLE_NONE;
	result = table->type->find(table->state, key,
	    (struct slice){ folded, key.n }, &hit, err);
	table_counted(result);
	if (result == TABLE_NONE)
		return TABLE_NONE;
	return table_answer(table, result, &hit, out_value, out_line, err);
}

enum table_result
table_find_address(struct table *table, const struct net *address,
    struct slice *out_value, unsigned *out_line, struct err *err)
{
	struct table_hit hit = { .line = 0 };
	enum table_result result;

	if (table_refresh(table, false, err) != 1)
		return table_counted(TABLE_TROUBLE);
	if (table->type->find_net == NULL) {
		err_set(err, "a table of type %s has no networks: use file: "
		    "or cidr:", table->type->name);
		say_where(table, err);
		return TABLE_TROUBLE;
	}
	result = table_counted(table->type->find_net(table->state, address,
	    &hit, err));
	return table_answer(table, result, &hit, out_value, out_line, err);
}

enum table_result
table_has_address(struct table *table, const struct net *address,
    unsigned *out_line, struct err *err)
{
	return table_find_address(table, address, NULL, out_line, err);
}

enum table_checked
table_check(struct table *table, struct err *err)
{
	int result;

	if (table_refresh(table, true, err) != 1)
		return TABLE_CHECK_BAD;
	if (table->type->check == NULL)
		return TABLE_CHECK_GOOD;
	result = table->type->check(table->state, err);
	if (result != 1)
		say_where(table, err);
	return result;
}

typedef enum table_result table_each_fn(void *state, table_fn *fn,
    void *context, struct err *err);

static enum table_result
table_each_by(struct table *table, table_each_fn *each, table_fn *fn,
    void *context, struct err *err)
{
	enum table_result result = TABLE_TROUBLE;

	if (each == NULL)
		err_set(err, "a table of type %s cannot be listed",
		    table->type->name);
	else
		result = each(table->state, fn, context, err);
	if (result == TABLE_TROUBLE)
		say_where(table, err);
	return result;
}

enum table_result
table_each(struct table *table, table_fn *fn, void *context, struct err *err)
{
	if (table_refresh(table, false, err) != 1)
		return TABLE_TROUBLE;
	return table_each_by(table, table->type->each, fn, context, err);
}

enum table_result
table_list(struct table *table, table_fn *fn, void *context, struct err *err)
{
	if (table_refresh(table, false, err) != 1)
		return TABLE_TROUBLE;
	return table_each_by(table, table->type->list != NULL ?
	    table->type->list : table->type->each, fn, context, err);
}

/* ---- about it -------------------------------------------------------- */

const char *
table_name(const struct table *table)
{
	return table->name;
}

const char *
table_argument(const struct table *table)
{
	return table->argument;
}

const char *
table_kind(const struct table *table)
{
	return table->type != NULL ? table->type->name : "none";
}

const char *
table_path(const struct table *table)
{
	return has_path(table) ? table->argument : "";
}

bool
table_is_asked(const struct table *table)
{
	return table->type != NULL && (table->type->traits & TABLE_IS_ASKED);
}

unsigned
table_generation(const struct table *table)
{
	return table->generation;
}

bool
table_takes_parts(const struct table *table)
{
	return table->type == NULL ||
	    !(table->type->traits & TABLE_ASKS_WHOLE);
}

enum table_replace
table_is_replaceable(const char *path, const struct stat *file)
{
	const char *slash = strrchr(path, '/');
	size_t n = slash == NULL ? 0 : (size_t)(slash - path);
	char dir[PATH_MAX];
	struct stat st;

	if (n >= sizeof(dir)) {
		errno = ENAMETOOLONG;
		return TABLE_REPLACE_UNKNOWN;
	}
	memcpy(dir, path, n);
	dir[n] = '\0';
	if (stat(n > 0 ? dir : slash != NULL ? "/" : ".", &st) != 0)
		return TABLE_REPLACE_UNKNOWN;
	return (st.st_mode & (S_IWGRP | S_IWOTH)) != 0 &&
	    ((st.st_mode & S_ISVTX) == 0 || (st.st_uid != 0 &&
	    st.st_uid != file->st_uid));
}

int64_t
table_owner(const struct table *table)
{
	const struct stat *st = &table->seen;

	if (table->state == NULL || !has_path(table) ||
	    !S_ISREG(st->st_mode) ||
	    (st->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return -1;
	if (st->st_uid != 0 && table_is_replaceable(table_path(table), st) !=
	    TABLE_REPLACE_NO)
		return -1;
	return (int64_t)st->st_uid;
}

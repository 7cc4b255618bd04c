/* named.c - certificates by the names that clients ask for, from a table
 *
 * In     lines NAME CERTIFICATE-FILE [KEY-FILE]
 * Out    rows as `tls certificate` has them, one a pair of files
 * Holds  nothing
 * Trusts the table's owner; its lines are held against the grammar, and there
 *        are bounds for pairs and for names
 * Spec   zmailer.conf(5), tls certificates; RFC 6066 section 3
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "conf/part/part.h"
#include "mail/table/table.h"

#include "base/banned.h"

enum { NAME_BYTES_MAX = 255 };

struct pair {
	const char	*file, *key;
	unsigned	 line;		/* of its first name */
	struct str	 names;
};

struct reading {
	const struct table *table;
	struct arena	*arena;
	struct pair	*pairs;
	size_t		 count, room, name_count;
	size_t		 last;	/* names of a pair often come together */
	const char	*trouble;
	unsigned	 line;		/* of trouble */
};

/* A name of a host, maybe with *. or . in front. */
static bool
certificate_name_is_good(struct slice name)
{
	bool was_dot = false;

	if (slice_starts(name, "*."))
		name = slice_from(name, 2);
	else if (slice_starts(name, "."))
		name = slice_from(name, 1);
	if (name.n == 0 || name.n > NAME_BYTES_MAX || name.p[0] == '.')
		return false;
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		bool is_dot = c == '.';

		if ((is_dot && was_dot) || !(is_dot || c == '-' || c == '_' ||
		    ascii_is_alnum(c)))
			return false;
		was_dot = is_dot;
	}
	return !was_dot;
}

static struct pair *
pair_find(struct reading *reading, struct slice file, struct slice key)
{
	for (size_t i = 0; i < reading->count; i++) {
		size_t at = (reading->last + i) % reading->count;
		struct pair *pair = &reading->pairs[at];

		if (slice_is(file, pair->file) && slice_is(key, pair->key)) {
			reading->last = at;
			return pair;
		}
	}
	return NULL;
}

static struct pair *
pair_new(struct reading *reading, struct slice file, struct slice key,
    unsigned line)
{
	struct pair *pair;

	if (reading->count == reading->room) {
		reading->room = reading->room * 2 + 8;
		reading->pairs = mem_grow(reading->pairs, reading->room,
		    sizeof(*reading->pairs));
	}
	reading->last = reading->count;
	pair = &reading->pairs[reading->count++];
	pair->file = slice_dup(reading->arena, file);
	pair->key = slice_dup(reading->arena, key);
	pair->line = line;
	str_init(&pair->names);
	return pair;
}

static bool
names_refuse(struct reading *reading, unsigned line, const char *why)
{
	reading->trouble = why;
	reading->line = line;
	return false;
}

/* table_fn */
static bool
names_take_line(void *context, struct slice name, struct slice value,
    unsigned line)
{
	struct reading *reading = context;
	struct slice file, key;
	struct pair *pair;

	if (!slice_word(&value, &file) || file.p[0] != '/')
		return names_refuse(reading, line,
		    "write: NAME /CERTIFICATE-FILE [/KEY-FILE]");
	if (!slice_word(&value, &key))
		key = file;
	if (key.p[0] != '/' || slice_trim(value).n > 0)
		return names_refuse(reading, line,
		    "write: NAME /CERTIFICATE-FILE [/KEY-FILE]");
	if (!certificate_name_is_good(name))
		return names_refuse(reading, line, "this is no name of a host");
	if (++reading->name_count > CONF_NAMED_NAMES_MAX)
		return names_refuse(reading, line, "too many names");
	pair = pair_find(reading, file, key);
	if (pair == NULL && reading->count == CONF_NAMED_PAIRS_MAX)
		return names_refuse(reading, line, "too many certificates");
	if (pair == NULL)
		pair = pair_new(reading, file, key, line);
	if (pair->names.len > 0)
		str_addc(&pair->names, ' ');
	str_add_slice(&pair->names, name);
	return true;
}

static void
rows_make(const struct reading *reading, struct conf_certificate *out)
{
	const char *path = arena_printf(reading->arena, "%s",
	    table_path(reading->table));

	for (size_t i = 0; i < reading->count; i++) {
		const struct pair *pair = &reading->pairs[i];

		out[i] = (struct conf_certificate){
			.file = pair->file, .key = pair->key,
			.name = slice_dup(reading->arena,
			    str_slice(&pair->names)),
			.at = { path, pair->line, 1 },
		};
	}
}

static void
reading_release(struct reading *reading)
{
	for (size_t i = 0; i < reading->count; i++)
		str_release(&reading->pairs[i].names);
	mem_free(&reading->pairs);
}

int
conf_named_certificates(const char *name, const char *spec,
    struct arena *arena, struct conf_certificate **out_rows,
    size_t *out_count, struct err *err)
{
	struct table *table = table_new(name, spec);
	struct reading reading = { .table = table, .arena = arena };
	int result = -1;

	*out_rows = NULL;
	*out_count = 0;
	if (table_each(table, names_take_line, &reading, err) ==
	    TABLE_TROUBLE) {
		;	/* err is said */
	} else if (reading.trouble != NULL) {
		err_set(err, "%s:%u: %s", table_path(table), reading.line,
		    reading.trouble);
	} else {
		*out_rows = arena_alloc(arena, (reading.count + 1) *
		    sizeof(**out_rows));
		*out_count = reading.count;
		rows_make(&reading, *out_rows);
		result = 0;
	}
	reading_release(&reading);
	table_free(&table);
	return result;
}

bool
conf_has_certificate(const struct conf *conf)
{
	return conf->certificate_count > 0 || conf->certificate_table != NULL;
}

int
conf_all_certificates(const struct conf *conf, struct arena *arena,
    struct conf_certificate **out_rows, size_t *out_count, struct err *err)
{
	const struct conf_table *table = conf->certificate_table == NULL ?
	    NULL : conf_table_find(conf, conf->certificate_table);
	struct conf_certificate *named = NULL, *rows;
	size_t count = 0, own = conf->certificate_count;
	int result = 0;

	if (table != NULL)
		result = conf_named_certificates(table->name, table->spec,
		    arena, &named, &count, err);
	rows = arena_alloc(arena, (own + count + 1) * sizeof(*rows));
	if (own > 0)
		memcpy(rows, conf->certificates, own * sizeof(*rows));
	if (count > 0)
		memcpy(rows + own, named, count * sizeof(*rows));
	*out_rows = rows;
	*out_count = own + count;
	return result;
}

/* table.c - lookup tables that follow their files
 *
 * In     a spec, keys
 * Out    values; TABLE_TROUBLE with words when the file cannot be used
 * Holds  the contents of the file in memory, and what the file looked like
 *        when it was read
 * Trusts nothing in the file: table_parse.c checks every line
 * Spec   mail/table.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "mail/table_internal.h"

#include "base/banned.h"

enum { CHECK_EVERY_MS = 1000, READ_TRIES = 3, YOUNG_S = 2 };

struct table {
	char			*name;
	char			*path;		/* "" when inline */
	struct table_contents	*contents;	/* NULL: trouble says why */
	struct err		 trouble;
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
	struct slice text = slice_of(spec);

	table->name = mem_strdup(name);
	table->path = mem_strdup(slice_starts(text, "file:") ? spec + 5 : "");
	if (slice_starts(text, "inline:")) {
		text = slice_from(text, 7);
		if (table_contents_parse(memcpy(mem_grow(NULL, text.n, 1),
		    text.p, text.n), text.n, &table->contents,
		    &table->trouble) != 1)
			err_prefix(&table->trouble, "table %s", name);
		table->generation = 1;
	} else if (table->path[0] == '\0') {
		err_set(&table->trouble, "table %s: '%.100s' is no source of "
		    "a table: write file:/PATH", name, spec);
	}
	return table;
}

void
table_free(struct table **table)
{
	if (*table == NULL)
		return;
	mem_release((*table)->name);
	mem_release((*table)->path);
	table_contents_free(&(*table)->contents);
	mem_free(table);
}

static bool
looks_the_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino &&
	    a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	    a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* All bytes of an open file.  NULL with err. */
static char *
read_all(int fd, const struct stat *st, size_t *out_bytes, struct err *err)
{
	size_t room, bytes = 0;
	ssize_t n = 0;
	char *text;

	if (!S_ISREG(st->st_mode) || st->st_size > TABLE_BYTES_MAX) {
		err_set(err, S_ISREG(st->st_mode) ? "the file is too long" :
		    "it is no regular file");
		return NULL;
	}
	room = (size_t)st->st_size + 1;
	text = mem_grow(NULL, room, 1);
	do {
		bytes += (size_t)n;
		n = read(fd, text + bytes, room - bytes);
	} while (n > 0);
	*out_bytes = bytes;
	if (n == 0)
		return text;
	err_set(err, "%s", strerror(errno));
	mem_release(text);
	return NULL;
}

/* Read a version of the file that did not change meanwhile. */
static char *
read_steady(const char *path, struct stat *out_seen, size_t *out_bytes,
    struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char *text = NULL;
	struct stat after;

	if (fd < 0) {
		err_set(err, "%s", strerror(errno));
		return NULL;
	}
	for (int i = 0; i < READ_TRIES; i++) {
		mem_free(&text);
		if (fstat(fd, out_seen) != 0 || lseek(fd, 0, SEEK_SET) != 0) {
			err_set(err, "%s", strerror(errno));
			break;
		}
		text = read_all(fd, out_seen, out_bytes, err);
		if (text == NULL || (fstat(fd, &after) == 0 &&
		    looks_the_same(out_seen, &after)))
			break;
	}
	close(fd);
	return text;
}

/* Contents and troubles change together. */
static void
replace(struct table *table, struct table_contents *contents)
{
	if (table->contents != NULL || contents != NULL)
		table->generation++;
	table_contents_free(&table->contents);
	table->contents = contents;
}

static void
load(struct table *table)
{
	struct table_contents *contents = NULL;
	struct err why = { "" };
	size_t bytes = 0;
	char *text;

	text = read_steady(table->path, &table->seen, &bytes, &why);
	table->is_young = text != NULL &&
	    llabs(clock_wall_s() - table->seen.st_mtim.tv_sec) <= YOUNG_S;
	if (text == NULL) {
		memset(&table->seen, 0, sizeof(table->seen));
		err_set(&table->trouble, "table %s: %s: %s", table->name,
		    table->path, why.text);
		replace(table, NULL);
		return;
	}
	if (table->contents != NULL && table->contents->bytes == bytes &&
	    table->contents->crc == crc32c(0, text, bytes)) {
		mem_release(text);
		return;
	}
	if (table_contents_parse(text, bytes, &contents, &why) != 1)
		err_set(&table->trouble, "%s:%s", table->path, why.text);
	replace(table, contents);
}

/* Look whether the file changed, at most once a second. */
static int
refresh(struct table *table, bool is_forced, struct err *err)
{
	int64_t now;
	struct stat st;

	if (table->path[0] != '\0') {
		now = clock_steady_ms();
		if (is_forced || !table->was_checked ||
		    now - table->checked_at >= CHECK_EVERY_MS) {
			table->was_checked = true;
			table->checked_at = now;
			if (is_forced || table->is_young ||
			    stat(table->path, &st) != 0 ||
			    !looks_the_same(&st, &table->seen))
				load(table);
		}
	}
	if (table->contents != NULL)
		return 1;
	return err_set(err, "%s", table->trouble.text);
}

enum table_result
table_lookup(struct table *table, struct slice key, struct slice *out_value,
    unsigned *out_line, struct err *err)
{
	char folded[TABLE_KEY_BYTES_MAX];
	const struct table_entry *entry;

	if (refresh(table, false, err) != 1)
		return TABLE_TROUBLE;
	if (key.n == 0 || key.n > sizeof(folded))
		return TABLE_NONE;
	for (size_t i = 0; i < key.n; i++)
		folded[i] = key.p[i] >= 'A' && key.p[i] <= 'Z' ?
		    (char)(key.p[i] + 32) : key.p[i];
	entry = table_contents_find(table->contents,
	    (struct slice){ folded, key.n });
	if (entry == NULL)
		return TABLE_NONE;
	if (out_value != NULL)
		*out_value = (struct slice){ table->contents->text +
		    entry->value, entry->value_n };
	if (out_line != NULL)
		*out_line = entry->line;
	return TABLE_FOUND;
}

enum table_result
table_has_address(struct table *table, const struct net *address,
    unsigned *out_line, struct err *err)
{
	int64_t line;

	if (refresh(table, false, err) != 1)
		return TABLE_TROUBLE;
	line = table_contents_net(table->contents, address, err);
	if (line < 0) {
		err_prefix(err, "%s", table->path[0] ? table->path :
		    table->name);
		return TABLE_TROUBLE;
	}
	if (out_line != NULL)
		*out_line = (unsigned)line;
	return line > 0 ? TABLE_FOUND : TABLE_NONE;
}

int
table_check(struct table *table, struct err *err)
{
	const struct table_contents *contents;

	if (refresh(table, true, err) != 1)
		return -1;
	contents = table->contents;
	if (contents->twice_line == 0)
		return 1;
	err_set(err, "%s:%u: this key stands in line %u already; the first "
	    "counts", table->path[0] ? table->path : table->name,
	    contents->twice_line, contents->first_line);
	return 0;
}

enum table_result
table_each(struct table *table, table_fn *fn, void *context, struct err *err)
{
	const struct table_contents *contents;

	if (refresh(table, false, err) != 1)
		return TABLE_TROUBLE;
	contents = table->contents;
	for (size_t i = 0; i < contents->count; i++) {
		const struct table_entry *entry = &contents->entries[i];
		struct slice key = { contents->text + entry->key,
			entry->key_n };
		struct slice value = { contents->text + entry->value,
			entry->value_n };

		if (!fn(context, key, value, entry->line))
			break;
	}
	return contents->count > 0 ? TABLE_FOUND : TABLE_NONE;
}

const char *
table_name(const struct table *table)
{
	return table->name;
}

const char *
table_path(const struct table *table)
{
	return table->path;
}

unsigned
table_generation(const struct table *table)
{
	return table->generation;
}

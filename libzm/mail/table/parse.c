/* parse.c - the lines of a table file become entries and a hash
 *
 * In     the bytes of a file, changed in place; hostile for all we know
 * Out    entries in file order, findable by key
 * Holds  nothing
 * Spec   mail/table/table.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "base/crc32c.h"
#include "base/odd.h"
#include "mail/table/internal.h"

#include "base/banned.h"

struct cursor {
	struct table_contents	*contents;
	size_t			 at;		/* start of the line */
	uint32_t		 line;
	struct err		*err;
	table_line_fn		*fn;		/* or NULL: err has the first */
	void			*context;
};

static bool
contents_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

static int
parse_bad(const struct cursor *cursor, const char *what)
{
	if (cursor->fn == NULL)
		return err_set(cursor->err, "%u: %s", cursor->line, what);
	cursor->fn(cursor->context, cursor->line, what);
	return 1;
}

/* "192.0.2.0/24", "2001:db8::1", "[::1]": its colons are its own. */
static bool
is_net(struct slice word)
{
	struct net net;

	return word.n > 1 && strchr("0123456789abcdefABCDEF:[", word.p[0]) &&
	    net_parse(word, &net, NULL) == 0;
}

/* Bytes of the key's text at the front of line; *out_skip how much stands
 * between it and the value. */
static size_t
key_bytes(struct slice line, size_t *out_skip)
{
	size_t n = 0, colon = line.n;
	bool is_quoted = false, is_literal = false;

	while (n < line.n && (is_quoted || !contents_is_blank(line.p[n]))) {
		char c = line.p[n];

		if (c == '\\' && is_quoted && n + 1 < line.n)
			n++;
		else if (c == '"')
			is_quoted = !is_quoted;
		else if (c == '[' || c == ']')
			is_literal = c == '[';
		else if (c == ':' && !is_quoted && !is_literal &&
		    colon == line.n && n > 0)
			colon = n;
		n++;
	}
	*out_skip = 0;
	if (colon < n && !is_net(slice_first(line, n)) &&
	    !(colon + 1 < n && line.p[n - 1] == ':' &&
	    is_net(slice_first(line, n - 1)))) {
		*out_skip = 1;
		return colon;
	}
	if (colon < n && line.p[n - 1] == ':' &&
	    !is_net(slice_first(line, n))) {
		*out_skip = 1;
		return n - 1;
	}
	return n;
}

static void
parse_fold(char *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (ascii_is_upper(p[i]))
			p[i] = (char)(p[i] + 32);
}

static int
add_entry(struct cursor *cursor, struct slice line)
{
	struct table_contents *contents = cursor->contents;
	struct table_entry *entry = &contents->entries[contents->count];
	size_t skip, n = key_bytes(line, &skip);
	struct slice key = slice_first(line, n), value;

	value = slice_from(line, n + skip);
	if (key.n >= 2 && key.p[0] == '"' && key.p[key.n - 1] == '"')
		key = (struct slice){ key.p + 1, key.n - 2 };
	if (key.n == 0)
		return parse_bad(cursor, "the key is missing");
	if (key.n > TABLE_KEY_BYTES_MAX)
		return parse_bad(cursor, "the key is too long");
	value = slice_trim(value);
	if (value.n == 0)
		value.p = line.p + line.n;
	entry->key = (uint32_t)(key.p - contents->text);
	entry->key_n = (uint16_t)key.n;
	entry->value = (uint32_t)(value.p - contents->text);
	entry->value_n = (uint32_t)value.n;
	entry->line = cursor->line;
	parse_fold(contents->text + entry->key, key.n);
	contents->count++;
	return 1;
}

/* A line that begins with a blank: the gap to the entry before becomes
 * blanks, so that its value is one piece. */
static int
continue_entry(struct cursor *cursor, struct slice line)
{
	struct table_contents *contents = cursor->contents;
	struct table_entry *entry;
	struct slice more = slice_trim(line);
	uint32_t end, from;

	if (contents->count == 0)
		return parse_bad(cursor, "this line begins with a blank, but "
		    "there is no entry that it could continue");
	entry = &contents->entries[contents->count - 1];
	from = (uint32_t)(more.p - contents->text);
	if (entry->value_n == 0)
		entry->value = from;
	end = entry->value + entry->value_n;
	if (from > end)
		memset(contents->text + end, ' ', from - end);
	entry->value_n = from + (uint32_t)more.n - entry->value;
	if (entry->value_n > TABLE_VALUE_BYTES_MAX)
		return parse_bad(cursor, "the value is too long");
	return 1;
}

static int
take_line(struct cursor *cursor, struct slice line)
{
	struct slice inside;

	if (line.n > 0 && memchr(line.p, '\0', line.n) != NULL)
		return parse_bad(cursor, "a NUL byte: this is no text file");
	inside = slice_trim(line);
	if (inside.n == 0 || inside.p[0] == '#')
		return 1;
	if (contents_is_blank(line.p[0]))
		return continue_entry(cursor, line);
	return add_entry(cursor, line);
}

static size_t
contents_hash(struct slice key)
{
	uint64_t hash = 0xcbf29ce484222325U;

	for (size_t i = 0; i < key.n; i++)
		hash = (hash ^ (unsigned char)key.p[i]) * 0x100000001b3U;
	return (size_t)(hash ^ hash >> 29);
}

static struct slice
contents_key(const struct table_contents *contents,
    const struct table_entry *entry)
{
	return (struct slice){ contents->text + entry->key, entry->key_n };
}

/* The slot where key is, or the empty one where it would go. */
static uint32_t *
contents_slot(const struct table_contents *contents, struct slice key)
{
	size_t at = contents_hash(key) & (contents->slot_count - 1);

	while (contents->slots[at] != 0 && !slice_equal(key,
	    contents_key(contents,
	    &contents->entries[contents->slots[at] - 1])))
		at = (at + 1) & (contents->slot_count - 1);
	return &contents->slots[at];
}

const struct table_entry *
table_contents_find(const struct table_contents *contents, struct slice key)
{
	uint32_t slot = *contents_slot(contents, key);

	return slot == 0 ? NULL : &contents->entries[slot - 1];
}

/* The first of two equal keys counts. */
static void
make_hash(struct table_contents *contents)
{
	contents->slot_count = 8;
	while (contents->slot_count < contents->count + contents->count / 2)
		contents->slot_count *= 2;
	contents->slots = mem_alloc(contents->slot_count,
	    sizeof(*contents->slots));
	for (size_t i = 0; i < contents->count; i++) {
		struct table_entry *entry = &contents->entries[i];
		uint32_t *slot = contents_slot(contents, contents_key(contents,
		    entry));

		if (*slot == 0) {
			*slot = (uint32_t)i + 1;
		} else if (contents->twice_line == 0) {
			contents->twice_line = entry->line;
			contents->first_line =
			    contents->entries[*slot - 1].line;
		}
	}
}

static size_t
contents_count_lines(struct slice text)
{
	size_t lines = 1;
	const char *p = text.p, *end = text.p + text.n;

	while (p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
		lines++;
		p++;
	}
	return lines;
}

/* All lines, after the mark that editors of Windows put in front. */
static int
contents_take(struct cursor *cursor, char *text, size_t bytes)
{
	struct table_contents *contents = cursor->contents;
	struct slice rest = { text, bytes }, line;

	contents->text = text;
	contents->bytes = bytes;
	contents->crc = crc32c(0, text, bytes);
	contents->entries = mem_grow(NULL, contents_count_lines(rest),
	    sizeof(*contents->entries));
	if (slice_starts(rest, ODD_MARK))
		rest = slice_from(rest, strlen(ODD_MARK));
	while (slice_cut(&rest, '\n', &line)) {
		cursor->line++;
		if (take_line(cursor, line) != 1)
			return -1;
	}
	make_hash(contents);
	return 0;
}

int
table_contents_parse(char *text, size_t bytes, struct table_contents **out,
    struct err *err)
{
	struct table_contents *contents = mem_alloc(1, sizeof(*contents));
	struct cursor cursor = { .contents = contents, .err = err };

	if (contents_take(&cursor, text, bytes) < 0) {
		table_contents_free(&contents);
		return -1;
	}
	*out = contents;
	return 0;
}

struct table_contents *
table_contents_look(char *text, size_t bytes, table_line_fn *fn, void *context)
{
	struct table_contents *contents = mem_alloc(1, sizeof(*contents));
	struct cursor cursor = { .contents = contents, .fn = fn,
	    .context = context };

	(void)contents_take(&cursor, text, bytes);
	return contents;
}

void
table_contents_free(struct table_contents **contents)
{
	if (*contents == NULL)
		return;
	mem_release((*contents)->text);
	mem_release((*contents)->entries);
	mem_release((*contents)->slots);
	mem_release((*contents)->nets);
	mem_free(contents);
}

/* text.c - types file: and inline:, lines of keys and values
 *
 * In     the path of a file, or lines
 * Out    values with their line numbers, networks
 * Holds  the text in memory, with a hash over its keys; of a large file only
 *        the map of a constant database that all processes share
 *        (side.c)
 * Trusts nothing in the file: parse.c checks every line
 * Spec   mail/table/table.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "mail/table/internal.h"
#include "mail/table/side.h"
#include "mail/table/type.h"

#include "base/banned.h"

/* ---- contents in memory: inline:, and most files --------------------- */

static int
inline_open(struct table_source *source, void **out_state, struct err *err)
{
	struct slice text = slice_of(source->argument);
	struct table_contents *fresh = NULL;

	if (source->old != NULL) {
		*out_state = source->old;
		return 1;
	}
	if (table_contents_parse(memcpy(mem_grow(NULL, text.n + 1, 1),
	    text.p, text.n), text.n, &fresh, err) != 0)
		return -1;
	*out_state = fresh;
	return 1;
}

static void
inline_close(void *state)
{
	struct table_contents *contents = state;

	table_contents_free(&contents);
}

static void
hit_entry(const struct table_contents *contents,
    const struct table_entry *entry, struct table_hit *out)
{
	out->value = (struct slice){ contents->text + entry->value,
	    entry->value_n };
	out->line = entry->line;
}

static enum table_result
inline_find(void *state, struct slice key, struct slice folded,
    struct table_hit *out, struct err *err)
{
	const struct table_contents *contents = state;
	const struct table_entry *entry = table_contents_find(contents,
	    folded);

	if (entry == NULL)
		return TABLE_NONE;
	hit_entry(contents, entry, out);
	return TABLE_FOUND;
}

static enum table_result
inline_find_net(void *state, const struct net *address,
    struct table_hit *out, struct err *err)
{
	struct table_contents *contents = state;
	const struct table_entry *entry;
	int found = table_contents_net(contents, address, &entry, err);

	if (found == 1)
		hit_entry(contents, entry, out);
	return found < 0 ? TABLE_TROUBLE : found ? TABLE_FOUND : TABLE_NONE;
}

static int
inline_check(void *state, struct err *err)
{
	const struct table_contents *contents = state;

	if (contents->twice_line == 0)
		return 1;
	err_set(err, "%u: this key stands in line %u already; the first "
	    "counts", contents->twice_line, contents->first_line);
	return 0;
}

static enum table_result
inline_each(void *state, table_fn *fn, void *context, struct err *err)
{
	const struct table_contents *contents = state;

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

const struct table_type table_type_inline = {
	.name = "inline", .open = inline_open, .close = inline_close,
	.find = inline_find, .find_net = inline_find_net,
	.check = inline_check, .each = inline_each,
};

/* ---- file: in memory, or beside it ----------------------------------- */

struct text {
	struct table_contents	*contents;	/* one of both */
	struct table_side	*side;
};

static void
file_close(void *state)
{
	struct text *text = state;

	table_contents_free(&text->contents);
	table_side_close(&text->side);
	mem_free(&text);
}

/* Contents that others can share go into a side file and leave memory. */
static int
file_read(struct table_source *source, struct text *old, struct text *text,
    struct err *err)
{
	if (table_contents_read(source, old ? old->contents : NULL,
	    &text->contents, err) != 0)
		return -1;
	if (table_side_wanted(&source->seen) &&
	    table_side_make(source, text->contents) &&
	    table_side_open(source, &text->side) &&
	    (old == NULL || text->contents != old->contents))
		table_contents_free(&text->contents);
	return 1;
}

static int
file_open(struct table_source *source, void **out_state, struct err *err)
{
	struct text *old = source->old, *text = mem_alloc(1, sizeof(*text));

	if (stat(source->argument, &source->seen) == 0 &&
	    table_side_wanted(&source->seen) &&
	    table_side_open(source, &text->side)) {
		*out_state = text;
		return 1;
	}
	if (file_read(source, old, text, err) != 1) {
		mem_free(&text);
		return -1;
	}
	if (old != NULL && text->contents == old->contents) {
		/* one of both states keeps it */
		if (text->side == NULL) {
			mem_free(&text);
			*out_state = old;
			return 1;
		}
		text->contents = NULL;
	}
	*out_state = text;
	return 1;
}

static enum table_result
file_find(void *state, struct slice key, struct slice folded,
    struct table_hit *out, struct err *err)
{
	struct text *text = state;

	return text->side != NULL ? table_side_find(text->side, folded, out,
	    err) : inline_find(text->contents, key, folded, out, err);
}

static enum table_result
file_find_net(void *state, const struct net *address, struct table_hit *out,
    struct err *err)
{
	struct text *text = state;

	if (text->contents != NULL)
		return inline_find_net(text->contents, address, out, err);
	err_set(err, "the file is too large for networks: use cidr:");
	return TABLE_TROUBLE;
}

static int
file_check(void *state, struct err *err)
{
	struct text *text = state;

	return text->contents != NULL ? inline_check(text->contents, err) : 1;
}

static enum table_result
file_each(void *state, table_fn *fn, void *context, struct err *err)
{
	struct text *text = state;

	return text->side != NULL ? table_side_each(text->side, fn, context,
	    err) : inline_each(text->contents, fn, context, err);
}

const struct table_type table_type_file = {
	.name = "file", .traits = TABLE_HAS_PATH, .open = file_open,
	.close = file_close, .find = file_find, .find_net = file_find_net,
	.check = file_check, .each = file_each,
};

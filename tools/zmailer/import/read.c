/* read.c - main.cf, master.cf and sources of tables, as bytes
 *
 * In     the bytes of a file, not trusted
 * Out    rows with the number of the line each begins on
 * Holds  nothing
 * Spec   postconf(5) and master(5), "SYNTAX"; postmap(1), "INPUT FILE FORMAT"
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "tools/zmailer/import/read.h"

#include "base/banned.h"

enum { SETTING_NAME_BYTES_MAX = 200 };

static bool
import_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' ||
	    c == '\v';
}

static struct slice
import_trim(struct slice text)
{
	while (text.n > 0 && import_is_blank(text.p[0]))
		text = slice_from(text, 1);
	while (text.n > 0 && import_is_blank(text.p[text.n - 1]))
		text.n--;
	return text;
}

/* Up to the next line feed; rest moves after it. */
static struct slice
physical_line(struct slice *rest)
{
	struct slice line = slice_first(*rest, slice_find(*rest, '\n'));

	*rest = slice_from(*rest, line.n + 1);
	return line;
}

bool
import_line_next(struct arena *arena, struct import_lines *lines,
    struct slice *out_line, unsigned *out_number)
{
	struct str joined = STR_INIT;
	bool is_open = false;

	while (lines->rest.n > 0) {
		struct slice before = lines->rest;
		struct slice line = physical_line(&lines->rest);
		struct slice words = import_trim(line);

		if (is_open && words.n > 0 && words.p[0] != '#' &&
		    !import_is_blank(line.p[0])) {
			lines->rest = before;
			break;
		}
		lines->number++;
		if (words.n == 0 || words.p[0] == '#')
			continue;
		if (!is_open)
			*out_number = lines->number;
		else
			str_addc(&joined, ' ');
		is_open = true;
		str_add_slice(&joined, words);
	}
	*out_line = slice_copy(arena, str_slice(&joined));
	str_release(&joined);
	return is_open;
}

static const char *
line_wrong(struct slice line)
{
	return memchr(line.p, '\0', line.n) != NULL ? "a NUL byte" : NULL;
}

void
import_read_main(struct arena *arena, struct slice text,
    struct import_settings *out)
{
	struct import_lines lines = { text, 0 };
	struct slice line;
	unsigned number = 0;

	*out = (struct import_settings){ NULL, 0 };
	while (import_line_next(arena, &lines, &line, &number)) {
		size_t at = slice_find(line, '=');
		struct import_setting *row;

		out->rows = arena_grow(arena, out->rows, out->count,
		    sizeof(*row));
		row = &out->rows[out->count++];
		*row = (struct import_setting){
		    .name = import_trim(slice_first(line, at)),
		    .value = import_trim(slice_from(line, at + 1)),
		    .line = number, .wrong = line_wrong(line) };
		if (at == line.n || row->name.n == 0 ||
		    slice_find(row->name, ' ') < row->name.n)
			row->wrong = "no NAME = VALUE";
		else if (row->name.n > SETTING_NAME_BYTES_MAX)
			row->wrong = "no parameter has such a name";
	}
}

void
import_read_master(struct arena *arena, struct slice text,
    struct import_services *out)
{
	struct import_lines lines = { text, 0 };
	struct slice line;
	unsigned number = 0;

	*out = (struct import_services){ NULL, 0 };
	while (import_line_next(arena, &lines, &line, &number)) {
		struct slice rest = line, field[IMPORT_SERVICE_FIELDS + 1];
		struct import_service *row;
		size_t n = 0;

		while (n <= IMPORT_SERVICE_FIELDS && slice_word(&rest,
		    &field[n]))
			n++;
		out->rows = arena_grow(arena, out->rows, out->count,
		    sizeof(*row));
		row = &out->rows[out->count++];
		*row = (struct import_service){ .name = line, .line = number,
		    .wrong = line_wrong(line) };
		if (n <= IMPORT_SERVICE_FIELDS) {
			row->wrong = "fewer than eight fields";
			continue;
		}
		row->name = field[0];
		row->type = field[1];
		row->command = field[IMPORT_SERVICE_FIELDS];
		row->arguments = import_trim(rest);
	}
}

/* KEY VALUE, or KEY: VALUE of aliases; "a key" may have blanks there. */
static void
entry_cut(struct slice line, struct import_entry *out)
{
	size_t at = 0;
	bool is_quoted = false;

	while (at < line.n && (is_quoted || !import_is_blank(line.p[at]))) {
		if (line.p[at] == '"')
			is_quoted = !is_quoted;
		at++;
	}
	out->key = slice_first(line, at);
	out->value = import_trim(slice_from(line, at));
	if (slice_ends(out->key, ":") && out->key.n > 1)
		out->key.n--;
}

void
import_read_table(struct arena *arena, struct slice text,
    struct import_entries *out)
{
	struct import_lines lines = { text, 0 };
	struct slice line;
	unsigned number = 0;

	*out = (struct import_entries){ NULL, 0 };
	while (import_line_next(arena, &lines, &line, &number)) {
		out->rows = arena_grow(arena, out->rows, out->count,
		    sizeof(*out->rows));
		entry_cut(line, &out->rows[out->count]);
		out->rows[out->count++].line = number;
	}
}

static bool
list_next(struct slice *rest, char comma, struct slice *out_element)
{
	size_t at = 0;
	int depth = 0;

	while (rest->n > 0 && (import_is_blank(rest->p[0]) ||
	    rest->p[0] == comma))
		*rest = slice_from(*rest, 1);
	for (; at < rest->n; at++) {
		depth += (rest->p[at] == '{') - (rest->p[at] == '}');
		if (depth <= 0 && (import_is_blank(rest->p[at]) ||
		    rest->p[at] == comma))
			break;
	}
	*out_element = slice_first(*rest, at);
	*rest = slice_from(*rest, at);
	if (slice_starts(*out_element, "{") && slice_ends(*out_element, "}") &&
	    out_element->n > 1)
		*out_element = import_trim((struct slice){ out_element->p + 1,
		    out_element->n - 2 });
	return at > 0;
}

bool
import_list_next(struct slice *rest, struct slice *out_element)
{
	return list_next(rest, ',', out_element);
}

bool
import_word_next(struct slice *rest, struct slice *out_word)
{
	return list_next(rest, ' ', out_word);
}

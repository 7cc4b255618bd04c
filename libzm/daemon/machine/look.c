/* look.c - a complaint about what the machine has
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "daemon/machine/look.h"
#include "mail/table/table.h"

#include "base/banned.h"

void
machine_tell(const struct machine_look *look, enum conf_kind kind,
    struct conf_at at, const char *hint, const char *text)
{
	conf_complain_at(look->report, look->arena, look->conf->book, kind,
	    at, look->width, hint, text);
}

/* ---- lines of tables ------------------------------------------------ */

/* Line number of the text, without its end. */
static struct slice
text_line(struct slice text, unsigned number)
{
	struct slice line = { NULL, 0 };

	while (number-- > 0)
		if (!slice_cut(&text, '\n', &line))
			return (struct slice){ NULL, 0 };
	if (line.n > 0 && line.p[line.n - 1] == '\r')
		line.n--;
	return slice_first(line, CONF_SOURCE_LINE_MAX);
}

/* Bytes in front of word, whatever its case; 0 when it is not there. */
static size_t
word_offset(struct slice line, struct slice word)
{
	for (size_t i = 0; word.n > 0 && i + word.n <= line.n; i++)
		if (slice_equal_nocase(slice_first(slice_from(line, i),
		    word.n), word))
			return i;
	return 0;
}

static unsigned
columns_of(struct slice text)
{
	unsigned columns = 0;

	for (size_t i = 0; i < text.n; i++)
		columns += ((unsigned char)text.p[i] & 0xc0) != 0x80;
	return columns;
}

void
machine_tell_line(struct machine_table *place, enum conf_kind kind,
    unsigned line, struct slice word, const char *hint, const char *text)
{
	const struct machine_look *look = place->look;
	const struct conf_table *entry = place->entry;
	struct conf_at at = entry->at;
	struct slice shown;
	size_t offset;

	if (line == 0 || (place->path[0] == '\0' && !entry->has_lines)) {
		machine_tell(look, kind, at, hint, text);
		return;
	}
	if (place->path[0] == '\0') {
		at.line += line - 1;
		shown = conf_line_of(look->conf->book, at);
	} else {
		at = (struct conf_at){ place->path, line, 1 };
		shown = text_line(str_slice(&place->text), line);
	}
	offset = word_offset(shown, word);
	if (offset == 0)
		while (offset < shown.n && (shown.p[offset] == ' ' ||
		    shown.p[offset] == '\t'))
			offset++;
	at.column = columns_of(slice_first(shown, offset)) + 1;
	conf_complain_line(look->report, look->arena, kind, at,
	    word.n > 0 ? columns_of(word) : 1, shown.p == NULL ? NULL :
	    slice_dup(look->arena, shown), hint, text);
}

/* text.c - is this a text file at all?
 *
 * In     the bytes of a source
 * Out    one complaint where each byte would have one
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf/read/read.h"

#include "base/banned.h"

/* Line and column of the byte at an offset. */
static struct conf_at
text_place(const struct conf_source *source, size_t offset)
{
	struct conf_at at = { source->name, 1, 1 };

	for (size_t i = 0; i < offset; i++) {
		unsigned char c = (unsigned char)source->text.p[i];

		if (c == '\n') {
			at.line++;
			at.column = 1;
		} else if ((c & 0xc0) != 0x80) {
			at.column++;
		}
	}
	return at;
}

/* A carriage return that neither ends the text nor belongs to a line end;
 * bytes in front of it, or text.n. */
static size_t
text_lone_return(struct slice text)
{
	for (size_t i = 0; i + 1 < text.n; i++)
		if (text.p[i] == '\r' && text.p[i + 1] != '\n' &&
		    text.p[i + 1] != '\r')
			return i;
	return text.n;
}

bool
conf_text_is_good(struct conf_loader *loader, const struct conf_source *source)
{
	struct slice text = source->text;
	size_t nul = slice_find(text, '\0'), lone = text_lone_return(text);
	size_t place = nul;
	const char *what = NULL, *hint = NULL;

	if (slice_starts(text, "\xFF\xFE") || slice_starts(text, "\xFE\xFF")) {
		what = "this file is in UTF-16";
		hint = "save it as UTF-8: iconv -f UTF-16 -t UTF-8";
		place = 0;
	} else if (nul < text.n) {
		what = "a NUL byte: this is no text file";
		hint = "name a file of text lines";
	} else if (lone < text.n) {
		what = "a carriage return does not end a line";
		hint = "save it with the line ends of Unix: tr '\\r' '\\n'";
		place = lone;
	}
	if (what == NULL)
		return true;
	loader->is_partial = true;
	conf_complain_at(loader->report, loader->report_arena, loader->book,
	    CONF_ERROR, text_place(source, place), 1, hint, what);
	return false;
}

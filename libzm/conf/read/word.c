/* word.c - what is one word, read and written
 *
 * In     bytes of a source; a value
 * Out    how far a placeholder reaches; the value as the lexer reads it back
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "conf/read/read.h"

#include "base/banned.h"

size_t
conf_placeholder_bytes(struct slice text)
{
	static const char *const names[] = { "{user}", "{home}", "{domain}",
	    "{detail}", "{first}", "{second}", "{hash}", "{hash2}" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (slice_starts(text, names[i]))
			return strlen(names[i]);
	return 0;
}

/* Would the parser read this back as one word? */
static bool
word_is_bare(const char *text)
{
	struct slice rest = slice_of(text);

	if (rest.n == 0 || text[0] == '#' || text[0] == '<')
		return false;
	while (rest.n > 0) {
		size_t skip = conf_placeholder_bytes(rest);

		if (skip == 0 && strchr(" \t;\"\\{}", rest.p[0]) != NULL)
			return false;
		rest = slice_from(rest, skip ? skip : 1);
	}
	return true;
}

void
conf_add_word(struct str *out, const char *text)
{
	if (word_is_bare(text)) {
		str_adds(out, text);
		return;
	}
	str_addc(out, '"');
	for (; *text != '\0'; text++) {
		if (*text == '"' || *text == '\\')
			str_addc(out, '\\');
		str_addc(out, *text);
	}
	str_addc(out, '"');
}

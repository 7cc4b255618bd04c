/* word.c - what is one word, read and written
 *
 * In     bytes of a source; a value
 * Out    how far a placeholder reaches; the value as the lexer reads it back
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/un.h>

#include "base/ascii.h"
#include "conf/read/read.h"
#include "io/unix_socket.h"

#include "base/banned.h"

size_t
conf_placeholder_bytes(struct slice text)
{
	static const char *const names[] = { "{user}", "{home}", "{domain}",
	    "{detail}", "{first}", "{second}", "{hash}", "{hash2}" };

	if (text.n == 0 || text.p[0] != '{')
		return 0;
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

		if (skip == 0 && ascii_is_among(rest.p[0], " \t;\"\\{}"))
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

bool
conf_name_is_full(const char *name)
{
	static const char *const local[] = { "localdomain", ".localdomain",
	    ".localhost", ".local", ".lan" };
	struct slice text = slice_of(name);

	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++)
		if (slice_ends(text, local[i]))
			return false;
	return text.n > 2 && text.p[0] != '.' && text.p[0] != '[' &&
	    slice_find(text, '.') + 1 < text.n;
}

bool
conf_unix_parse(struct slice text, struct slice *out_path, struct err *why)
{
	size_t room = sizeof(((struct sockaddr_un *)NULL)->sun_path);
	struct slice path;

	if (!unix_socket_path(text, &path) || !slice_starts(path, "/")) {
		err_set(why, "write unix:/PATH");
		return false;
	}
	for (size_t i = 0; i < path.n; i++)
		if ((unsigned char)path.p[i] <= ' ' || path.p[i] == 127) {
			err_set(why, "a socket's path has no blanks");
			return false;
		}
	if (path.n >= room) {
		err_set(why, "a socket's path has at most %zu bytes: choose "
		    "a shorter one", room - 1);
		return false;
	}
	if (out_path != NULL)
		*out_path = path;
	return true;
}

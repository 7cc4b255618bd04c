/* command.c - a command line of an alias, taken apart without a shell
 *
 * In     the user of a recipient of channel pipe
 * Out    words for execve
 * Trusts nothing: what is said here is never read by a shell
 * Spec   zmailer-pipe(8)
 *
 *   command = [ "|" ] 1*( blanks word )
 *   word    = 1*( char / "\" any / "'" *any "'" / DQUOTE *dq DQUOTE )
 *   dq      = any / "\" ( DQUOTE / "\" )
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "transports/pipe/command.h"

#include "base/banned.h"

/* The inside of quotes; *rest stands after the opening one. */
static int
command_quoted(struct slice *rest, char quote, struct str *word,
    struct err *err)
{
	while (rest->n > 0 && rest->p[0] != quote) {
		if (quote == '"' && rest->p[0] == '\\' && rest->n > 1 &&
		    (rest->p[1] == '"' || rest->p[1] == '\\'))
			*rest = slice_from(*rest, 1);
		str_addc(word, rest->p[0]);
		*rest = slice_from(*rest, 1);
	}
	if (rest->n == 0)
		return err_set(err, "the command has an open %c", quote);
	*rest = slice_from(*rest, 1);
	return 1;
}

static int
command_take_word(struct slice *rest, struct str *word, struct err *err)
{
	while (rest->n > 0 && !ascii_is_blank(rest->p[0])) {
		char c = rest->p[0];

		*rest = slice_from(*rest, 1);
		if (c == '\'' || c == '"') {
			if (command_quoted(rest, c, word, err) < 0)
				return -1;
			continue;
		}
		if (c == '\\') {
			if (rest->n == 0)
				return err_set(err, "the command ends in a "
				    "backslash");
			c = rest->p[0];
			*rest = slice_from(*rest, 1);
		}
		str_addc(word, c);
	}
	return 0;
}

static int
command_check_text(struct slice text, struct err *err)
{
	if (text.n > COMMAND_BYTES_MAX)
		return err_set(err, "the command is longer than %d bytes",
		    COMMAND_BYTES_MAX);
	for (size_t i = 0; i < text.n; i++)
		if (((unsigned char)text.p[i] < ' ' && text.p[i] != '\t') ||
		    text.p[i] == 127)
			return err_set(err, "the command has a control "
			    "character");
	return 0;
}

int
command_split(struct arena *arena, struct slice text, char ***out_words,
    struct err *err)
{
	struct slice rest = slice_trim(text);
	struct str word = STR_INIT;
	size_t count = 0;
	int result = command_check_text(rest, err);

	*out_words = arena_alloc(arena,
	    (COMMAND_WORDS_MAX + 1) * sizeof(char *));
	if (rest.n > 0 && rest.p[0] == '|')
		rest = slice_from(rest, 1);
	for (rest = slice_trim(rest); result == 0 && rest.n > 0;
	    rest = slice_trim(rest)) {
		str_reset(&word);
		if (count == COMMAND_WORDS_MAX) {
			result = err_set(err, "the command has more than %d "
			    "words", COMMAND_WORDS_MAX);
			break;
		}
		result = command_take_word(&rest, &word, err);
		(*out_words)[count++] = arena_dup(arena, word.buf, word.len);
	}
	str_release(&word);
	if (result == 0 && (count == 0 || (*out_words)[0][0] == '\0'))
		result = err_set(err, "there is no command");
	return result;
}

void
command_add_value(struct str *out, struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		str_addc(out, text.p[i] >= ' ' && text.p[i] <= '~' ?
		    text.p[i] : '_');
}

/* command.c - one SMTP command line taken apart
 *
 * In     a line without its CRLF
 * Out    slices of it: verb, arguments, parameters
 * Trusts nothing; control characters end the matter at once
 * Spec   RFC 5321 section 4.1.1 and 4.1.2; RFC 6531 section 3.3
 *
 *   command         = verb [ SP arguments ]
 *   Mail-parameters = esmtp-param *(SP esmtp-param)
 *   esmtp-param     = esmtp-keyword ["=" esmtp-value]
 *   esmtp-keyword   = (ALPHA / DIGIT) *(ALPHA / DIGIT / "-")
 *   esmtp-value     = 1*(%d33-60 / %d62-126 / UTF8-non-ascii)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "grammar/smtp/command.h"

#include "base/banned.h"

int
command_parse(struct slice line, struct command *out, struct err *err)
{
	size_t verb_bytes;

	*out = (struct command){ { "", 0 }, { "", 0 } };
	if (line.n == 0)
		return err_set(err, "empty command line");
	for (size_t i = 0; i < line.n; i++) {
		unsigned char c = (unsigned char)line.p[i];

		if (c < ' ' || c == 127)
			return err_set(err, "control character \\x%02X in the "
			    "command line", c);
	}
	verb_bytes = slice_find(line, ' ');
	if (verb_bytes == 0)
		return err_set(err, "the command line begins with a blank");
	out->verb = slice_first(line, verb_bytes);
	out->args = slice_from(line, verb_bytes + 1);
	while (out->args.n > 0 && out->args.p[out->args.n - 1] == ' ')
		out->args.n--;
	return 0;
}

bool
command_keyword(struct slice *args, const char *keyword)
{
	size_t n = strlen(keyword);

	if (n > 0 && keyword[n - 1] == ':')
		n--;
	if (args->n <= n || args->p[n] != ':' || !slice_equal_nocase(
	    slice_first(*args, n), (struct slice){ keyword, n }))
		return false;
	*args = slice_from(*args, n + 1);
	while (args->n > 0 && args->p[0] == ' ')
		*args = slice_from(*args, 1);
	return true;
}

static bool
is_keyword_byte(char c, bool is_first)
{
	return ascii_is_alnum(c) ||
	    (c == '-' && !is_first);
}

static int
param_check_value(struct slice value, struct err *err)
{
	size_t i = 0, n;

	if (value.n == 0)
		return err_set(err, "a parameter has nothing after its '='");
	while (i < value.n) {
		unsigned char c = (unsigned char)value.p[i];

		if (c > ' ' && c < 127 && c != '=')
			i++;
		else if ((n = slice_utf8(slice_from(value, i))) > 0)
			i += n;
		else
			return err_set(err, "the value of a parameter has a "
			    "byte that must be encoded");
	}
	return 1;
}

enum command_answer
command_param(struct slice *rest, struct slice *out_keyword,
    struct slice *out_value, struct err *err)
{
	struct slice word, value = { NULL, 0 };
	size_t n;

	if (rest->n > 0 && rest->p[0] != ' ')
		return err_set(err, "a blank is needed between address and "
		    "parameters");
	while (rest->n > 0 && rest->p[0] == ' ')
		*rest = slice_from(*rest, 1);
	if (rest->n == 0)
		return COMMAND_PARAM_END;
	word = slice_first(*rest, slice_find(*rest, ' '));
	*rest = slice_from(*rest, word.n);
	n = slice_find(word, '=');
	if (n < word.n) {
		value = slice_from(word, n + 1);
		if (param_check_value(value, err) < 0)
			return COMMAND_PARAM_BAD;
	}
	if (n == 0)
		return err_set(err, "a parameter has no name before its '='");
	for (size_t i = 0; i < n; i++)
		if (!is_keyword_byte(word.p[i], i == 0))
			return err_set(err, "the name of a parameter may have "
			    "letters, digits and hyphens only");
	*out_keyword = slice_first(word, n);
	*out_value = value;
	return COMMAND_PARAM;
}

/* argument.c - what stands behind MAIL and RCPT
 *
 * In     the bytes behind the verb
 * Out    a path and parameters, or the refusal in words
 * Trusts nothing; no byte is kept that the grammar did not accept
 * Spec   RFC 5321 sections 4.1.1.2, 4.1.1.3, 4.1.1.11
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/command.h"
#include "smtpserver/argument.h"

#include "base/banned.h"

enum { SHOWN_BYTES = 40 };

static bool
is_ascii(struct slice path)
{
	for (size_t i = 0; i < path.n && path.p[i] != '>'; i++)
		if ((unsigned char)path.p[i] > 127)
			return false;
	return true;
}

bool
argument_path(struct slice args, const char *keyword, enum path_flags flags,
    const char *status, struct path *out_path, struct slice *out_rest,
    struct answer *out)
{
	struct err err;

	if (!command_keyword(&args, keyword))
		answer_set(out, 501, "5.5.4", "%s<address> is expected",
		    keyword);
	else if (!is_ascii(args))
		answer_set(out, 553, "5.6.7", "addresses are ASCII here");
	else if (path_parse(args, flags, out_path, out_rest, &err) != 1)
		answer_set(out, 501, status, "%s", err.text);
	else if (out_rest->n > 0 && out_rest->p[0] != ' ' &&
	    out_rest->p[0] != '\t')
		answer_set(out, 501, status,
		    "something follows the address directly");
	else
		return true;
	return false;
}

static int
known_find(const char *const known[], struct slice key)
{
	for (int i = 0; known[i] != NULL; i++)
		if (slice_is_nocase(key, known[i]))
			return i;
	return -1;
}

int
argument_param(const struct session *session, struct slice *rest,
    const char *const known[], unsigned *seen, struct slice *out_value,
    struct answer *out)
{
	struct slice key, shown;
	struct err err;
	int got = command_param(rest, &key, out_value, &err), which;

	if (got == 0)
		return ARGUMENT_END;
	if (got < 0) {
		answer_set(out, 501, "5.5.4", "%s", err.text);
		return ARGUMENT_BAD;
	}
	which = session->is_esmtp ? known_find(known, key) : -1;
	shown = slice_first(key, SHOWN_BYTES);
	if (which < 0)
		answer_set(out, 555, "5.5.4",
		    "parameter " SLICE_FMT " is not offered here",
		    SLICE_ARG(shown));
	else if (*seen & 1u << which)
		answer_set(out, 501, "5.5.4",
		    "parameter " SLICE_FMT " stands twice", SLICE_ARG(shown));
	else if (out_value->n == 0)
		answer_set(out, 501, "5.5.4",
		    "parameter " SLICE_FMT " needs a value",
		    SLICE_ARG(shown));
	else {
		*seen |= 1u << which;
		return which;
	}
	return ARGUMENT_BAD;
}

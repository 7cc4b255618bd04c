/* argument.c - the arguments of MAIL and RCPT
 *
 * In     the bytes after the verb
 * Out    a path and parameters, or the refusal in words
 * Trusts nothing; no byte is kept that the grammar did not accept
 * Spec   RFC 5321 sections 4.1.1.2, 4.1.1.3, 4.1.1.11
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/smtp/command.h"
#include "smtpserver/command/argument.h"

#include "base/banned.h"

enum { SHOWN_BYTES = 40 };

bool
argument_is_ascii(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] > 127)
			return false;
	return true;
}

bool
argument_path(const struct session *session, struct slice args,
    const char *keyword, enum path_flags flags, const char *status,
    struct path *out_path, struct slice *out_rest, struct session_answer *out)
{
	bool has_keyword = command_keyword(&args, keyword);
	struct err err;

	if (session->settings->conf->bare_address_ok &&
	    slice_trim(args).n > 0)
		flags |= PATH_BARE_OK;
	if (!has_keyword)
		answer_set(out, 501, "5.5.4", "%s<address> is expected",
		    keyword);
	else if ((flags & PATH_UTF8) == 0 && !argument_is_ascii(
	    slice_first(args, slice_find(args, '>'))))
		answer_set(out, 553, "5.6.7",
		    "an address beyond ASCII needs SMTPUTF8");
	else if (path_parse(args, flags, out_path, out_rest, &err) != 0)
		answer_set(out, 501, status, "%s", err.text);
	else if (out_rest->n > 0 && out_rest->p[0] != ' ' &&
	    out_rest->p[0] != '\t')
		answer_set(out, 501, status,
		    "something follows the address directly");
	else
		return true;
	return false;
}

/* The row of a parameter that may stand here; NULL: out has a refusal. */
static const struct argument_row *
param_row_find(const struct session *session, const struct argument_row rows[],
    struct slice key, struct session_answer *out)
{
	struct slice shown = slice_first(key, SHOWN_BYTES);

	for (const struct argument_row *row = rows; session->is_esmtp &&
	    row->name != NULL; row++)
		if (slice_is_nocase(key, row->name) &&
		    keyword_is_on(session, row->keyword))
			return row;
	answer_set(out, 555, "5.5.4",
	    "parameter " SLICE_FMT " is not offered here", SLICE_ARG(shown));
	return NULL;
}

static bool
value_fits(const struct argument_row *row, struct slice value, unsigned seen,
    unsigned bit, struct session_answer *out)
{
	if (seen & bit)
		answer_set(out, 501, "5.5.4", "parameter %s stands twice",
		    row->name);
	else if (row->has_value && value.n == 0)
		answer_set(out, 501, "5.5.4", "parameter %s needs a value",
		    row->name);
	else if (!row->has_value && value.p != NULL)
		answer_set(out, 501, "5.5.4", "parameter %s takes no value",
		    row->name);
	else
		return true;
	return false;
}

bool
params_take(struct session *session, struct slice rest,
    const struct argument_row rows[], void *target, struct session_answer *out)
{
	const struct argument_row *row;
	struct slice key, value;
	unsigned seen = 0;
	struct err err;
	int got;

	while ((got = command_param(&rest, &key, &value, &err)) ==
	    COMMAND_PARAM) {
		row = param_row_find(session, rows, key, out);
		if (row == NULL || !value_fits(row, value, seen,
		    1u << (row - rows), out) ||
		    !row->take(session, value, target, out))
			return false;
		seen |= 1u << (row - rows);
	}
	if (got < 0)
		answer_set(out, 501, "5.5.4", "%s", err.text);
	return got == 0;
}

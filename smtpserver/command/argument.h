/* argument.h - the arguments of MAIL and RCPT, checked the same way
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_COMMAND_ARGUMENT_H
#define ZM_SMTPSERVER_COMMAND_ARGUMENT_H

#include "grammar/smtp/path.h"
#include "smtpserver/command/keywords.h"

/* The path after keyword ("FROM:", "TO:").  RFC 5321 section 4.1.2; without
 * < > where `bare-address accept` says so.
 * status: of the refusal, "5.1.7" or "5.1.3".  out_rest: the parameters.
 * Bytes beyond ASCII are refused unless flags have PATH_UTF8.
 * returns false when out has a refusal. */
bool argument_path(const struct session *session, struct slice args,
    const char *keyword, enum path_flags flags, const char *status,
    struct path *out_path, struct slice *out_rest, struct session_answer *out);

/* Put a checked value into target.  value: p == NULL without "=".
 * returns false when out has a refusal. */
typedef bool argument_fn(struct session *session, struct slice value,
    void *target, struct session_answer *out);

struct argument_row {		/* a parameter of MAIL or RCPT */
	const char		*name;
	enum ehlo_keyword	 keyword;	/* that offers it */
	bool			 has_value;	/* must have one; or must not */
	argument_fn		*take;
};

/* Take all esmtp-params of rest.  None is known before EHLO, none may stand
 * twice.  RFC 5321 section 4.1.1.11.
 * rows: ended by a row without name; at most 32
 * returns false when out has a refusal. */
bool params_take(struct session *session, struct slice rest,
    const struct argument_row rows[], void *target, struct session_answer *out);

/* Has it no byte beyond ASCII? */
bool argument_is_ascii(struct slice text);

#endif

/* command.h - one SMTP command line taken apart
 *
 * RFC 5321 section 4.1.1: verb, blank, arguments, then parameters of the
 * form keyword["=" value] (section 4.1.2 esmtp-param).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_COMMAND_H
#define ZM_GRAMMAR_COMMAND_H

#include "base/err.h"
#include "base/str.h"

enum {
	COMMAND_LINE_BYTES_MAX = 2048	/* section 4.5.3.1.4 asks for 512;
					 * extensions add up to 1,200 more */
};

struct command {
	struct slice	verb;	/* letters as written */
	struct slice	args;	/* after the first blank; end trimmed */
};

/* Parse a line, given without its CRLF; out borrows from it.  returns 0; -1
 * for control characters, NUL or an empty line (err fit for a 500 reply). */
int command_parse(struct slice line, struct command *out, struct err *err);

/* Take keyword ("FROM" or "TO", in any case) and a colon from the front of
 * *args.  Blanks after the colon are tolerated and taken.
 * returns whether it was there */
bool command_keyword(struct slice *args, const char *keyword);

enum command_answer {
	COMMAND_PARAM_BAD = -1,
	COMMAND_PARAM_END = 0,
	COMMAND_PARAM = 1
};

/* Take the next esmtp-param of *rest, which is what path_parse left: empty, or
 * a blank and parameters.  out_value->p is NULL if there is no "=".
 * returns COMMAND_PARAM_END after the last; COMMAND_PARAM_BAD with err */
enum command_answer command_param(struct slice *rest, struct slice *out_keyword,
    struct slice *out_value, struct err *err);

#endif

/* consult_ask.h - ask a process that daemons consult, and wait
 *
 * For tools: one question over a socket below RUN, answered by lines.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_CONSULT_ASK_H
#define ZM_IO_CONSULT_ASK_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

struct consult_question {
	const char	*socket;	/* its name below RUN */
	const char	*who;		/* "the process that posts events" */
	const char	*where;		/* zmailer run keeps it: "where there
					 * is a notify" */
	const char	*line;		/* the question, with its LF */
	const char	*token;		/* that lines begin with; "" none */
	const char	*end;		/* the last line, without the token */
	size_t		 bytes_max;	/* of the answer */
};

/* Append the lines of the answer to out, without token and end.
 * for_ms: how long it may take.  0; -1: nobody answers (err). */
int consult_ask(const struct consult_question *question, const char *run_dir,
    int64_t for_ms, struct str *out, struct err *err);

#endif

/* partner.h - a program of ours that answers lines under a configuration
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_ZMAILER_REPLAY_PARTNER_H
#define ZM_TOOLS_ZMAILER_REPLAY_PARTNER_H

#include <stdio.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"

struct partner {		/* zeroed: none */
	pid_t	 pid;
	FILE	*to, *from;
	char	*line;
	size_t	 capacity;
};

/* Start a program of libexec with these words, which end with NULL, under the
 * configuration at conf_path.  0 or -1. */
int partner_start(struct partner *partner, const char *program,
    const char *const *words, const char *conf_path, struct err *err);
/* Send a line and read one; *out is valid until the next call.  0; -1: it has
 * ended, and said why on standard error. */
int partner_ask(struct partner *partner, struct slice line,
    struct slice *out, struct err *err);
/* The next line of an answer that has several.  0 or -1. */
int partner_read(struct partner *partner, struct slice *out,
    struct err *err);
/* Wait for its end. */
void partner_end(struct partner *partner);

#endif

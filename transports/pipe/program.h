/* program.h - one program, run with a message on its standard input
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_PROGRAM_H
#define ZM_TRANSPORTS_PROGRAM_H

#include <stdint.h>

#include "mail/verdict.h"
#include "transports/frame/account.h"

enum {
	PROGRAM_LINE_BYTES = 200	/* kept of its output */
};

struct pipe_program {
	const char		*path;		/* NULL: argv[0], searched */
	char			**argv, **environment;
	const struct account	*owner;		/* as whom it runs */
	const char		*directory;	/* where; "/" if missing */
	int			 message_fd;	/* at offset 0 */
	int64_t			 timeout_ms;
	uint64_t		 memory_bytes;	/* address space; 0: any */
	uint64_t		 output_bytes;	/* it may write; 0: any */
};

enum program_how { PROGRAM_EXITED, PROGRAM_SIGNALLED, PROGRAM_TIMED_OUT,
	PROGRAM_NOT_RUN, PROGRAM_TALKED_ON };

struct program_end {
	enum program_how how;
	int	number;				/* status or signal */
	char	line[PROGRAM_LINE_BYTES];	/* first of the output */
};

/* Run a program to its end.  It leads a process group of its own, has only
 * descriptors 0, 1 and 2, and is killed with its group when the time is up, or
 * when it wrote too much.  The first line of its output is kept, the rest read
 * and dropped. */
void program_run(const struct pipe_program *program, struct program_end *out);

/* The verdict of its end: 0 delivered; 75 (EX_TEMPFAIL), a signal, a time-out,
 * no process, or too much output: deferred; any other status: failed. */
void program_verdict(const struct program_end *end, struct verdict *out);

#endif

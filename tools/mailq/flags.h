/* mailq_flags.h - every flag of mailq(1): ZMailer's, and those of other mailqs
 *
 * A flag acts, is ignored because there is nothing to do, or is refused with
 * advice what to use instead; none is ignored in silence.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_QUEUE_MAILQ_FLAGS_H
#define ZM_TOOLS_QUEUE_MAILQ_FLAGS_H

#include "base/err.h"
#include "base/str.h"

enum mailq_report {
	MAILQ_LIST,		/* every message, in the classic words */
	MAILQ_SUMS,		/* -S: a line for each destination, by files */
	MAILQ_THREADS,		/* -Q */
	MAILQ_GROUPS,		/* -QQ */
	MAILQ_TOTALS,		/* -QQQ */
	MAILQ_COUNTERS,		/* -QQQQ, -M */
	MAILQ_THREAD		/* -c, -h: one of them */
};

struct mailq_flags {
	enum mailq_report report;
	unsigned	 status;	/* -s; 2: only that */
	bool		 is_raw;	/* -d: as the scheduler answers */
	bool		 is_mine;	/* -i */
	const char	*user;		/* -u; NULL: everybody's */
	const char	*channel, *host;	/* MAILQ_THREAD */
	const char	*conf;		/* -C, -Z; NULL */
	const char	*server;	/* NULL: this machine */
	const char	*port;		/* -p; NULL: 174; with a / a path */
	int		 family;	/* -4, -6; else AF_UNSPEC */
	const char	*key_file;	/* -k; NULL */
	const char	*identity;	/* -U, or that of nobody */
	char		**words;	/* a command for it; may be empty */
};

/* Read the command line.
 * returns 0; -1: err says which flag, and what to do */
int mailq_flags_read(int argc, char **argv, struct mailq_flags *out,
    struct err *err);

/* Split NAME/PASSWORD at the first of / : ,.  False: there is none, or a part
 * is empty or has size bytes or more. */
bool mailq_identity(const char *text, char *name, char *password,
    size_t size);

#endif

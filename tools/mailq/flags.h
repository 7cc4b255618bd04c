/* mailq_flags.h - every flag of mailq(1): ZMailer's, and what other mailqs have
 *
 * A flag acts, is ignored because there is nothing to do, or is refused with
 * what to say instead; none is swallowed.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_QUEUE_MAILQ_FLAGS_H
#define ZM_TOOLS_QUEUE_MAILQ_FLAGS_H

#include "base/err.h"
#include "base/str.h"

enum mailq_report {
	MAILQ_LIST,		/* every message, in the classic words */
	MAILQ_SUMS,		/* -S: a line a destination, from the files */
	MAILQ_THREADS,		/* -Q */
	MAILQ_GROUPS,		/* -QQ */
	MAILQ_TOTALS,		/* -QQQ */
	MAILQ_COUNTERS,		/* -QQQQ, -M */
	MAILQ_THREAD		/* -c, -h: one of them */
};

struct mailq_flags {
	enum mailq_report report;
	unsigned	 status;	/* -s; 2: that alone */
	bool		 is_raw;	/* -d: as the scheduler says it */
	bool		 is_mine;	/* -i */
	const char	*user;		/* -u; NULL: everybody's */
	const char	*channel, *host;	/* MAILQ_THREAD */
	const char	*conf;		/* -C, -Z; NULL */
	const char	*server;	/* NULL: this machine */
	const char	*port;		/* -p; NULL: 174; with a / a path */
	int		 family;	/* -4, -6; else AF_UNSPEC */
	const char	*key_file;	/* -k; NULL */
	const char	*identity;	/* -U, or who nobody is */
	char		**words;	/* a command for it; may be empty */
};

/* Read the command line.
 * returns 0; -1: err says which flag, and what to do */
int mailq_flags_read(int argc, char **argv, struct mailq_flags *out,
    struct err *err);

/* NAME/PASSWORD, parted by the first of / : ,.  False: there is none, or one
 * of them is empty or has size bytes and more. */
bool mailq_identity(const char *text, char *name, char *password,
    size_t size);

#endif

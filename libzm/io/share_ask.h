/* share_ask.h - ask the process that counts with other machines (share)
 *
 * For tools: how it stands, over RUN/share.sock; doc/protocol/share.md.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_SHARE_ASK_H
#define ZM_IO_SHARE_ASK_H

#include "base/err.h"
#include "base/str.h"

/* Below RUN. */
#define SHARE_SOCKET "share.sock"

enum {
	SHARE_ASK_FOR_MS = 5000,
	SHARE_KEEP_EVERY_MS = 20000,	/* who holds a place says so; it is
					 * free after three times that */
	SHARE_MISSING_S = 30	/* a node not seen for longer is missing */
};

enum share_line_kind { SHARE_OTHER, SHARE_NODE, SHARE_REDIS };

struct share_line {		/* of the status */
	struct slice	 name;		/* of the node; the address of Redis */
	struct slice	 whose;		/* of a node: "self" "other"
					 * "stranger" */
	bool		 is_known;	/* seconds is: a node that was seen;
					 * Redis */
	bool		 is_trouble;	/* missing; away.  A stranger that is
					 * missing may have been taken out, and
					 * is no trouble */
	uint64_t	 seconds;	/* seen ago; since when it is so */
	struct slice	 words;		/* why Redis is away */
};

/* Its status: lines "node ...", "redis ...", "figures ...", appended to out.
 * for_ms: how long it may take (SHARE_ASK_FOR_MS, or less where others are
 * asked, too).  0; -1: nobody answers (err). */
int share_ask_status(const char *run_dir, int64_t for_ms, struct str *out,
    struct err *err);

/* What one of these lines says; out borrows it.
 * returns its kind: SHARE_OTHER of one that is neither, or damaged. */
enum share_line_kind share_line_parse(struct slice line,
    struct share_line *out);

#endif

/* share_ask.h - ask the process that counts with other machines (share)
 *
 * For tools: its status, over RUN/share.sock; doc/protocol/share.md.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_CONSULT_SHARE_ASK_H
#define ZM_IO_CONSULT_SHARE_ASK_H

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

enum share_line_kind { SHARE_OTHER, SHARE_NODE, SHARE_REDIS, SHARE_COPIES,
	SHARE_OWNER };

struct share_line {		/* of the status */
	struct slice	 name;		/* of the node, the owner; the address
					 * of Redis */
	struct slice	 whose;		/* of a node: "self" "other"
					 * "stranger"; of an owner: who took it
					 * over, empty: nobody */
	bool		 is_known;	/* seconds are known: of Redis, of a
					 * node that was seen, of a lease */
	bool		 is_trouble;	/* a node is missing (not a stranger,
					 * which may have been removed), Redis
					 * or PostgreSQL is away, an owner has
					 * copies and no lease */
	uint64_t	 seconds;	/* since a node was seen; since Redis or
					 * PostgreSQL is in this state; of the
					 * lease of an owner */
	uint64_t	 count;		/* copies of an owner, or that wait */
	uint64_t	 bytes, epoch;	/* of an owner */
	struct slice	 words;		/* why it is away */
};

/* Append its status to out: lines "node ...", "redis ...", "figures ...",
 * "copies ...", "owner ...".
 * for_ms: how long this may take (SHARE_ASK_FOR_MS, or less if other processes
 * are asked as well).  0; -1: nobody answers (err). */
int share_ask_status(const char *run_dir, int64_t for_ms, struct str *out,
    struct err *err);

/* Append the blocks of the cluster to out: lines "block UNTIL KIND KEY ABOUT".
 * 0; -1: nobody answers, or Redis is away (err). */
int share_ask_blocks(const char *run_dir, struct str *out, struct err *err);

/* Parse a line of the status; out borrows from it.
 * returns its kind; SHARE_OTHER: none of the others, or damaged */
enum share_line_kind share_line_parse(struct slice line,
    struct share_line *out);

#endif

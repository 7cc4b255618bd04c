/* answer.h - parsing one line of a transport agent
 *
 * doc/protocol/agent.md.  The agent may have been taken over, so every field is
 * bounded and checked.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_ANSWER_H
#define ZM_SCHEDULER_ANSWER_H

#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "mail/verdict.h"

enum { ANSWER_LINE_BYTES_MAX = 4096 };

enum answer_kind {
	ANSWER_HUNGRY,		/* "#hungry" */
	ANSWER_RESYNC,		/* "#resync N": name is set */
	ANSWER_MX,		/* "#mx NAME": name is set */
	ANSWER_CONNECTED,	/* "#connected PEER TAB TLS": who, text */
	ANSWER_CLOSED,		/* "#closed" */
	ANSWER_WARM,		/* "#warm yes", "#warm no TEXT": is_open,
				 * text */
	ANSWER_REMARK,		/* any other line that begins with # */
	ANSWER_VERDICT
};

struct answer {
	enum answer_kind kind;
	struct slice	name;		/* N, below transport/; NAME */
	ino_t		inode;		/* of it */
	uint32_t	offset;		/* of the recipient */
	bool		has_next;
	int64_t		next_s;		/* "+seconds" */
	enum verdict_kind verdict;
	bool		host_trouble;	/* "deferall" */
	bool		is_open;
	struct slice	status, who, text;
};

/* Parse a line (without its LF); slices borrow from it.  0; -1: malformed, err
 * names the field. */
int answer_parse(struct slice line, struct answer *out, struct err *err);

#endif

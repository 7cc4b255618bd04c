/* inquirers.h - who asks share, over RUN/share.sock
 *
 * smtpserver asks, and tools that root runs.
 *
 *	to it		TOKEN take COUNT SPAN_MS KEY  |  TOKEN status
 *	from it		TOKEN ok ok  |  TOKEN ok over SECONDS  |
 *			TOKEN ok, after the lines of a status
 *
 * A line ends in LF.  Answers come in any order.  take is always answered,
 * whatever Redis does.  doc/protocol/share.md.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_ASK_INQUIRERS_H
#define ZM_SHARE_ASK_INQUIRERS_H

#include "share/ledger/ledger.h"

enum {
	INQUIRERS_MAX = 256,
	INQUIRERS_WAITS_MAX = 16384,	/* of one of them */
	INQUIRERS_LEAVE_MS = 2000,	/* what was asked is answered */
	INQUIRERS_LINE_BYTES_MAX = 4096
};

struct inquirers;

/* Answer at the listening socket until the other end of lifeline is closed:
 * then what was asked, no more, and the loop stops. */
struct inquirers *inquirers_new(struct process *process, struct ledger *ledger,
    int socket, int lifeline);
void inquirers_free(struct inquirers **inquirers);

#endif

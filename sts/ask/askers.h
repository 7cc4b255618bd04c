/* askers.h - who asks for policies, over RUN/sts.sock
 *
 *	policy DOMAIN		policy MODE LEFT ID MX...  |  none  |
 *				trouble WORDS
 *	refresh DOMAIN		the same, looked up now
 *	list			DOMAIN MODE LEFT ID MX... lines, then "."
 *
 * A line ends in LF; answers come in the order of questions.  Who may connect
 * is said by the socket's group and mode.  doc/protocol/sts.md.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_STS_ASKERS_ASKERS_H
#define ZM_STS_ASKERS_ASKERS_H

#include "sts/known/known.h"

enum {
	ASKERS_MAX = 512,
	ASKERS_LEAVE_MS = 6000,	/* what was asked is answered, no longer */
	ASKERS_LINE_BYTES_MAX = 1024
};

struct askers;

/* Answer at the listening socket until the other end of lifeline is closed:
 * then what was asked, no more, and the loop stops. */
struct askers *askers_new(struct process *process, struct known *known,
    int socket, int lifeline);
void askers_free(struct askers **askers);

#endif

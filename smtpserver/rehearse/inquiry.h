/* inquiry.h - who answers the questions of a rehearsal
 *
 * Nothing has to run: the helpers are asked as in a session, the router's own
 * code in a process of its own.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_REHEARSE_INQUIRY_H
#define ZM_SMTPSERVER_REHEARSE_INQUIRY_H

#include "daemon/skeleton.h"
#include "io/ipc.h"
#include "smtpserver/rehearse/rehearsal.h"

struct inquiry {
	struct process		 process;	/* of the helpers; its conf */
	struct helpers		*helpers;
	enum ask_state		 state;		/* of the last answer */
	struct str		 answer;
	bool			 is_answered;
	pid_t			 router;	/* 0: not yet; -1: none */
	int			 router_socket;
	struct ipc_inbox	 router_inbox;
};

/* Read the configuration, and fill what rehearsals share.  0; -1: it is
 * wrong, as standard error says. */
int inquiry_open(struct inquiry *inquiry, struct rehearsal *out);
void inquiry_close(struct inquiry *inquiry, struct rehearsal *rehearsal);

/* A rehearsal_ask_fn; context is the inquiry.  Kind "router" goes to the
 * router, others to a helper. */
bool inquiry_ask(void *context, const char *kind, struct slice question,
    enum ask_state *out_state, struct str *out);

#endif

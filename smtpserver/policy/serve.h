/* serve.h - what helper processes do for policy rules
 *
 * Rows of helper_kinds: each serves the listener over socket and returns
 * when the listener is gone.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_POLICY_SERVE_H
#define ZM_SMTPSERVER_POLICY_SERVE_H

#include "daemon/skeleton.h"

/* Rates, and limits of what is in parallel. */
void rate_serve(struct process *process, int socket);
/* Policy services (policyd.h). */
void policyd_serve(struct process *process, int socket);
/* The greylist. */
void greylist_serve(struct process *process, int socket);

#endif

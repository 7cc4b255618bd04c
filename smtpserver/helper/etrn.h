/* etrn.h - the helper that tells the scheduler to start a queue
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_HELPER_ETRN_H
#define ZM_SMTPSERVER_HELPER_ETRN_H

#include "daemon/skeleton.h"

/* The kind of its questions: NODE, @NODE or #QUEUE of RFC 1985.
 * Answered by "none", "suspended" (an operator's order), or "started COUNT". */
extern const char etrn_kind[];

/* What the process does (helper.h). */
void etrn_serve(struct process *process, int socket);

/* One question to the scheduler that listens in run_dir: true and the
 * answer; or false and why. */
bool etrn_ask(const char *run_dir, struct slice host, struct str *out);

#endif

/* process.h - the process that answers ZMailer's mailq protocol, kept alive
 *
 * The launcher starts it, because its port may be one that only root may
 * have; it hands the scheduler a connection for each of its clients.  When
 * it dies, or cannot listen, it is started again, after a pause that grows;
 * when its statement has changed on reload, it is replaced.  No mail waits
 * for it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_MAILQ_PROCESS_H
#define ZM_SCHEDULER_MAILQ_PROCESS_H

#include "scheduler/control/control.h"

enum {
	MAILQ_PAUSE_FIRST_MS = 250,	/* before it is started again */
	MAILQ_PAUSE_MAX_MS = 60000,
	MAILQ_STEADY_MS = 60000		/* it ran so long: the first pause */
};

/* The launcher's ask (launcher_start_beside), or a test's. */
typedef int mailq_start_fn(int socket, struct err *err);

struct mailq_process;

/* Start it if the configuration names a mailq; its clients are control's.
 * mailq_free ends it. */
struct mailq_process *mailq_new(const struct agents *agents,
    struct control *control, mailq_start_fn *start);

/* The launcher's notice: it ended, or (pid 0) could not be started. */
void mailq_ended(struct mailq_process *mailq, pid_t pid, int status);

/* The configuration was replaced; old is still there. */
void mailq_reload(struct mailq_process *mailq, const struct conf *old);

/* Its connection is closed, with which it ends; sessions go on. */
void mailq_free(struct mailq_process **mailq);

#endif

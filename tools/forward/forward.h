/* forward.h - send events to syslog or journald, too (log-to)
 *
 * A process of its own reads the journal as it grows and sends each line by a
 * datagram, without waiting.  Programs that write events do not know of it:
 * whatever happens to syslog, no mail waits for it.  While nobody takes the
 * lines, they wait in the journal; if more than FORWARD_BEHIND_BYTES wait, they
 * are left out and counted (event log.dropped).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_FORWARD_H
#define ZM_TOOLS_FORWARD_H

#include "conf/conf.h"
#include "daemon/sidecar.h"

enum {
	FORWARD_BEHIND_BYTES = 16 << 20,
	FORWARD_LINE_BYTES = 8000,	/* of a datagram; the rest is cut */
	FORWARD_AGAIN_MS = 1000	/* between two tries of the socket */
};

/* Its position, in memory that outlives the process and is handed over to other
 * versions of it (tools/run/handover): a new layout needs a new version of the
 * record. */
struct forward_place {
	uint64_t	inode;		/* of the file; 0: begin at the end */
	uint64_t	offset;		/* of the first byte not sent */
};

/* ---- the supervisor ----------------------------------------------------- */

struct log_forward {
	struct sidecar		 sidecar;
	struct conf *const	*conf;	/* points to the one in force */
	int			 place_fd;	/* a memfd, for a program that
						 * replaces us; -1: none */
	struct forward_place	*place;		/* its mapping */
};

/* Begin with what is written from now on, if the configuration says so. */
void forward_start(struct log_forward *forward, struct loop *loop,
    struct conf *const *conf);
/* The same when we replaced another program in this process: a process of this
 * program continues where the existing one (pid 0: none) ends. */
void forward_take_over(struct log_forward *forward, struct loop *loop,
    struct conf *const *conf, pid_t pid, int lifeline, int place_fd);
/* The configuration has changed. */
void forward_reload(struct log_forward *forward);
void forward_stop(struct log_forward *forward);
/* pid was waited for, and may be that process. */
void forward_ended(struct log_forward *forward, pid_t pid);

/* ---- the process -------------------------------------------------------- */

/* Read and send until the other end of lifeline is closed. */
void forward_run(const struct conf *conf, struct forward_place *place,
    int lifeline) __attribute__((noreturn));

/* Append a line of the journal as a datagram for this service. */
void forward_line(const struct conf_log_to *to, struct slice line,
    struct str *out);

#endif

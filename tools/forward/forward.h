/* forward.h - a second home of events (log-to): syslog or journald
 *
 * A process of its own reads the journal as it grows and sends each line on
 * by a datagram that never waits.  Who writes events knows nothing of it:
 * however syslog fares, no mail waits for it.  While nobody takes them the
 * lines wait in the journal; when more than FORWARD_BEHIND_BYTES do, they are
 * left out and counted (event log.dropped).
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

/* Where it is, in memory that outlives the process, and is handed to other
 * versions of it (tools/run/handover): another layout is another version of
 * the record. */
struct forward_place {
	uint64_t	inode;		/* of the file; 0: begin at the end */
	uint64_t	offset;		/* of the first byte not sent */
};

/* ---- the supervisor ----------------------------------------------------- */

struct log_forward {
	struct sidecar		 sidecar;
	struct conf *const	*conf;	/* where the one in force is */
	int			 place_fd;	/* a memfd, for who takes our
						 * place; -1: none */
	struct forward_place	*place;		/* which is mapped */
};

/* Begin with what is written from now on, if the configuration says so. */
void forward_start(struct log_forward *forward, struct loop *loop,
    struct conf *const *conf);
/* The same, after the program before us in this process: a process of this
 * program goes on where the one that there is (pid 0: none) ends. */
void forward_take_over(struct log_forward *forward, struct loop *loop,
    struct conf *const *conf, pid_t pid, int lifeline, int place_fd);
/* The configuration is another. */
void forward_reload(struct log_forward *forward);
void forward_stop(struct log_forward *forward);
/* pid was waited for: maybe it was that process. */
void forward_ended(struct log_forward *forward, pid_t pid);

/* ---- the process -------------------------------------------------------- */

/* Read and send until the other end of lifeline is closed. */
void forward_run(const struct conf *conf, struct forward_place *place,
    int lifeline) __attribute__((noreturn));

/* A line of the journal as the datagram that this home takes. */
void forward_line(const struct conf_log_to *to, struct slice line,
    struct str *out);

#endif

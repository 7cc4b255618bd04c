/* verdicts.h - sessions that wait for the next hop's answer: RUN/verdict.sock
 *
 * smtpserver's listener asks here for its sessions, in the lines of
 * smtpserver/helper/helper.h.  ID is a spool id; WORDS are one line.
 *
 * 	to us		TOKEN expect ID    it comes; say what becomes of it
 * 			TOKEN wait ID      it is published; the client waits
 * 			TOKEN told ID      the client hears the refusal
 * 			TOKEN gone ID      nobody waits for it any more
 * 	from us		TOKEN ok yes  |  TOKEN ok no		 (expect)
 * 			TOKEN ok delivered STATUS WORDS		 (wait)
 * 			TOKEN ok refused STATUS WORDS
 * 			TOKEN ok queued WORDS
 * 			TOKEN ok done				 (told, gone)
 * 			TOKEN trouble WORDS
 *
 * wait is answered when every recipient has its outcome, when one is
 * deferred, or when `timeout cut-through` is over.  After `refused` no report
 * is begun for VERDICTS_TOLD_MS: `told` in that time ends the message without
 * one; after silence, `gone` or the end of the connection it is written as
 * usual.  Only smtpserver may ask, as the kernel identifies it, and only about
 * messages that it announced by the same connection.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_VERDICTS_H
#define ZM_SCHEDULER_VERDICTS_H

#include "daemon/rights.h"
#include "scheduler/plan/queue.h"

enum {
	VERDICTS_PEERS_MAX = 16,		/* connections at once */
	VERDICTS_LINE_BYTES_MAX = 256,
	VERDICTS_EXPECT_MS = 60000,	/* announced, and then not published */
	VERDICTS_TOLD_MS = 10000
};

struct verdicts;

/* Make and bind the socket, replacing one that a dead process left.  Returns
 * the descriptor, or -1 with err. */
int verdicts_bind(const char *run_dir, struct err *err);

/* Serve on that descriptor (taken over), for the hearers of the queue. */
struct verdicts *verdicts_new(struct queue *queue, int socket);
/* End all connections; reports that waited are sent as usual. */
void verdicts_free(struct verdicts **verdicts);
/* The configuration was replaced: another account may be smtpserver's. */
void verdicts_reload(struct verdicts *verdicts);
/* Serve another connected socket (taken over), without asking who it is. */
void verdicts_take(struct verdicts *verdicts, int socket);

/* End of a turn: send the verdicts that were reached. */
void verdicts_turn_end(struct verdicts *verdicts);

#endif

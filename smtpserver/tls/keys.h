/* keys.h - the process that keeps the private keys
 *
 * Forked by the listener before it gives up root; reads certificates and
 * keys, tells workers the certificates, and signs handshakes for them.
 * No worker ever has a key: not in a file it could open, not in memory.
 *
 * Lines of a worker, over a socket of its own:
 *
 *	sign ID KEY DIGEST pss|plain BYTES	DIGEST "-": none
 *
 * and to it (BYTES, CHAIN, ... in base64; NAME "-": those in it, several have
 * commas between them):
 *
 *	begin / pair KEY NAME CHAIN / ca PEM / tickets KEY KEY|- / end
 *	signed ID SIGNATURE
 *	refused ID
 *
 * The set from begin to end comes once at first, and again as a whole
 * whenever something in it has changed.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_TLS_KEYS_H
#define ZM_SMTPSERVER_TLS_KEYS_H

#include "daemon/skeleton.h"

/* ---- the listener's side ---------------------------------------------- */

struct keys;

/* Fork it: child_fn closes in the child what is not its business.  NULL with
 * err. */
struct keys *keys_start(struct process *process, loop_fn *child_fn,
    void *context, struct err *err);
/* Watch it from now on: its end is ours, fatal. */
void keys_attach(struct keys *keys);
/* It ends as well. */
void keys_free(struct keys **keys);

/* A socket for a new worker; the caller closes it.  Workers for our own
 * users and those for strangers have tickets of their own, so that neither
 * can open the other's.  -1 with err. */
int keys_open(struct keys *keys, bool is_submission, struct err *err);

/* Read the configuration again. */
void keys_reload(struct keys *keys);

/* ---- the process ------------------------------------------------------ */

enum { KEYS_LOOK_EVERY_MS = 1000 };	/* at the files */

/* Serve until the listener has gone. */
void keys_process(struct process *process, int socket)
	__attribute__((noreturn));

#endif

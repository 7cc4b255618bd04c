/* signer.h - the process that has the keys of sign statements
 *
 * Forked by the router before it gives up root, because keys may be root's
 * alone.  It reads them, and signs sums for workers: no worker ever has a
 * key, not in a file it could open, not in memory.
 *
 * Lines of a worker, over a socket of its own, one at a time:
 *
 *	key DOMAIN SELECTOR		what kind is it
 *	sign DOMAIN SELECTOR SUM	SUM: SHA-256 in base64
 *
 * and to it:
 *
 *	kind rsa|ed25519
 *	signed rsa|ed25519 SIGNATURE	in base64
 *	refused REASON
 *
 * At a reload all keys are read again; one that is no good leaves the one
 * before in use.  One that never was any good is tried again whenever it is
 * asked for.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_SIGN_SIGNER_H
#define ZM_ROUTER_SIGN_SIGNER_H

#include "daemon/skeleton.h"

#define SIGNER_RSA "rsa"
#define SIGNER_ED25519 "ed25519"

/* ---- the router's side ------------------------------------------------ */

struct signer;

/* Fork it: child_fn closes in the child what is not its business.  NULL with
 * err. */
struct signer *signer_start(struct process *process, loop_fn *child_fn,
    void *context, struct err *err);
/* Watch it from now on: its end is ours, fatal. */
void signer_attach(struct signer *signer);
/* It ends as well; NULL is harmless. */
void signer_free(struct signer **signer);

/* A socket for a new worker; the caller closes it.  -1 with err. */
int signer_open(struct signer *signer, struct err *err);
/* Read the configuration, and the keys, again. */
void signer_reload(struct signer *signer);

/* ---- the process ------------------------------------------------------ */

/* Serve until the router has gone. */
void signer_process(struct process *process, int socket)
	__attribute__((noreturn));

#endif

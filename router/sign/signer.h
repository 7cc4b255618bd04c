/* signer.h - the processes that have the keys of sign statements
 *
 * Forked by the router before it gives up root, because keys may be root's
 * alone.  Each reads them all, and signs sums for workers: no worker ever has
 * a key, not in a file it could open, not in memory.  A signature by an RSA
 * key costs as much as all else that a worker does with a message, so there
 * are as many as workers that can be at work at a time.
 *
 * Lines of a worker, over a socket of its own, one at a time:
 *
 *	key DOMAIN SELECTOR [TABLE]		what kind is it
 *	sign DOMAIN SELECTOR SUM [TABLE]	SUM: SHA-256 in base64
 *
 * TABLE: that of `sign <TABLE> keys DIR`, which has the domain.
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

enum { SIGNER_MAX = 8 };

struct signer;

/* How many processes are wanted for so many workers: one each, at most one a
 * processor that is online, at most SIGNER_MAX, at least one. */
unsigned signer_count(unsigned workers);

/* Fork them: child_fn closes in each what is not its business.  NULL with
 * err. */
struct signer *signer_start(struct process *process, loop_fn *child_fn,
    void *context, struct err *err);
/* Watch them from now on: the end of one is ours, fatal. */
void signer_attach(struct signer *signer);
/* They end as well; NULL is harmless. */
void signer_free(struct signer **signer);

/* A socket for the worker of this number (pool_fork_fn), to the process whose
 * turn that is; the caller closes it.  -1 with err. */
int signer_open(struct signer *signer, unsigned worker, struct err *err);
/* Read the configuration, and the keys, again: all of them. */
void signer_reload(struct signer *signer);

/* ---- the process ------------------------------------------------------ */

/* Serve until the router has gone.  The first of them tells the journal which
 * key of a row is no good. */
void signer_process(struct process *process, int socket, bool is_first)
	__attribute__((noreturn));

#endif

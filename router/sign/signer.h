/* signer.h - the processes that have the keys of sign statements
 *
 * The router forks them before it gives up root, because only root may be able
 * to read keys.  Each process reads all of them, and signs sums for workers: no
 * worker ever has a key, neither in a file that it could open nor in memory.  A
 * signature by an RSA key costs as much as all else that a worker does with a
 * message, so there are as many processes as workers that can run at a time.
 *
 * Lines of a worker, over a socket of its own, one at a time:
 *
 *	key DOMAIN SELECTOR [TABLE]		which kind is it?
 *	sign DOMAIN SELECTOR SUM [TABLE]	SUM: SHA-256 in base64
 *
 * TABLE: of `sign <TABLE> keys DIR`, if that has the domain.
 *
 * and to it:
 *
 *	kind rsa|ed25519
 *	signed rsa|ed25519 SIGNATURE	in base64
 *	refused REASON
 *
 * At a reload all keys are read again; if one is bad, the old one stays in use.
 * A key that never was good is tried again whenever it is asked for.
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

/* How many processes are wanted for this number of workers: one for each, but
 * not more than processors online or SIGNER_MAX, and at least one. */
unsigned signer_count(unsigned workers);

/* Fork them; child_fn is called in each and closes what it must not have.  NULL
 * with err. */
struct signer *signer_start(struct process *process, loop_fn *child_fn,
    void *context, struct err *err);
/* Watch them from now on: if one ends, that is fatal. */
void signer_attach(struct signer *signer);
/* End them.  NULL is harmless; sets *signer to NULL. */
void signer_free(struct signer **signer);

/* A socket for the worker of this number (pool_fork_fn) to one of the
 * processes, which take turns; the caller closes it.  -1 with err. */
int signer_open(struct signer *signer, unsigned worker, struct err *err);
/* Read the configuration, and the keys, again: all of them. */
void signer_reload(struct signer *signer);

/* ---- the process ------------------------------------------------------ */

/* Serve until the router is gone.  The first of them tells the journal which
 * keys of rows are bad. */
void signer_process(struct process *process, int socket, bool is_first)
	__attribute__((noreturn));

#endif

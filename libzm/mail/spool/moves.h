/* moves.h - what a person has moved stays moved
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_SPOOL_MOVES_H
#define ZM_MAIL_SPOOL_MOVES_H

#include "mail/spool/spool.h"

/* What spool_resubmit, spool_claim_aside, spool_trash and spool_untrash have
 * moved stays moved when the power fails: before a person hears that it is
 * done.  One fsync of each directory, however many messages it were; it waits
 * for the disk.  returns 0 or -1 (all of it is moved, but not for sure) */
int spool_sync_moves(struct spool *spool, struct err *err);

#endif

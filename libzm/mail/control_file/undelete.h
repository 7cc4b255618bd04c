/* undelete.h - bring a routed message back from trash/
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_UNDELETE_H
#define ZM_MAIL_UNDELETE_H

#include "mail/control_file/control_file.h"

/* Row D7 of doc/INTERNALS.md, backwards: restore the cancelled recipients of
 * trash/<name>, then move it and its control file back.  by: who orders it;
 * out_name: its name below transport/.  The caller syncs (spool_sync).
 * returns 0, out_count: how many recipients; -1 (errno EEXIST: the number
 * is taken): nothing was moved. */
int control_undelete(struct spool *spool, const char *name, const char *by,
    char out_name[SPOOL_NAME_BYTES], size_t *out_count, struct err *err);

#endif

/* share_order.h - orders to the process share that take over mail
 *
 * For tools of root: several questions over one connection, one at a time,
 * with descriptors; doc/protocol/share.md, section 4.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_CONSULT_SHARE_ORDER_H
#define ZM_IO_CONSULT_SHARE_ORDER_H

#include "base/err.h"
#include "base/str.h"

enum { SHARE_ORDER_FOR_MS = 15000 };	/* an answer takes at most */

struct share_order;

/* Connect.  NULL: err. */
struct share_order *share_order_open(const char *run_dir, struct err *err);
/* Ask "VERB ..." and wait; fd goes along, -1: none (it stays the caller's).
 * *out_answer is what follows "ok ", valid until the next question.
 * 0; -1: there is no answer (err). */
int share_order_ask(struct share_order *order, const char *question, int fd,
    struct slice *out_answer, struct err *err);
/* NULL is harmless. */
void share_order_close(struct share_order **order);

#endif

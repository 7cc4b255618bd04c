/* orderer.h - orders that the scheduler gives itself, by its own protocol
 *
 * What the site's script wants is done like an operator's order: one request
 * after the other on a connection to this process's own control, so that
 * records, journal and crashes are those of any order.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_ORDERER_H
#define ZM_SCHEDULER_ORDERER_H

#include "base/err.h"
#include "base/str.h"
#include "io/loop.h"

/* Open a connection; returns the descriptor of our end, or -1 with err. */
typedef int orderer_connect_fn(struct err *err);

struct orderer;

/* Make an orderer, which connects when there is something to order; freed by
 * orderer_free. */
struct orderer *orderer_new(struct loop *loop, orderer_connect_fn *connect);
/* Free it; requests not yet sent are dropped. */
void orderer_free(struct orderer **orderer);
/* Send a request, a line with its LF.  A refusal causes an event. */
void orderer_add(struct orderer *orderer, struct slice line);

#endif

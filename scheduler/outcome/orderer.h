/* orderer.h - orders that the scheduler gives itself, by its own protocol
 *
 * What the script of the site wants is done as if an operator had said so:
 * one request after the other on a connection to the control of this very
 * process, so that records, journal and crashes are those of any order.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_ORDERER_H
#define ZM_SCHEDULER_ORDERER_H

#include "base/err.h"
#include "base/str.h"
#include "io/loop.h"

/* A new connection: the descriptor of our end, or -1 with err. */
typedef int orderer_connect_fn(struct err *err);

struct orderer;

/* It connects when there is something to order. */
struct orderer *orderer_new(struct loop *loop, orderer_connect_fn *connect);
/* What was not sent yet is not done. */
void orderer_free(struct orderer **orderer);
/* Give a request, a line with its LF.  A refusal is an event. */
void orderer_add(struct orderer *orderer, struct slice line);

#endif

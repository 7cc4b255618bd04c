/* offers.h - questions about mail that goes to another node by an order
 *
 * taken, left, offer, withdraw; offers, take, arrived of the node that gets
 * it.  An offer is a row's move_to.  Who takes it makes the row its own, and
 * move_to stays until the message is durable there: it is arriving.  SERIAL is
 * a number of one run of the giver's scheduler, in zm_node: `taken` sets
 * another one, and an offer of before that is still on its way has no effect.
 * Of this folder alone.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_COPIES_OFFERS_H
#define ZM_SHARE_COPIES_OFFERS_H

#include "share/copies/single.h"

/* As the functions of single.h; step from 0. */
bool offers_next(struct single *single, size_t step,
    struct wire_statement *out);
void offers_take_rows(struct single *single, size_t index,
    const struct wire_rows *rows);
/* The last line of the answer. */
void offers_add_end(struct single *single, struct str *lines);
/* Answer what the database refused, if it is known why, and certain that
 * nothing was done.  false: it is not. */
bool offers_refused(struct copies_wait *wait,
    const struct wire_trouble *trouble);

#endif

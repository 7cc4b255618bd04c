/* take.h - messages of the cluster's database come into this spool
 *
 * Those of a node that is lost (`zmailer cluster takeover`), and those that a
 * node has given to this one (`zmailer move`).  Groups of them: drafts in
 * public/ (row I1), a line of `imported` each (I2), the database is told, then
 * they are published.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_COPIES_TAKE_H
#define ZM_TOOLS_COPIES_TAKE_H

#include "conf/conf.h"
#include "io/consult/share_order.h"

struct take;

struct take_done {
	uint64_t messages, bytes, with_state, frozen, had;
};

/* Begin, as root: opens what only root may, and goes on as the router.  node
 * and by (of events) are borrowed.  0; -1: err, errno is EWOULDBLOCK when
 * another process brings messages here now. */
int take_begin(const struct conf *conf, struct share_order *order,
    struct take **out, struct err *err);
void take_end(struct take **take);

/* All that the database has of a node which this one has taken over; what has
 * a line in `imported` already is only told.  0; -1: err, the same again does
 * the rest. */
int take_lost(struct take *take, const char *node, const char *by,
    struct err *err);
/* All that is arriving here; node: who gave it, "-": nobody knows.  0; -1: err,
 * the next run does the rest. */
int take_arriving(struct take *take, const char *node, struct err *err);

/* Have so many bytes room here? */
bool take_has_room(const struct take *take, uint64_t bytes);
/* What was done so far. */
const struct take_done *take_done(const struct take *take);

#endif

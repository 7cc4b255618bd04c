/* take.h - messages of the cluster's database come into this spool
 *
 * Those of a node that is lost (`zmailer cluster takeover`), and those that a
 * node has given to this one (`zmailer move`).  Up to 100 become ours in the
 * database, and are arriving (row I4 of doc/INTERNALS).  Then, in groups:
 * drafts in public/ (I1), a line of `imported` each (I2), the database is told,
 * and they are published.
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

/* All that node offers to this one, or all that it has when this one has taken
 * it over, and what is arriving here already.  *out_is_left: it has messages
 * still; of one that was taken over: it is back, or another one took it over.
 * 0; -1: err, the same again does the rest. */
int take_from(struct take *take, const char *node, const char *by,
    bool *out_is_left, struct err *err);
/* All that is arriving here; node: who had it, "-": nobody knows.  What has a
 * line in `imported` already is only told.  0; -1: err, the next run does the
 * rest. */
int take_arriving(struct take *take, const char *node, const char *by,
    struct err *err);

/* Have so many bytes room here? */
bool take_has_room(const struct take *take, uint64_t bytes);
/* What was done so far. */
const struct take_done *take_done(const struct take *take);

#endif

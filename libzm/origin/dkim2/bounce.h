/* bounce.h - reports about mail that was signed (DKIM2)
 *
 * draft-ietf-dkim-dkim2-spec-04: a report goes to whom the last signature names
 * as the sender (mf=), and to nobody where that is null; who signs it has the
 * message, because that was sent to his domain (rt=).  Who gets one holds what
 * it returns against that.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_DKIM2_BOUNCE_H
#define ZM_ORIGIN_DKIM2_BOUNCE_H

#include "origin/dkim2/dkim2.h"

/* Find the message that a report returns, or its header alone
 * (*out_is_header), in its parts.  *out borrows.  false: there is none */
bool dkim2_returned(struct slice report, struct slice *out,
    bool *out_is_header);

/* After dkim2_judge passed a message with a null sender: if it is a report that
 * returns a message with a chain, that chain must hold, too; its last hop must
 * be of whom the report comes to, and have sent to the domain that signed the
 * report.  Else *report becomes fail, or temperror, with that as its reason.
 * returns report->origin; ORIGIN_ASKS: keys must be asked for first */
enum origin dkim2_bounce_judge(struct answers *answers,
    const struct dkim2_mail *mail, struct arena *arena,
    struct dkim2 *report);

/* The last hop of the chain in a header, which is read and not verified.
 * false: there is no chain that can be read */
bool dkim2_last_hop(struct slice header, struct arena *arena,
    struct dkim2_hop *out);

#endif

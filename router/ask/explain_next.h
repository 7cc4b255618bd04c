/* explain_next.h - what becomes of a recipient after the router
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_EXPLAIN_NEXT_H
#define ZM_ROUTER_EXPLAIN_NEXT_H

#include "conf/conf.h"
#include "router/rcpts/control_draft.h"

/* Append the schedule clause for a recipient and, if asks_mx, the hosts that
 * would get its mail (this asks the DNS and may take seconds): lines for
 * people, or members of the open JSON object. */
void explain_next(const struct conf *conf, const struct draft_rcpt *rcpt,
    bool asks_mx, bool is_json, struct str *out);

#endif

/* explain_forward.h - where a user's forward file leads
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_EXPLAIN_FORWARD_H
#define ZM_ROUTER_EXPLAIN_FORWARD_H

#include "conf/conf.h"
#include "router/rcpts/control_draft.h"

/* Append where the forward file of a recipient of channel local leads, why it
 * is ignored, or that we may not read it: a line for people, or members of the
 * open JSON object.  Nothing if there is none. */
void explain_forward(const struct conf *conf, const struct draft_rcpt *rcpt,
    bool is_json, struct str *out);

#endif

/* rewrite.h - addresses that become others: canonical, masquerade, generic
 *
 * On the way in (canonical, masquerade, qualify) an address changes before
 * anything is looked up; on the way out (generic) it changes for recipients
 * of a channel, who then get a header of their own.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_REWRITE_H
#define ZM_ROUTER_REWRITE_H

#include "router/route/routing.h"

/* Does any statement change an address on the way in? */
bool rewrite_is_on(const struct conf *conf);

/* Rewrite an address on the way in.  of: REWRITE_SENDERS or _RCPTS, and
 * REWRITE_ENVELOPE or _HEADERS, and REWRITE_STRANGERS if the mail comes from
 * outside.  The path's new slices are in the arena.  ROUTE_YES: it was
 * changed. */
enum route_answer rewrite_path(struct routing *routing, unsigned of,
    struct path *path, struct err *err);

/* Rewrite the header for recipients of this number (struct draft_rcpt, header);
 * 0: on the way in, of mail from outside if is_stranger.  Only bytes of
 * addresses that change are changed.  ROUTE_YES: all of it was appended to out;
 * ROUTE_NO: nothing would change, out is unchanged. */
enum route_answer rewrite_header(struct routing *routing, unsigned number,
    bool is_stranger, struct slice header, struct str *out, struct err *err);

/* Apply generic to a recipient: its number, sender, user.  0 or -1. */
int rewrite_rcpt(struct routing *routing, struct draft_rcpt *rcpt,
    struct err *err);

/* Rewrite an address for recipients of this number, not 0, as rewrite_path. */
enum route_answer rewrite_path_generic(struct routing *routing, unsigned number,
    struct path *path, struct err *err);

#endif

/* bytes.h - what the router would do with a message file
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_BYTES_H
#define ZM_ROUTER_BYTES_H

#include "router/message/message.h"

/* Route the message file at path, whose first line may lack its numbers (it was
 * not completed), and append a JSON object:
 * 	fate	routed refused frozen deferred unseen broken
 * 	why	of the last four; of refused: what all recipients get
 * 	words	about the trouble, or of a script; or none
 * 	wrongs	what header-check says, "; " between them
 * 	copied	true: header-check keeps a copy
 * 	header	as it is sent on, without the leading Received field
 * or {"bad":"..."}: the file cannot be read.  Touches no spool. */
void bytes_answer(struct router *router, struct message *message,
    struct slice path, struct str *out);

#endif

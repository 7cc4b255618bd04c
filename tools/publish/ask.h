/* ask.h - one order to the taker of one node, by the desk
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_PUBLISH_ASK_H
#define ZM_TOOLS_PUBLISH_ASK_H

#include "tools/publish/order.h"

/* What became of it.  SILENT: nothing is known, but that it was not begun;
 * CUT_OFF: it may have been done. */
enum publish_said { PUBLISH_DONE, PUBLISH_REFUSED, PUBLISH_SILENT,
	PUBLISH_CUT_OFF };

/* Say "VERB ID [NUMBER]", and for an offer the bytes, to that node.
 * number is taken by offer (bytes.n) and take (seconds)
 * out_words   "STATE VERSION" of a look, or why not; without controls */
enum publish_said publish_ask(const struct conf *conf, const char *node,
    const struct publish_order *order, struct slice bytes,
    struct str *out_words);
/* The same, when all of it may take so long, from the connection's being made
 * to the last byte of the answer; publish_ask: five minutes. */
enum publish_said publish_ask_within(const struct conf *conf,
    const char *node, const struct publish_order *order, struct slice bytes,
    int64_t within_ms, struct str *out_words);
/* The same for take, keep, back and undo, which may end the process nodes of
 * that machine on their way: if the answer does not come, look there until what
 * was asked is seen, or patience_ms are over. */
enum publish_said publish_ask_surely(const struct conf *conf,
    const char *node, const struct publish_order *order,
    int64_t patience_ms, struct str *out_words);

#endif

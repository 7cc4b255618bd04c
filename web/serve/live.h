/* live.h - numbers that a page shows while it is looked at
 *
 * A stream of server-sent events (HTML Standard, section 9.2): an event
 * "count" with what waits by state, when it is another than before, and now
 * and then a comment, by which both sides see that the other one is there.
 * All streams have one question at the scheduler.  A stream ends with its
 * session, which it does not keep alive.
 *
 *   event: count
 *   data: {"v":1,"states":{"ready":{"messages":1,"recipients":2}}}
 *   data: {"v":1,"trouble":"..."}	(instead, when nobody answers)
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_LIVE_H
#define ZM_WEB_LIVE_H

#include "web/serve/serving.h"

enum {
	LIVE_MAX = 100,		/* streams; one more is told to come later */
	LIVE_EVERY_MS = 2000,	/* between questions, at least */
	LIVE_SHARE = 50,	/* and so many times what the last one took, */
	LIVE_LAST_MS = 60000,	/* but no more than this */
	LIVE_WRITE_S = 10,
	LIVE_SIGN_MS = 15000	/* without a change: a comment */
};

/* GET /live: the stream (a serve_fn). */
serve_fn live_begin;

#endif

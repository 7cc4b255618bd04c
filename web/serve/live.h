/* live.h - numbers that a page updates while it is shown
 *
 * A stream of server-sent events (HTML Standard, section 9.2): an event "count"
 * with what waits by state whenever that changed, and from time to time a
 * comment, by which each side sees that the other is there.  All streams share
 * one question to the scheduler.  A stream ends with its session, which it does
 * not keep alive.
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
	LIVE_MAX = 100,		/* streams; more are told to come later */
	LIVE_EVERY_MS = 2000,	/* between questions, at least, */
	LIVE_SHARE = 50,	/* and this many times what the last took, */
	LIVE_LAST_MS = 60000,	/* but not more than this */
	LIVE_WRITE_S = 10,
	LIVE_SIGN_MS = 15000	/* without a change: a comment is sent */
};

/* GET /live: the stream (a serve_fn). */
serve_fn live_begin;

#endif

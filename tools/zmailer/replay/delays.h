/* delays.h - how long past mail would have waited under a schedule
 *
 * The journal says when each message came for a destination, when that took
 * it, and when it was deferred before.  A schedule is tried on these: each
 * message waits for its turn (rate, parallel) and for its next try (retry); a
 * try before the last moment at which the destination deferred it is deferred
 * again, the first one after it is answered.  Not counted: sending zones,
 * what a host's answers make less, agents shared with others.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_ZMAILER_REPLAY_DELAYS_H
#define ZM_TOOLS_ZMAILER_REPLAY_DELAYS_H

#include "tools/zmailer/replay/replay.h"

struct delays;

/* Read the window.  0, *out is to be freed; -1 with err. */
int delays_read(struct replay *replay, struct delays **out, struct err *err);
void delays_free(struct delays **delays);

/* Append for a destination ("smtp/example.net") under a clause: ", 12 messages
 * waited 4m on the average, 1h at most, 30 tries"; nothing if none of its mail
 * was answered in the window. */
void delays_say(const struct delays *delays, struct slice dest,
    const struct conf_schedule *clause, struct str *out);

#endif

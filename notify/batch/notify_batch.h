/* notify_batch.h - events of one request: the body, its name, its signature
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_NOTIFY_BATCH_H
#define ZM_NOTIFY_BATCH_H

#include "base/err.h"
#include "past/trail.h"

enum {
	BATCH_EVENTS_MAX = 100,
	BATCH_BYTES_MAX = 256 * 1024,	/* of the body, unless one event
					 * alone is larger */
	BATCH_GATHER_MS = 1000,		/* from the first event on */
	BATCH_ID_BYTES = 33,
	BATCH_SIGN_BYTES = 65
};

struct notify_batch {
	struct str	body;
	size_t		count;
	int64_t		oldest_ms;	/* of its first event, since 1970 */
	char		id[BATCH_ID_BYTES];
};

/* An empty one, of this machine. */
void notify_batch_begin(struct notify_batch *batch, const char *host);
void notify_batch_release(struct notify_batch *batch);

/* Add a line of the journal; one that is damaged is left out.  false: there is
 * no room for it. */
bool notify_batch_add(struct notify_batch *batch, struct slice line);

/* No more is added.  The id is made of the places where it begins and ends,
 * and of the words of the statement: the same batch has the same one. */
void notify_batch_end(struct notify_batch *batch,
    const struct trail_place *from, const struct trail_place *to,
    const char *words);

/* HMAC-SHA256 of "SECONDS.BODY" in hexadecimal. */
void notify_batch_sign(const struct notify_batch *batch, struct slice key,
    int64_t now_s, char out[BATCH_SIGN_BYTES]);

#endif

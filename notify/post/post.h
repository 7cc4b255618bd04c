/* post.h - one request to a receiver of events
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_NOTIFY_POST_H
#define ZM_NOTIFY_POST_H

#include "conf/conf.h"
#include "grammar/http.h"
#include "notify/batch/notify_batch.h"
#include "tls/client.h"

enum {
	POST_FOR_MS = 10000,		/* all of it, from the look-up on */
	POST_REPLY_BYTES_MAX = 4096,	/* of the reply's body, read and
					 * dropped */
	POST_REPLY_FOR_MS = 1000	/* after its head */
};

/* Who it is for. */
struct post_goal {
	struct http_url	 url;
	struct slice	 key;
	struct tls_client *tls;		/* NULL where the URL is http */
};

enum post_result {
	POST_TAKEN,		/* 2yz */
	POST_FAILED,		/* err says how */
	POST_GONE		/* 410 */
};

/* Straight-line code: returns after POST_FOR_MS at the latest, or what a
 * look-up of the name takes (io/dns/dns.h).  Redirects are not followed. */
enum post_result post_send(const struct post_goal *goal,
    const struct notify_batch *batch, struct err *err);

#endif

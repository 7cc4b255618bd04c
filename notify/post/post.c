/* post.c - one request to a receiver of events
 *
 * In     a batch
 * Out    whether it was accepted
 * Holds  a connection, as long as it takes
 * Trusts a receiver as tls/outward/http_call.h does: only the code of its
 *        reply counts
 * Spec   post.h; doc/NOTIFY.md; RFC 9112
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>

#include "base/clock.h"
#include "notify/post/post.h"
#include "tls/outward/http_call.h"

#include "base/banned.h"

enum { CODE_GONE = 410 };

static void
post_request_add(struct str *out, const struct post_goal *goal,
    const struct notify_batch *batch, int64_t now_s)
{
	const struct http_url *url = &goal->url;
	char signature[BATCH_SIGN_BYTES];

	notify_batch_sign(batch, goal->key, now_s, signature);
	str_addf(out, "POST %s" SLICE_FMT " HTTP/1.1\r\n",
	    url->target.n > 0 && url->target.p[0] == '/' ? "" : "/",
	    SLICE_ARG(url->target));
	str_addf(out, url->is_six ? "Host: [%s]" : "Host: %s", url->host);
	if (url->port != (url->is_tls ? 443 : 80))
		str_addf(out, ":%u", url->port);
	str_addf(out, "\r\nUser-Agent: zmailer/" PACKAGE_VERSION "\r\n"
	    "Content-Type: application/json\r\nContent-Length: %zu\r\n"
	    "Zmailer-Signature: t=%" PRId64 ",v1=%s\r\nZmailer-Batch: %s\r\n"
	    "Connection: close\r\n\r\n", batch->body.len, now_s, signature,
	    batch->id);
	str_add_slice(out, str_slice(&batch->body));
}

static enum post_result
reply_judge(const struct http_call *call, struct err *err)
{
	const struct http_head *head = &call->head;

	if (head->code / 100 == 2)
		return POST_TAKEN;
	err_set(err, "%s answers %u%s", call->host, head->code,
	    head->code / 100 == 3 ? ": redirects are not followed" : "");
	return head->code == CODE_GONE ? POST_GONE : POST_FAILED;
}

/* Who closes before all has come may be seen as broken by the other side;
 * what it says besides is of no use. */
static void
reply_drop(struct http_call *call)
{
	int64_t until_ms = clock_steady_ms() + POST_REPLY_FOR_MS;
	struct str none = STR_INIT;
	struct err ignored;

	if (call->deadline_ms > until_ms)
		call->deadline_ms = until_ms;
	(void)http_call_body(call, &none, 0, POST_REPLY_BYTES_MAX, &ignored);
	str_release(&none);
}

enum post_result
post_send(const struct post_goal *goal, const struct notify_batch *batch,
    struct err *err)
{
	enum post_result result = POST_FAILED;
	struct http_call call;

	http_call_init(&call);
	call.host = goal->url.host;
	call.port = goal->url.port;
	call.tls = goal->tls;
	call.deadline_ms = clock_steady_ms() + POST_FOR_MS;
	if (http_call_open(&call, err) == 0) {
		post_request_add(&call.peer.out, goal, batch, clock_wall_s());
		if (http_call_ask(&call, err) == 0 &&
		    http_call_hear(&call, err) == 0) {
			result = reply_judge(&call, err);
			reply_drop(&call);
		}
	}
	http_call_release(&call);
	return result;
}

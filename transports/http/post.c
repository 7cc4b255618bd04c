/* post.c - one POST: asked, and answered
 *
 * In     a message, a recipient, a URL
 * Out    an answer of HTTP, or the verdict of a line that broke
 * Holds  nothing beside the agent's connection
 * Trusts nothing: what the server says is bounded in bytes and in time
 * Spec   RFC 9112 sections 6.3, 9.3 and 9.6; zmailer-http(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "transports/http/http.h"

#include "base/banned.h"

/* What became of a request. */
enum course {
	ANSWERED,
	BROKEN,		/* verdict is set */
	NOT_BEGUN	/* the kept connection was dead already: once more */
};

struct exchange {
	struct http		*http;
	struct smtp_client		*client;
	const struct http_url	*url;
	const struct control_job	*job;
	const struct control_rcpt	*rcpt;
	const struct http_message *message;
	struct http_answer	*answer;
	struct verdict		*verdict;
};

static enum course
exchange_broken(struct exchange *exchange, enum peer_result result,
    const struct err *err, const char *step)
{
	bool may_repeat = exchange->http->posts > 0 &&
	    result != PEER_TIMEOUT &&
	    peer_unread(&exchange->client->peer).n == 0;

	client_broken(exchange->client, result, err, step,
	    exchange->verdict);
	http_close(exchange->http);
	return may_repeat ? NOT_BEGUN : BROKEN;
}

/* ---- asking ------------------------------------------------------------ */

/* Send what has collected.  PEER_EOF: the answer is there before its time,
 * so that no more needs to be sent. */
static enum peer_result
exchange_send_some(struct exchange *exchange, struct err *err)
{
	struct smtp_client *client = exchange->client;
	int64_t now_ms = clock_steady_ms();
	enum peer_result result = peer_flush(&client->peer, now_ms +
	    client->conf->timeouts.data_block_ms, err);
	struct err ignored;

	/* a server that closed may have said why */
	if (result == PEER_ERROR && peer_unread(&client->peer).n == 0)
		(void)peer_fill(&client->peer, now_ms + 1000, &ignored);
	return peer_unread(&client->peer).n > 0 ? PEER_EOF : result;
}

static enum course
exchange_unreadable(struct exchange *exchange, const struct err *err)
{
	verdict_set(exchange->verdict, VERDICT_DEFERRED, "4.3.0", "http",
	    "%s", err->text);
	http_close(exchange->http);
	return BROKEN;
}

static enum course
exchange_send_body(struct exchange *exchange, bool *out_early)
{
	const struct http_message *message = exchange->message;
	struct str *out = &exchange->client->peer.out;
	enum peer_result result = PEER_OK;
	bool after_cr = false;
	uint64_t at = 0;
	struct err err;
	enum http_piece got = PIECE_READ;

	if (message->is_whole) {
		str_add_slice(out, str_slice(&message->body));
		got = PIECE_NONE;
	}
	while (got == PIECE_READ && result == PEER_OK) {
		got = http_message_piece(message, &at, &after_cr, out, &err);
		if (got == PIECE_TROUBLE)
			return exchange_unreadable(exchange, &err);
		if (got == PIECE_READ && out->len >= PEER_OUT_BYTES)
			result = exchange_send_some(exchange, &err);
	}
	if (result == PEER_OK)
		result = exchange_send_some(exchange, &err);
	*out_early = result == PEER_EOF;
	return result == PEER_OK || *out_early ? ANSWERED :
	    exchange_broken(exchange, result, &err, "sending the message");
}

static enum course
exchange_ask(struct exchange *exchange, bool *out_early)
{
	struct str *out = &exchange->client->peer.out;
	struct err err;

	str_reset(out);
	if (http_request_add(out, exchange->url, exchange->job,
	    exchange->rcpt, exchange->message->length,
	    exchange->http->secret, &err) < 0) {
		verdict_set(exchange->verdict, VERDICT_DEFERRED, "4.7.0",
		    "http", "%s", err.text);
		str_reset(out);
		return BROKEN;
	}
	str_add_slice(out, str_slice(&exchange->message->head));
	return exchange_send_body(exchange, out_early);
}

/* ---- hearing ----------------------------------------------------------- */

/* The reply's text, as far as it is read.  true: all of it came. */
static bool
exchange_hear_body(struct exchange *exchange, const struct http_head *head,
    int64_t deadline_ms, struct str *text)
{
	struct peer *peer = &exchange->client->peer;
	size_t taken = 0, used;
	struct http_body body;
	struct err err;

	http_body_begin(&body, head);
	while (taken <= HTTP_BODY_BYTES_MAX) {
		int got = http_body_take(&body, peer_unread(peer), &used,
		    text, HTTP_WORDS_BYTES_MAX, &err);

		peer_consume(peer, used);
		taken += used;
		if (got != 0)
			return got > 0;
		if (taken <= HTTP_BODY_BYTES_MAX &&
		    peer_fill(peer, deadline_ms, &err) != PEER_OK)
			return false;
	}
	return false;
}

/* The head of the final reply, copied to text; what head says borrows from
 * there. */
static enum course
exchange_hear_head(struct exchange *exchange, int64_t deadline_ms,
    struct str *text,
    struct http_head *head)
{
	struct peer *peer = &exchange->client->peer;
	unsigned interim = 0;
	struct err err;

	for (;;) {
		struct slice unread = peer_unread(peer);
		enum peer_result result = PEER_ERROR;
		int got = http_head_parse(unread, head, &err);

		if (got > 0 && head->code >= 200) {
			str_add_slice(text, slice_first(unread, head->bytes));
			peer_consume(peer, head->bytes);
			(void)http_head_parse(str_slice(text), head, &err);
			return ANSWERED;
		}
		if (got > 0) {
			peer_consume(peer, head->bytes);
			if (++interim <= HTTP_INTERIM_MAX &&
			    head->code != 101)
				continue;
			err_set(&err, "the server does not come to the point");
		} else if (got == 0) {
			result = peer_fill(peer, deadline_ms, &err);
		}
		if (result != PEER_OK)
			return exchange_broken(exchange, result, &err,
			    "waiting for the reply to POST");
	}
}

static enum course
exchange_hear(struct exchange *exchange, bool is_early)
{
	struct http_answer *answer = exchange->answer;
	struct http *http = exchange->http;
	int64_t deadline_ms = clock_steady_ms() +
	    exchange->client->conf->timeouts.data_end_ms;
	struct str head_text = STR_INIT, text = STR_INIT;
	struct http_head head;
	enum course course;
	bool is_whole;

	course = exchange_hear_head(exchange, deadline_ms, &head_text, &head);
	if (course == ANSWERED) {
		is_whole = exchange_hear_body(exchange, &head, deadline_ms,
		    &text);
		answer->code = head.code;
		answer->wait_s = http_retry_after(head.retry_after,
		    clock_wall_us() / 1000000);
		http_words(&answer->words, &head, str_slice(&text));
		http->posts++;
		if (head.is_closing || !is_whole || is_early)
			http_close(http);
	}
	str_release(&head_text);
	str_release(&text);
	return course;
}

/* ---- both -------------------------------------------------------------- */

static enum course
exchange_run(struct exchange *exchange)
{
	bool is_early = false;
	enum course course;

	if (!http_open(exchange->http, exchange->url,
	    exchange->job->terms.needs_tls, exchange->verdict))
		return BROKEN;
	course = exchange_ask(exchange, &is_early);
	return course == ANSWERED ? exchange_hear(exchange, is_early) : course;
}

void
http_post(struct http *http, const struct http_url *url,
    const struct control_job *job, const struct control_rcpt *rcpt,
    const struct http_message *message, struct http_answer *answer,
    struct verdict *verdict)
{
	struct exchange exchange = {
		.http = http, .client = &http->client, .url = url,
		.job = job, .rcpt = rcpt, .message = message,
		.answer = answer, .verdict = verdict,
	};
	enum course course;

	*answer = (struct http_answer){ .words = STR_INIT };
	course = exchange_run(&exchange);
	if (course == NOT_BEGUN)	/* RFC 9112 section 9.3.1 */
		course = exchange_run(&exchange);
	if (course == ANSWERED)
		http_meaning(answer, http->client.who, verdict);
}

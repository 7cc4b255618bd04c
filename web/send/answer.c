/* answer.c - what a program hears of its request
 *
 * In     outcomes, words of servers
 * Out    a reply in JSON; no word of others is in its header
 * Spec   answer.h; RFC 9110 sections 10.2.3, 11.6.1, 15
 *
 * SPDX-License-Identifier: ISC
 */
#include <event2/buffer.h>
#include <event2/http.h>
#include <stdio.h>

#include "base/json.h"
#include "grammar/base64.h"
#include "web/send/answer.h"

#include "base/banned.h"

static const char *
answer_reason(int status)
{
	static const struct {
		int		 status;
		const char	*words;
	} rows[] = {
		{ 200, "OK" }, { 400, "Bad Request" },
		{ 401, "Unauthorized" }, { 403, "Forbidden" },
		{ 405, "Method Not Allowed" }, { 409, "Conflict" },
		{ 413, "Content Too Large" },
		{ 415, "Unsupported Media Type" },
		{ 422, "Unprocessable Content" },
		{ 429, "Too Many Requests" },
		{ 503, "Service Unavailable" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].status == status)
			return rows[i].words;
	return "Internal Server Error";
}

static void
answer_add_extra(struct evkeyvalq *fields, const struct answer_extra *extra)
{
	char number[16];

	if (extra->retry_after_s > 0) {
		snprintf(number, sizeof(number), "%d", extra->retry_after_s);
		(void)evhttp_add_header(fields, "Retry-After", number);
	}
	if (extra->is_replayed)
		(void)evhttp_add_header(fields, "Idempotency-Replayed",
		    "true");
	if (extra->wants_login)
		(void)evhttp_add_header(fields, "WWW-Authenticate",
		    "Basic realm=\"mail\", charset=\"UTF-8\"");
}

void
answer_send(struct evhttp_request *http, int status, struct slice text,
    const struct answer_extra *extra)
{
	struct evkeyvalq *fields;
	struct evbuffer *body;

	if (http == NULL)
		return;
	fields = evhttp_request_get_output_headers(http);
	body = evbuffer_new();
	(void)evhttp_add_header(fields, "Content-Type", "application/json");
	(void)evhttp_add_header(fields, "X-Content-Type-Options", "nosniff");
	(void)evhttp_add_header(fields, "Cache-Control", "no-store");
	(void)evhttp_add_header(fields, "Connection", "close");
	if (extra != NULL)
		answer_add_extra(fields, extra);
	if (body != NULL)
		(void)evbuffer_add(body, text.p, text.n);
	evhttp_send_reply(http, status, answer_reason(status), body);
	if (body != NULL)
		evbuffer_free(body);
}

void
answer_error(struct evhttp_request *http, int status, const char *words,
    const struct answer_extra *extra)
{
	struct str out = STR_INIT;

	json_open_answer(&out);
	json_text(&out, "error", slice_of(words));
	json_close(&out);
	answer_send(http, status, str_slice(&out), extra);
	str_release(&out);
}

/* ---- recipients --------------------------------------------------------- */

static bool
outcome_is_good(const struct rcpt_outcome *outcome)
{
	return outcome->code / 100 == 2;
}

void
answer_outcomes(struct str *out, const struct letter *letter,
    const struct rcpt_outcome *outcomes, const char *id, struct slice words)
{
	struct slice *accepted = arena_alloc(letter->arena,
	    (letter->rcpt_count + 1) * sizeof(*accepted));
	size_t count = 0;

	for (size_t i = 0; i < letter->rcpt_count; i++)
		if (outcome_is_good(&outcomes[i]))
			accepted[count++] = letter->rcpts[i];
	json_open_answer(out);
	if (id != NULL)
		json_text(out, "id", slice_of(id));
	if (words.n > 0)
		json_text(out, "error", words);
	json_list(out, "accepted", accepted, count);
	json_begin_list(out, "refused");
	for (size_t i = 0; i < letter->rcpt_count; i++) {
		if (outcome_is_good(&outcomes[i]) || outcomes[i].code == 0)
			continue;
		json_begin(out, NULL);
		json_text(out, "address", letter->rcpts[i]);
		json_number(out, "code", outcomes[i].code);
		json_text(out, "text", outcomes[i].text);
		json_end(out);
	}
	json_end_list(out);
	json_close(out);
}

/* Too many, or too fast: 4.7.x, and what counts; else it is not able now. */
int
answer_status(int code, struct slice text)
{
	if (code / 100 == 5)
		return 422;
	return code != 421 && slice_starts(slice_from(text, 4), "4.7.") ?
	    429 : 503;
}

/* ---- in a word ---------------------------------------------------------- */

void
answer_pack(struct str *out, const struct rcpt_outcome *outcomes, size_t count)
{
	size_t start = out->len;

	for (size_t i = 0; i < count; i++) {
		if (outcome_is_good(&outcomes[i]))
			continue;
		str_addf(out, "%s%zu:%d:", out->len > start ? "," : "", i,
		    outcomes[i].code);
		base64_add(out, outcomes[i].text);
	}
	if (out->len == start)
		str_addc(out, '-');
}

static bool
outcome_unpack(struct slice one, struct arena *arena,
    struct rcpt_outcome *outcomes, size_t count)
{
	struct str text = STR_INIT;
	struct slice number, code;
	uint64_t i, value;

	if (!slice_cut(&one, ':', &number) || count == 0 ||
	    !slice_number(number, 0, count - 1, &i) ||
	    !slice_cut(&one, ':', &code) ||
	    !slice_number(code, 400, 599, &value) || one.p == NULL ||
	    base64_decode(one, &text, NULL) < 0) {
		str_release(&text);
		return false;
	}
	outcomes[i].code = (int)value;
	outcomes[i].text = slice_copy(arena, str_slice(&text));
	str_release(&text);
	return true;
}

void
answer_unpack(struct slice packed, struct arena *arena,
    struct rcpt_outcome *outcomes, size_t count)
{
	struct slice one;

	for (size_t i = 0; i < count; i++)
		outcomes[i] = (struct rcpt_outcome){ .code = 250 };
	while (slice_cut(&packed, ',', &one))
		if (!outcome_unpack(one, arena, outcomes, count))
			return;
}

/* fuzz_http.c - any bytes as a URL, and as the replies of a server of HTTP
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "grammar/http.h"

enum { PREFIXES_MAX = 2048, TEXT_MAX = 64 };

static void
check_url(struct slice in)
{
	struct http_url url;
	struct err err = { "" };

	if (http_url_parse(in, &url, &err) < 0) {
		MUST(err.text[0] != '\0');
		return;
	}
	MUST(in.n <= HTTP_URL_BYTES_MAX);
	MUST(url.port >= 1 && url.port <= 65535);
	MUST(url.host[0] != '\0' && !fuzz_has_control(slice_of(url.host)));
	MUST(fuzz_inside(url.target, in) && !fuzz_has_control(url.target));
	MUST(slice_find(url.target, ' ') == url.target.n);
}

/* Ever longer prefixes give "more" until the answer, which is the same. */
static void
check_prefixes(struct slice in, int rc, const struct http_head *head)
{
	struct http_head slow;
	struct err err;
	int got = 0;

	for (size_t n = 0; n <= in.n && got == 0; n++)
		got = http_head_parse(slice_first(in, n), &slow, &err);
	MUST(got == rc);
	if (rc == 1)
		MUST(slow.bytes == head->bytes && slow.code == head->code);
}

/* Whole, and in pieces of `step` bytes: one end, one text. */
static int
take(const struct http_head *head, struct slice in, size_t step,
    struct str *text, size_t *out_used)
{
	struct http_body body;
	struct err err;
	size_t at = 0, end = 0, used;
	int rc = 0;

	http_body_begin(&body, head);
	do {
		end = end + step < in.n ? end + step : in.n;
		rc = http_body_take(&body, slice_from(slice_first(in, end),
		    at), &used, text, TEXT_MAX, &err);
		MUST(used <= end - at);
		at += used;
	} while (rc == 0 && end < in.n);
	*out_used = at;
	return rc;
}

static size_t
check_body(const struct http_head *head, struct slice in)
{
	struct str whole = STR_INIT, slow = STR_INIT;
	size_t used, slow_used;
	int rc = take(head, in, in.n + 1, &whole, &used);

	MUST(whole.len <= TEXT_MAX && used <= in.n);
	MUST(take(head, in, 1, &slow, &slow_used) == rc);
	MUST(slice_equal(str_slice(&whole), str_slice(&slow)));
	if (rc > 0)
		MUST(slow_used == used);
	str_release(&whole);
	str_release(&slow);
	return rc > 0 ? used : in.n;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);
	struct http_head head;
	struct err err;
	int rc;

	check_url(slice_first(in, slice_find(in, '\n')));
	do {
		err.text[0] = '\0';
		rc = http_head_parse(in, &head, &err);
		MUST(rc >= 0 || err.text[0] != '\0');
		if (in.n <= PREFIXES_MAX)
			check_prefixes(in, rc, &head);
		if (rc != 1)
			break;
		MUST(head.bytes > 0 && head.bytes <= in.n);
		MUST(head.bytes <= HTTP_HEAD_BYTES_MAX);
		MUST(head.code >= 100 && head.code <= 599);
		MUST(fuzz_inside(head.reason, in));
		MUST(http_retry_after(head.retry_after, 1000000000) <=
		    HTTP_WAIT_S_MAX);
		MUST(http_retry_after(head.retry_after, 1000000000) >= 0);
		in = slice_from(in, head.bytes);
		in = slice_from(in, check_body(&head, in));
	} while (in.n > 0);
	return 0;
}

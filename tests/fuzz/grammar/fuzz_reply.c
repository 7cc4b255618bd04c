/* fuzz_reply.c - any bytes as replies of a server, one after the other
 *
 * SPDX-License-Identifier: ISC
 */
#include "tests/fuzz/fuzz.h"
#include "grammar/smtp/reply.h"

enum { PREFIXES_MAX = 4096 };	/* longer inputs are not fed byte by byte */

static void
check_reply(const struct reply *reply, struct slice in)
{
	struct str text = STR_INIT;
	struct slice line;
	size_t cursor = 0, lines = 0;
	char status[12];

	MUST(reply->code >= 200 && reply->code <= 599);
	MUST(reply->bytes > 0 && reply->bytes <= in.n);
	MUST(reply->bytes <= REPLY_BYTES_MAX);
	MUST(fuzz_inside(reply->text, slice_first(in, reply->bytes)));
	MUST(strlen(reply->status) < sizeof(reply->status));
	while (reply_line(reply, &cursor, &line)) {
		MUST(fuzz_inside(line, reply->text));
		MUST(slice_find(line, '\n') == line.n);
		reply_status(reply->code, line, status);
		MUST(strlen(status) >= 5);
		lines++;
	}
	MUST(lines >= 1 && lines <= REPLY_LINES_MAX);
	reply_add_text(&text, reply);
	MUST(text.len >= 3 && text.len <= 500);
	MUST(!fuzz_has_control(str_slice(&text)));
	str_release(&text);
}

/* Ever longer prefixes give "more" until the answer, which is the same. */
static void
check_prefixes(struct slice in, int rc, const struct reply *reply)
{
	struct reply slow;
	int got = 0;

	for (size_t n = 0; n <= in.n && got == 0; n++)
		got = reply_parse(slice_first(in, n), &slow, NULL);
	MUST(got == rc);
	if (rc == 1)
		MUST(slow.bytes == reply->bytes && slow.code == reply->code);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);
	struct err err = { "" };
	struct reply reply;
	int rc;

	do {
		rc = reply_parse(in, &reply, &err);
		MUST(rc >= 0 || err.text[0] != '\0');
		MUST(!fuzz_has_control(slice_of(err.text)));
		if (in.n <= PREFIXES_MAX)
			check_prefixes(in, rc, &reply);
		if (rc == 1) {
			check_reply(&reply, in);
			in = slice_from(in, reply.bytes);
		}
	} while (rc == 1 && in.n > 0);
	return 0;
}

/* fuzz_bounce.c - reports about any bytes: the frame holds
 *
 * In     pieces divided by NUL: header, body, recipient, words, who, ORCPT,
 *        ENVID, Message-ID, where it goes to
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "scheduler/report/bounce.h"
#include "tests/fuzz/fuzz.h"

enum { PIECES = 9 };

/* Lines that are the boundary: three open a part, the last one ends. */
static void
check_frame(struct slice text)
{
	const char *mark = memmem(text.p, text.n, "\n\tboundary=\"", 12);
	struct slice rest = text, line, boundary;
	unsigned opens = 0, ends = 0;

	if (mark == NULL)
		abort();
	boundary = slice_from(text, (size_t)(mark + 12 - text.p));
	boundary = slice_first(boundary, slice_find(boundary, '"'));
	while (slice_cut(&rest, '\n', &line)) {
		if (!slice_starts(line, "--") ||
		    !slice_equal(slice_first(slice_from(line, 2),
		    boundary.n), boundary))
			continue;
		if (line.n == boundary.n + 2)
			opens++;
		else
			ends += slice_is(slice_from(line, boundary.n + 2),
			    "--");
		if (ends > 0 && rest.n > 0)
			abort();	/* something after the end */
	}
	if (opens != 3 || ends != 1)
		abort();
}

/* Only our own fields in the header, and no byte that does not show. */
static void
check_header(struct slice text)
{
	static const char *const names[] = {
		"From: ", "To: ", "Subject: ", "Date: ", "Message-Id: ",
		"References: ", "Auto-Submitted: ", "MIME-Version: ",
		"Content-Type: ", "\tboundary=", "Content-Transfer-Encoding: ",
		" =?UTF-8?B?"	/* a subject goes on */
	};
	struct slice rest = text, line;
	bool is_known;

	while (slice_cut(&rest, '\n', &line) && line.n > 0) {
		is_known = false;
		for (size_t i = 0; i < line.n; i++)
			if (((unsigned char)line.p[i] < ' ' &&
			    line.p[i] != '\t') || line.p[i] == 0x7f)
				abort();	/* a line end to somebody */
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
			is_known |= slice_starts(line, names[i]);
		if (!is_known)
			abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice rest = { (const char *)data, size }, piece[PIECES];
	struct control_file control = { .id = "01jd3x8k2mc4n7" };
	struct control_group group = { 0 };
	struct control_record last = { 0 };
	struct control_rcpt rcpt = { .channel = SLICE("smtp"), .last = &last };
	struct bounce_rcpt chosen = { &rcpt, 1700400000 };
	struct bounce bounce = { .control = &control, .group = &group,
	    .host = "mx.test", .id = "01jd3x9aaaaaaa", .nonce = "n",
	    .now_s = 1700000000, .arrival_s = 1699990000,
	    .rcpts = &chosen, .rcpt_count = 1 };
	struct str text = STR_INIT;

	for (size_t i = 0; i < PIECES; i++)
		if (!slice_cut(&rest, '\0', &piece[i]))
			piece[i] = SLICE("");
	group.header = piece[0];
	bounce.body = piece[1];
	bounce.has_body = size % 2 == 0;
	rcpt.user = piece[2];
	rcpt.orcpt = piece[5];
	control.envid = piece[6];
	control.msgid = piece[7];
	bounce.errors_to = piece[8];
	verdict_set(&last.verdict, size % 3 == 0 ? VERDICT_FAILED :
	    size % 3 == 1 ? VERDICT_DEFERRED : VERDICT_DELIVERED, NULL, "w",
	    SLICE_FMT, SLICE_ARG(piece[3]));
	strlcpy(last.verdict.who, size > 0 && piece[4].n > 0 &&
	    piece[4].n < 200 && memchr(piece[4].p, '\n', piece[4].n) == NULL ?
	    "mx[1]" : "", sizeof(last.verdict.who));
	bounce_text(&bounce, &text);
	check_frame(str_slice(&text));
	check_header(str_slice(&text));
	str_release(&text);
	return 0;
}

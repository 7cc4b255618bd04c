/* fuzz_talk.c - a hostile milter through a whole session
 *
 * The first bytes of the input say what the session does, step by step, and
 * how the milter's bytes are cut; the rest is what the milter says.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "tests/fuzz/fuzz.h"
#include "smtpserver/milter/filter.h"
#include "smtpserver/milter/talk.h"

enum { GOALS = 12, OUT_MAX = 1 << 20 };

static int
message_fd(void)
{
	FILE *file = tmpfile();
	int fd;

	MUST(file != NULL);
	fd = dup(fileno(file));
	fclose(file);
	dprintf(fd, "%30s\nid 361g9eyp5bafph4\nfrom <a@b.test>\n"
	    "to <c@d.test>\nenv-end\nA: 1\nB: 2\n\nbody\nmore\n", "");
	return fd;
}

/* All that it says must be whole packets. */
static void
check_out(struct talk *talk)
{
	struct slice rest = str_slice(&talk->out);
	struct packet packet;
	struct err err;
	size_t used;

	while (rest.n > 0) {
		MUST(packet_read(rest, &packet, &used, &err) ==
		    PACKET_WHOLE);
		rest = slice_from(rest, used);
	}
	str_reset(&talk->out);
	talk_sent(talk);
}

static void
feed(struct talk *talk, struct slice *in, size_t piece)
{
	while (talk->state == TALK_BUSY && in->n > 0) {
		struct slice part = slice_first(*in, piece);

		*in = slice_from(*in, part.n);
		talk_hear(talk, part);
		check_out(talk);
	}
	if (talk->state == TALK_BUSY)
		talk_lose(talk);
	MUST(talk->state == TALK_DONE);
}

static void
go(struct talk *talk, unsigned char what, struct slice *in)
{
	static const enum talk_step goals[] = { TALK_CONNECT, TALK_HELO,
	    TALK_MAIL, TALK_RCPT, TALK_DATA, TALK_EOB, TALK_UNKNOWN };
	enum talk_step goal = goals[what % 7];
	struct filter_result result;
	struct filter_mail mail;
	struct err err;
	int fd = -1;

	filter_result_init(&result);
	if (goal == TALK_EOB) {
		fd = message_fd();
		MUST(filter_mail_open(&mail, fd, &err) == 0);
	}
	talk_begin(talk, goal, fd >= 0 ? &mail : NULL, &result);
	if (talk->state == TALK_SHUT)
		talk_opened(talk);
	check_out(talk);
	feed(talk, in, (what >> 3) % 7 + 1);
	if (result.word == FILTER_REFUSE)
		MUST(result.code >= 400 && result.code < 600);
	if (fd >= 0) {
		filter_mail_close(&mail);
		close(fd);
	}
	if ((what & 0x80) != 0)
		talk_abort(talk);
	filter_result_release(&result);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct slice in = fuzz_slice(data, size);
	struct filter_facts facts;
	struct talk talk;
	size_t n = in.n < GOALS ? in.n : GOALS;

	filter_facts_init(&facts);
	filter_facts_take(&facts, SLICE("{\"addr\":\"192.0.2.1\",\"port\":"
	    "\"25\",\"sender\":\"a@b.test\",\"id\":\"x\"}"));
	talk_init(&talk, &facts);
	in = slice_from(in, n);
	for (size_t i = 0; i < n; i++)
		go(&talk, data[i], &in);
	talk_release(&talk);
	filter_facts_release(&facts);
	return 0;
}

/* test_ipc_link.c - lines of a link, its pauses, its limits, its end
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/ipc.h"
#include "io/ipc_link.h"

static struct loop *loop;
static struct ipc_link *link_here;
static int there;		/* the other end */
static struct str taken;	/* lines, a bar after each */
static int ends, idles;

/* "pause" pauses, "bad" is nonsense; others come back. */
static enum ipc_link_taken
line_take(void *context, struct slice line)
{
	cr_assert_eq(context, &taken);
	str_add_slice(&taken, line);
	str_addc(&taken, '|');
	if (slice_is(line, "bad"))
		return IPC_LINK_NONSENSE;
	if (slice_is(line, "pause"))
		return IPC_LINK_PAUSE;
	str_add_slice(ipc_link_out(link_here), line);
	str_addc(ipc_link_out(link_here), '\n');
	return IPC_LINK_NEXT;
}

static void
link_ended(void *context)
{
	ends++;
	ipc_link_free(&link_here);
}

static void
link_idle(void *context)
{
	idles++;
}

/* A question mark after each. */
static void
line_foresee(void *context, struct slice line)
{
	str_add_slice(context, line);
	str_addc(context, '?');
}

static const struct ipc_link_kind foreseeing = {
	.take = line_take, .foresee = line_foresee, .ended = link_ended,
	.line_bytes_max = 100,
}, kind = {
	.take = line_take, .ended = link_ended, .idle = link_idle,
	.line_bytes_max = 100, .out_bytes_max = 4 << 20,
}, reading_on = {
	.take = line_take, .ended = link_ended, .out_bytes_max = 4 << 20,
	.reads_on = true,
};

static void
begin(const struct ipc_link_kind *with)
{
	int pair[2];

	cr_assert_eq(ipc_pair(pair, NULL), 0);
	loop = loop_new();
	str_init(&taken);
	link_here = ipc_link_new(loop, pair[0], with, &taken);
	there = pair[1];
}

static void
setup(void)
{
	begin(&kind);
}

TestSuite(ipc_link, .init = setup);

static void
say(const char *text)
{
	cr_assert_eq(ipc_send(there, slice_of(text), NULL, 0),
	    (ssize_t)strlen(text));
}

/* What the other end reads, up to a line's end. */
static void
expect_said(const char *want)
{
	char got[200] = "";
	ssize_t n = recv(there, got, sizeof(got) - 1, MSG_DONTWAIT);

	cr_expect_str_eq(n < 0 ? "" : got, want);
}

Test(ipc_link, lines_come_whole_and_are_answered)
{
	say("one\ntw");
	loop_turn(loop, 0);
	cr_expect_str_eq(taken.buf, "one|");
	say("o\n");
	loop_turn(loop, 0);
	cr_expect_str_eq(taken.buf, "one|two|");
	expect_said("one\ntwo\n");
	cr_expect_eq(idles, 2);
	cr_expect_eq(ends, 0);
}

Test(ipc_link, a_pause_leaves_lines_where_they_are)
{
	say("a\npause\nb\n");
	loop_turn(loop, 0);
	cr_expect_str_eq(taken.buf, "a|pause|");
	say("c\n");
	loop_turn(loop, 0);
	cr_expect_str_eq(taken.buf, "a|pause|");
	str_adds(ipc_link_out(link_here), "later\n");
	ipc_link_resume(link_here);
	loop_turn(loop, 0);
	loop_turn(loop, 0);
	cr_expect_str_eq(taken.buf, "a|pause|b|c|");
	expect_said("a\nlater\nb\nc\n");
}

Test(ipc_link_foresight, all_that_is_there_is_told_before_one_is_taken)
{
	begin(&foreseeing);
	say("a\npause\nb\nhalf");
	loop_turn(loop, 0);
	cr_expect_str_eq(taken.buf, "a?pause?b?a|pause|");
	ipc_link_resume(link_here);
	loop_turn(loop, 0);
	cr_expect_str_eq(taken.buf, "a?pause?b?a|pause|b?b|");
}

Test(ipc_link, the_end_is_heard_in_a_pause)
{
	say("pause\n");
	loop_turn(loop, 0);
	close(there);
	loop_turn(loop, 0);
	cr_expect_eq(ends, 1);
	cr_expect_null(link_here);
}

Test(ipc_link, what_cannot_be_sent_ends_it)
{
	close(there);
	str_adds(ipc_link_out(link_here), "nobody hears\n");
	ipc_link_send(link_here);
	cr_expect_eq(ends, 0);
	loop_turn(loop, 0);
	cr_expect_eq(ends, 1);
}

Test(ipc_link, nonsense_ends_it)
{
	say("good\nbad\ngood\n");
	loop_turn(loop, 0);
	cr_expect_str_eq(taken.buf, "good|bad|");
	cr_expect_eq(ends, 1);
}

Test(ipc_link, a_line_that_is_too_long_ends_it)
{
	char text[102];

	memset(text, 'x', sizeof(text));
	text[100] = '\0';
	say(text);
	loop_turn(loop, 0);
	cr_expect_eq(ends, 0);
	say("x");		/* and no end in sight */
	loop_turn(loop, 0);
	cr_expect_eq(ends, 1);
	cr_expect_eq(taken.len, 0);
}

/* Fill the way out. */
static void
stuff(void)
{
	static char block[1 << 20];

	memset(block, 'y', sizeof(block));
	str_add_slice(ipc_link_out(link_here),
	    (struct slice){ block, sizeof(block) });
	ipc_link_send(link_here);
	cr_assert_gt(ipc_link_out(link_here)->len, 0);
}

Test(ipc_link, who_does_not_read_is_not_asked_for_more)
{
	static char out[4 << 20];

	stuff();
	say("one\n");
	loop_turn(loop, 0);
	cr_expect_eq(taken.len, 0);
	while (taken.len == 0) {
		(void)recv(there, out, sizeof(out), MSG_DONTWAIT);
		loop_turn(loop, 0);
	}
	cr_expect_str_eq(taken.buf, "one|");
}

Test(ipc_link_reading_on, others_are_read_until_too_much_waits)
{
	begin(&reading_on);
	stuff();
	say("one\n");
	loop_turn(loop, 0);
	cr_expect_str_eq(taken.buf, "one|");
	cr_expect_eq(ends, 0);
	for (int i = 0; i < 4; i++)
		stuff();
	say("two\n");
	loop_turn(loop, 0);
	cr_expect_eq(ends, 1);
}

Test(ipc_link, descriptors_come_with_their_lines)
{
	int pipes[2], fd;

	cr_assert_eq(pipe(pipes), 0);
	cr_assert_eq(ipc_send(there, SLICE("take\n"), pipes, 1), 5);
	loop_turn(loop, 0);
	fd = ipc_link_take_fd(link_here);
	cr_expect_geq(fd, 0);
	cr_expect(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	cr_expect_eq(ipc_link_take_fd(link_here), -1);
}

Test(ipc_link, a_last_turn_answers_what_was_asked)
{
	say("one\n");
	ipc_link_turn(link_here);
	expect_said("one\n");
	close(there);
	ipc_link_turn(link_here);
	cr_expect_eq(ends, 1);
}

/* ---- descriptors -------------------------------------------------------- */

static int
pipe_with(const char *text)
{
	int ends_here[2];

	cr_assert_eq(pipe2(ends_here, O_CLOEXEC), 0);
	cr_assert_eq(write(ends_here[1], text, strlen(text)),
	    (ssize_t)strlen(text));
	close(ends_here[1]);
	return ends_here[0];
}

static void
expect_fd_says(struct ipc_inbox *inbox, const char *want)
{
	char got[16] = "";
	int fd = ipc_take_fd(inbox);

	cr_assert_geq(fd, 0);
	cr_assert_geq(read(fd, got, sizeof(got) - 1), 0);
	cr_expect_str_eq(got, want);
	close(fd);
}

/* Each receive stops at the line that has descriptors of its own. */
Test(ipc_link, descriptors_go_with_their_line)
{
	struct str *out = ipc_link_out(link_here);
	int first = pipe_with("1"), both[2] = { pipe_with("2"),
	    pipe_with("3") };
	struct ipc_inbox inbox;

	str_adds(out, "plain\n");
	ipc_link_attach(link_here, &first, 1);
	str_adds(out, "one\nafter\n");
	ipc_link_attach(link_here, both, 2);
	str_adds(out, "two\n");
	ipc_link_send(link_here);
	cr_expect_eq(fcntl(first, F_GETFD), -1, "the link closes what it sent");
	ipc_inbox_init(&inbox);
	while (inbox.bytes.len < strlen("plain\none\nafter\ntwo\n"))
		cr_assert_eq(ipc_receive(there, &inbox), IPC_GOT);
	cr_expect_str_eq(inbox.bytes.buf, "plain\none\nafter\ntwo\n");
	expect_fd_says(&inbox, "1");
	expect_fd_says(&inbox, "2");
	expect_fd_says(&inbox, "3");
	cr_expect_eq(ipc_take_fd(&inbox), -1);
	ipc_inbox_release(&inbox);
}

/* Lines with descriptors that the other side does not read stay, and are
 * closed with the link. */
Test(ipc_link, descriptors_wait_for_a_full_socket)
{
	char line[90];
	int count = 0, last = -1;

	memset(line, 'x', sizeof(line));
	line[sizeof(line) - 1] = '\n';
	for (; count < 500; count++) {
		last = pipe_with("y");
		ipc_link_attach(link_here, &last, 1);
		str_add(ipc_link_out(link_here), line, sizeof(line));
		ipc_link_send(link_here);
	}
	cr_expect_gt(ipc_link_out(link_here)->len, 0, "the socket is full");
	cr_expect_geq(fcntl(last, F_GETFD), 0);
	ipc_link_free(&link_here);
	cr_expect_eq(fcntl(last, F_GETFD), -1);
}

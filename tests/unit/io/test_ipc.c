/* test_ipc.c - lines split anywhere, descriptors in order, nothing leaked
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/ipc.h"

static int ends[2];
static struct ipc_inbox inbox;

static void
setup(void)
{
	cr_assert_eq(ipc_pair(ends, NULL), 0);
	ipc_inbox_init(&inbox);
}

TestSuite(ipc, .init = setup);

Test(ipc, lines_arrive_whole_however_they_were_cut)
{
	static const char text[] = "one\n\nthree and more\n";
	static const char *const want[] = { "one", "", "three and more" };
	size_t n = sizeof(text) - 1;

	for (size_t cut = 1; cut <= n; cut++) {
		size_t got = 0, at = 0;

		while (at < n) {
			size_t piece = n - at < cut ? n - at : cut;
			size_t cursor = 0;
			struct slice line;

			cr_assert_eq(ipc_send(ends[0],
			    (struct slice){ text + at, piece }, NULL, 0),
			    (ssize_t)piece);
			at += piece;
			cr_assert_eq(ipc_receive(ends[1], &inbox), IPC_GOT);
			while (ipc_line(&inbox, &cursor, &line) == IPC_LINE)
				cr_expect(slice_is(line, want[got++]));
			ipc_inbox_consume(&inbox, cursor);
		}
		cr_expect_eq(got, 3, "cut at %zu", cut);
		cr_expect_eq(inbox.bytes.len, 0);
	}
}

Test(ipc, something_to_receive_is_awaited)
{
	cr_expect_not(ipc_await(ends[1], 0));
	cr_assert_eq(ipc_send(ends[1], SLICE("said\n"), NULL, 0), 5);
	cr_assert_eq(ipc_receive(ends[0], &inbox), IPC_GOT);
	cr_expect_not(ipc_await(ends[1], 0), "that it was read is nothing");
	cr_assert_eq(ipc_send(ends[0], SLICE("one\n"), NULL, 0), 4);
	cr_expect(ipc_await(ends[1], -1));
	cr_assert_eq(ipc_receive(ends[1], &inbox), IPC_GOT);
	close(ends[0]);
	cr_expect(ipc_await(ends[1], -1));
	cr_expect_eq(ipc_receive(ends[1], &inbox), IPC_END);
}

/* Thousands of them wait: what is empty has no room, what is begun keeps it. */
Test(ipc, an_empty_inbox_can_do_without_room)
{
	size_t cursor = 0;
	struct slice line;

	cr_assert_eq(ipc_send(ends[0], SLICE("one\ntw"), NULL, 0), 6);
	cr_assert_eq(ipc_receive(ends[1], &inbox), IPC_GOT);
	cr_assert_eq(ipc_line(&inbox, &cursor, &line), IPC_LINE);
	ipc_inbox_consume(&inbox, cursor);
	ipc_inbox_shrink(&inbox);
	cr_assert_eq(ipc_send(ends[0], SLICE("o\n"), NULL, 0), 2);
	cr_assert_eq(ipc_receive(ends[1], &inbox), IPC_GOT);
	cursor = 0;
	cr_assert_eq(ipc_line(&inbox, &cursor, &line), IPC_LINE);
	cr_expect(slice_is(line, "two"));
	ipc_inbox_consume(&inbox, cursor);
	ipc_inbox_shrink(&inbox);
	cr_expect_eq(inbox.bytes.cap, 0);
	cr_assert_eq(ipc_send(ends[0], SLICE("three\n"), NULL, 0), 6);
	cr_expect_eq(ipc_receive(ends[1], &inbox), IPC_GOT);
}

static ino_t
inode_of(int fd)
{
	struct stat st;

	cr_assert_eq(fstat(fd, &st), 0);
	return st.st_ino;
}

Test(ipc, descriptors_come_in_the_order_of_their_lines)
{
	int pipes[6];

	for (int i = 0; i < 6; i += 2)
		cr_assert_eq(pipe(pipes + i), 0);
	cr_assert_eq(ipc_send(ends[0], SLICE("a\n"), pipes, 2), 2);
	cr_assert_eq(ipc_send(ends[0], SLICE("b\n"), NULL, 0), 2);
	cr_assert_eq(ipc_send(ends[0], SLICE("c\n"), pipes + 2, 4), 2);
	while (inbox.bytes.len < 6)
		cr_assert_eq(ipc_receive(ends[1], &inbox), IPC_GOT);
	cr_assert_eq(inbox.fd_count, 6);
	for (int i = 0; i < 6; i++) {
		int fd = ipc_take_fd(&inbox);

		cr_expect_eq(inode_of(fd), inode_of(pipes[i]));
		cr_expect(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	}
	cr_expect_eq(ipc_take_fd(&inbox), -1);
}

Test(ipc, descriptors_that_nobody_took_are_closed)
{
	int line[2];
	char byte;

	cr_assert_eq(pipe(line), 0);
	cr_assert_eq(ipc_send(ends[0], SLICE("x\n"), &line[1], 1), 2);
	cr_assert_eq(ipc_receive(ends[1], &inbox), IPC_GOT);
	close(line[1]);
	ipc_inbox_release(&inbox);
	cr_expect_eq(read(line[0], &byte, 1), 0, "the copy is still open");
}

Test(ipc, more_descriptors_than_the_inbox_holds_break_the_connection)
{
	int fds[IPC_FDS_MAX];
	int line[2], result = 1;
	char byte;

	cr_assert_eq(pipe(line), 0);
	for (int i = 0; i < IPC_FDS_MAX; i++)
		fds[i] = line[1];
	for (int i = 0; i < 5; i++)
		cr_assert_eq(ipc_send(ends[0], SLICE("x\n"), fds,
		    IPC_FDS_MAX), 2);
	for (int i = 0; i < 5 && result == 1; i++)
		result = ipc_receive(ends[1], &inbox);
	cr_expect_eq(result, -1);
	cr_expect_eq(errno, EMSGSIZE);
	ipc_inbox_release(&inbox);
	close(line[1]);
	cr_expect_eq(read(line[0], &byte, 1), 0, "a copy is still open");
}

Test(ipc, too_many_for_one_message_are_refused_by_the_sender)
{
	int fds[IPC_FDS_MAX + 1] = { 0 };

	cr_expect_eq(ipc_send(ends[0], SLICE("x\n"), fds, IPC_FDS_MAX + 1),
	    -1);
	cr_expect_eq(errno, EINVAL);
}

Test(ipc, a_line_over_the_bound_is_told_from_an_unfinished_one)
{
	static const struct { size_t n; bool with_end; int want; } rows[] = {
		{ 10, false, 0 }, { 10, true, 1 },
		{ IPC_LINE_BYTES_MAX, false, 0 },
		{ IPC_LINE_BYTES_MAX, true, 1 },
		{ IPC_LINE_BYTES_MAX + 1, false, -1 },
		{ IPC_LINE_BYTES_MAX + 1, true, -1 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		size_t cursor = 0;
		struct slice line;

		str_reset(&inbox.bytes);
		memset(str_room(&inbox.bytes, rows[i].n), 'x', rows[i].n);
		inbox.bytes.len = rows[i].n;
		if (rows[i].with_end)
			str_addc(&inbox.bytes, '\n');
		cr_expect_eq(ipc_line(&inbox, &cursor, &line), rows[i].want,
		    "row %zu", i);
	}
}

Test(ipc, a_full_socket_takes_what_it_can)
{
	static char big[1 << 20];
	ssize_t n;

	memset(big, 'x', sizeof(big));
	cr_assert_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	n = ipc_send(ends[0], (struct slice){ big, sizeof(big) }, NULL, 0);
	cr_expect_gt(n, 0);
	cr_expect_lt(n, (ssize_t)sizeof(big));
	cr_expect_eq(ipc_send(ends[0], SLICE("y\n"), NULL, 0), 0);
	close(ends[1]);
	cr_expect_eq(ipc_send(ends[0], SLICE("y\n"), NULL, 0), -1);
	cr_expect_eq(errno, EPIPE);
}

Test(ipc, end_of_file_and_nothing_yet_are_different)
{
	cr_assert_eq(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
	cr_expect_eq(ipc_receive(ends[1], &inbox), IPC_TROUBLE);
	cr_expect_eq(errno, EAGAIN);
	close(ends[0]);
	cr_expect_eq(ipc_receive(ends[1], &inbox), IPC_END);
}

/* test_held.c - rows of copies, as the process share writes them; and how long
 * nodes are listened to
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/consult/nodes_ask.h"
#include "io/unix_socket.h"
#include "tools/copies/held.h"
#include "tools/nodes/internal.h"
#include "tools/publish/ask.h"

#define ID "0123456789abcu2d"
#define LINE ID " router 210 1764280000 5 3\n"

Test(held, a_row_is_read)
{
	struct slice rest = SLICE(LINE "head\nfro" LINE);
	struct held_row row;

	cr_assert(held_row_read(&rest, &row));
	cr_expect_str_eq(row.id, ID);
	cr_expect(slice_is(row.area, "router"));
	cr_expect_eq(row.body_bytes, 210);
	cr_expect_eq(row.since_s, 1764280000);
	cr_expect(slice_is(row.control, "head\n"));
	cr_expect(slice_is(row.front, "fro"));
	cr_expect(slice_is(rest, LINE));
	cr_expect_not(held_row_read(&rest, &row));	/* its bytes lack */
}

/* Each beginning of a row is none, and nothing behind it is read. */
Test(held, a_row_that_is_cut_is_none)
{
	static const char whole[] = LINE "head\nfro";

	for (size_t n = 0; n + 1 < sizeof(whole); n++) {
		char *copy = strndup(whole, n);
		struct slice rest = { copy, n };
		struct held_row row;

		cr_expect_not(held_row_read(&rest, &row), "%zu", n);
		free(copy);
	}
}

Test(held, a_row_of_another_form_is_none)
{
	static const char *const rows[] = {
		"\n", " \n", ID "\n", ID " router\n",
		ID " router 1 2 3\n...", ID " router 1 2 3 0 0\n...",
		ID " router 9223372036854775807 2 0 0\n",
		ID " router -1 2 0 0\n", ID " router 1 x 0 0\n",
		ID " router 1 2 99999999999 0\n",
		ID " router 1 2 18446744073709551615 1\n",
		ID ID ID " router 1 2 0 0\n",
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct slice rest = slice_of(rows[i]);
		struct held_row row;

		cr_expect_not(held_row_read(&rest, &row), "%s", rows[i]);
	}
}

/* ---- nodes --------------------------------------------------------------- */

enum { LONG_S = 1000, DRIPS = 10 };

/* Who hears, what it has open besides nodes, and a clock that is moved. */
struct hearer {
	pid_t	 pid;
	size_t	 open;
	int64_t	*clock_s;
};

static size_t
open_count(pid_t pid)
{
	char path[64];
	size_t count = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%ld/fd", (long)pid);
	dir = opendir(path);
	while (dir != NULL && readdir(dir) != NULL)
		count++;
	if (dir != NULL)
		closedir(dir);
	return count;
}

/* nodes_work_fn: one says all, one a byte and no end.  When of the first all
 * was heard, and two descriptors are left, its time is over. */
static int
say_something(void *context, const char *node)
{
	struct hearer *hearer = context;

	if (write(STDOUT_FILENO, "x", 1) != 1)
		return 1;
	if (*node == 'a')
		return 0;
	while (open_count(hearer->pid) > hearer->open + 2)
		usleep(1000);
	*hearer->clock_s += LONG_S;
	(void)!write(STDOUT_FILENO, "x", 1);	/* who waits is woken */
	for (;;)
		pause();
}

static int64_t *
clock_begin(char *path)
{
	int fd = mkstemp(path);
	int64_t *clock_s;

	cr_assert_eq(ftruncate(fd, sizeof(*clock_s)), 0);
	clock_s = mmap(NULL, sizeof(*clock_s), PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);
	cr_assert(clock_s != MAP_FAILED);
	close(fd);
	setenv("ZMAILER_TEST_CLOCK", path, 1);
	return clock_s;
}

Test(held, who_does_not_come_to_an_end_is_silent, .timeout = 60)
{
	struct nodes_part both[] = {
		{ .node = "a", .out = STR_INIT, .err = STR_INIT },
		{ .node = "b", .out = STR_INIT, .err = STR_INIT },
	};
	struct nodes_parts parts = { .parts = both, .count = 2 };
	char path[] = "/tmp/zm-clock-XXXXXX";
	struct hearer hearer = { .pid = getpid(),
	    .clock_s = clock_begin(path) };
	int64_t began_ms = clock_steady_ms();

	hearer.open = open_count(hearer.pid) - 1;	/* the directory */
	nodes_gather(&parts, say_something, &hearer, LONG_S * 1000);
	cr_expect_geq(clock_steady_ms() - began_ms, LONG_S * 1000);
	cr_expect_eq(both[0].status, 0);
	cr_expect_str_eq(both[0].out.buf, "x");
	cr_expect_eq(both[1].status, NODES_SILENT);
	cr_expect_str_eq(both[1].out.buf, "");
	cr_expect_str_eq(both[1].err.buf,
	    "it did not come to an end in time\n");
	unlink(path);
	for (int i = 0; i < 2; i++) {
		str_release(&both[i].out);
		str_release(&both[i].err);
	}
}

/* All that was sent has been read. */
static void
wait_read(int fd)
{
	int left = 1;

	while (ioctl(fd, TIOCOUTQ, &left) == 0 && left > 0)
		usleep(1000);
}

/* The process nodes, and behind it a node that always has one more byte; when
 * some of them were heard, the time is over. */
static pid_t
drip_start(const char *dir, int64_t *clock_s)
{
	char path[100];
	struct err err;
	pid_t pid;
	int fd, peer;

	snprintf(path, sizeof(path), "%s/" NODES_SOCKET, dir);
	fd = unix_socket_listen(path, 0600, &err);
	cr_assert_geq(fd, 0, "%s", err.text);
	cr_assert_eq(fcntl(fd, F_SETFL, 0), 0);	/* accept() waits */
	pid = fork();
	if (pid == 0) {
		peer = accept(fd, NULL, NULL);
		(void)send(peer, "ok\n", 3, MSG_NOSIGNAL);
		(void)send(peer, "out 4000\n", 9, MSG_NOSIGNAL);
		for (int i = 0; send(peer, "x", 1, MSG_NOSIGNAL) == 1; i++) {
			wait_read(peer);
			if (i == DRIPS)
				*clock_s += LONG_S;
		}
		_exit(0);
	}
	close(fd);
	return pid;
}

static void
drip_stop(const char *dir, pid_t pid)
{
	char path[100];

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	snprintf(path, sizeof(path), "%s/" NODES_SOCKET, dir);
	unlink(path);
	rmdir(dir);
}

Test(held, a_node_that_drips_is_cut_off, .timeout = 60)
{
	static const char *const words[] = { "list", NULL };
	char dir[] = "/tmp/zm-drip-XXXXXX", path[] = "/tmp/zm-clock-XXXXXX";
	struct conf conf = { .run_dir = dir };
	int64_t *clock_s = clock_begin(path);
	bool is_cut = false;
	pid_t pid;

	cr_assert_not_null(mkdtemp(dir));
	pid = drip_start(dir, clock_s);
	cr_expect_eq(nodes_remote(&conf, "b", words, "", LONG_S * 1000,
	    &is_cut), NODES_SILENT);
	cr_expect(is_cut);
	cr_expect_eq(*clock_s, LONG_S);
	drip_stop(dir, pid);
	unlink(path);
}

/* So is one that is asked to take a configuration. */
Test(held, a_node_that_drips_takes_nothing, .timeout = 60)
{
	const struct publish_order order = { .verb = PUBLISH_LOOK,
	    .id = "0123456789abcdef" };
	char dir[] = "/tmp/zm-drip-XXXXXX", path[] = "/tmp/zm-clock-XXXXXX";
	struct conf conf = { .run_dir = dir };
	int64_t *clock_s = clock_begin(path);
	struct str words = STR_INIT;
	pid_t pid;

	cr_assert_not_null(mkdtemp(dir));
	pid = drip_start(dir, clock_s);
	cr_expect_eq(publish_ask_within(&conf, "b", &order, SLICE(""),
	    LONG_S * 1000, &words), PUBLISH_REFUSED);
	cr_expect_str_eq(words.buf, "it says nonsense");
	cr_expect_eq(*clock_s, LONG_S);
	drip_stop(dir, pid);
	unlink(path);
	str_release(&words);
}

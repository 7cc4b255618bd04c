/* test_control.c - the operator's socket
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/json.h"
#include "scheduler/control/control.h"
#include "tests/unit/scheduler/yard.h"

static struct yard yard;

static int
dial(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);

	snprintf(address.sun_path, sizeof(address.sun_path),
	    "%s/run/scheduler.sock", yard.dir);
	cr_assert_eq(connect(fd, (struct sockaddr *)&address,
	    sizeof(address)), 0);
	return fd;
}

static void
open_all(void)
{
	struct err err;
	char run[256];
	int fd;

	yard_open(&yard, "schedule */* { retry 10m; parallel 4 }");
	snprintf(run, sizeof(run), "%s/run", yard.dir);
	fd = control_bind(run, &(struct given){ NULL, 0 }, &err);
	cr_assert_geq(fd, 0, "%s", err.text);
	yard.scheduler.control = control_new(&yard.scheduler.agents, fd);
}

static void
close_all(void)
{
	control_free(&yard.scheduler.control);
	yard_close(&yard);
}

struct reading {
	int		 fd;
	struct str	 text;
	const char	*until;
	bool		 is_over;
};

static bool
read_on(struct yard *y, void *arg)
{
	struct reading *reading = arg;
	char buffer[4096];
	ssize_t n = read(reading->fd, buffer, sizeof(buffer));

	if (n > 0)
		str_add(&reading->text, buffer, (size_t)n);
	reading->is_over = n == 0 || (n < 0 && errno != EAGAIN);
	return reading->is_over || (reading->until != NULL &&
	    slice_ends(str_slice(&reading->text), reading->until));
}

static void
ask(int fd, const char *line, struct reading *reading)
{
	reading->fd = fd;
	str_reset(&reading->text);
	reading->until = "\n\n";
	cr_assert_eq(write(fd, line, strlen(line)), (ssize_t)strlen(line));
	cr_assert(yard_until(&yard, read_on, reading));
}

static int64_t
number(struct slice line, const char *key)
{
	struct str value = STR_INIT;
	uint64_t out = 0;

	cr_assert(json_get(line, key, &value), "%s", key);
	cr_assert(slice_number(str_slice(&value), 0, UINT64_MAX, &out));
	str_release(&value);
	return (int64_t)out;
}

Test(control, tells_threads_jobs_and_moments)
{
	struct reading reading = { .text = STR_INIT };
	struct slice rest, line;
	char request[64];
	ino_t inode;
	int fd;

	open_all();
	inode = yard_message(&yard, "a@src.test", "smtp/x.test/defer@x.test",
	    NULL);
	cr_assert(yard_until(&yard, yard_is_quiet, NULL));
	fd = dial();
	ask(fd, "queue\n", &reading);
	rest = str_slice(&reading.text);
	cr_assert(slice_cut(&rest, '\n', &line));
	cr_expect_eq(number(line, "waiting"), 1);
	cr_expect_eq(number(line, "ready"), 0);
	cr_assert(slice_cut(&rest, '\n', &line));
	cr_expect_eq(number(line, "messages"), 1);
	cr_expect_eq(number(line, "deferred"), 1);
	snprintf(request, sizeof(request), "job %ju\n", (uintmax_t)inode);
	ask(fd, request, &reading);
	cr_expect_eq(number(str_slice(&reading.text), "tries"), 1);
	cr_expect_eq(number(str_slice(&reading.text), "rcpts"), 1);
	ask(fd, "next\n", &reading);
	cr_expect_eq(number(str_slice(&reading.text), "file"),
	    (int64_t)inode);
	cr_expect_gt(number(str_slice(&reading.text), "next"), 0);
	close(fd);
	str_release(&reading.text);
	close_all();
}

Test(control, refuses_in_words)
{
	static const char *const rows[] = {
		"\n", "help\n", "queue now\n", "job\n", "job x\n",
		"job 1 2\n", "job 99999\n", "job 18446744073709551616\n",
		"\x01\xff\n", "next 1\n"
	};
	struct reading reading = { .text = STR_INIT };
	int fd;

	open_all();
	fd = dial();
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ask(fd, rows[i], &reading);
		cr_expect(slice_starts(str_slice(&reading.text),
		    "{\"error\":"), "%s", rows[i]);
	}
	close(fd);
	str_release(&reading.text);
	close_all();
}

Test(control, several_requests_at_once_are_answered_in_order)
{
	struct reading reading = { .text = STR_INIT };
	int fd;

	open_all();
	fd = dial();
	cr_assert_eq(write(fd, "job 1\nqueue\nbad\n", 16), 16);
	shutdown(fd, SHUT_WR);
	reading.fd = fd;
	cr_assert(yard_until(&yard, read_on, &reading));
	cr_expect(reading.is_over, "the end follows the last answer");
	cr_expect_not_null(strstr(reading.text.buf, "no such message"));
	cr_expect_not_null(strstr(reading.text.buf, "\"messages\":0"));
	cr_expect_not_null(strstr(reading.text.buf, "unknown request"));
	close(fd);
	str_release(&reading.text);
	close_all();
}

Test(control, a_line_without_end_and_a_crowd_are_shown_out)
{
	struct reading reading = { .text = STR_INIT };
	int fds[CONTROL_WRITERS_MAX + 1];
	char long_line[REQUEST_LINE_BYTES_MAX + 5000];

	open_all();
	memset(long_line, 'x', sizeof(long_line));
	reading.fd = dial();
	cr_assert_eq(write(reading.fd, long_line, sizeof(long_line)),
	    (ssize_t)sizeof(long_line));
	cr_assert(yard_until(&yard, read_on, &reading));
	cr_expect(reading.is_over);
	close(reading.fd);
	for (int i = 0; i <= CONTROL_WRITERS_MAX; i++) {
		fds[i] = dial();
		yard_turns(&yard, 3);
	}
	reading.fd = fds[CONTROL_WRITERS_MAX];
	cr_assert(yard_until(&yard, read_on, &reading));
	cr_expect(reading.is_over, "one too many");
	ask(fds[0], "queue\n", &reading);
	for (int i = 0; i <= CONTROL_WRITERS_MAX; i++)
		close(fds[i]);
	str_release(&reading.text);
	close_all();
}

Test(control, nobody_stays_for_ever)
{
	struct reading reading = { .text = STR_INIT };

	open_all();
	reading.fd = dial();
	yard_turns(&yard, 3);
	yard_clock(&yard, CONTROL_CLIENT_MS / 1000 + 1);
	cr_assert(yard_until(&yard, read_on, &reading));
	cr_expect(reading.is_over);
	close(reading.fd);
	str_release(&reading.text);
	close_all();
}

static bool
has_ping(struct yard *y, void *arg)
{
	struct reading *reading = arg;

	read_on(y, arg);
	return strstr(reading->text.buf ? reading->text.buf : "",
	    "{\"ping\":\"20") != NULL;
}

Test(control, a_stream_without_events_shows_signs_of_life)
{
	static const char request[] = "{\"v\":1,\"op\":\"events\"}\n";
	struct reading reading = { .text = STR_INIT };

	open_all();
	reading.fd = dial();
	cr_assert_eq(write(reading.fd, request, sizeof(request) - 1),
	    (ssize_t)sizeof(request) - 1);
	yard_turns(&yard, 5);
	yard_clock(&yard, 11);
	cr_assert(yard_until(&yard, has_ping, &reading));
	yard_clock(&yard, CONTROL_CLIENT_MS / 1000 + 1);
	str_reset(&reading.text);
	cr_assert(yard_until(&yard, has_ping, &reading), "who waits stays");
	close(reading.fd);
	str_release(&reading.text);
	close_all();
}

/* At the end of the turn in which an order is answered, before the loop
 * writes what events there are. */
static void
look_when_answered(void *context)
{
	struct reading *reading = context;
	char pattern[256];
	glob_t found;
	FILE *file;

	if (reading->is_over || !read_on(&yard, reading))
		return;
	reading->is_over = true;
	str_reset(&reading->text);
	snprintf(pattern, sizeof(pattern), "%s/log/events-*.jsonl", yard.dir);
	if (glob(pattern, 0, NULL, &found) == 0) {
		file = fopen(found.gl_pathv[0], "r");
		reading->text.len = fread(str_room(&reading->text, 65536), 1,
		    65535, file);
		reading->text.buf[reading->text.len] = '\0';
		fclose(file);
	}
	globfree(&found);
}

static bool
is_over(struct yard *y, void *arg)
{
	return ((struct reading *)arg)->is_over;
}

Test(control, what_is_answered_is_in_the_journal)
{
	static const char request[] = "{\"v\":1,\"op\":\"suspend\","
	    "\"host\":\"x.test\"}\n";
	struct reading reading = { .text = STR_INIT, .until = "\n\n" };

	open_all();
	loop_at_turn_end(yard.loop, look_when_answered, &reading);
	reading.fd = dial();
	cr_assert_eq(write(reading.fd, request, sizeof(request) - 1),
	    (ssize_t)sizeof(request) - 1);
	cr_assert(yard_until(&yard, is_over, &reading));
	cr_expect_not_null(strstr(reading.text.buf, "\"ev\":\"order\""),
	    "%s", reading.text.buf);
	close(reading.fd);
	str_release(&reading.text);
	close_all();
}

/* ---- who may ----------------------------------------------------- */

/* A line that each operation takes. */
static const char *
line_of(enum request_op op)
{
	static char line[256];
	const struct request_row *row = &request_rows[op];
	const char *more = row->is_change ? ",\"id\":\"0123456789abc\"" : "";

	switch (op) {
	case OP_SCHEDULE:
		more = ",\"id\":\"0123456789abc\",\"next\":\"+1h\"";
		break;
	case OP_WHY:
		more = ",\"id\":\"0123456789abc\"";
		break;
	case OP_SUSPEND: case OP_RESUME: case OP_ETRN:
		more = ",\"host\":\"x.test\"";
		break;
	case OP_PIN:
		more = ",\"host\":\"x.test\",\"limit\":0";
		break;
	case OP_DRAIN:
		more = ",\"timeout_s\":0";
		break;
	case OP_MOVE:
		more = ",\"select\":\"all\",\"undo\":true";
		break;
	case OP_JOB:
		more = ",\"file\":1";
		break;
	case OP_FOR:
		more = ",\"who\":\"a@b\",\"right\":\"read\"";
		break;
	case OP_SAVE_SEARCH:
		more = ",\"name\":\"a\",\"select\":\"all\"";
		break;
	case OP_REMOVE_SEARCH:
		more = ",\"name\":\"a\"";
		break;
	default:
		break;
	}
	snprintf(line, sizeof(line), "{\"v\":1,\"op\":\"%s\"%s}\n",
	    row->name, more);
	return line;
}

/* doc/protocol/control.md section 2: etrn is of smtpserver and of writers;
 * otherwise more includes less. */
static bool
is_allowed(enum right has, enum right needs)
{
	if (needs == RIGHT_ETRN)
		return has == RIGHT_ETRN || has == RIGHT_WRITE;
	return has != RIGHT_ETRN && has >= needs;
}

static void
expect_right(const struct rights_peer *peer, enum request_op op)
{
	struct reading reading = { .text = STR_INIT };
	bool is_denied;
	int ends[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0,
	    ends), 0);
	control_take(yard.scheduler.control, ends[0], peer);
	ask(ends[1], line_of(op), &reading);
	is_denied = strstr(reading.text.buf, "\"code\":\"denied\"") != NULL;
	cr_expect_eq(is_denied,
	    op == OP_FOR ? !peer->is_nodes :
			   !is_allowed(peer->right, request_rows[op].right),
	    "%s by right %d: %s", request_rows[op].name, peer->right,
	    reading.text.buf);
	cr_expect_null(strstr(reading.text.buf, "bad-request"), "%s",
	    reading.text.buf);
	close(ends[1]);
	yard_turns(&yard, 2);
	str_release(&reading.text);
}

/* The process of other nodes: nothing before it has said for whom. */
Test(control, nodes_says_for_whom_once)
{
	static const struct { const char *line, *said; } rows[] = {
		{ "{\"v\":1,\"op\":\"list\"}\n", "\"denied\"" },
		{ "{\"v\":1,\"op\":\"for\",\"who\":\"a@b\"}\n",
		    "\"bad-request\"" },
		{ "{\"v\":1,\"op\":\"for\",\"who\":\"a@b\","
		    "\"right\":\"own\"}\n", "\"bad-request\"" },
		{ "{\"v\":1,\"op\":\"for\",\"who\":\"a@b\","
		    "\"right\":\"read\"}\n", "\"done\":true" },
		{ "{\"v\":1,\"op\":\"list\"}\n", "\"done\":true" },
		{ "{\"v\":1,\"op\":\"hold\",\"select\":\"all\"}\n",
		    "\"denied\"" },
		{ "{\"v\":1,\"op\":\"for\",\"who\":\"a@b\","
		    "\"right\":\"write\"}\n", "\"denied\"" },
	};
	const struct rights_peer peer = { .uid = 4000, .right = RIGHT_OWN,
		.is_nodes = true, .name = "zmnodes" };
	struct reading reading = { .text = STR_INIT };
	int ends[2];

	open_all();
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0,
	    ends), 0);
	control_take(yard.scheduler.control, ends[0], &peer);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		str_reset(&reading.text);
		ask(ends[1], rows[i].line, &reading);
		cr_expect_not_null(strstr(reading.text.buf, rows[i].said),
		    "%s%s", rows[i].line, reading.text.buf);
	}
	close(ends[1]);
	str_release(&reading.text);
	close_all();
}

/* A node in wrong hands does not take all places: who is here gives orders. */
Test(control, other_nodes_leave_room, .timeout = 900)
{
	const struct rights_peer peer = { .uid = 4000, .right = RIGHT_OWN,
		.is_nodes = true, .name = "zmnodes" };
	struct reading reading = { .text = STR_INIT };
	int ends[CONTROL_WRITERS_MAX][2], fd;

	open_all();
	for (int i = 0; i < CONTROL_WRITERS_MAX; i++) {
		cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK,
		    0, ends[i]), 0);
		control_take(yard.scheduler.control, ends[i][0], &peer);
		str_reset(&reading.text);
		ask(ends[i][1], "{\"v\":1,\"op\":\"for\",\"who\":\"a@b\","
		    "\"right\":\"write\"}\n", &reading);
		cr_expect_not_null(strstr(reading.text.buf,
		    i < CONTROL_NODES_MAX ? "\"done\":true" : "\"busy\""),
		    "%d: %s", i, reading.text.buf);
	}
	fd = dial();
	str_reset(&reading.text);
	ask(fd, "{\"v\":1,\"op\":\"list\"}\n", &reading);
	cr_expect_not_null(strstr(reading.text.buf, "\"done\":true"), "%s",
	    reading.text.buf);
	close(fd);
	for (int i = 0; i < CONTROL_WRITERS_MAX; i++)
		close(ends[i][1]);
	str_release(&reading.text);
	close_all();
}

Test(control, each_right_has_its_operations, .timeout = 900)
{
	open_all();
	for (int right = RIGHT_OWN; right <= RIGHT_WRITE; right++) {
		struct rights_peer peer = { .uid = 4000, .right =
		    (enum right)right, .name = "somebody" };

		for (int op = 0; op < OP_COUNT_OF; op++)
			if (op != OP_EVENTS || right < RIGHT_READ)
				expect_right(&peer, (enum request_op)op);
	}
	close_all();
}

/* test_ask.c - tokens; helpers that answer, hang, die, or are not there
 *
 * The test is the listener: it asks with helpers_ask and collects the lines
 * that would go to a worker.  Helpers are real processes.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "house.h"
#include "smtpserver/helper/ask.h"
#include "smtpserver/helper/helpers.h"

#include "base/banned.h"

enum { PATIENCE_TURNS = 2000, TURN_MS = 5 };	/* 10 s at the most */

Test(asks, tokens)
{
	struct asks *asks = asks_new();
	uint64_t tokens[100], old;
	int owners[100];

	cr_expect_null(asks_find(asks, 0));
	for (int i = 0; i < 100; i++) {
		tokens[i] = asks_open(asks, &owners[i]);
		cr_assert_neq(tokens[i], 0);
	}
	for (int i = 0; i < 100; i++)
		cr_expect_eq(asks_find(asks, tokens[i]), &owners[i]);
	old = tokens[7];
	asks_close(asks, &tokens[7]);
	cr_expect_eq(tokens[7], 0);
	cr_expect_null(asks_find(asks, old));
	asks_close(asks, &tokens[7]);	/* once more: harmless */
	tokens[7] = asks_open(asks, &owners[7]);
	cr_expect_neq(tokens[7], old, "a token came again");
	cr_expect_null(asks_find(asks, old));
	cr_expect_eq(asks_find(asks, tokens[7]), &owners[7]);
	asks_close(asks, &old);		/* of another life */
	cr_expect_eq(asks_find(asks, tokens[7]), &owners[7]);
	cr_expect_null(asks_find(asks, UINT64_MAX));
	asks_free(&asks);
}

/* ---- helpers ---------------------------------------------------------- */

/* "echo X" gives X; "no" is trouble; "die" ends it; "long" is too long. */
static bool
parrot(void *state, struct slice question, struct str *out)
{
	if (slice_is(question, "die"))
		_exit(3);
	if (slice_is(question, "hang"))
		for (;;)
			pause();
	if (slice_is(question, "long"))
		for (int i = 0; i <= ASK_TEXT_BYTES_MAX; i++)
			str_addc(out, 'x');
	else if (slice_is(question, "lines"))
		str_adds(out, "a\nb");
	else
		str_add_slice(out, slice_from(question, 5));
	return !slice_is(question, "no");
}

static void
serve_parrot(struct process *process, int socket)
{
	helper_serve(socket, parrot, NULL);
}

static void
serve_nonsense(struct process *process, int socket)
{
	ssize_t n = write(socket, "77 ok of nobody\nhello\n", 22);

	if (n == 22)
		helper_serve(socket, parrot, NULL);
}

static const struct helper_kind kinds[] = {
	{ "parrot", 2, 1, 5000, serve_parrot, NULL, false, false, false },
	{ "one", 1, 1, 5000, serve_parrot, NULL, false, false, false },
	{ "batch", 1, 8, 5000, serve_parrot, NULL, false, false, false },
	{ "nonsense", 1, 1, 5000, serve_nonsense, NULL, false, false, false },
	{ "else", 1, 8, 5000, NULL, "else", false, false, false },
	{ "awaited", 1, 8, 60000, NULL, "awaited", false, false, true },
	{ "never", 1, 8, 100, NULL, "never", false, false, true },
	{ NULL, 0, 0, 0, NULL, NULL, false, false, false }
};

struct fixture {
	struct house	 house;
	struct process	 process;
	struct helpers	*helpers;
	struct str	 heard;
};

static void
hear(void *context, uint64_t asker, struct slice line)
{
	struct fixture *fixture = context;

	str_addf(&fixture->heard, "%u:" SLICE_FMT, (unsigned)asker,
	    SLICE_ARG(line));
}

static void
fixture_open(struct fixture *fixture)
{
	memset(fixture, 0, sizeof(*fixture));
	str_init(&fixture->heard);
	house_open_clocked(&fixture->house, "");
	fixture->process = (struct process){ .conf = fixture->house.conf,
	    .loop = fixture->house.loop, .lifeline = -1 };
	fixture->helpers = helpers_new(&fixture->process, kinds, NULL, hear,
	    fixture);
}

static void
fixture_close(struct fixture *fixture)
{
	helpers_free(&fixture->helpers);
	str_release(&fixture->heard);
	house_close(&fixture->house);
}

static void
ask(struct fixture *fixture, const char *line)
{
	cr_assert(helpers_ask(fixture->helpers, 9, slice_of(line)), "%s", line);
}

#define HEARD(fixture, want) do { \
		for (int i_ = 0; i_ < PATIENCE_TURNS && \
		     strstr((fixture)->heard.buf, want) == NULL; \
		     i_++) \
			loop_turn((fixture)->house.loop, TURN_MS); \
		cr_assert(strstr((fixture)->heard.buf, want) != NULL, \
		    "wanted %s, heard %s", want, (fixture)->heard.buf); \
	} while (0)

Test(helpers, answer)
{
	struct fixture fixture;

	fixture_open(&fixture);
	cr_expect_eq(helpers_count(fixture.helpers), 0, "forked unasked");
	ask(&fixture, "11 parrot echo hello world");
	HEARD(&fixture, "9:answer 11 ok hello world\n");
	ask(&fixture, "12 parrot no");
	HEARD(&fixture, "9:answer 12 trouble ");
	ask(&fixture, "13 parrot lines");
	HEARD(&fixture, "9:answer 13 ok a b\n");
	ask(&fixture, "14 parrot long");
	HEARD(&fixture, "9:answer 14 trouble the answer is too long\n");
	ask(&fixture, "15 parrot");
	HEARD(&fixture, "9:answer 15 ok \n");
	cr_expect_eq(helpers_count(fixture.helpers), 1,
	    "an idle one was there");
	fixture_close(&fixture);
}

/* More questions than helpers: all are answered, none by more than two. */
Test(helpers, queue)
{
	struct fixture fixture;
	char line[64], want[64];

	fixture_open(&fixture);
	for (int i = 1; i <= 200; i++) {
		snprintf(line, sizeof(line), "%d parrot echo <%d>", i, i);
		ask(&fixture, line);
		snprintf(line, sizeof(line), "%d batch echo [%d]", i, i);
		ask(&fixture, line);
	}
	loop_turn(fixture.house.loop, 0);
	cr_expect_eq(helpers_count(fixture.helpers), 3);
	for (int i = 1; i <= 200; i++) {
		snprintf(want, sizeof(want), "9:answer %d ok <%d>\n", i, i);
		HEARD(&fixture, want);
		snprintf(want, sizeof(want), "9:answer %d ok [%d]\n", i, i);
		HEARD(&fixture, want);
	}
	fixture_close(&fixture);
}

/* A place that is given back is free for all that is asked in the same turn:
 * what is told goes before what is asked. */
Test(helpers, telling_goes_before_asking)
{
	struct fixture fixture;
	const char *told, *asked;

	fixture_open(&fixture);
	ask(&fixture, "5 one echo asked");
	ask(&fixture, "1 one echo told");
	HEARD(&fixture, "answer 5 ok asked\n");
	told = strstr(fixture.heard.buf, "answer 1 ok told\n");
	asked = strstr(fixture.heard.buf, "answer 5 ");
	cr_assert_not_null(told, "%s", fixture.heard.buf);
	cr_expect_lt(told, asked, "%s", fixture.heard.buf);
	fixture_close(&fixture);
}

/* A place that is kept and given back in one turn is free, and a login that
 * succeeded is the last word. */
Test(helpers, what_is_told_goes_in_its_order)
{
	static const char *const lines[] = { "first", "second", "third",
	    "fourth" };
	struct fixture fixture;
	const char *before, *at;
	char line[64];

	fixture_open(&fixture);
	ask(&fixture, "5 one echo asked");
	for (size_t i = 0; i < 4; i++) {
		snprintf(line, sizeof(line), "1 one echo %s", lines[i]);
		ask(&fixture, line);
	}
	HEARD(&fixture, "answer 5 ok asked\n");
	before = fixture.heard.buf;
	for (size_t i = 0; i < 4; i++) {
		at = strstr(fixture.heard.buf, lines[i]);
		cr_assert_not_null(at, "%s", fixture.heard.buf);
		cr_expect_geq(at, before, "%s", fixture.heard.buf);
		before = at;
	}
	cr_expect_geq(strstr(fixture.heard.buf, "answer 5 "), before, "%s",
	    fixture.heard.buf);
	fixture_close(&fixture);
}

Test(helpers, one_dies)
{
	struct fixture fixture;

	fixture_open(&fixture);
	ask(&fixture, "1 one echo a");
	HEARD(&fixture, "answer 1 ok a\n");
	ask(&fixture, "2 one die");
	ask(&fixture, "3 one echo b");
	HEARD(&fixture, "answer 2 trouble the helper died\n");
	cr_expect_null(strstr(fixture.heard.buf, "answer 3"), "%s",
	    fixture.heard.buf);
	*fixture.house.clock += 2;		/* it died young:
	    after a second */
	HEARD(&fixture, "answer 3 ok b\n");
	fixture_close(&fixture);
}

Test(helpers, one_hangs)
{
	struct fixture fixture;

	fixture_open(&fixture);
	ask(&fixture, "1 one hang");
	ask(&fixture, "2 one echo waits");
	for (int i = 0; i < 10; i++)
		loop_turn(fixture.house.loop, 1);
	cr_expect_str_empty(fixture.heard.buf);
	*fixture.house.clock +=
	    6;		/* more than the 5 s of the row */
	HEARD(&fixture, "answer 1 trouble the helper hangs\n");
	HEARD(&fixture, "answer 2 trouble all helpers are busy\n");
	*fixture.house.clock += 2;
	ask(&fixture, "3 one echo again");
	HEARD(&fixture, "answer 3 ok again\n");
	fixture_close(&fixture);
}

Test(helpers, nonsense)
{
	struct fixture fixture;

	fixture_open(&fixture);
	ask(&fixture, "5 nonsense echo still");
	HEARD(&fixture, "answer 5 ok still\n");
	cr_expect_null(strstr(fixture.heard.buf, "nobody"));
	cr_expect_not(helpers_ask(fixture.helpers, 9, SLICE("")));
	cr_expect_not(helpers_ask(fixture.helpers, 9, SLICE("1 what x")));
	cr_expect_not(helpers_ask(fixture.helpers, 9, SLICE("0 parrot x")));
	cr_expect_not(helpers_ask(fixture.helpers, 9, SLICE("x parrot x")));
	fixture_close(&fixture);
}

/* After a reload questions go to a fresh process; the old one ends. */
Test(helpers, reload)
{
	struct fixture fixture;

	fixture_open(&fixture);
	ask(&fixture, "1 one echo a");
	HEARD(&fixture, "answer 1 ok a\n");
	helpers_reload(fixture.helpers);
	ask(&fixture, "2 one echo b");
	HEARD(&fixture, "answer 2 ok b\n");
	for (int i = 0; i < PATIENCE_TURNS &&
	    helpers_count(fixture.helpers) != 1; i++)
		loop_turn(fixture.house.loop, TURN_MS);
	cr_expect_eq(helpers_count(fixture.helpers), 1);
	fixture_close(&fixture);
}

/* Somebody else's process at a socket in the run directory. */
Test(helpers, by_socket)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char conf[200], bytes[100];
	struct fixture fixture;
	int server, fd;
	ssize_t n;

	fixture_open(&fixture);
	snprintf(conf, sizeof(conf), "%s", fixture.house.dir);
	fixture.house.conf->run_dir = conf;
	ask(&fixture, "1 else is anybody there");
	HEARD(&fixture, "answer 1 trouble cannot reach ");
	server = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%.90s/else",
	    fixture.house.dir);
	cr_assert_eq(bind(server, (struct sockaddr *)&address,
	    sizeof(address)), 0);
	cr_assert_eq(listen(server, 5), 0);
	ask(&fixture, "2 else hello");
	loop_turn(fixture.house.loop, 0);
	fd = accept(server, NULL, NULL);
	cr_assert_geq(fd, 0);
	n = read(fd, bytes, sizeof(bytes) - 1);
	cr_assert_gt(n, 0);
	bytes[n] = '\0';
	cr_expect(strstr(bytes, " hello\n") != NULL, "%s", bytes);
	*strchr(bytes, ' ') = '\0';
	dprintf(fd, "%s ok hi there\n", bytes);
	HEARD(&fixture, "answer 2 ok hi there\n");
	ask(&fixture, "3 else and now");
	ask(&fixture, "1 else and then");
	loop_turn(fixture.house.loop, 0);
	close(fd);			/* replaced: asked once more */
	for (int i = 0; i < PATIENCE_TURNS; i++) {
		loop_turn(fixture.house.loop, TURN_MS);
		fd = accept4(server, NULL, NULL, SOCK_NONBLOCK);
		if (fd >= 0)
			break;
	}
	cr_assert_geq(fd, 0);
	cr_expect_null(strstr(fixture.heard.buf, "answer 3"), "%s",
	    fixture.heard.buf);
	for (int i = 0; i < PATIENCE_TURNS && (n = read(fd, bytes,
	    sizeof(bytes) - 1)) <= 0; i++)
		loop_turn(fixture.house.loop, TURN_MS);
	cr_assert_gt(n, 0);
	bytes[n] = '\0';
	cr_expect(strstr(bytes, " and then\n") < strstr(bytes, " and now\n"),
	    "what was told, first: %s", bytes);
	close(fd);
	HEARD(&fixture, "answer 3 trouble the helper died\n");
	close(server);
	fixture_close(&fixture);
}

/* Somebody else's process is replaced: who asks meanwhile hears the next one,
 * and trouble only when its time is over. */
Test(helpers, one_that_is_awaited)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	char conf[200], bytes[100];
	struct fixture fixture;
	int server, fd = -1;
	ssize_t n;

	fixture_open(&fixture);
	snprintf(conf, sizeof(conf), "%s", fixture.house.dir);
	fixture.house.conf->run_dir = conf;
	ask(&fixture, "1 never comes");
	ask(&fixture, "2 awaited hello");
	HEARD(&fixture, "answer 1 trouble cannot reach ");
	cr_expect_null(strstr(fixture.heard.buf, "answer 2"), "%s",
	    fixture.heard.buf);
	/* one that is gone for as long keeps nobody waiting any more */
	for (int64_t end_ms = clock_steady_ms() + 200;
	    clock_steady_ms() < end_ms;)
		loop_turn(fixture.house.loop, TURN_MS);
	ask(&fixture, "3 never comes");
	for (int i = 0; i < 3; i++)
		loop_turn(fixture.house.loop, 0);
	cr_expect_not_null(strstr(fixture.heard.buf, "answer 3 trouble "),
	    "%s", fixture.heard.buf);
	server = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%.90s/awaited",
	    fixture.house.dir);
	cr_assert_eq(bind(server, (struct sockaddr *)&address,
	    sizeof(address)), 0);
	cr_assert_eq(listen(server, 5), 0);
	for (int i = 0; i < PATIENCE_TURNS && fd < 0; i++) {
		loop_turn(fixture.house.loop, TURN_MS);
		fd = accept(server, NULL, NULL);
	}
	cr_assert_geq(fd, 0);
	n = read(fd, bytes, sizeof(bytes) - 1);
	cr_assert_gt(n, 0);
	bytes[n] = '\0';
	cr_expect(strstr(bytes, " hello\n") != NULL, "%s", bytes);
	*strchr(bytes, ' ') = '\0';
	dprintf(fd, "%s ok hi there\n", bytes);
	HEARD(&fixture, "answer 2 ok hi there\n");
	close(fd);
	close(server);
	fixture_close(&fixture);
}

/* test_listener.c - real workers in processes of their own, real sockets
 *
 * The test is the listener's process and turns its loop; what workers do is
 * waited for, never slept for.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "house.h"
#include "smtpserver/listener/workers.h"
#include "smtpserver/listener/listener.h"

#include "base/clock.h"
#include "base/banned.h"

enum { PATIENCE_TURNS = 2000, TURN_MS = 5 };	/* 10 s at the most */

static void
nothing(void *context)
{
}

static bool
no_question(void *context, uint64_t asker, struct slice line)
{
	return false;
}

static const struct workers_owner nobody = {
	nothing, nothing, no_question, NULL, NULL, false, NULL, NULL
};

static struct process
process_of(struct house *house)
{
	return (struct process){ .conf = house->conf, .loop = house->loop,
	    .lifeline = -1 };
}

/* Turn the loop until the client has heard want (true), or other. */
static bool
heard_or(struct house *house, int client, const char *want,
    const char *other)
{
	static char bytes[4096];
	size_t n = 0;

	for (int i = 0; i < PATIENCE_TURNS; i++) {
		ssize_t got = recv(client, bytes + n, sizeof(bytes) - 1 - n,
		    MSG_DONTWAIT);

		if (got > 0)
			n += (size_t)got;
		bytes[n] = '\0';
		if (strstr(bytes, want) != NULL)
			return true;
		if (other != NULL && strstr(bytes, other) != NULL)
			return false;
		if (got == 0 || (got < 0 && errno != EAGAIN))
			break;
		loop_turn(house->loop, TURN_MS);
	}
	cr_log_error("wanted %s, heard %s", want, bytes);
	return false;
}

static bool
heard(struct house *house, int client, const char *want)
{
	return heard_or(house, client, want, NULL);
}

#define UNTIL(house, condition) do { \
		int turns = 0; \
		while (!(condition) && turns++ < PATIENCE_TURNS) \
			loop_turn((house)->loop, TURN_MS); \
		cr_assert((condition), "%s never came true", #condition); \
	} while (0)

static void
say(int client, const char *text)
{
	cr_assert_eq(send(client, text, strlen(text), MSG_NOSIGNAL),
	    (ssize_t)strlen(text));
}

/* ---- the workers --------------------------------------------------------- */

/* workers, without the rest of the listener. */
struct stage {
	struct house	 house;
	struct process	 process;
	struct clients	*clients;
	struct workers	*workers;
};

static void
stage_open(struct stage *stage)
{
	memset(stage, 0, sizeof(*stage));
	house_open_clocked(&stage->house, "");
	stage->process = process_of(&stage->house);
	stage->clients = clients_new();
	stage->workers = workers_new(&stage->process, stage->house.spool,
	    stage->clients, &nobody);
}

static void
stage_close(struct stage *stage)
{
	workers_free(&stage->workers);
	clients_free(&stage->clients);
	house_close(&stage->house);
}

static void
resize(struct stage *stage, unsigned workers)
{
	struct err err;

	cr_assert_eq(workers_resize(stage->workers, workers, &err), 0, "%s",
	    err.text);
}

static int
give(struct stage *stage)
{
	struct net net = { .bits = 128 };
	unsigned sessions;
	int ends[2];

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends),
	    0);
	workers_give(stage->workers, ends[1], "192.0.2.7:4711", "127.0.0.1:25",
	    false, clients_enter(stage->clients, &net, &sessions));
	return ends[0];
}

static int
give_and_hear(struct stage *stage)
{
	int client = give(stage);

	cr_expect(heard(&stage->house, client, "220 mx.example.org"));
	return client;
}

static void
quit(struct stage *stage, int client)
{
	say(client, "QUIT\r\n");
	cr_expect(heard(&stage->house, client, "221 2.0.0"));
}

static void
wait_workers(struct stage *stage, unsigned count)
{
	UNTIL(&stage->house, workers_count(stage->workers) == count);
}

/* All stop; who is there hears of it. */
static void
stop(struct stage *stage, int client)
{
	workers_stop(stage->workers);
	cr_expect_not(workers_has_room(stage->workers));
	cr_expect(heard(&stage->house, client, "421 4.3.2"));
	close(client);
	wait_workers(stage, 0);
	cr_expect_eq(workers_session_count(stage->workers), 0);
}

Test(workers, serves_counts_and_replaces_the_dead)
{
	struct stage stage;
	int a, b;

	stage_open(&stage);
	cr_expect_not(workers_has_room(stage.workers));
	resize(&stage, 2);
	cr_expect(workers_has_room(stage.workers));
	a = give_and_hear(&stage);
	b = give_and_hear(&stage);
	cr_expect_eq(workers_session_count(stage.workers), 2);
	quit(&stage, a);
	UNTIL(&stage.house, workers_session_count(stage.workers) == 1);

	workers_kill(stage.workers);		/* kill -9, a session open */
	wait_workers(&stage, 0);
	cr_expect_eq(workers_session_count(stage.workers), 0);
	cr_expect_not(workers_has_room(stage.workers));
	*stage.house.clock += 2;	/* they died young: after a second */
	wait_workers(&stage, 2);
	close(a);
	close(b);
	a = give_and_hear(&stage);
	resize(&stage, 1);
	wait_workers(&stage, 1);
	stop(&stage, a);
	stage_close(&stage);
}

/* A worker that leaves: who is there is served to the end, who comes is
 * another's. */
Test(workers, one_that_leaves_ends_what_it_has)
{
	struct stage stage;
	int a, b;

	stage_open(&stage);
	resize(&stage, 1);
	a = give_and_hear(&stage);
	resize(&stage, 0);
	cr_expect_not(workers_has_room(stage.workers));
	resize(&stage, 1);
	b = give_and_hear(&stage);
	cr_expect_eq(workers_count(stage.workers), 2);
	say(a, "MAIL FROM:<a@b.test>\r\n");	/* before EHLO: as ever */
	cr_expect(heard(&stage.house, a, "503 5.5.1"));
	quit(&stage, a);
	close(a);
	wait_workers(&stage, 1);
	resize(&stage, 0);
	stop(&stage, b);		/* it hears that, too */
	stage_close(&stage);
}

/* More connections at once than one message takes. */
Test(workers, a_burst_is_handed_over)
{
	enum { BURST = 150 };
	struct stage stage;
	int ends[BURST];

	stage_open(&stage);
	resize(&stage, 1);
	for (int i = 0; i < BURST; i++) {
		UNTIL(&stage.house, workers_has_room(stage.workers));
		ends[i] = give(&stage);
	}
	cr_expect_eq(workers_session_count(stage.workers), BURST);
	for (int i = 0; i < BURST; i++) {
		cr_expect(heard(&stage.house, ends[i], "220 mx.example.org"));
		close(ends[i]);
	}
	UNTIL(&stage.house, workers_session_count(stage.workers) == 0);
	stage_close(&stage);
}

/* ---- the door --------------------------------------------------------- */

/* Below the ports that the kernel gives to outgoing connections: one of
 * those could be taken between the look and the listener's bind. */
static unsigned
free_port(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	unsigned port = 10240 + (unsigned)getpid() % 10000;

	for (unsigned tries = 0; tries < 1000; tries++, port++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);
		int rc;

		in.sin_port = htons((uint16_t)port);
		rc = bind(fd, (struct sockaddr *)&in, sizeof(in));
		close(fd);
		if (rc == 0)
			return port;
	}
	cr_assert_fail("no port is free");
	return 0;
}

static int
dial(unsigned port)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
	    .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	cr_assert_eq(connect(fd, (struct sockaddr *)&in, sizeof(in)), 0,
	    "connect: %s", strerror(errno));
	return fd;
}

/* Dial until a slot is free: the worker tells the listener in its own time. */
static int
dial_until_seated(struct house *house, unsigned port, const char *refusal)
{
	int64_t end_at_ms = clock_steady_ms() + 10000;
	int client;

	while (clock_steady_ms() < end_at_ms) {
		client = dial(port);
		if (heard_or(house, client, "220 ", refusal))
			return client;
		close(client);
		loop_turn(house->loop, TURN_MS);
	}
	cr_assert_fail("the slot was never free again");
	return -1;
}

static struct conf *
conf_of(struct house *house, unsigned port, const char *more)
{
	struct arena *arena = arena_new();
	struct conf_report report;
	struct str text = STR_INIT;
	struct conf *conf;

	str_addf(&text, "host mx.example.org; verify off\ndomain example.org\n"
	    "listen 127.0.0.1:%u\nspool %s\n%s\n", port, house->dir, more);
	conf = conf_parse("door.conf", str_slice(&text), arena, &report);
	cr_assert(conf != NULL);
	str_release(&text);
	arena_free(&arena);
	return conf;
}

Test(listener, bounds_sessions_and_stops)
{
	unsigned port = free_port();
	struct process process;
	struct conf *conf;
	struct house house;
	int a, b, c;
	struct err err;

	house_open(&house, "");
	conf = conf_of(&house, port, "limit sessions-per-client 2");
	process = process_of(&house);
	process.conf = conf;
	cr_assert_eq(listener_bind(&process, &err), 0, "%s", err.text);
	cr_assert_eq(listener_start(&process, &err), 0, "%s", err.text);
	a = dial(port);
	b = dial(port);
	cr_expect(heard(&house, a, "220 mx.example.org"));
	cr_expect(heard(&house, b, "220 mx.example.org"));
	c = dial(port);
	cr_expect(heard(&house, c, "421 4.7.0"));
	close(c);
	say(a, "EHLO c1.test\r\nMAIL FROM:<a@src.test>\r\n"
	    "RCPT TO:<bob@example.org>\r\nDATA\r\nhi\r\n.\r\nQUIT\r\n");
	cr_expect(heard(&house, a, "221 2.0.0"));
	cr_expect_eq(house_count(&house, "router"), 1);
	close(a);
	a = dial_until_seated(&house, port, "421 4.7.0");
	process.is_stopping = true;
	listener_stop(&process);
	cr_expect(heard(&house, b, "421 4.3.2"));
	close(a);
	close(b);
	loop_run(house.loop);		/* until the workers are gone */
	listener_release(&process);
	conf_free(&conf);
	house_close(&house);
}

Test(listener, bounds_all_sessions)
{
	unsigned port = free_port();
	struct process process;
	struct house house;
	struct conf *conf;
	struct err err;
	int a, b;

	house_open(&house, "");
	conf = conf_of(&house, port, "limit sessions 1");
	process = process_of(&house);
	process.conf = conf;
	cr_assert_eq(listener_bind(&process, &err), 0, "%s", err.text);
	cr_assert_eq(listener_start(&process, &err), 0, "%s", err.text);
	a = dial(port);
	cr_expect(heard(&house, a, "220 mx.example.org"));
	b = dial(port);
	cr_expect(heard(&house, b, "421 4.3.2"));
	close(a);
	close(b);
	process.is_stopping = true;
	listener_stop(&process);
	loop_run(house.loop);
	listener_release(&process);
	conf_free(&conf);
	house_close(&house);
}

/* Workers that have no descriptors left: 421, and nobody waits at the door. */
Test(listener, refuses_what_no_worker_can_hold)
{
	enum { FEW = 64 + 2 * 2 };	/* two sessions, SPARE_FDS */
	unsigned port = free_port();
	struct process process;
	struct rlimit limit;
	struct house house;
	struct conf *conf;
	struct err err;
	int ends[4];

	house_open(&house, "");
	conf = conf_of(&house, port, "workers smtpserver 1");
	process = process_of(&house);
	process.conf = conf;
	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = FEW;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	cr_assert_eq(listener_bind(&process, &err), 0, "%s", err.text);
	cr_assert_eq(listener_start(&process, &err), 0, "%s", err.text);
	for (int i = 0; i < 4; i++) {
		ends[i] = dial(port);
		cr_expect(heard(&house, ends[i], i < 2 ? "220 " : "421 4.3.2"));
	}
	close(ends[0]);
	ends[0] = dial_until_seated(&house, port, "421 4.3.2");
	for (int i = 0; i < 4; i++)
		close(ends[i]);
	process.is_stopping = true;
	listener_stop(&process);
	loop_run(house.loop);
	listener_release(&process);
	conf_free(&conf);
	house_close(&house);
}

/* A port that is taken is said with its name. */
Test(listener, a_taken_port_is_an_error)
{
	struct sockaddr_in in = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t length = sizeof(in);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct process process;
	struct house house;
	struct conf *conf;
	struct err err;
	char want[64];

	cr_assert_eq(bind(fd, (struct sockaddr *)&in, sizeof(in)), 0);
	cr_assert_eq(listen(fd, 1), 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)&in, &length), 0);
	house_open(&house, "");
	conf = conf_of(&house, ntohs(in.sin_port), "");
	process = process_of(&house);
	process.conf = conf;
	cr_expect_eq(listener_bind(&process, &err), -1);
	snprintf(want, sizeof(want), "cannot listen on 127.0.0.1:%u",
	    ntohs(in.sin_port));
	cr_expect(strstr(err.text, want) != NULL, "%s", err.text);
	close(fd);
	listener_release(&process);
	conf_free(&conf);
	house_close(&house);
}

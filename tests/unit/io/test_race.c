/* test_race.c - several addresses, one connection
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/race.h"

static struct race_entry entries[3];
static struct peer peer;
static int listeners[3], fillers[8];
static size_t listener_count, filler_count;

static int
listen_on(struct race_entry *entry, int backlog)
{
	struct sockaddr_in *four = (struct sockaddr_in *)&entry->address;
	socklen_t length = sizeof(*four);
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	*entry = (struct race_entry){ .length = length };
	four->sin_family = AF_INET;
	four->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	cr_assert_eq(bind(fd, (struct sockaddr *)four, length), 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)four, &length), 0);
	if (backlog >= 0)
		cr_assert_eq(listen(fd, backlog), 0);
	return fd;
}

static void
answers(struct race_entry *entry)
{
	listeners[listener_count++] = listen_on(entry, 5);
}

static void
refuses(struct race_entry *entry)
{
	listeners[listener_count++] = listen_on(entry, -1);
}

/* The queue of who waits to be accepted is full: nobody is answered. */
static void
is_silent(struct race_entry *entry)
{
	listeners[listener_count++] = listen_on(entry, 0);
	for (int i = 0; i < 4; i++) {
		int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

		(void)connect(fd, (struct sockaddr *)&entry->address,
		    entry->length);
		fillers[filler_count++] = fd;
	}
}

static void
setup(void)
{
	peer_init(&peer);
}

static void
teardown(void)
{
	peer_release(&peer);
	while (listener_count > 0)
		close(listeners[--listener_count]);
	while (filler_count > 0)
		close(fillers[--filler_count]);
}

TestSuite(race, .init = setup, .fini = teardown, .timeout = 30);

Test(race, one_that_answers)
{
	answers(&entries[0]);
	cr_expect_eq(race_run(&peer, entries, 1, 5000), 0);
	cr_expect(peer_is_open(&peer));
	cr_expect_eq(entries[0].state, RACE_WON);
	/* it waits as peer.c wants it to */
	cr_expect_eq(fcntl(peer.fd, F_GETFL) & O_NONBLOCK, 0);
}

Test(race, a_refusal_begins_the_next_at_once)
{
	int64_t least_ms = INT64_MAX, passed_ms;

	refuses(&entries[0]);
	answers(&entries[1]);
	/* a machine that is busy takes longer, now and then */
	for (int i = 0; i < 50 && least_ms >= RACE_STAGGER_MS; i++) {
		peer_close(&peer);
		entries[0].state = entries[1].state = RACE_NEW;
		cr_expect_eq(race_run(&peer, entries, 2, 5000), 1);
		cr_expect_eq(entries[0].state, RACE_LOST);
		cr_expect_eq(entries[0].trouble, ECONNREFUSED);
		passed_ms = entries[1].begun_ms - entries[0].begun_ms;
		least_ms = passed_ms < least_ms ? passed_ms : least_ms;
	}
	cr_expect_lt(least_ms, RACE_STAGGER_MS);
}

Test(race, silence_costs_a_quarter_of_a_second)
{
	int64_t begun = clock_steady_ms();

	is_silent(&entries[0]);
	answers(&entries[1]);
	cr_expect_eq(race_run(&peer, entries, 2, 20000), 1);
	cr_expect_geq(clock_steady_ms() - begun, RACE_STAGGER_MS);
	cr_expect_eq(entries[0].state, RACE_NEW, "it may run again");
	cr_expect_neq(entries[0].begun_ms, 0);
	cr_expect_eq(entries[0].fd, -1);
}

Test(race, each_has_its_own_deadline)
{
	is_silent(&entries[0]);
	refuses(&entries[1]);
	cr_expect_eq(race_run(&peer, entries, 2, 600), -1);
	cr_expect_eq(entries[0].state, RACE_LOST);
	cr_expect_eq(entries[0].trouble, ETIMEDOUT);
	cr_expect_eq(entries[1].trouble, ECONNREFUSED);
	cr_expect_not(peer_is_open(&peer));
}

static void
on_alarm(int signo)
{
}

/* One place in the queue: the second caller waits for it, until it is free
 * or the time is up; a signal ends neither. */
Test(race, a_full_unix_socket_is_waited_for)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&entries[0].address;
	const struct sigaction act = { .sa_handler = on_alarm };
	const struct itimerval often = { { 0, 20000 }, { 0, 20000 } },
	    never = { { 0, 0 }, { 0, 0 } };
	char directory[] = "/tmp/zm-race-XXXXXX";
	int64_t begun;

	cr_assert_not_null(mkdtemp(directory));
	entries[0] = (struct race_entry){ .length = sizeof(*un) };
	un->sun_family = AF_UNIX;
	snprintf(un->sun_path, sizeof(un->sun_path), "%s/s", directory);
	listeners[listener_count++] = socket(AF_UNIX, SOCK_STREAM, 0);
	cr_assert_eq(bind(listeners[0], (struct sockaddr *)un, sizeof(*un)),
	    0);
	cr_assert_eq(listen(listeners[0], 0), 0);
	cr_expect_eq(race_run(&peer, entries, 1, 5000), 0);
	peer_close(&peer);
	entries[0].state = RACE_NEW;
	cr_assert_eq(sigaction(SIGALRM, &act, NULL), 0);
	cr_assert_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
	begun = clock_steady_ms();
	cr_expect_eq(race_run(&peer, entries, 1, 300), -1);
	cr_assert_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
	cr_expect_eq(entries[0].trouble, ETIMEDOUT);
	cr_expect_geq(clock_steady_ms() - begun, 290);
	cr_assert_eq(close(accept(listeners[0], NULL, NULL)), 0);
	entries[0].state = RACE_NEW;
	cr_expect_eq(race_run(&peer, entries, 1, 5000), 0);
	unlink(un->sun_path);
	entries[0].state = RACE_NEW;
	cr_expect_eq(race_run(&peer, entries, 1, 5000), -1);
	cr_expect_eq(entries[0].trouble, ENOENT);
	rmdir(directory);
}

Test(race, what_was_tried_is_left_out)
{
	answers(&entries[0]);
	answers(&entries[1]);
	entries[0].state = RACE_LOST;
	cr_expect_eq(race_run(&peer, entries, 2, 5000), 1);
	cr_expect_eq(race_run(&peer, entries, 0, 5000), -1);
}

/* race.c - connect to one of several addresses, whichever answers first
 *
 * In     addresses in the order of preference
 * Out    one connection
 * Holds  a socket an address under way; none when it returns
 * Trusts nothing: every address has a deadline
 * Spec   RFC 8305 section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/race.h"

#include "base/banned.h"

struct race {
	struct race_entry	*entries;
	size_t			 count;
	int64_t			 for_ms;
	int64_t			 next_at_ms;	/* when another is begun */
};

static void
race_lose(struct race *race, struct race_entry *entry, int trouble)
{
	if (entry->fd >= 0)
		close(entry->fd);
	entry->fd = -1;
	entry->state = RACE_LOST;
	entry->trouble = trouble;
	race->next_at_ms = 0;
}

/* The kernel chooses the port when it connects, where it can. */
static int
source_bind(const struct race_entry *entry)
{
	socklen_t length = entry->source->ss_family == AF_INET ?
	    sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);
#ifdef IP_BIND_ADDRESS_NO_PORT
	int on = 1;

	(void)setsockopt(entry->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on,
	    sizeof(on));
#endif
	return bind(entry->fd, (const struct sockaddr *)entry->source,
	    length);
}

/* A unix socket answers at once unless its queue is full; then a connect
 * that may not wait fails with EAGAIN, and there is nothing to poll for.  A
 * wait that was interrupted (a process that is stopped and goes on, too) goes
 * on for the rest of its time.  0, or what is wrong. */
static int
unix_connect(const struct race_entry *entry, int64_t for_ms)
{
	int64_t until_ms = entry->begun_ms + for_ms, left_ms;
	struct timeval patience;

	while ((left_ms = until_ms - clock_steady_ms()) > 0) {
		patience.tv_sec = left_ms / 1000;
		patience.tv_usec = left_ms % 1000 * 1000;
		if (setsockopt(entry->fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
		    sizeof(patience)) != 0)
			return errno;
		if (connect(entry->fd, (const struct sockaddr *)
		    &entry->address, entry->length) == 0)
			return 0;
		if (errno != EINTR)
			return errno == EAGAIN ? ETIMEDOUT : errno;
	}
	return ETIMEDOUT;
}

static void
begin_unix(struct race *race, struct race_entry *entry)
{
	int trouble;

	entry->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	trouble = entry->fd < 0 ? errno : unix_connect(entry, race->for_ms);
	if (trouble == 0)
		entry->state = RACE_WON;
	else
		race_lose(race, entry, trouble);
}

static void
race_begin(struct race *race, struct race_entry *entry)
{
	int on = 1;

	entry->begun_ms = clock_steady_ms();
	race->next_at_ms = entry->begun_ms + RACE_STAGGER_MS;
	entry->state = RACE_GOING;
	if (entry->address.ss_family == AF_UNIX) {
		begin_unix(race, entry);
		return;
	}
	entry->fd = socket(entry->address.ss_family,
	    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (entry->fd < 0) {
		race_lose(race, entry, errno);
		return;
	}
	setsockopt(entry->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	if (entry->source != NULL && source_bind(entry) < 0) {
		race_lose(race, entry, errno);
		return;
	}
	if (connect(entry->fd, (struct sockaddr *)&entry->address,
	    entry->length) == 0)
		entry->state = RACE_WON;
	else if (errno != EINPROGRESS && errno != EINTR)
		race_lose(race, entry, errno);
}

/* Begin what is due. */
static void
begin_due(struct race *race)
{
	size_t going = 0;

	for (size_t i = 0; i < race->count; i++)
		going += race->entries[i].state == RACE_GOING;
	for (size_t i = 0; i < race->count; i++) {
		struct race_entry *entry = &race->entries[i];

		if (entry->state != RACE_NEW)
			continue;
		if (going > 0 && clock_steady_ms() < race->next_at_ms)
			return;
		race_begin(race, entry);
		if (entry->state == RACE_WON)
			return;
		going += entry->state == RACE_GOING;
	}
}

/* Milliseconds to the next moment at which something is to be done; -1
 * when nothing is under way. */
static int
race_nap(const struct race *race)
{
	int64_t now = clock_steady_ms(), until = INT64_MAX;
	bool is_new_left = false;
	int longest = clock_nap_ms();

	for (size_t i = 0; i < race->count; i++) {
		const struct race_entry *entry = &race->entries[i];

		is_new_left |= entry->state == RACE_NEW;
		if (entry->state == RACE_GOING &&
		    entry->begun_ms + race->for_ms < until)
			until = entry->begun_ms + race->for_ms;
	}
	if (until == INT64_MAX)
		return -1;
	if (is_new_left && race->next_at_ms < until)
		until = race->next_at_ms;
	if (until <= now)
		return 0;
	if (longest >= 0 && until - now > longest)
		return longest;
	return until - now > 60000 ? 60000 : (int)(until - now);
}

static void
race_look(struct race *race, struct race_entry *entry, short events)
{
	socklen_t n = sizeof(int);
	int trouble = 0;

	if (events == 0) {
		if (clock_steady_ms() - entry->begun_ms >= race->for_ms)
			race_lose(race, entry, ETIMEDOUT);
		return;
	}
	if (getsockopt(entry->fd, SOL_SOCKET, SO_ERROR, &trouble, &n) != 0)
		trouble = errno;
	if (trouble != 0)
		race_lose(race, entry, trouble);
	else
		entry->state = RACE_WON;
}

/* Wait until something happened to one of them. */
static void
wait_any(struct race *race, int ms)
{
	struct pollfd polled[RACE_MAX];

	for (size_t i = 0; i < race->count; i++)
		polled[i] = (struct pollfd){ .events = POLLOUT,
		    .fd = race->entries[i].state == RACE_GOING ?
		    race->entries[i].fd : -1 };
	if (poll(polled, race->count, ms) < 0)
		for (size_t i = 0; i < race->count; i++)
			polled[i].revents = 0;
	for (size_t i = 0; i < race->count; i++)
		if (race->entries[i].state == RACE_GOING)
			race_look(race, &race->entries[i], polled[i].revents);
}

static int
race_winner(const struct race *race)
{
	for (size_t i = 0; i < race->count; i++)
		if (race->entries[i].state == RACE_WON)
			return (int)i;
	return -1;
}

/* The others stop; peer gets the socket, which waits from now on by
 * SO_RCVTIMEO: one call a reply. */
static void
race_finish(struct race *race, struct peer *peer, int won)
{
	for (size_t i = 0; i < race->count; i++) {
		struct race_entry *entry = &race->entries[i];

		if (entry->fd < 0 || (int)i == won)
			continue;
		close(entry->fd);
		entry->fd = -1;
		if (entry->state == RACE_GOING || entry->state == RACE_WON)
			entry->state = RACE_NEW;
	}
	if (won < 0)
		return;
	fcntl(race->entries[won].fd, F_SETFL, 0);
	peer_adopt(peer, race->entries[won].fd);
	race->entries[won].fd = -1;
}

int
race_run(struct peer *peer, struct race_entry *entries, size_t count,
    int64_t for_ms)
{
	struct race race = { entries, count < RACE_MAX ? count : RACE_MAX,
	    for_ms, 0 };
	int won, ms;

	for (size_t i = 0; i < race.count; i++) {
		entries[i].fd = -1;
		entries[i].begun_ms = 0;
	}
	for (;;) {
		begin_due(&race);
		won = race_winner(&race);
		ms = race_nap(&race);
		if (won >= 0 || ms < 0)
			break;
		wait_any(&race, ms);
	}
	race_finish(&race, peer, won);
	return won;
}

/* crew.c - the doorman's side of the session workers
 *
 * In     connections to give away; "closed" lines; ends of file
 * Out    connections with their descriptor, in batches, one sendmsg a turn
 * Holds  a seat for each session: which worker, which client; a worker that
 *        dies gives all its seats back
 * Trusts no worker: a token counts only when that worker has the seat
 * Spec   worker.h has the lines
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/queue.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "io/ipc.h"
#include "smtpserver/doorman/crew.h"
#include "smtpserver/session/worker.h"

#include "base/banned.h"

enum {
	RESTART_AFTER_MS = 1000,
	OUTBOX_BYTES_MAX = 65536,
	SPARE_FDS = 64		/* of a worker: spool, journal, tables */
};

struct hand {			/* one worker process */
	struct crew		*crew;
	uint64_t		 number;	/* for life, never again */
	pid_t			 pid;
	int			 socket;
	struct watch		*watch;
	struct ipc_inbox	 inbox;
	struct str		 outbox;
	int			 fds[IPC_FDS_MAX];	/* go with outbox */
	size_t			 fd_count;
	unsigned		 sessions;
	bool			 is_leaving;
	struct space_part	*part;		/* of the room promised */
	int64_t			 started_at_ms;
	TAILQ_ENTRY(hand)	 entry;
};

TAILQ_HEAD(hand_list, hand);

struct seat {
	struct hand		*hand;		/* NULL: free */
	struct client_count	*client;
	uint32_t		 next_free;
};

enum { NO_SEAT = UINT32_MAX };

struct crew {
	struct process		*process;
	struct spool		*spool;
	struct clients		*clients;
	struct crew_owner	 owner;
	struct hand_list	 hands;
	unsigned		 wanted, staying;	/* workers */
	unsigned		 sessions_max;		/* of one worker */
	struct seat		*seats;
	uint32_t		 seat_count, first_free;
	unsigned		 sessions;
	struct timer		 restart_timer;
	bool			 is_stopping;
};

/* Of hands, given out so far; of all crews, so that an answer finds its
 * asker and nobody else. */
static uint64_t numbers;

static void crew_fill(void *context);
static void hand_write(struct hand *hand);

/* ---- seats ------------------------------------------------------------ */

static uint32_t
seat_take(struct crew *crew, struct hand *hand, struct client_count *client)
{
	uint32_t token = crew->first_free;

	if (token == NO_SEAT) {
		uint32_t more = crew->seat_count ? crew->seat_count * 2 : 64;

		crew->seats = mem_grow(crew->seats, more,
		    sizeof(*crew->seats));
		for (uint32_t i = crew->seat_count; i < more; i++)
			crew->seats[i] = (struct seat){ NULL, NULL,
			    i + 1 < more ? i + 1 : NO_SEAT };
		token = crew->seat_count;
		crew->seat_count = more;
	}
	crew->first_free = crew->seats[token].next_free;
	crew->seats[token].hand = hand;
	crew->seats[token].client = client;
	hand->sessions++;
	crew->sessions++;
	return token;
}

static void
seat_leave(struct crew *crew, uint32_t token)
{
	struct seat *seat = &crew->seats[token];

	seat->hand->sessions--;
	crew->sessions--;
	clients_leave(crew->clients, &seat->client);
	seat->hand = NULL;
	seat->next_free = crew->first_free;
	crew->first_free = token;
}

/* ---- hands ------------------------------------------------------------ */

static void
hand_drop_fds(struct hand *hand)
{
	for (size_t i = 0; i < hand->fd_count; i++)
		close(hand->fds[i]);
	hand->fd_count = 0;
}

/* It is gone: note why, give its seats back, replace it. */
static void
hand_end(struct hand *hand)
{
	struct crew *crew = hand->crew;
	bool was_young = clock_steady_ms() - hand->started_at_ms <
	    RESTART_AFTER_MS;
	int status = 0;

	watch_free(&hand->watch);
	close(hand->socket);
	(void)kill(hand->pid, SIGTERM);	/* if only its socket is closed */
	while (waitpid(hand->pid, &status, 0) < 0 && errno == EINTR)
		;
	for (uint32_t i = 0; i < crew->seat_count; i++)
		if (crew->seats[i].hand == hand)
			seat_leave(crew, i);
	space_part_give_back(&hand->part);
	hand_drop_fds(hand);
	ipc_inbox_release(&hand->inbox);
	str_release(&hand->outbox);
	TAILQ_REMOVE(&crew->hands, hand, entry);
	if (!hand->is_leaving) {
		crew->staying--;
		event(EV_DAEMON_EXIT, NULL, "name", SLICE("smtpserver session"),
		    "child", event_number(hand->pid),
		    "status", event_number(status),
		    "restart", event_number(was_young), NULL);
	}
	mem_free(&hand);
	if (crew->is_stopping)
		;
	else if (was_young)
		timer_set(crew->process->loop, &crew->restart_timer,
		    clock_steady_ms() + RESTART_AFTER_MS, crew_fill, crew);
	else
		crew_fill(crew);
	crew->owner.changed_fn(crew->owner.context);
}

static void
hand_say(struct hand *hand, const char *word)
{
	str_adds(&hand->outbox, word);
	str_addc(&hand->outbox, '\n');
	hand_write(hand);
}

/* It gets no more sessions, and goes when those that it has are over. */
static void
hand_leave(struct hand *hand)
{
	hand->is_leaving = true;
	hand->crew->staying--;
	hand_say(hand, "leave");
}

static void
hand_replace(struct hand *hand)
{
	if (hand->is_leaving)
		return;
	hand_leave(hand);
	crew_fill(hand->crew);
}

static void
hand_line(struct hand *hand, struct slice line)
{
	struct crew *crew = hand->crew;
	struct slice verb = { NULL, 0 }, token_text = { NULL, 0 };
	uint64_t token;

	(void)slice_word(&line, &verb);
	if (slice_is(verb, "ask") && crew->owner.ask_fn(crew->owner.context,
	    hand->number, line))
		return;
	if (slice_is(verb, "closed") && slice_word(&line, &token_text) &&
	    slice_number(token_text, 0, UINT32_MAX, &token) &&
	    token < crew->seat_count &&
	    crew->seats[token].hand == hand)
		seat_leave(crew, (uint32_t)token);
	else if (slice_is(verb, "leaving"))
		hand_replace(hand);
	else
		warning("session worker %d talks nonsense", (int)hand->pid);
}

/* returns false when the hand is no more */
static bool
hand_read(struct hand *hand)
{
	struct slice line;
	size_t cursor = 0;
	int got = ipc_receive(hand->socket, &hand->inbox);

	if (got == 0 || (got < 0 && errno != EAGAIN)) {
		hand_end(hand);
		return false;
	}
	while ((got = ipc_line(&hand->inbox, &cursor, &line)) == 1)
		hand_line(hand, line);
	if (got < 0) {
		hand_end(hand);
		return false;
	}
	ipc_inbox_consume(&hand->inbox, cursor);
	hand->crew->owner.changed_fn(hand->crew->owner.context);
	return true;
}

static bool
hand_has_room(const struct hand *hand)
{
	return !hand->is_leaving && hand->fd_count < IPC_FDS_MAX &&
	    hand->outbox.len < OUTBOX_BYTES_MAX &&
	    hand->sessions < hand->crew->sessions_max;
}

/* Descriptors ride on the first byte: they are gone when it is. */
static void
hand_write(struct hand *hand)
{
	ssize_t n;

	if (hand->outbox.len == 0)
		return;
	n = ipc_send(hand->socket, str_slice(&hand->outbox), hand->fds,
	    hand->fd_count);
	if (n > 0) {
		bool was_full = !hand_has_room(hand);

		hand_drop_fds(hand);
		str_consume(&hand->outbox, (size_t)n);
		if (was_full)
			hand->crew->owner.changed_fn(hand->crew->owner.context);
	}
	/* an error shows as an end of file on the next read */
	watch_set(hand->watch, LOOP_READ |
	    (hand->outbox.len > 0 ? LOOP_WRITE : 0));
}

static void
on_hand(void *context, unsigned ready)
{
	struct hand *hand = context;

	if (ready & (LOOP_READ | LOOP_HANGUP))
		(void)hand_read(hand);
	/* what can be written goes out at the end of the turn */
}

void
crew_in_child(struct crew *crew)
{
	struct hand *hand;

	TAILQ_FOREACH(hand, &crew->hands, entry) {
		close(hand->socket);
		hand_drop_fds(hand);
	}
}

/* In the child: nothing of the doorman's stays open. */
static void
child_begin(struct crew *crew, int socket, int keys,
    struct space_part *part)
{
	const struct worker_sockets sockets = {
		.doorman = socket, .keys = keys,
		.is_submission = crew->owner.is_submission,
		.failures = crew->owner.failures,
		.space = crew->owner.space, .part = part,
	};

	crew->owner.child_fn(crew->owner.context);
	worker_process(crew->process, &sockets, crew->spool);
}

static int
hand_new(struct crew *crew, struct err *err)
{
	int socket, keys = crew->owner.keys_fn == NULL ? -1 :
	    crew->owner.keys_fn(crew->owner.context,
	    crew->owner.is_submission);
	struct space_part *part = crew->owner.space == NULL ? NULL :
	    space_part_take(crew->owner.space);
	struct hand *hand;
	pid_t pid = daemon_fork(crew->process, crew->owner.is_submission ?
	    "submission" : "smtpserver", &socket, err);

	if (pid == 0)
		child_begin(crew, socket, keys, part);
	if (keys >= 0)
		close(keys);
	if (pid < 0) {
		space_part_give_back(&part);
		return -1;
	}
	(void)fcntl(socket, F_SETFL, O_NONBLOCK);
	hand = mem_alloc(1, sizeof(*hand));
	hand->crew = crew;
	hand->number = ++numbers;
	hand->pid = pid;
	hand->socket = socket;
	hand->part = part;
	hand->started_at_ms = clock_steady_ms();
	ipc_inbox_init(&hand->inbox);
	str_init(&hand->outbox);
	hand->watch = loop_watch(crew->process->loop, socket, LOOP_READ,
	    on_hand, hand);
	TAILQ_INSERT_TAIL(&crew->hands, hand, entry);
	crew->staying++;
	return 0;
}

/* ---- the crew --------------------------------------------------------- */

static void
crew_fill(void *context)
{
	struct crew *crew = context;
	struct err err;

	while (!crew->is_stopping && crew->staying < crew->wanted)
		if (hand_new(crew, &err) < 0) {
			warning("%s", err.text);
			timer_set(crew->process->loop, &crew->restart_timer,
			    clock_steady_ms() + RESTART_AFTER_MS, crew_fill,
			    crew);
			return;
		}
	crew->owner.changed_fn(crew->owner.context);
}

static void
crew_write(void *context)
{
	struct crew *crew = context;
	struct hand *hand;

	TAILQ_FOREACH(hand, &crew->hands, entry)
		hand_write(hand);
}

/* A session takes two descriptors (socket, draft).  A worker that cannot
 * take one in would lose it in the middle of a batch. */
static unsigned
sessions_max(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
	    limit.rlim_cur > UINT_MAX)
		return UINT_MAX / 2;
	if (limit.rlim_cur < SPARE_FDS + 2)
		return 1;
	return (unsigned)(limit.rlim_cur - SPARE_FDS) / 2;
}

struct crew *
crew_new(struct process *process, struct spool *spool,
    struct clients *clients, const struct crew_owner *owner)
{
	struct crew *crew = mem_alloc(1, sizeof(*crew));

	crew->process = process;
	crew->spool = spool;
	crew->clients = clients;
	crew->owner = *owner;
	crew->first_free = NO_SEAT;
	crew->sessions_max = sessions_max();
	TAILQ_INIT(&crew->hands);
	loop_at_turn_end(process->loop, crew_write, crew);
	return crew;
}

int
crew_resize(struct crew *crew, unsigned workers, struct err *err)
{
	struct hand *hand;

	crew->wanted = workers;
	while (crew->staying < crew->wanted)
		if (hand_new(crew, err) < 0)
			return -1;
	TAILQ_FOREACH_REVERSE(hand, &crew->hands, hand_list, entry)
		if (crew->staying > crew->wanted && !hand->is_leaving)
			hand_leave(hand);
	return 0;
}

static struct hand *
hand_choose(const struct crew *crew)
{
	struct hand *hand, *best = NULL;

	TAILQ_FOREACH(hand, &crew->hands, entry)
		if (hand_has_room(hand) &&
		    (best == NULL || hand->sessions < best->sessions))
			best = hand;
	return best;
}

bool
crew_is_full(const struct crew *crew)
{
	const struct hand *hand;

	TAILQ_FOREACH(hand, &crew->hands, entry)
		if (!hand->is_leaving && hand->sessions < crew->sessions_max)
			return false;
	return true;
}

bool
crew_has_room(const struct crew *crew)
{
	return hand_choose(crew) != NULL;
}

void
crew_give(struct crew *crew, int fd, const char *endpoint,
    const char *listener, bool is_tls, struct client_count *client)
{
	struct hand *hand = hand_choose(crew);

	if (hand == NULL)
		panic("crew_give: nobody has room");
	hand->fds[hand->fd_count++] = fd;
	str_addf(&hand->outbox, "open %u %s %s %u%s\n",
	    seat_take(crew, hand, client), endpoint, listener,
	    clients_sessions(client), is_tls ? " tls" : "");
}

void
crew_answer(struct crew *crew, uint64_t asker, struct slice line)
{
	struct hand *hand;

	TAILQ_FOREACH(hand, &crew->hands, entry)
		if (hand->number == asker)
			break;
	if (hand == NULL)
		return;
	str_add_slice(&hand->outbox, line);	/* goes at the turn's end */
}

void
crew_tell(struct crew *crew, const char *word)
{
	struct hand *hand;

	TAILQ_FOREACH(hand, &crew->hands, entry)
		hand_say(hand, word);
}

void
crew_stop(struct crew *crew)
{
	struct hand *hand;

	crew->is_stopping = true;
	crew->wanted = 0;
	timer_clear(&crew->restart_timer);
	crew->staying = 0;
	TAILQ_FOREACH(hand, &crew->hands, entry) {
		hand_say(hand, "stop");	/* also to those that leave */
		hand->is_leaving = true;
	}
}

void
crew_kill(struct crew *crew)
{
	struct hand *hand;

	TAILQ_FOREACH(hand, &crew->hands, entry)
		(void)kill(hand->pid, SIGKILL);
}

static void
keep_quiet(void *context)
{
}

void
crew_free(struct crew **crew)
{
	struct crew *c = *crew;
	struct hand *hand;

	if (c == NULL)
		return;
	c->is_stopping = true;
	c->owner.changed_fn = keep_quiet;
	while ((hand = TAILQ_FIRST(&c->hands)) != NULL) {
		hand->is_leaving = true;
		hand_end(hand);
	}
	timer_clear(&c->restart_timer);
	mem_free(&c->seats);
	mem_free(crew);
}

unsigned
crew_session_count(const struct crew *crew)
{
	return crew->sessions;
}

unsigned
crew_worker_count(const struct crew *crew)
{
	struct hand *hand;
	unsigned count = 0;

	TAILQ_FOREACH(hand, &crew->hands, entry)
		count++;
	return count;
}

/* farm.c - the router's workers: who has what in hand
 *
 * In     a queue of names, chores
 * Out    lines to workers; their answers close the entries
 * Holds  a socket a worker
 * Trusts workers to be alive or dead; their lines are looked up, no more
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/farm/farm.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "io/ipc.h"

#include "base/banned.h"

struct chore {
	char			*line;
	TAILQ_ENTRY(chore)	 link;
};
TAILQ_HEAD(chore_list, chore);

struct hand {			/* one worker, as the parent sees it */
	struct farm		*farm;
	pid_t			 pid;
	int			 socket;
	struct watch		*watch;
	struct ipc_inbox	 inbox;
	struct str		 out;		/* not yet sent */
	struct entry_list	 entries;	/* in hand, oldest first */
	struct chore		*chore;		/* in hand, too */
	size_t			 count;		/* entries */
	int64_t			 heard_ms;	/* last answer, or first line */
	int64_t			 forked_ms;
	bool			 is_ending;	/* end of file was sent */
	TAILQ_ENTRY(hand)	 link;
};
TAILQ_HEAD(hand_list, hand);

struct farm {
	struct process		*process;
	struct queue		*queue;
	struct farm_rows	 rows;
	struct hand_list	 hands;
	unsigned		 wanted, active;
	struct chore_list	 chores;
	struct timer		 fork_timer, steal_timer, soon_timer,
				 stop_timer;
	loop_fn			*stopped;
	void			*stopped_context;
};

static void fork_missing(void *context);
static void on_answer(void *context, unsigned ready);

/* ---- lines to a worker ----------------------------------------------- */

static void
hand_send(struct hand *hand)
{
	ssize_t sent;

	if (hand->out.len == 0)
		return;
	sent = ipc_send(hand->socket, str_slice(&hand->out), NULL, 0);
	if (sent > 0)
		str_consume(&hand->out, (size_t)sent);
	watch_set(hand->watch, hand->out.len > 0 ? LOOP_READ | LOOP_WRITE :
	    LOOP_READ);		/* a dead one shows in reading */
}

static void
hand_give(struct hand *hand, struct entry *entry)
{
	if (hand->count == 0)
		hand->heard_ms = clock_steady_ms();
	entry->owner = hand;
	TAILQ_INSERT_TAIL(&hand->entries, entry, link);
	hand->count++;
	str_addf(&hand->out, "%u/%ju\n", entry->priority,
	    (uintmax_t)entry->inode);
}

static void
hand_take(struct hand *hand, struct entry *entry)
{
	TAILQ_REMOVE(&hand->entries, entry, link);
	hand->count--;
}

/* Fewest names in hand; NULL: all have enough.  Who is at a chore gets names
 * only when there is nobody else: they could wait long. */
static struct hand *
hand_least(struct farm *farm, bool for_chore)
{
	struct hand *hand, *best = NULL;

	TAILQ_FOREACH(hand, &farm->hands, link) {
		if (hand->is_ending || hand->count >= FARM_BATCH)
			continue;
		if (hand->chore != NULL && (for_chore || farm->active > 1))
			continue;
		if (best == NULL || hand->count < best->count)
			best = hand;
	}
	return best;
}

static void
give_chores(struct farm *farm)
{
	struct chore *chore;
	struct hand *hand;

	while ((chore = TAILQ_FIRST(&farm->chores)) != NULL &&
	    (hand = hand_least(farm, true)) != NULL) {
		TAILQ_REMOVE(&farm->chores, chore, link);
		hand->chore = chore;
		str_addf(&hand->out, "%s\n", chore->line);
	}
}

/* Moves names from one worker to those that have less and do answer. */
static void
steal_from(struct hand *from, int64_t before_ms)
{
	struct entry *entry = TAILQ_FIRST(&from->entries), *next;
	struct hand *to;

	if (entry != NULL && from->chore == NULL)
		entry = TAILQ_NEXT(entry, link);	/* it is at the first */
	for (; entry != NULL; entry = next) {
		next = TAILQ_NEXT(entry, link);
		to = hand_least(from->farm, false);
		if (to == NULL || to->count + 1 >= from->count + (from->chore
		    != NULL) || (to->count > 0 && to->heard_ms <= before_ms))
			return;
		hand_take(from, entry);
		hand_give(to, entry);
	}
}

/* What waits behind the first name of a worker that has not answered for a
 * while goes to others, too. */
static void
steal(void *context)
{
	struct farm *farm = context;
	int64_t before_ms = clock_steady_ms() - FARM_STEAL_MS;
	struct hand *hand;

	TAILQ_FOREACH(hand, &farm->hands, link)
		if (hand->heard_ms <= before_ms)
			steal_from(hand, before_ms);
	TAILQ_FOREACH(hand, &farm->hands, link)
		hand_send(hand);
}

static bool
is_busy(const struct farm *farm)
{
	const struct hand *hand;

	TAILQ_FOREACH(hand, &farm->hands, link)
		if (hand->count + (hand->chore != NULL) > 1)
			return true;
	return false;
}

static void
at_turn_end(void *context)
{
	struct farm *farm = context;
	struct hand *hand;

	if (farm->stopped == NULL) {
		give_chores(farm);
		while (farm->queue->waiting_count > 0 &&
		    (hand = hand_least(farm, false)) != NULL)
			hand_give(hand, queue_take(farm->queue, hand));
	}
	TAILQ_FOREACH(hand, &farm->hands, link)
		hand_send(hand);
	if (farm->steal_timer.at_ms == 0 && farm->wanted > 1 && is_busy(farm))
		timer_set(farm->process->loop, &farm->steal_timer,
		    clock_steady_ms() + FARM_STEAL_MS, steal, farm);
}

/* ---- answers --------------------------------------------------------- */

static struct entry *
entry_named(struct hand *hand, struct slice name)
{
	size_t slash = slice_find(name, '/');
	uint64_t priority, inode;
	struct entry *entry;

	if (!slice_number(slice_first(name, slash), 0, SPOOL_PRIORITIES - 1,
	    &priority) || !slice_number(slice_from(name, slash + 1), 1,
	    UINT64_MAX, &inode))
		return NULL;
	TAILQ_FOREACH(entry, &hand->entries, link)
		if (entry->inode == inode && entry->priority == priority)
			return entry;
	return NULL;	/* stolen meanwhile */
}

static void
chore_free(struct chore **chore)
{
	if (*chore == NULL)
		return;
	mem_free(&(*chore)->line);
	mem_free(chore);
}

static void
wake_soon(void *context)
{
	struct farm *farm = context;

	queue_wake_soon(farm->queue);
}

static void
nod(struct farm *farm, struct entry *entry)
{
	queue_nod(farm->queue, entry);
	if (farm->soon_timer.at_ms == 0 && farm->stopped == NULL)
		timer_set(farm->process->loop, &farm->soon_timer,
		    clock_steady_ms() + FARM_SOON_MS, wake_soon, farm);
}

static void
take_answer(struct hand *hand, struct slice line)
{
	struct slice how = slice_first(line, slice_find(line, ' '));
	struct slice what = slice_from(line, how.n + 1);
	struct farm *farm = hand->farm;
	struct entry *entry;

	if (hand->chore != NULL && slice_is(what, hand->chore->line)) {
		chore_free(&hand->chore);
		return;
	}
	entry = entry_named(hand, what);
	if (entry == NULL)
		return;
	hand_take(hand, entry);
	if (slice_is(how, "later"))
		queue_rest(farm->queue, entry);
	else if (slice_is(how, "soon"))
		nod(farm, entry);
	else
		queue_done(farm->queue, entry);
}

/* ---- birth and death ------------------------------------------------- */

static void
chore_add(struct farm *farm, const char *line)
{
	struct chore *chore;

	TAILQ_FOREACH(chore, &farm->chores, link)
		if (strcmp(chore->line, line) == 0)
			return;
	chore = mem_alloc(1, sizeof(*chore));
	chore->line = mem_strdup(line);
	TAILQ_INSERT_TAIL(&farm->chores, chore, link);
}

/* What it had in hand goes back to the front, in order. */
static void
hand_empty(struct hand *hand)
{
	struct entry *entry;

	while ((entry = TAILQ_LAST(&hand->entries, entry_list)) != NULL) {
		hand_take(hand, entry);
		queue_give_back(hand->farm->queue, entry);
	}
	if (hand->chore != NULL)
		chore_add(hand->farm, hand->chore->line);
	chore_free(&hand->chore);
}

static void
hand_free(struct hand **phand)
{
	struct hand *hand = *phand;

	watch_free(&hand->watch);
	close(hand->socket);
	TAILQ_REMOVE(&hand->farm->hands, hand, link);
	ipc_inbox_release(&hand->inbox);
	str_release(&hand->out);
	mem_free(phand);
}

static int
reap(pid_t pid)
{
	int status = 0;

	(void)kill(pid, SIGKILL);	/* its socket is closed: it is done */
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

static void
report_death(const struct hand *hand, int status)
{
	char text[64];

	if (WIFSIGNALED(status))
		snprintf(text, sizeof(text), "signal %d", WTERMSIG(status));
	else
		snprintf(text, sizeof(text), "exit %d", WEXITSTATUS(status));
	event(EV_DAEMON_EXIT, NULL, "name", SLICE("router worker"),
	    "child", event_number(hand->pid), "status", slice_of(text),
	    "restart", SLICE("now"), NULL);
}

static void
check_stopped(struct farm *farm)
{
	if (farm->stopped != NULL && TAILQ_EMPTY(&farm->hands)) {
		timer_clear(&farm->stop_timer);
		farm->stopped(farm->stopped_context);
	}
}

/* The kernel closes a process' descriptors, and with them its locks, before
 * it can be waited for: after reap() its claim is free. */
static void
hand_gone(struct hand *hand)
{
	struct farm *farm = hand->farm;
	bool was_told = hand->is_ending;
	int64_t lived_ms = clock_steady_ms() - hand->forked_ms;
	pid_t pid = hand->pid;
	int status = reap(pid);

	hand_empty(hand);
	if (!was_told) {
		farm->active--;
		report_death(hand, status);
	}
	hand_free(&hand);
	if (!was_told)
		farm->rows.death(farm->rows.context, pid, status);
	if (!was_told && farm->stopped == NULL)
		timer_set(farm->process->loop, &farm->fork_timer,
		    clock_steady_ms() + (lived_ms < FARM_REST_MS ?
		    FARM_REST_MS : 0), fork_missing, farm);
	check_stopped(farm);
}

static void
on_answer(void *context, unsigned ready)
{
	struct hand *hand = context;
	struct slice line;
	size_t cursor = 0;
	int got, more;

	if (ready & LOOP_WRITE)
		hand_send(hand);
	got = ipc_receive(hand->socket, &hand->inbox);
	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	hand->heard_ms = clock_steady_ms();
	while ((more = ipc_line(&hand->inbox, &cursor, &line)) == 1)
		take_answer(hand, line);
	ipc_inbox_consume(&hand->inbox, cursor);
	if (got <= 0 || more < 0)
		hand_gone(hand);
}

/* The child has copies of the parent's ends of all other workers: with them
 * open, those would not see the parent's end. */
void
farm_in_child(struct farm *farm)
{
	struct hand *hand;

	TAILQ_FOREACH(hand, &farm->hands, link)
		close(hand->socket);
}

static void
child_run(struct farm *farm, int socket)
{
	farm_in_child(farm);
	farm->rows.worker(farm->rows.context, socket);
	event_flush();
	_exit(0);
}

static bool
hand_fork(struct farm *farm)
{
	struct hand *hand;
	struct err err;
	int socket = -1;
	pid_t pid = daemon_fork(farm->process, "router", &socket, &err);

	if (pid == 0)
		child_run(farm, socket);
	if (pid < 0) {
		warning("%s", err.text);
		return false;
	}
	(void)fcntl(socket, F_SETFL, O_NONBLOCK);
	hand = mem_alloc(1, sizeof(*hand));
	hand->farm = farm;
	hand->pid = pid;
	hand->socket = socket;
	hand->forked_ms = clock_steady_ms();
	TAILQ_INIT(&hand->entries);
	str_init(&hand->out);
	ipc_inbox_init(&hand->inbox);
	hand->watch = loop_watch(farm->process->loop, socket, LOOP_READ,
	    on_answer, hand);
	TAILQ_INSERT_TAIL(&farm->hands, hand, link);
	farm->active++;
	return true;
}

static void
fork_missing(void *context)
{
	struct farm *farm = context;

	if (farm->stopped != NULL)
		return;
	while (farm->active < farm->wanted)
		if (!hand_fork(farm)) {
			timer_set(farm->process->loop, &farm->fork_timer,
			    clock_steady_ms() + FARM_REST_MS, fork_missing,
			    farm);
			break;
		}
}

/* ---- the whole ------------------------------------------------------- */

struct farm *
farm_new(struct process *process, struct queue *queue, unsigned count,
    const struct farm_rows *rows)
{
	struct farm *farm = mem_alloc(1, sizeof(*farm));

	farm->process = process;
	farm->queue = queue;
	farm->rows = *rows;
	farm->wanted = count > 0 ? count : 1;
	TAILQ_INIT(&farm->hands);
	TAILQ_INIT(&farm->chores);
	loop_at_turn_end(process->loop, at_turn_end, farm);
	fork_missing(farm);
	return farm;
}

void
farm_add_chore(struct farm *farm, const char *line)
{
	chore_add(farm, line);
}

/* They finish what they have and see the end of file behind it. */
static void
end_all(struct farm *farm)
{
	struct hand *hand;

	TAILQ_FOREACH(hand, &farm->hands, link) {
		if (hand->is_ending)
			continue;
		hand_send(hand);
		hand->is_ending = true;
		(void)shutdown(hand->socket, SHUT_WR);
		str_reset(&hand->out);
	}
	farm->active = 0;
}

void
farm_renew(struct farm *farm, unsigned count)
{
	end_all(farm);
	farm->wanted = count > 0 ? count : 1;
	fork_missing(farm);
}

static void
stop_late(void *context)
{
	struct farm *farm = context;

	farm->stopped(farm->stopped_context);
}

void
farm_stop(struct farm *farm, loop_fn *fn, void *context)
{
	farm->stopped = fn;
	farm->stopped_context = context;
	timer_clear(&farm->fork_timer);
	timer_clear(&farm->steal_timer);
	timer_clear(&farm->soon_timer);
	end_all(farm);
	timer_set(farm->process->loop, &farm->stop_timer,
	    clock_steady_ms() + FARM_STOP_MS, stop_late, farm);
	check_stopped(farm);
}

void
farm_free(struct farm **pfarm)
{
	struct farm *farm = *pfarm;
	struct hand *hand;
	struct chore *chore;

	if (farm == NULL)
		return;
	timer_clear(&farm->fork_timer);
	timer_clear(&farm->steal_timer);
	timer_clear(&farm->soon_timer);
	timer_clear(&farm->stop_timer);
	while ((hand = TAILQ_FIRST(&farm->hands)) != NULL) {
		(void)reap(hand->pid);
		hand_empty(hand);
		hand_free(&hand);
	}
	while ((chore = TAILQ_FIRST(&farm->chores)) != NULL) {
		TAILQ_REMOVE(&farm->chores, chore, link);
		chore_free(&chore);
	}
	mem_free(pfarm);
}

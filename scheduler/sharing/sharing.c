/* sharing.c - the scheduler's side of the copies on other machines
 *
 * In     ends of messages, new records; answers of share
 * Out    `done`, `kept`, `lease` and `taken` to share
 * Holds  what share has not confirmed; until when this node may deliver
 * Trusts share's word about the lease
 * Spec   sharing.h; doc/protocol/share.md section 4; doc/CLUSTER.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/consult/share_ask.h"
#include "io/ipc_link.h"
#include "io/unix_socket.h"
#include "scheduler/sharing/state.h"

#include "base/banned.h"

enum { DONE_SOON_MS = 50 };	/* for others to join */

/* ---- ends --------------------------------------------------------------- */

/* The first ids that wait go out as one line, unless one is out. */
static void
done_tell(struct sharing *sharing)
{
	struct slice rest = str_slice(&sharing->done);
	size_t bytes = 0;

	if (sharing->link == NULL || sharing->telling.len > 0 || rest.n == 0)
		return;
	for (int i = 0; i < SHARING_DONE_IDS && bytes < rest.n; i++)
		bytes += slice_find(slice_from(rest, bytes), ' ') + 1;
	str_add_slice(&sharing->telling, slice_first(rest, bytes));
	str_consume(&sharing->done, bytes);
	str_addf(ipc_link_out(sharing->link), "d done %.*s\n",
	    (int)sharing->telling.len - 1, sharing->telling.buf);
	ipc_link_send(sharing->link);
}

/* They are told again, before the others. */
static void
done_put_back(struct sharing *sharing)
{
	if (sharing->telling.len == 0)
		return;
	str_add_slice(&sharing->telling, str_slice(&sharing->done));
	str_reset(&sharing->done);
	str_add_slice(&sharing->done, str_slice(&sharing->telling));
	str_reset(&sharing->telling);
}

static void
done_answered(struct sharing *sharing, bool is_ok)
{
	if (!is_ok) {
		done_put_back(sharing);	/* the tick tries again */
		return;
	}
	str_reset(&sharing->telling);
	done_tell(sharing);
}

static void
done_soon(void *context)
{
	done_tell(context);
}

void
sharing_note_done(struct sharing *sharing, const char *id)
{
	if (sharing == NULL || sharing->done.len > SHARING_DONE_BYTES_MAX)
		return;
	str_addf(&sharing->done, "%s ", id);
	if (sharing->soon.at_ms == 0)
		timer_set(sharing->queue->loop, &sharing->soon,
		    clock_steady_ms() + DONE_SOON_MS, done_soon, sharing);
}

/* ---- what goes to another node ------------------------------------------- */

/* Nothing is offered before the list has come: it makes void what another run
 * of this program, or another process share, has offered. */
void
sharing_say_moves(struct sharing *sharing)
{
	uint64_t serial = sharing->is_listing ||
	    sharing->listed_epoch != sharing->epoch ? 0 : sharing->serial;

	if (sharing->link != NULL && !sharing->is_listing &&
	    moves_ask(sharing->moves, serial, ipc_link_out(sharing->link)))
		ipc_link_send(sharing->link);
}

struct move_order *
sharing_move_begin(struct sharing *sharing, const char *node, struct err *err)
{
	struct move_order *order;

	if (sharing->link == NULL || sharing->epoch == 0 ||
	    sharing->listed_epoch != sharing->epoch ||
	    clock_steady_ms() >= sharing->lease_end_ms) {
		err_set(err, "nothing can be moved now: %s",
		    sharing_why(sharing));
		return NULL;
	}
	order = moves_order_new(sharing->moves, node);
	if (order == NULL)
		err_set(err, "%d orders to move mail are under way",
		    MOVES_ORDERS);
	return order;
}

/* ---- the lease ---------------------------------------------------------- */

static void
lease_ask(struct sharing *sharing)
{
	int64_t now_ms = clock_steady_ms();

	if (sharing->link == NULL || sharing->is_asking ||
	    (sharing->epoch != 0 &&
	    now_ms - sharing->asked_ms < SHARING_LEASE_EVERY_MS))
		return;
	sharing->is_asking = true;
	sharing->asked_ms = now_ms;
	str_adds(ipc_link_out(sharing->link), "l lease\n");
	ipc_link_send(sharing->link);
}

static void
lease_ask_taken(struct sharing *sharing)
{
	if (sharing->is_listing || sharing->listed_epoch == sharing->epoch)
		return;
	sharing->is_listing = true;
	sharing->is_clean = false;
	taken_release(&sharing->coming);
	/* no two runs have the same */
	sharing->serial = (uint64_t)clock_wall_us() > sharing->serial ?
	    (uint64_t)clock_wall_us() : sharing->serial + 1;
	str_addf(ipc_link_out(sharing->link), "t taken %" PRIu64 " %" PRIu64
	    "\n", sharing->epoch, sharing->serial);
}

/* "held MS EPOCH", "none WORDS". */
static void
lease_answered(struct sharing *sharing, struct slice answer)
{
	struct slice word, ms, epoch;
	uint64_t left_ms = 0, number = 0;

	sharing->is_asking = false;
	if (slice_word(&answer, &word) && slice_is(word, "held") &&
	    slice_word(&answer, &ms) && slice_word(&answer, &epoch) &&
	    slice_number(ms, 1, 3600000, &left_ms) &&
	    slice_number(epoch, 1, INT64_MAX, &number)) {
		sharing->epoch = number;
		sharing->lease_end_ms = sharing->asked_ms + (int64_t)left_ms;
		lease_ask_taken(sharing);
		return;
	}
	answer = slice_trim(answer);
	snprintf(sharing->why, sizeof(sharing->why), SLICE_FMT,
	    SLICE_ARG(answer));
}

/* The whole list has come. */
static void
lease_list(struct sharing *sharing)
{
	sharing->is_listing = false;
	sharing->listed_epoch = sharing->epoch;
	taken_release(&sharing->taken);
	sharing->taken = sharing->coming;
	memset(&sharing->coming, 0, sizeof(sharing->coming));
	taken_sort(&sharing->taken);
	moves_listed(sharing->moves, &sharing->taken);
	sharing->kind->taken(sharing->context);
	sharing_say_moves(sharing);
}

void
sharing_taken_done(struct sharing *sharing)
{
	sharing->is_clean = true;
}

bool
sharing_may_deliver(const struct sharing *sharing)
{
	if (sharing == NULL)
		return true;
	if (sharing->epoch == 0 || clock_steady_ms() >= sharing->lease_end_ms)
		return sharing->queue->conf->cluster.delivers_alone;
	return sharing->listed_epoch == sharing->epoch && sharing->is_clean;
}

const char *
sharing_why(const struct sharing *sharing)
{
	if (sharing->link == NULL)
		return "the process share does not answer";
	if (sharing->epoch != 0 && clock_steady_ms() < sharing->lease_end_ms)
		return "what other nodes have taken over is looked for";
	return sharing->why[0] != '\0' ? sharing->why :
	    "the database has not answered yet";
}

const char *
sharing_taken_by(const struct sharing *sharing, const char *id)
{
	return sharing != NULL ? taken_node(&sharing->taken, id) : NULL;
}

enum sharing_fate
sharing_fate_of(struct sharing *sharing, ino_t inode, const char *id)
{
	if (sharing_taken_by(sharing, id) == NULL)
		return SHARING_OURS;
	if (taken_is_settled(&sharing->taken, id))
		return SHARING_THEIRS;
	moves_doubt(sharing->moves, inode, id);
	sharing_say_moves(sharing);
	return SHARING_UNKNOWN;
}

struct move_order *
sharing_move_order(struct sharing *sharing, uint64_t number)
{
	return moves_order_find(sharing->moves, number);
}

const struct move_order *
sharing_move_of(struct sharing *sharing, const struct job *job,
    int64_t *out_since_s)
{
	return (job->flags & JOB_MOVING) == 0 ? NULL :
	    moves_of(sharing->moves, job, out_since_s);
}

enum sharing_moved
sharing_move(struct sharing *sharing, struct job *job,
    struct move_order *order)
{
	char name[SPOOL_NAME_BYTES];
	int fds[2];
	bool fits;

	if (job->flight_count > 0 || job->unsent > 0 || job->pending != NULL ||
	    (job->flags & (JOB_RELOAD | JOB_WRITING | JOB_AWAITED)) ||
	    job_is_in(job, JOB_REPORT) || job_is_finished(job))
		return SHARING_BUSY;
	spool_hashed_name(sharing->queue->spool, job->inode, name);
	fds[0] = copy_kept_open(sharing, AREA_QUEUE, name);
	fds[1] = copy_kept_open(sharing, AREA_TRANSPORT, name);
	fits = copy_kept_fits(sharing, fds[0]) &&
	    copy_kept_fits(sharing, fds[1]);
	for (size_t i = 0; i < 2; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	if (!fits)
		return SHARING_TOO_LARGE;
	moves_add(sharing->moves, job, order);
	copy_kept_note(sharing, job);
	return SHARING_MOVES;
}

void
sharing_move_back(struct sharing *sharing, struct job *job, const char *why)
{
	moves_take_back(sharing->moves, job, why);
	sharing_say_moves(sharing);
}

void
sharing_move_none(struct sharing *sharing, const char *why)
{
	if (sharing != NULL)
		moves_stay_all(sharing->moves, why);
}

struct moves *
sharing_moves(struct sharing *sharing)
{
	return sharing->moves;
}

/* A new list says what became of an offer. */
static void
lease_list_again(struct sharing *sharing)
{
	sharing->listed_epoch = 0;
	if (sharing->is_asking)
		return;			/* with its answer */
	sharing->asked_ms = 0;
	lease_ask(sharing);
}

static void
moves_take_answer(struct sharing *sharing, char token, struct slice answer)
{
	if (moves_answered(sharing->moves, token, answer, &sharing->taken))
		lease_list_again(sharing);
	sharing_say_moves(sharing);
}

/* ---- the connection ----------------------------------------------------- */

/* "TOKEN ok ...", "t taken ID NODE". */
static enum ipc_link_taken
sharing_take_line(void *context, struct slice line)
{
	struct sharing *sharing = context;
	struct slice token, word, id;
	bool is_ok;

	if (!slice_word(&line, &token) || !slice_word(&line, &word))
		return IPC_LINK_NONSENSE;
	if (slice_is(token, "t") && slice_is(word, "taken"))
		return slice_word(&line, &id) && taken_add(&sharing->coming, id,
		    slice_trim(line)) ? IPC_LINK_NEXT : IPC_LINK_NONSENSE;
	if (slice_is(word, "left")) {
		if (!slice_word(&line, &id))
			return IPC_LINK_NONSENSE;
		moves_take_left(sharing->moves, id, slice_trim(line));
		return IPC_LINK_NEXT;
	}
	if (!slice_is(word, "ok"))
		return IPC_LINK_NONSENSE;
	line = slice_trim(line);
	is_ok = slice_is(line, "ok");
	if (slice_is(token, "l"))
		lease_answered(sharing, line);
	else if (slice_is(token, "t") && slice_starts(line, "away"))
		sharing->is_listing = false;	/* asked with the next lease */
	else if (slice_is(token, "t"))
		lease_list(sharing);
	else if (slice_is(token, "d"))
		done_answered(sharing, is_ok);
	else if (slice_starts(token, "k"))
		copy_kept_answered(sharing, slice_from(token, 1), is_ok);
	else
		moves_take_answer(sharing, token.p[0], line);
	return IPC_LINK_NEXT;
}

/* What it had is told to the next one; the lease goes on until its end. */
static void
sharing_on_gone(void *context)
{
	struct sharing *sharing = context;

	ipc_link_free(&sharing->link);
	sharing->is_asking = sharing->is_listing = false;
	while (sharing->keeping_count > 0)
		copy_kept_again(sharing,
		    sharing->keeping[--sharing->keeping_count]);
	done_put_back(sharing);
	if (moves_lost(sharing->moves))
		sharing->listed_epoch = 0;
}

static const struct ipc_link_kind sharing_link_kind = {
	.take = sharing_take_line, .ended = sharing_on_gone, .reads_on = true,
};

static void
sharing_connect(struct sharing *sharing)
{
	struct err err;
	int fd = unix_socket_connect_in(sharing->queue->conf->run_dir,
	    SHARE_SOCKET, SOCK_NONBLOCK, &err);

	if (fd < 0)
		return;
	sharing->link = ipc_link_new(sharing->queue->loop, fd,
	    &sharing_link_kind, sharing);
	sharing->asked_ms = 0;
}

static void
sharing_on_tick(void *context)
{
	struct sharing *sharing = context;

	if (sharing->link == NULL)
		sharing_connect(sharing);
	sharing->is_keeping_over = false;
	lease_ask(sharing);
	done_tell(sharing);
	copy_kept_tell(sharing);
	moves_tick(sharing->moves);
	sharing_say_moves(sharing);
	timer_set(sharing->queue->loop, &sharing->tick, clock_steady_ms() +
	    SHARING_TICK_MS, sharing_on_tick, sharing);
}

static void
sharing_add_place(const struct conf *conf, struct str *out)
{
	str_addf(out, "%s %s %s", conf->cluster.name, conf->cluster.self,
	    conf->cluster.postgres);
}

bool
sharing_fits(const struct sharing *sharing, const struct conf *conf)
{
	struct str place = STR_INIT;
	bool is_same;

	if (sharing == NULL || !conf_keeps_copies(conf))
		return sharing == NULL && !conf_keeps_copies(conf);
	sharing_add_place(conf, &place);
	is_same = strcmp(place.buf, sharing->place.buf) == 0;
	str_release(&place);
	return is_same;
}

struct sharing *
sharing_new(struct queue *queue, const struct sharing_kind *kind,
    void *context)
{
	struct sharing *sharing;

	if (!conf_keeps_copies(queue->conf))
		return NULL;
	sharing = mem_alloc(1, sizeof(*sharing));
	sharing->queue = queue;
	sharing->kind = kind;
	sharing->context = context;
	sharing->moves = moves_new(queue, &kind->moves, context);
	str_init(&sharing->place);
	sharing_add_place(queue->conf, &sharing->place);
	str_init(&sharing->done);
	str_init(&sharing->telling);
	sharing_on_tick(sharing);
	return sharing;
}

void
sharing_free(struct sharing **psharing)
{
	struct sharing *sharing = *psharing;

	if (sharing == NULL)
		return;
	done_put_back(sharing);
	while (sharing->link != NULL && sharing->done.len > 0) {
		done_tell(sharing);
		str_reset(&sharing->telling);
	}
	for (size_t i = sharing->kept_first; i < sharing->kept_count; i++)
		copy_kept_forget(sharing, sharing->kept[i]);
	timer_clear(&sharing->tick);
	timer_clear(&sharing->soon);
	ipc_link_free(&sharing->link);
	moves_free(&sharing->moves);
	taken_release(&sharing->taken);
	taken_release(&sharing->coming);
	str_release(&sharing->place);
	str_release(&sharing->done);
	str_release(&sharing->telling);
	mem_free(&sharing->kept);
	mem_free(psharing);
}

/* copies.c - the scheduler's side of the copies on other machines
 *
 * In     ends of messages, new records; answers of share
 * Out    `done`, `kept`, `lease` and `taken` to share
 * Holds  what share has not confirmed; until when this node may deliver
 * Trusts share's word about the lease
 * Spec   copies.h; doc/protocol/share.md section 4; doc/CLUSTER.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/consult/share_ask.h"
#include "io/ipc_link.h"
#include "io/unix_socket.h"
#include "scheduler/copies/copies.h"
#include "scheduler/copies/taken.h"

#include "base/banned.h"

enum {
	DONE_SOON_MS = 50,		/* for others to join */
	WORDS_BYTES = 200,
	ID_LINE_BYTES = SPOOL_ID_BYTES + 1
};

struct copies {
	struct queue	*queue;
	struct ipc_link	*link;		/* NULL: not connected */
	struct timer	 tick, soon;
	loop_fn		*taken_fn;
	void		*taken_context;
	/* the lease */
	bool		 is_asking;
	int64_t		 asked_ms;	/* the question that is out, or the
					 * last one */
	int64_t		 lease_end_ms;	/* steady; 0: there is none */
	uint64_t	 epoch;		/* of the lease; 0: none yet */
	uint64_t	 listed_epoch;	/* of taken; 0: there is no list */
	bool		 is_listing;
	bool		 is_clean;	/* what the list names is gone */
	struct taken	 taken, coming;
	char		 why[WORDS_BYTES];
	/* ends */
	struct str	 done;		/* "ID ID ...": to be told */
	struct str	 telling;	/* share was told, and has not answered */
	/* what stays: to be copied, by inode */
	ino_t		*kept;
	size_t		 kept_first, kept_count, kept_room;
	ino_t		 keeping[COPIES_KEEPING_MAX];	/* on their way */
	unsigned	 keeping_count;
	bool		 is_keeping_over;	/* share is away: after a tick */
};

/* ---- ends --------------------------------------------------------------- */

/* The first ids that wait go out as one line, unless one is out. */
static void
done_tell(struct copies *copies)
{
	struct slice rest = str_slice(&copies->done);
	size_t bytes = 0;

	if (copies->link == NULL || copies->telling.len > 0 || rest.n == 0)
		return;
	for (int i = 0; i < COPIES_DONE_IDS && bytes < rest.n; i++)
		bytes += slice_find(slice_from(rest, bytes), ' ') + 1;
	str_add_slice(&copies->telling, slice_first(rest, bytes));
	str_consume(&copies->done, bytes);
	str_addf(ipc_link_out(copies->link), "d done %.*s\n",
	    (int)copies->telling.len - 1, copies->telling.buf);
	ipc_link_send(copies->link);
}

/* They are told again, before the others. */
static void
done_put_back(struct copies *copies)
{
	if (copies->telling.len == 0)
		return;
	str_add_slice(&copies->telling, str_slice(&copies->done));
	str_reset(&copies->done);
	str_add_slice(&copies->done, str_slice(&copies->telling));
	str_reset(&copies->telling);
}

static void
done_answered(struct copies *copies, bool is_ok)
{
	if (!is_ok) {
		done_put_back(copies);	/* the tick tries again */
		return;
	}
	str_reset(&copies->telling);
	done_tell(copies);
}

static void
done_soon(void *context)
{
	done_tell(context);
}

void
copies_note_done(struct copies *copies, const char *id)
{
	if (copies == NULL || copies->done.len > COPIES_DONE_BYTES_MAX)
		return;
	str_addf(&copies->done, "%s ", id);
	if (copies->soon.at_ms == 0)
		timer_set(copies->queue->loop, &copies->soon,
		    clock_steady_ms() + DONE_SOON_MS, done_soon, copies);
}

/* ---- what stays ---------------------------------------------------------- */

static void
kept_push(struct copies *copies, ino_t inode)
{
	if (copies->kept_first > 0 && copies->kept_count ==
	    copies->kept_room) {
		memmove(copies->kept, copies->kept + copies->kept_first,
		    (copies->kept_count - copies->kept_first) *
		    sizeof(*copies->kept));
		copies->kept_count -= copies->kept_first;
		copies->kept_first = 0;
	}
	if (copies->kept_count == copies->kept_room) {
		copies->kept_room = copies->kept_room * 2 + 64;
		copies->kept = mem_grow(copies->kept, copies->kept_room,
		    sizeof(*copies->kept));
	}
	copies->kept[copies->kept_count++] = inode;
}

/* A descriptor of its own, without the lock that agents look at. */
static int
kept_open(const struct copies *copies, enum spool_area area, const char *name)
{
	return openat(spool_dir_fd(copies->queue->spool, area, 0), name,
	    O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

static void
kept_send(struct copies *copies, struct job *job)
{
	char name[SPOOL_NAME_BYTES];
	int fds[2];

	job->flags &= (uint16_t)~JOB_UNCOPIED;
	if (job_is_finished(job))
		return;			/* its end is told */
	spool_hashed_name(copies->queue->spool, job->inode, name);
	fds[0] = kept_open(copies, AREA_QUEUE, name);
	fds[1] = kept_open(copies, AREA_TRANSPORT, name);
	if (fds[0] < 0 || fds[1] < 0) {	/* the rescan sees to it */
		if (fds[0] >= 0)
			close(fds[0]);
		if (fds[1] >= 0)
			close(fds[1]);
		return;
	}
	ipc_link_attach(copies->link, fds, 2);
	str_addf(ipc_link_out(copies->link), "k%ju kept %s\n",
	    (uintmax_t)job->inode, job->id);
	copies->keeping[copies->keeping_count++] = job->inode;
}

static void
kept_tell(struct copies *copies)
{
	bool is_told = false;

	while (copies->link != NULL && !copies->is_keeping_over &&
	    copies->keeping_count < COPIES_KEEPING_MAX &&
	    copies->kept_first < copies->kept_count) {
		struct job *job = job_table_find(&copies->queue->jobs,
		    copies->kept[copies->kept_first++]);

		if (job != NULL && (job->flags & JOB_UNCOPIED)) {
			kept_send(copies, job);
			is_told = true;
		}
	}
	if (copies->kept_first == copies->kept_count)
		copies->kept_first = copies->kept_count = 0;
	if (is_told)
		ipc_link_send(copies->link);
}

/* It is to be copied again. */
static void
kept_again(struct copies *copies, ino_t inode)
{
	const struct job *job = job_table_find(&copies->queue->jobs, inode);

	if (job != NULL)
		copies_note_kept(copies, job);
}

static void
kept_answered(struct copies *copies, struct slice text, bool is_ok)
{
	uint64_t inode = 0;

	(void)slice_number(text, 1, UINT64_MAX, &inode);
	for (unsigned i = 0; i < copies->keeping_count; i++)
		if (copies->keeping[i] == (ino_t)inode) {
			copies->keeping[i] =
			    copies->keeping[--copies->keeping_count];
			break;
		}
	if (!is_ok) {
		copies->is_keeping_over = true;
		kept_again(copies, (ino_t)inode);
	}
	kept_tell(copies);
}

void
copies_note_kept(struct copies *copies, const struct job *job)
{
	struct job *mine;

	if (copies == NULL || (job->flags & JOB_UNCOPIED) ||
	    (mine = job_table_find(&copies->queue->jobs, job->inode)) == NULL)
		return;
	mine->flags |= JOB_UNCOPIED;
	kept_push(copies, job->inode);
	kept_tell(copies);
}

/* ---- the lease ------------------------------------------------------------ */

static void
lease_ask(struct copies *copies)
{
	int64_t now_ms = clock_steady_ms();

	if (copies->link == NULL || copies->is_asking || (copies->epoch != 0 &&
	    now_ms - copies->asked_ms < COPIES_LEASE_EVERY_MS))
		return;
	copies->is_asking = true;
	copies->asked_ms = now_ms;
	str_adds(ipc_link_out(copies->link), "l lease\n");
	ipc_link_send(copies->link);
}

static void
lease_ask_taken(struct copies *copies)
{
	if (copies->is_listing || copies->listed_epoch == copies->epoch)
		return;
	copies->is_listing = true;
	copies->is_clean = false;
	taken_release(&copies->coming);
	str_addf(ipc_link_out(copies->link), "t taken %" PRIu64 "\n",
	    copies->epoch);
}

/* "held MS EPOCH", "none WORDS". */
static void
lease_answered(struct copies *copies, struct slice answer)
{
	struct slice word, ms, epoch;
	uint64_t left_ms = 0, number = 0;

	copies->is_asking = false;
	if (slice_word(&answer, &word) && slice_is(word, "held") &&
	    slice_word(&answer, &ms) && slice_word(&answer, &epoch) &&
	    slice_number(ms, 1, 3600000, &left_ms) &&
	    slice_number(epoch, 1, INT64_MAX, &number)) {
		copies->epoch = number;
		copies->lease_end_ms = copies->asked_ms + (int64_t)left_ms;
		lease_ask_taken(copies);
		return;
	}
	answer = slice_trim(answer);
	snprintf(copies->why, sizeof(copies->why), SLICE_FMT,
	    SLICE_ARG(answer));
}

/* The whole list has come. */
static void
lease_list(struct copies *copies)
{
	copies->is_listing = false;
	copies->listed_epoch = copies->epoch;
	taken_release(&copies->taken);
	copies->taken = copies->coming;
	memset(&copies->coming, 0, sizeof(copies->coming));
	taken_sort(&copies->taken);
	copies->taken_fn(copies->taken_context);
}

void
copies_taken_done(struct copies *copies)
{
	copies->is_clean = true;
}

bool
copies_may_deliver(const struct copies *copies)
{
	if (copies == NULL)
		return true;
	if (copies->epoch == 0 || clock_steady_ms() >= copies->lease_end_ms)
		return copies->queue->conf->cluster.delivers_alone;
	return copies->listed_epoch == copies->epoch && copies->is_clean;
}

const char *
copies_why(const struct copies *copies)
{
	if (copies->link == NULL)
		return "the process share does not answer";
	if (copies->epoch != 0 && clock_steady_ms() < copies->lease_end_ms)
		return "what other nodes have taken over is looked for";
	return copies->why[0] != '\0' ? copies->why :
	    "the database has not answered yet";
}

const char *
copies_taken_by(const struct copies *copies, const char *id)
{
	return copies != NULL ? taken_node(&copies->taken, id) : NULL;
}

/* ---- the connection ------------------------------------------------------- */

/* "TOKEN ok ...", "t taken ID NODE". */
static enum ipc_link_taken
copies_take_line(void *context, struct slice line)
{
	struct copies *copies = context;
	struct slice token, word, id;
	bool is_ok;

	if (!slice_word(&line, &token) || !slice_word(&line, &word))
		return IPC_LINK_NONSENSE;
	if (slice_is(token, "t") && slice_is(word, "taken"))
		return slice_word(&line, &id) && taken_add(&copies->coming, id,
		    slice_trim(line)) ? IPC_LINK_NEXT : IPC_LINK_NONSENSE;
	if (!slice_is(word, "ok"))
		return IPC_LINK_NONSENSE;
	line = slice_trim(line);
	is_ok = slice_is(line, "ok");
	if (slice_is(token, "l"))
		lease_answered(copies, line);
	else if (slice_is(token, "t"))
		lease_list(copies);
	else if (slice_is(token, "d"))
		done_answered(copies, is_ok);
	else if (slice_starts(token, "k"))
		kept_answered(copies, slice_from(token, 1), is_ok);
	return IPC_LINK_NEXT;
}

/* What it had is told to the next one; the lease goes on until its end. */
static void
copies_on_gone(void *context)
{
	struct copies *copies = context;

	ipc_link_free(&copies->link);
	copies->is_asking = copies->is_listing = false;
	while (copies->keeping_count > 0)
		kept_again(copies, copies->keeping[--copies->keeping_count]);
	done_put_back(copies);
}

static const struct ipc_link_kind copies_link_kind = {
	.take = copies_take_line, .ended = copies_on_gone, .reads_on = true,
};

static void
copies_connect(struct copies *copies)
{
	struct err err;
	int fd = unix_socket_connect_in(copies->queue->conf->run_dir,
	    SHARE_SOCKET, SOCK_NONBLOCK, &err);

	if (fd < 0)
		return;
	copies->link = ipc_link_new(copies->queue->loop, fd,
	    &copies_link_kind, copies);
	copies->asked_ms = 0;
}

static void
copies_on_tick(void *context)
{
	struct copies *copies = context;

	if (copies->link == NULL)
		copies_connect(copies);
	copies->is_keeping_over = false;
	lease_ask(copies);
	done_tell(copies);
	kept_tell(copies);
	timer_set(copies->queue->loop, &copies->tick, clock_steady_ms() +
	    COPIES_TICK_MS, copies_on_tick, copies);
}

struct copies *
copies_new(struct queue *queue, loop_fn *taken_fn, void *context)
{
	struct copies *copies;

	if (!conf_keeps_copies(queue->conf))
		return NULL;
	copies = mem_alloc(1, sizeof(*copies));
	copies->queue = queue;
	copies->taken_fn = taken_fn;
	copies->taken_context = context;
	str_init(&copies->done);
	str_init(&copies->telling);
	copies_on_tick(copies);
	return copies;
}

void
copies_free(struct copies **pcopies)
{
	struct copies *copies = *pcopies;

	if (copies == NULL)
		return;
	done_put_back(copies);
	while (copies->link != NULL && copies->done.len > 0) {
		done_tell(copies);
		str_reset(&copies->telling);
	}
	timer_clear(&copies->tick);
	timer_clear(&copies->soon);
	ipc_link_free(&copies->link);
	taken_release(&copies->taken);
	taken_release(&copies->coming);
	str_release(&copies->done);
	str_release(&copies->telling);
	mem_free(&copies->kept);
	mem_free(pcopies);
}

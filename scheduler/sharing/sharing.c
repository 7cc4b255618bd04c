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
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/consult/share_ask.h"
#include "io/ipc_link.h"
#include "io/unix_socket.h"
#include "scheduler/sharing/sharing.h"
#include "scheduler/sharing/taken.h"

#include "base/banned.h"

enum {
	DONE_SOON_MS = 50,		/* for others to join */
	WORDS_BYTES = 200,
	ID_LINE_BYTES = SPOOL_ID_BYTES + 1
};

struct sharing {
	struct queue	*queue;
	struct ipc_link	*link;		/* NULL: not connected */
	struct timer	 tick, soon;
	struct str	 place;		/* cluster, node, database */
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
	struct taken_list	 taken, coming;
	char		 why[WORDS_BYTES];
	/* ends */
	struct str	 done;		/* "ID ID ...": to be told */
	struct str	 telling;	/* share was told, no answer yet */
	/* what stays: to be copied, by inode */
	ino_t		*kept;
	size_t		 kept_first, kept_count, kept_room;
	ino_t		 keeping[SHARING_KEEPING_MAX];	/* on their way */
	unsigned	 keeping_count;
	bool		 is_keeping_over;	/* away: after a tick */
};

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

/* ---- what stays ---------------------------------------------------------- */

static void
copy_kept_push(struct sharing *sharing, ino_t inode)
{
	if (sharing->kept_first > 0 && sharing->kept_count ==
	    sharing->kept_room) {
		memmove(sharing->kept, sharing->kept + sharing->kept_first,
		    (sharing->kept_count - sharing->kept_first) *
		    sizeof(*sharing->kept));
		sharing->kept_count -= sharing->kept_first;
		sharing->kept_first = 0;
	}
	if (sharing->kept_count == sharing->kept_room) {
		sharing->kept_room = sharing->kept_room * 2 + 64;
		sharing->kept = mem_grow(sharing->kept, sharing->kept_room,
		    sizeof(*sharing->kept));
	}
	sharing->kept[sharing->kept_count++] = inode;
}

/* A descriptor of its own, without the lock that agents look at. */
static int
copy_kept_open(const struct sharing *sharing, enum spool_area area,
    const char *name)
{
	return openat(spool_dir_fd(sharing->queue->spool, area, 0), name,
	    O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

/* What is larger has no copy, and none is asked for again and again. */
static bool
copy_kept_fits(const struct sharing *sharing, int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && (uint64_t)st.st_size <=
	    sharing->queue->conf->cluster.copy_bytes_max;
}

static void
copy_kept_send(struct sharing *sharing, struct job *job)
{
	char name[SPOOL_NAME_BYTES];
	int fds[2];

	job->flags &= (uint16_t)~JOB_UNCOPIED;
	if (job_is_finished(job))
		return;			/* its end is told */
	spool_hashed_name(sharing->queue->spool, job->inode, name);
	fds[0] = copy_kept_open(sharing, AREA_QUEUE, name);
	fds[1] = copy_kept_open(sharing, AREA_TRANSPORT, name);
	if (!copy_kept_fits(sharing, fds[0]) ||	/* or gone: the rescan */
	    !copy_kept_fits(sharing, fds[1])) {	/* sees to it */
		if (fds[0] >= 0)
			close(fds[0]);
		if (fds[1] >= 0)
			close(fds[1]);
		return;
	}
	ipc_link_attach(sharing->link, fds, 2);
	str_addf(ipc_link_out(sharing->link), "k%ju kept %s\n",
	    (uintmax_t)job->inode, job->id);
	sharing->keeping[sharing->keeping_count++] = job->inode;
}

static void
copy_kept_tell(struct sharing *sharing)
{
	bool is_told = false;

	while (sharing->link != NULL && !sharing->is_keeping_over &&
	    sharing->keeping_count < SHARING_KEEPING_MAX &&
	    sharing->kept_first < sharing->kept_count) {
		struct job *job = job_table_find(&sharing->queue->jobs,
		    sharing->kept[sharing->kept_first++]);

		if (job != NULL && (job->flags & JOB_UNCOPIED)) {
			copy_kept_send(sharing, job);
			is_told = true;
		}
	}
	if (sharing->kept_first == sharing->kept_count)
		sharing->kept_first = sharing->kept_count = 0;
	if (is_told)
		ipc_link_send(sharing->link);
}

/* It is to be copied again. */
static void
copy_kept_again(struct sharing *sharing, ino_t inode)
{
	const struct job *job = job_table_find(&sharing->queue->jobs, inode);

	if (job != NULL)
		sharing_note_kept(sharing, job);
}

static void
copy_kept_answered(struct sharing *sharing, struct slice text, bool is_ok)
{
	uint64_t inode = 0;

	(void)slice_number(text, 1, UINT64_MAX, &inode);
	for (unsigned i = 0; i < sharing->keeping_count; i++)
		if (sharing->keeping[i] == (ino_t)inode) {
			sharing->keeping[i] =
			    sharing->keeping[--sharing->keeping_count];
			break;
		}
	if (!is_ok) {
		sharing->is_keeping_over = true;
		copy_kept_again(sharing, (ino_t)inode);
	}
	copy_kept_tell(sharing);
}

void
sharing_note_kept(struct sharing *sharing, const struct job *job)
{
	struct job *mine;

	if (sharing == NULL || (job->flags & JOB_UNCOPIED) ||
	    (mine = job_table_find(&sharing->queue->jobs, job->inode)) == NULL)
		return;
	mine->flags |= JOB_UNCOPIED;
	copy_kept_push(sharing, job->inode);
	copy_kept_tell(sharing);
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
	str_addf(ipc_link_out(sharing->link), "t taken %" PRIu64 "\n",
	    sharing->epoch);
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
	sharing->taken_fn(sharing->taken_context);
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
	timer_set(sharing->queue->loop, &sharing->tick, clock_steady_ms() +
	    SHARING_TICK_MS, sharing_on_tick, sharing);
}

/* The next one shall copy them when they have new records. */
static void
copy_kept_forget(struct sharing *sharing, ino_t inode)
{
	struct job *job = job_table_find(&sharing->queue->jobs, inode);

	if (job != NULL)
		job->flags &= (uint16_t)~JOB_UNCOPIED;
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
sharing_new(struct queue *queue, loop_fn *taken_fn, void *context)
{
	struct sharing *sharing;

	if (!conf_keeps_copies(queue->conf))
		return NULL;
	sharing = mem_alloc(1, sizeof(*sharing));
	sharing->queue = queue;
	sharing->taken_fn = taken_fn;
	sharing->taken_context = context;
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
	taken_release(&sharing->taken);
	taken_release(&sharing->coming);
	str_release(&sharing->place);
	str_release(&sharing->done);
	str_release(&sharing->telling);
	mem_free(&sharing->kept);
	mem_free(psharing);
}

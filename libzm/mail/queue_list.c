/* queue_list.c - what lies in the queue: list, counts, wait
 *
 * In     transport/ and queue/
 * Out    each message with the state of its recipients
 * Holds  one file's bytes at a time, some open ahead
 * Trusts control files as far as work_parse does
 * Spec   queue.h; doc/INTERNALS.md rows P4, F0 to F2
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/loop.h"
#include "io/notify.h"
#include "mail/queue.h"

#include "base/banned.h"

enum { CONTROL_BYTES_MAX = 512 << 20 };

const char *const queue_states[QUEUE_STATES] = {
	[QUEUE_READY] = "ready", [QUEUE_WAITING] = "waiting",
	[QUEUE_HELD] = "held", [QUEUE_FROZEN] = "frozen",
	[QUEUE_DELETED] = "deleted", [QUEUE_DONE] = "done"
};

struct walk {
	const struct spool *spool;
	enum queue_which which;
	queue_fn	*fn;
	void		*context;
	struct arena	*arena;
	struct str	 text;
};

static bool
is_wanted(const struct walk *walk, const struct queue_item *item)
{
	switch (walk->which) {
	case QUEUE_IN_FLIGHT:
		return item->is_in_flight;
	case QUEUE_CLEANUP:
		return !item->has_body ||
		    item->work->final_total == item->work->rcpt_total;
	case QUEUE_ALL:
		break;
	}
	return true;
}

static bool
walk_file(void *context, const char *name, int fd)
{
	struct walk *walk = context;
	const char *last = strrchr(name, '/');
	struct queue_item item = { .name = name };
	struct spool_name parts;
	struct work work;
	struct stat st;
	struct err err;
	bool is_read;

	if (!spool_name_parse(slice_of(last ? last + 1 : name), &parts) ||
	    parts.pid != 0 || parts.why.n > 0)
		return true;
	if (fstat(fd, &st) != 0 || st.st_nlink == 0)
		return true;		/* it went on meanwhile */
	arena_reset(walk->arena);
	str_reset(&walk->text);
	is_read = work_read_file(fd, CONTROL_BYTES_MAX, &walk->text,
	    &err) == 0 && work_parse(walk->arena, str_slice(&walk->text),
	    &work, &err) == 1;
	item.work = &work;
	item.is_in_flight = !spool_work_is_idle(fd);
	item.has_body = faccessat(spool_dir_fd(walk->spool, AREA_QUEUE, 0),
	    name, F_OK, 0) == 0;
	return !is_read || !is_wanted(walk, &item) ||
	    walk->fn(walk->context, &item);
}

int
queue_list(const struct spool *spool, enum queue_which which, queue_fn *fn,
    void *context, struct err *err)
{
	struct walk walk = { .spool = spool, .which = which, .fn = fn,
	    .context = context, .arena = arena_new(), .text = STR_INIT };
	int result = spool_scan_files(spool, AREA_TRANSPORT, 0, walk_file,
	    &walk, err);

	arena_free(&walk.arena);
	str_release(&walk.text);
	return result;
}

/* ---- counts -------------------------------------------------------- */

enum queue_state
queue_state_of(const struct work *work, const struct work_rcpt *rcpt,
    int64_t now_s)
{
	if (rcpt->is_final)
		return rcpt->is_cancelled ? QUEUE_DELETED : QUEUE_DONE;
	if (rcpt->is_frozen)
		return QUEUE_FROZEN;
	if (!work_rcpt_is_free(rcpt, now_s))
		return QUEUE_HELD;
	if (rcpt->next_s > 0)
		return rcpt->next_s > now_s ? QUEUE_WAITING : QUEUE_READY;
	/* tried, and the schedule says when again: it is not in the file */
	return rcpt->tries > 0 || work->terms.hold_until_s > now_s ?
	    QUEUE_WAITING : QUEUE_READY;
}

struct counting {
	struct queue_counts *counts;
	int64_t		 now_s;
};

static bool
count_one(void *context, const struct queue_item *item)
{
	struct counting *counting = context;
	struct queue_counts *counts = counting->counts;
	const struct work *work = item->work;
	int64_t born_s = spool_id_time_us(slice_of(work->id)) / 1000000;
	uint64_t found[QUEUE_STATES] = { 0 };

	for (size_t i = 0; i < work->rcpt_total; i++)
		found[queue_state_of(work, &work->groups[0].rcpts[i],
		    counting->now_s)]++;
	for (int i = 0; i < QUEUE_STATES; i++) {
		counts->recipients[i] += found[i];
		counts->messages[i] += found[i] > 0;
	}
	counts->total++;
	counts->bytes += work->size_bytes;
	if (counts->oldest_s == 0 || born_s < counts->oldest_s)
		counts->oldest_s = born_s;
	return true;
}

int
queue_count(const struct spool *spool, int64_t now_s,
    struct queue_counts *out, struct err *err)
{
	struct counting counting = { out, now_s };

	memset(out, 0, sizeof(*out));
	return queue_list(spool, QUEUE_ALL, count_one, &counting, err);
}

/* ---- wait ---------------------------------------------------------- */

static void
notified(void *context, unsigned dir, const char *name)
{
	*(bool *)context = true;
}

enum { DIRS_MAX = 26 * 26 };

/* Descriptors that stay open as long as they are watched. */
struct dirs {
	int		fds[DIRS_MAX];
	unsigned	count;
};

/* One of the hash directories; 0 or -1. */
static int
dir_watch(struct dirs *dirs, int top, unsigned number, unsigned levels,
    struct notify *notify, struct err *err)
{
	char name[4] = { (char)('A' + number % 26), '\0', '\0', '\0' };
	int fd;

	if (levels == 2) {
		name[1] = '/';
		name[2] = (char)('A' + number / 26);
	}
	fd = openat(top, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return errno == ENOENT ? 0 :
		    err_sys(err, "open transport/%s", name);
	dirs->fds[dirs->count++] = fd;
	return notify_add_fd(notify, fd, number + 1, NOTIFY_MOVED, err);
}

/* transport/ itself, and each of its hash directories. */
static int
dirs_watch(const struct spool *spool, struct dirs *dirs,
    struct notify *notify, struct err *err)
{
	unsigned levels = spool_hash_levels(spool);
	unsigned count = levels == 0 ? 0 : levels == 1 ? 26 : DIRS_MAX;
	int top = spool_dir_fd(spool, AREA_TRANSPORT, 0), result;

	result = notify_add_fd(notify, top, 0, NOTIFY_MOVED, err);
	for (unsigned i = 0; i < count && result == 0; i++)
		result = dir_watch(dirs, top, i, levels, notify, err);
	return result;
}

int
queue_wait(const struct spool *spool, int timeout_ms, struct err *err)
{
	struct loop *loop = loop_new();
	bool has_come = false;
	struct notify *notify = notify_new(loop, notified, &has_come);
	struct dirs dirs = { .count = 0 };
	int result = dirs_watch(spool, &dirs, notify, err);

	if (result == 0)
		loop_turn(loop, timeout_ms);
	notify_free(&notify);
	while (dirs.count > 0)
		close(dirs.fds[--dirs.count]);
	loop_free(&loop);
	return result < 0 ? -1 : has_come;
}

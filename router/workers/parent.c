/* parent.c - the process that knows the router's directories
 *
 * In     names: from notify, from a scan each minute
 * Out    names to workers, in order; deferred messages back to router/
 * Holds  the spool, the queue of names, the workers
 * Trusts names only after spool_name_parse; reads no message
 * Spec   doc/INTERNALS sections 2, 3, 7
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/recover/recover.h"
#include "router/workers/parent.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "base/mem.h"
#include "io/notify.h"
#include "router/ask/verify.h"
#include "router/milter/milters.h"
#include "router/sign/signer.h"
#include "router/workers/pool.h"
#include "router/workers/looks.h"
#include "router/workers/poison.h"
#include "router/workers/worker.h"

#include "base/banned.h"

enum {
	PARENT_PUBLIC = SPOOL_PRIORITIES,	/* notify's number of public/ */
	PARENT_RESCAN_MS = 60 * 1000,
	PARENT_GATHER_MS = 1,		/* a claim is a rename, too, and would
					 * wake us for each name */
	PARENT_PUBLIC_MS = 100,
	PARENT_PUBLIC_SHARE = 10,		/* of the time it takes */
	OURS_MAX = 1 + ROLE_COUNT
};

struct parent {
	struct process	*process;
	struct spool	*spool;
	struct notify	*notify;
	struct router_queue	 queue;
	struct pool	*pool;
	struct verify	*verify;
	struct milters	*milters;
	struct signer	*signer;	/* NULL: nothing is signed */
	int		 worker_signer;	/* of the worker that is being forked;
					 * -1: none */
	struct timer	 minute;
	struct timer	 public_timer;
	int64_t		 public_ms;	/* how long the last scan took */
	struct looks	 looks;
	struct poison	 poison;
	unsigned	 minutes;
	bool		 is_reading;	/* a process has WORKER_ROUTED, or
					 * will */
	bool		 has_read;	/* it is done */
	uid_t		 ours[OURS_MAX];	/* not foreign in public/ */
	size_t		 ours_count;
};

/* ---- public/: submissions of other users (row S4) ---------------------- */

/* Root's sendmail renames its draft to router/ itself, as ours do. */
static bool
parent_is_ours(const struct parent *parent, uid_t uid)
{
	if (uid == 0)
		return true;
	for (size_t i = 0; i < parent->ours_count; i++)
		if (parent->ours[i] == uid)
			return true;
	return false;
}

static void
parent_find_ours(struct parent *parent)
{
	struct err err;
	uid_t uid;
	gid_t gid;

	parent->ours[parent->ours_count++] = geteuid();
	for (int role = 0; parent->process->was_root && role < ROLE_COUNT;
	    role++)
		if (role != ROLE_AGENT && !conf_role_is_extra(role) &&
		    daemon_account(parent->process->conf,
		    (enum conf_role)role, &uid, &gid, &err) == 0)
			parent->ours[parent->ours_count++] = uid;
	spool_own_accounts(parent->ours, parent->ours_count);
}

static bool
parent_note_public(void *context, const char *name)
{
	struct parent *parent = context;
	struct stat st;

	if (strlen(name) >= SPOOL_NAME_BYTES || strchr(name, '\n') != NULL ||
	    fstatat(spool_dir_fd(parent->spool, AREA_PUBLIC, 0), name, &st,
	    AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(st.st_mode) ||
	    parent_is_ours(parent, st.st_uid))
		return true;
	looks_find(&parent->looks, name, &st);
	return true;
}

/* ---- router/ ----------------------------------------------------------- */

static ino_t
parent_name_inode(const char *name)
{
	struct spool_name parsed;

	if (!spool_name_parse(slice_of(name), &parsed) || parsed.is_plan ||
	    parsed.pid != 0 || parsed.why.n > 0)
		return 0;
	return parsed.inode;
}

struct scan_entry {		/* a name that a scan found new */
	ino_t		inode;
	struct timespec	mtime;
};

struct parent_scan {
	struct parent	*parent;
	unsigned	 priority;
	struct scan_entry *found;
	size_t		 count, capacity;
};

static bool
parent_scan_name(void *context, const char *name)
{
	struct parent_scan *scan = context;
	ino_t inode = parent_name_inode(name);
	struct stat st;

	if (inode == 0 ||
	    router_queue_knows(&scan->parent->queue, scan->priority, inode))
		return true;
	if (fstatat(spool_dir_fd(scan->parent->spool, AREA_ROUTER,
	    scan->priority), name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return true;
	if (scan->count == scan->capacity) {
		scan->capacity = scan->capacity * 2 + 64;
		scan->found = mem_grow(scan->found, scan->capacity,
		    sizeof(*scan->found));
	}
	scan->found[scan->count++] = (struct scan_entry){ inode, st.st_mtim };
	return true;
}

static int
scan_older_first(const void *va, const void *vb)
{
	const struct scan_entry *a = va, *b = vb;

	if (a->mtime.tv_sec != b->mtime.tv_sec)
		return a->mtime.tv_sec < b->mtime.tv_sec ? -1 : 1;
	if (a->mtime.tv_nsec != b->mtime.tv_nsec)
		return a->mtime.tv_nsec < b->mtime.tv_nsec ? -1 : 1;
	return a->inode < b->inode ? -1 : a->inode > b->inode;
}

static void
parent_report(const char *file, const char *call, const struct err *err)
{
	event(EV_SPOOL_TROUBLE, NULL, "file", slice_of(file), "call",
	    slice_of(call), "reason", slice_of(err->text), NULL);
}

static void
parent_scan_priority(struct parent *parent, unsigned priority)
{
	struct parent_scan scan = { .parent = parent, .priority = priority };
	struct err err;

	if (spool_scan(parent->spool, AREA_ROUTER, priority, parent_scan_name,
	    &scan, &err) != 0)
		parent_report("router", "scan", &err);
	if (scan.count > 1)
		qsort(scan.found, scan.count, sizeof(*scan.found),
		    scan_older_first);
	for (size_t i = 0; i < scan.count; i++)
		router_queue_add(&parent->queue, priority, scan.found[i].inode,
		    false);
	mem_free(&scan.found);
}

static void parent_public_soon(struct parent *parent);

/* A worker looks at those that are due; those for which there is no room now
 * are due soon. */
static void
parent_scan_public(struct parent *parent)
{
	int64_t began_ms = clock_steady_ms(), now_ms;
	char line[16 + SPOOL_NAME_BYTES];
	const char *name;
	struct err err;

	if (spool_scan(parent->spool, AREA_PUBLIC, 0, parent_note_public,
	    parent, &err) != 0)
		parent_report("public", "scan", &err);
	now_ms = clock_steady_ms();
	looks_end(&parent->looks, now_ms);
	parent->public_ms = now_ms - began_ms;
	while (pool_wants_tasks(parent->pool) &&
	    (name = looks_next(&parent->looks, now_ms)) != NULL) {
		snprintf(line, sizeof(line), "public/%s", name);
		pool_add_task(parent->pool, line);
	}
	if (!pool_wants_tasks(parent->pool))
		parent_public_soon(parent);
}

static void
parent_on_public(void *context)
{
	parent_scan_public(context);
}

/* Nearly all that is written in public/ is our own and gone at once: to look
 * once for many events costs less than to look at each name.  Where users have
 * left very many files most of the time is for other work. */
static void
parent_public_soon(struct parent *parent)
{
	if (parent->public_timer.at_ms == 0)
		timer_set(parent->process->loop, &parent->public_timer,
		    clock_steady_ms() + PARENT_PUBLIC_MS +
		    PARENT_PUBLIC_SHARE * parent->public_ms,
		    parent_on_public, parent);
}

static void
parent_on_notify(void *context, unsigned dir, const char *name)
{
	struct parent *parent = context;
	ino_t inode;

	if (dir == PARENT_PUBLIC)
		parent_public_soon(parent);
	else if (name == NULL)
		parent_scan_priority(parent, dir);
	else if ((inode = parent_name_inode(name)) != 0)
		router_queue_add(&parent->queue, dir, inode, true);
}

/* ---- deferred/ (row D3) ------------------------------------------------ */

/* A rename sets ctime, submission has set mtime: the file itself says when
 * its time has come. */
static bool
parent_note_deferred(void *context, const char *name)
{
	struct parent *parent = context;
	int64_t now_s = clock_wall_s();
	struct spool_name parsed;
	struct stat st;
	struct err err;

	if (!spool_name_parse(slice_of(name), &parsed) ||
	    (slice_starts(parsed.why, "milter") &&
	    conf_milters_see_local(parent->process->conf)) ||
	    fstatat(spool_dir_fd(parent->spool, AREA_DEFERRED, 0), name, &st,
	    AT_SYMLINK_NOFOLLOW) != 0 || clock_since_s(st.st_ctime) <
	    spool_deferred_wait_s(now_s - st.st_mtime))
		return true;
	if (spool_resubmit(parent->spool, AREA_DEFERRED, name, &err) == 0)
		event(EV_MESSAGE_RESUBMITTED, NULL, "file", slice_of(name),
		    "why", parsed.why, "by", SLICE("router"), NULL);
	else if (errno != ENOENT)
		parent_report(name, "resubmit", &err);
	return true;
}

/* ---- the second half of the start -------------------------------------- */

/* One that failed was told, and is tried again in the next minute. */
static void
parent_read_routed(struct parent *parent)
{
	if (parent->is_reading || parent->has_read)
		return;
	parent->is_reading = true;
	pool_add_task_apart(parent->pool, WORKER_ROUTED);
}

static void
parent_on_task(void *context, struct slice line, bool is_later)
{
	struct parent *parent = context;

	if (!slice_is(line, WORKER_ROUTED))
		return;
	parent->is_reading = false;
	parent->has_read = !is_later;
	if (parent->has_read)
		daemon_say_names_read(parent->process);
}

/* ---- each minute ------------------------------------------------------- */

static void
parent_on_minute(void *context)
{
	struct parent *parent = context;
	struct err err;

	timer_set(parent->process->loop, &parent->minute, clock_steady_ms() +
	    PARENT_RESCAN_MS, parent_on_minute, parent);
	router_queue_wake_resting(&parent->queue);
	parent_read_routed(parent);
	for (unsigned i = 0; i < SPOOL_PRIORITIES; i++)
		parent_scan_priority(parent, i);
	parent_scan_public(parent);
	if (spool_scan(parent->spool, AREA_DEFERRED, 0, parent_note_deferred,
	    parent, &err) != 0)
		parent_report("deferred", "scan", &err);
	if (parent->minutes++ > 0)	/* the start has just done it */
		pool_add_task(parent->pool, "recover");
}

/* ---- workers ----------------------------------------------------------- */

static void
parent_run_worker(void *context, int socket)
{
	struct parent *parent = context;

	verify_in_child(parent->verify);
	milters_in_child(parent->milters);
	worker_run(parent->process->conf, parent->spool, socket,
	    parent->worker_signer);
}

/* A worker without a socket to the keys defers what it should sign. */
static void
parent_on_fork(void *context, unsigned ordinal, bool is_done)
{
	struct parent *parent = context;
	struct err err;

	if (is_done && parent->worker_signer >= 0)
		close(parent->worker_signer);
	parent->worker_signer = -1;
	if (is_done || parent->signer == NULL)
		return;
	parent->worker_signer = signer_open(parent->signer, ordinal, &err);
	if (parent->worker_signer < 0)
		warning("%s", err.text);
}

/* Rows C1, P1-P3: what was claimed is taken over at once; a plan that was
 * left, or a half-published message, is recovery's. */
static void
parent_on_death(void *context, pid_t pid, int status)
{
	struct parent *parent = context;

	(void)poison_take_over(&parent->poison, parent->spool, pid);
	pool_add_task(parent->pool, "recover");
}

/* ---- start, reload, stop ----------------------------------------------- */

static int
parent_open_spool(struct parent *parent, struct err *err)
{
	const struct conf *conf = parent->process->conf;
	struct recovery found;

	if (conf_spool_open(conf, SPOOL_CREATE, &parent->spool, err) != 0)
		return -1;
	return spool_recover(parent->spool, (enum recovery_mode)(RECOVERY_START
	    | RECOVERY_UNROUTED), NULL, NULL, &found, err);
}

static int
parent_watch(struct parent *parent, struct err *err)
{
	parent->notify = notify_new(parent->process->loop, parent_on_notify,
	    parent);
	notify_gather(parent->notify, PARENT_GATHER_MS);
	for (unsigned i = 0; i < SPOOL_PRIORITIES; i++)
		if (notify_add_fd(parent->notify, spool_dir_fd(parent->spool,
		    AREA_ROUTER, i), i, NOTIFY_MOVED, err) != 0)
			return -1;
	return notify_add_fd(parent->notify, spool_dir_fd(parent->spool,
	    AREA_PUBLIC, 0), PARENT_PUBLIC, NOTIFY_WRITTEN, err);
}

/* ---- the processes that have the keys ---------------------------------- */

static void
parent_in_signer(void *context)
{
	struct parent *parent = context;

	if (parent->verify != NULL)
		verify_in_child(parent->verify);
	if (parent->milters != NULL)
		milters_in_child(parent->milters);
}

static int
parent_fork_signer(struct parent *parent, struct err *err)
{
	parent->signer = signer_start(parent->process, parent_in_signer,
	    parent, err);
	return parent->signer != NULL ? 0 : -1;
}

/* Who is root and will not be can read root's keys only by a process that was
 * forked now; the first sign statement of such a site takes a restart. */
int
parent_open(struct process *process, struct err *err)
{
	struct parent *parent = mem_alloc(1, sizeof(*parent));

	process->state = parent;
	parent->process = process;
	parent->worker_signer = -1;
	return !conf_signs(process->conf) ? 0 :
	    parent_fork_signer(parent, err);
}

static void
parent_renew_signer(struct parent *parent)
{
	struct err err;

	if (parent->signer != NULL)
		signer_reload(parent->signer);
	else if (conf_signs(parent->process->conf) &&
	    parent_fork_signer(parent, &err) != 0)
		warning("%s", err.text);
	if (parent->signer != NULL)
		signer_attach(parent->signer);
}

int
parent_start(struct process *process, struct err *err)
{
	struct parent *parent = process->state;
	struct pool_rows rows = { parent_run_worker, parent_on_fork,
	    parent_on_death, parent, parent_on_task };

	if (parent->signer != NULL)
		signer_attach(parent->signer);
	router_queue_init(&parent->queue);
	parent->queue.share = process->conf->limits.router_share;
	parent_find_ours(parent);
	/* first of all: sessions wait for its answers, and many drafts take
	 * their time */
	parent->verify = verify_new(process, err);
	if (parent->verify == NULL || parent_open_spool(parent, err) != 0)
		return -1;
	parent->pool = pool_new(process, &parent->queue,
	    process->conf->router_workers, &rows);
	parent->milters = milters_new(process, err);
	if (parent->milters == NULL ||
	    parent_watch(parent, err) != 0)
		return -1;
	/* watched first, then read: none is missed.  In the loop, because
	 * names are given out at the end of a turn. */
	timer_set(process->loop, &parent->minute, clock_steady_ms(),
	    parent_on_minute, parent);
	return 0;
}

void
parent_reload(struct process *process, const struct conf *old)
{
	struct parent *parent = process->state;

	parent->queue.share = process->conf->limits.router_share;
	parent_renew_signer(parent);	/* before the workers that ask it */
	pool_renew(parent->pool, process->conf->router_workers);
	verify_renew(parent->verify);
	milters_renew(parent->milters);
}

static void
parent_on_stopped(void *context)
{
	struct process *process = context;
	struct parent *parent = process->state;

	verify_free(&parent->verify);	/* last: sessions ask it */
	signer_free(&parent->signer);
	loop_stop(process->loop);
}

void
parent_stop(struct process *process)
{
	struct parent *parent = process->state;

	timer_clear(&parent->minute);
	timer_clear(&parent->public_timer);
	looks_release(&parent->looks);
	milters_free(&parent->milters);
	pool_stop(parent->pool, parent_on_stopped, process);
}

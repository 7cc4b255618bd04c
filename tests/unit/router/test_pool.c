/* test_pool.c - parent and workers over a spool of their own
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "helper.h"
#include "io/ipc.h"
#include "mail/control_file/control_file.h"
#include "router/workers/pool.h"
#include "router/workers/parent.h"
#include "router/workers/poison.h"

enum { PATIENCE_MS = 20000 };	/* only a failing test waits so long */

struct house {
	struct fixture	 fixture;
	struct spool	*spool;
	struct process	 process;
	struct router_queue	 queue;
	struct poison	 poison;
	unsigned	 deaths;
	bool		 is_stopped;
	char		 name[SPOOL_NAME_BYTES];
	pid_t		 killer;	/* dies in its first line */
};

static void
house_open(struct house *h, const char *aliases)
{
	struct err err = { "" };

	memset(h, 0, sizeof(*h));
	fixture_open(&h->fixture, "host mx.test\nrun DIR; spool DIR/spool\n"
	    "table aliases file:DIR/aliases\n"
	    "domain mx.test { users any }\nworkers router 2\n", aliases,
	    NULL, NULL);
	for (int role = 0; role < ROLE_COUNT; role++)
		h->fixture.conf->accounts[role] = "-";
	cr_assert_eq(spool_open(h->fixture.conf->spool_dir, SPOOL_CREATE |
	    SPOOL_UNSAFE_FS, 0, &h->spool, &err), 0, "%s", err.text);
	h->process = (struct process){ .conf = h->fixture.conf,
	    .loop = loop_new(), .lifeline = -1 };
	signal(SIGPIPE, SIG_IGN);
}

static void
house_close(struct house *h)
{
	spool_close(&h->spool);
	loop_free(&h->process.loop);
	fixture_close(&h->fixture);
}

/* A message in router/; its name. */
static ino_t
submit(struct house *h, const char *rcpt, const char *body)
{
	struct draft draft, *drafts[] = { &draft };
	struct envelope_text { struct str text; } e = { STR_INIT };
	struct err err = { "" };
	ino_t inode;

	cr_assert_eq(draft_open(h->spool, NULL, &draft, &err), 0, "%s",
	    err.text);
	str_addf(&e.text, "id %s\nexternal\nfrom <a@src.test>\nto <%s>\n"
	    "env-end\nSubject: x\n\n%s\n", draft.id, rcpt, body);
	cr_assert_eq(draft_write(&draft, e.text.buf, e.text.len, &err), 0);
	cr_assert_eq(draft_sync(drafts, 1, &err), 1, "%s", err.text);
	inode = draft.inode;
	cr_assert_eq(draft_publish(&draft, AREA_ROUTER, 0, NULL, &err), 0,
	    "%s", err.text);
	str_release(&e.text);
	return inode;
}

static bool
exists(struct house *h, enum spool_area area, const char *format,
    uintmax_t inode)
{
	char name[SPOOL_NAME_BYTES];
	struct stat st;

	snprintf(name, sizeof(name), format, inode);
	return fstatat(spool_dir_fd(h->spool, area, 0), name, &st, 0) == 0;
}

static bool
count_name(void *context, const char *name)
{
	(*(unsigned *)context)++;
	return true;
}

static unsigned
count_files(struct house *h, enum spool_area area)
{
	unsigned count = 0;
	struct err err;

	cr_assert_eq(spool_scan(h->spool, area, 0, count_name, &count, &err),
	    0);
	return count;
}

/* Turn the loop until the area has this many files. */
static void
wait_files(struct house *h, enum spool_area area, unsigned count)
{
	int64_t until = clock_steady_ms() + PATIENCE_MS;

	while (count_files(h, area) != count) {
		cr_assert(clock_steady_ms() < until, "%s has %u of %u files",
		    spool_area_names[area], count_files(h, area), count);
		loop_turn(h->process.loop, 20);
	}
}

static void
mark_stopped(void *context)
{
	((struct house *)context)->is_stopped = true;
}

static void
pool_end(struct house *h, struct pool **pool)
{
	int64_t until = clock_steady_ms() + PATIENCE_MS;

	pool_stop(*pool, mark_stopped, h);
	while (!h->is_stopped) {
		cr_assert(clock_steady_ms() < until);
		loop_turn(h->process.loop, 20);
	}
	pool_free(pool);
}

/* ---- the whole way --------------------------------------------------- */

Test(pool, messages_go_from_router_to_queue_and_transport, .timeout = 40)
{
	struct house h;
	struct err err = { "" };
	ino_t first, second, third;
	struct str text = STR_INIT;
	struct control_file control;
	int control_fd, body;
	char name[32];

	house_open(&h, "lost: :include:DIR/none\n");
	first = submit(&h, "ann@mx.test", "one");	/* before the start */
	cr_assert_eq(parent_open(&h.process, &err), 0, "%s", err.text);
	cr_assert_eq(parent_start(&h.process, &err), 0, "%s", err.text);
	/* without a clock of the test's to wake it */
	while (count_files(&h, AREA_TRANSPORT) != 1)
		loop_turn(h.process.loop, -1);
	second = submit(&h, "b@far.test", "two");	/* by notify */
	wait_files(&h, AREA_TRANSPORT, 2);
	third = submit(&h, "lost@mx.test", "three");
	wait_files(&h, AREA_DEFERRED, 1);

	cr_expect(exists(&h, AREA_QUEUE, "%ju", first));
	cr_expect(exists(&h, AREA_TRANSPORT, "%ju", second));
	cr_expect(exists(&h, AREA_DEFERRED, "%ju.include", third));
	cr_expect_eq(count_files(&h, AREA_ROUTER), 0);

	snprintf(name, sizeof(name), "%ju", (uintmax_t)second);
	cr_assert_eq(spool_open_queued(h.spool, name, &control_fd, &body, &err),
	    SPOOL_OPEN_DONE,
	    "%s", err.text);
	cr_assert_eq(control_file_read(control_fd, 1 << 20, &text, &err), 0);
	cr_assert_eq(control_file_parse(h.fixture.arena, str_slice(&text),
	    &control,
	    &err), 0, "%s", err.text);
	cr_expect_eq(control.inode, second);
	cr_expect(slice_is(control.groups[0].rcpts[0].user, "b@far.test"));
	close(control_fd);
	close(body);
	str_release(&text);
	parent_stop(&h.process);
	loop_run(h.process.loop);	/* ends when the workers have */
	house_close(&h);
}

/* Who gave it its name has not let go yet: no scan is waited for. */
Test(pool, a_message_that_is_locked_is_asked_for_again_soon, .timeout = 40)
{
	struct house h;
	struct err err = { "" };
	ino_t locked;
	char name[32];
	int fd;

	house_open(&h, "nobody: x\n");
	locked = submit(&h, "ann@mx.test", "one");
	snprintf(name, sizeof(name), "%ju", (uintmax_t)locked);
	fd = openat(spool_dir_fd(h.spool, AREA_ROUTER, 0), name, O_RDONLY |
	    O_CLOEXEC);
	cr_assert_eq(flock(fd, LOCK_EX), 0);
	cr_assert_eq(parent_open(&h.process, &err), 0, "%s", err.text);
	cr_assert_eq(parent_start(&h.process, &err), 0, "%s", err.text);
	for (unsigned i = 0; i < 4; i++)	/* two workers, twice */
		submit(&h, "ann@mx.test", "x");
	wait_files(&h, AREA_TRANSPORT, 4);
	cr_expect(exists(&h, AREA_ROUTER, "%ju", locked));
	flock(fd, LOCK_UN);	/* the workers have the file open, too */
	close(fd);
	wait_files(&h, AREA_TRANSPORT, 5);
	parent_stop(&h.process);
	loop_run(h.process.loop);
	house_close(&h);
}

Test(pool, a_reload_takes_new_workers)
{
	struct house h;
	struct err err = { "" };

	house_open(&h, "nobody: x\n");
	cr_assert_eq(parent_open(&h.process, &err), 0, "%s", err.text);
	cr_assert_eq(parent_start(&h.process, &err), 0, "%s", err.text);
	for (unsigned i = 0; i < 40; i++) {
		submit(&h, "ann@mx.test", "x");
		if (i % 10 == 5)
			parent_reload(&h.process, NULL);
		loop_turn(h.process.loop, 0);
	}
	wait_files(&h, AREA_TRANSPORT, 40);
	parent_stop(&h.process);
	loop_run(h.process.loop);
	house_close(&h);
}

/* Row S4: what another user wrote into public/ is copied, then routed. */
Test(pool, a_foreign_submission_is_taken_over)
{
	struct house h;
	struct draft draft, *drafts[] = { &draft };
	struct str text = STR_INIT;
	struct err err = { "" };
	ino_t foreign;

	if (geteuid() != 0)
		cr_skip_test("needs root to write as another user");
	house_open(&h, "nobody: x\n");
	cr_assert_eq(parent_open(&h.process, &err), 0, "%s", err.text);
	cr_assert_eq(parent_start(&h.process, &err), 0, "%s", err.text);
	loop_turn(h.process.loop, 20);
	cr_assert_eq(draft_open(h.spool, "mine", &draft, &err), 0);
	foreign = draft.inode;
	str_addf(&text, "id %s\nfrom nobody\nto ann@mx.test\nenv-end\n"
	    "Subject: x\n\nhi\n", draft.id);
	draft_write(&draft, text.buf, text.len, &err);
	cr_assert_eq(fchown(draft.fd, 65534, (gid_t)-1), 0);
	cr_assert_eq(draft_sync(drafts, 1, &err), 1);
	close(draft.fd);
	wait_files(&h, AREA_TRANSPORT, 1);
	wait_files(&h, AREA_PUBLIC, 0);
	cr_expect_not(exists(&h, AREA_QUEUE, "%ju", foreign), "a copy went on");
	str_release(&text);
	parent_stop(&h.process);
	loop_run(h.process.loop);
	house_close(&h);
}

/* ---- death ------------------------------------------------------------- */

/* Takes a message and dies with it; other lines are answered. */
static void
no_fork(void *context, unsigned ordinal, bool is_done)
{
}

static void
deadly_worker(void *context, int socket)
{
	struct house *h = context;
	struct ipc_inbox inbox;
	struct slice line;
	struct claim claim;
	struct err err;
	size_t cursor;
	char answer[128];

	ipc_inbox_init(&inbox);
	while (ipc_receive(socket, &inbox) == IPC_GOT) {
		cursor = 0;
		while (ipc_line(&inbox, &cursor, &line) == IPC_LINE) {
			snprintf(answer, sizeof(answer), "done " SLICE_FMT
			    "\n", SLICE_ARG(line));
			if (slice_is(slice_from(line, 2), h->name) &&
			    spool_claim(h->spool, 0, h->name, &claim,
			    &err) == 1)
				kill(getpid(), SIGKILL);
			ipc_send(socket, slice_of(answer), NULL, 0);
		}
		ipc_inbox_consume(&inbox, cursor);
	}
}

static void
note_death(void *context, pid_t pid, int status)
{
	struct house *h = context;
	ino_t inode;

	cr_expect(WIFSIGNALED(status));
	cr_expect_eq(poison_take_over(&h->poison, h->spool, pid), 1);
	inode = (ino_t)strtoull(h->name, NULL, 10);
	if (++h->deaths < POISON_DEATHS)
		cr_expect(exists(h, AREA_ROUTER, "%ju", inode));
}

Test(pool, a_message_that_kills_three_workers_is_poison)
{
	struct house h;
	struct pool_rows rows = { deadly_worker, no_fork, note_death, &h,
	    NULL };
	struct pool *pool;
	ino_t bad, good;

	house_open(&h, "nobody: x\n");
	bad = submit(&h, "ann@mx.test", "deadly");
	good = submit(&h, "bob@mx.test", "harmless");
	snprintf(h.name, sizeof(h.name), "%ju", (uintmax_t)bad);
	router_queue_init(&h.queue);
	router_queue_add(&h.queue, 0, bad, true);
	router_queue_add(&h.queue, 0, good, true);
	pool = pool_new(&h.process, &h.queue, 1, &rows);
	wait_files(&h, AREA_POSTMAN, 1);
	cr_expect_eq(h.deaths, POISON_DEATHS);
	cr_expect(exists(&h, AREA_POSTMAN, "%ju.poison", bad));
	cr_expect_not(exists(&h, AREA_ROUTER, "%ju", bad));
	cr_expect(exists(&h, AREA_ROUTER, "%ju", good), "it never was claimed");
	pool_end(&h, &pool);
	router_queue_release(&h.queue);
	house_close(&h);
}

/* ---- a long list does not block ---------------------------------------- */

/* One worker sits on the first name it gets until the others are dealt with
 * by its fellow. */
static void
slow_worker(void *context, int socket)
{
	struct house *h = context;
	struct ipc_inbox inbox;
	struct slice line;
	size_t cursor;
	char answer[128];
	struct stat st;

	ipc_inbox_init(&inbox);
	while (ipc_receive(socket, &inbox) == IPC_GOT) {
		cursor = 0;
		while (ipc_line(&inbox, &cursor, &line) == IPC_LINE) {
			snprintf(answer, sizeof(answer), "done " SLICE_FMT
			    "\n", SLICE_ARG(line));
			if (slice_is(line, "0/1") ||
			    slice_starts(line, "public/"))
				while (fstatat(spool_dir_fd(h->spool,
				    AREA_TRASH, 0), "go", &st, 0) != 0)
					usleep(1000);	/* polls */
			ipc_send(socket, slice_of(answer), NULL, 0);
		}
		ipc_inbox_consume(&inbox, cursor);
	}
}

static void
no_death(void *context, pid_t pid, int status)
{
	cr_expect_fail("worker %d died: %d", (int)pid, status);
}

Test(pool, names_behind_a_long_list_go_to_another_worker)
{
	struct house h;
	struct pool_rows rows = { slow_worker, no_fork, no_death, &h,
	    NULL };
	struct pool *pool;
	int64_t until = clock_steady_ms() + PATIENCE_MS;
	int fd;

	house_open(&h, "nobody: x\n");
	router_queue_init(&h.queue);
	for (ino_t i = 1; i <= 30; i++)
		router_queue_add(&h.queue, 0, i, true);
	pool = pool_new(&h.process, &h.queue, 2, &rows);
	while (h.queue.count > 1) {
		cr_assert(clock_steady_ms() < until, "%zu are left",
		    h.queue.count);
		loop_turn(h.process.loop, 20);
	}
	cr_expect(router_queue_knows(&h.queue, 0, 1),
	    "the long one is in hand");
	fd = openat(spool_dir_fd(h.spool, AREA_TRASH, 0), "go",
	    O_WRONLY | O_CREAT, 0600);
	close(fd);
	while (h.queue.count > 0) {
		cr_assert(clock_steady_ms() < until);
		loop_turn(h.process.loop, 20);
	}
	pool_end(&h, &pool);
	router_queue_release(&h.queue);
	house_close(&h);
}

/* Any user can leave files in public/ that take long. */
Test(pool, tasks_leave_a_worker_for_names)
{
	struct house h;
	struct pool_rows rows = { slow_worker, no_fork, no_death, &h,
	    NULL };
	struct pool *pool;
	int64_t until = clock_steady_ms() + PATIENCE_MS;
	char line[40];
	int fd;

	house_open(&h, "nobody: x\n");
	router_queue_init(&h.queue);
	pool = pool_new(&h.process, &h.queue, 2, &rows);
	for (unsigned i = 0; pool_wants_tasks(pool); i++) {
		cr_assert_lt(i, 100000);
		snprintf(line, sizeof(line), "public/%u", i);
		pool_add_task(pool, line);
		pool_add_task(pool, line);
	}
	loop_turn(h.process.loop, 0);
	for (ino_t i = 2; i <= 30; i++)
		router_queue_add(&h.queue, 0, i, true);
	while (h.queue.count > 0) {
		cr_assert(clock_steady_ms() < until, "%zu are left",
		    h.queue.count);
		loop_turn(h.process.loop, 20);
	}
	fd = openat(spool_dir_fd(h.spool, AREA_TRASH, 0), "go",
	    O_WRONLY | O_CREAT, 0600);
	close(fd);
	pool_end(&h, &pool);
	router_queue_release(&h.queue);
	house_close(&h);
}

/* What takes long has a process of its own, also where one worker is all that
 * there is for names; one that is killed is followed by another. */
struct apart {
	unsigned answers, deaths;
};
static struct apart apart;

static void
note_task(void *context, struct slice line, bool is_later)
{
	cr_expect(slice_is(line, "public/long"));
	apart.answers++;
}

static void
note_apart_death(void *context, pid_t pid, int status)
{
	apart.deaths++;
}

/* How many there are; *out_last: the one that was forked last. */
static size_t
children(pid_t *out_last)
{
	char path[64], text[4096];
	size_t count = 0, last = 0;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children",
	    (int)getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_geq(fd, 0);
	n = read(fd, text, sizeof(text));
	close(fd);
	for (ssize_t i = 0; i < n; i++) {
		count += text[i] == ' ';	/* one after each */
		if (i > 0 && text[i - 1] == ' ')
			last = (size_t)i;
	}
	*out_last = count > 0 ? atoi(text + last) : 0;
	return count;
}

/* What takes long may end; that its process does, and it was done once. */
static void
apart_ends(struct house *h, int64_t until)
{
	int fd = openat(spool_dir_fd(h->spool, AREA_TRASH, 0), "go",
	    O_WRONLY | O_CREAT, 0600);
	pid_t last;

	close(fd);
	while (apart.answers == 0 || children(&last) > 1) {
		cr_assert(clock_steady_ms() < until, "%u, %zu",
		    apart.answers, children(&last));
		loop_turn(h->process.loop, 20);
	}
	cr_expect_eq(apart.answers, 1);
}

Test(pool, what_takes_long_leaves_the_only_worker_for_names)
{
	struct house h;
	struct pool_rows rows = { slow_worker, no_fork, note_apart_death, &h,
	    note_task };
	struct pool *pool;
	int64_t until = clock_steady_ms() + PATIENCE_MS;
	pid_t last;

	house_open(&h, "nobody: x\n");
	router_queue_init(&h.queue);
	pool = pool_new(&h.process, &h.queue, 1, &rows);
	pool_add_task_apart(pool, "public/long");
	pool_add_task_apart(pool, "public/long");
	loop_turn(h.process.loop, 0);
	cr_expect_eq(children(&last), 2);
	for (ino_t i = 2; i <= 30; i++)
		router_queue_add(&h.queue, 0, i, true);
	while (h.queue.count > 0) {
		cr_assert(clock_steady_ms() < until, "%zu are left",
		    h.queue.count);
		loop_turn(h.process.loop, 20);
	}
	cr_expect_eq(apart.answers, 0);
	pool_renew(pool, 1);	/* it goes on beside those that come */
	apart_ends(&h, until);
	cr_expect_eq(apart.deaths, 0);
	pool_end(&h, &pool);
	router_queue_release(&h.queue);
	house_close(&h);
}

Test(pool, what_takes_long_is_done_though_its_process_is_killed)
{
	struct house h;
	struct pool_rows rows = { slow_worker, no_fork, note_apart_death, &h,
	    note_task };
	struct pool *pool;
	int64_t until = clock_steady_ms() + PATIENCE_MS;
	pid_t last;

	house_open(&h, "nobody: x\n");
	router_queue_init(&h.queue);
	pool = pool_new(&h.process, &h.queue, 1, &rows);
	pool_add_task_apart(pool, "public/long");
	loop_turn(h.process.loop, 0);
	cr_assert_eq(children(&last), 2);
	cr_assert_eq(kill(last, SIGKILL), 0);
	apart_ends(&h, until);
	cr_expect_eq(apart.deaths, 1);
	pool_end(&h, &pool);
	router_queue_release(&h.queue);
	house_close(&h);
}

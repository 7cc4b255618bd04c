/* yard.c - a whole scheduler in a private spool
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/event.h"
#include "scheduler/agents/agents.h"
#include "tests/unit/scheduler/yard_agent.h"

const char yard_quick[] = "group 50ms\n"
    "schedule */* { retry 10m 1h; warn 4h; expire 5d; parallel 4; agents 8;"
    " overfeed 10; idle 30s }";

static struct yard *the_yard;	/* the start function has no context */
agents_start_fn *yard_agents_start;
bool yard_names_unread;
const struct terms *yard_terms;
ino_t yard_accepted_as;
const char *yard_user;

/* ---- agents -------------------------------------------------------------- */

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define IS_SANITIZED
#endif
#endif

#ifdef IS_SANITIZED
/* Does each thread but this one wait to be woken? */
static bool
others_sleep(void)
{
	DIR *tasks = opendir("/proc/self/task");
	struct dirent *task;
	bool all = true;

	cr_assert_not_null(tasks);
	while ((task = readdir(tasks)) != NULL) {
		char path[300], text[300] = "";
		const char *state;
		FILE *file;

		if (atoi(task->d_name) == 0 || atoi(task->d_name) == getpid())
			continue;
		snprintf(path, sizeof(path), "/proc/self/task/%s/stat",
		    task->d_name);
		file = fopen(path, "r");
		if (file == NULL)
			continue;
		(void)!fread(text, 1, sizeof(text) - 1, file);
		fclose(file);
		state = strrchr(text, ')');
		all = all && state != NULL && strncmp(state, ") S", 3) == 0;
	}
	closedir(tasks);
	return all;
}
#endif

/* The C library gives a child an allocator that works; that of the sanitizers
 * stays locked for ever if another thread was in it. */
static pid_t
yard_fork(void)
{
#ifdef IS_SANITIZED
	const struct timespec nap = { .tv_nsec = 1000000 };

	while (!others_sleep())
		(void)nanosleep(&nap, NULL);
#endif
	return fork();
}

int
yard_agent_start(unsigned clause, const char *channel, int socket,
    unsigned token, struct err *err)
{
	struct yard *yard = the_yard;
	pid_t pid;

	if (strcmp(channel, "broken") == 0)
		return err_set(err, "no agent for this channel");
	cr_assert_lt(yard->agent_count, YARD_AGENTS_MAX);
	pid = yard_fork();
	if (pid == 0) {
		int own = dup2(socket, 200);

		closefrom(201);
		for (int fd = 3; fd < 200; fd++)
			close(fd);
		yard_agent_main(own, yard->shared);
	}
	yard->agents[yard->agent_count].token = token;
	yard->agents[yard->agent_count++].pid = pid;
	return 0;
}

static int
yard_agent_kill(unsigned token, struct err *err)
{
	for (size_t i = 0; i < the_yard->agent_count; i++)
		if (the_yard->agents[i].token == token)
			kill(the_yard->agents[i].pid, SIGKILL);
	return 0;
}

/* The process has ended, and all its agents have. */
static void
yard_reap_agents(struct yard *yard, pid_t pid, int status)
{
	for (size_t i = yard->agent_count; i-- > 0;) {
		unsigned token = yard->agents[i].token;

		if (yard->agents[i].pid != pid)
			continue;
		yard->agents[i] = yard->agents[--yard->agent_count];
		if (yard->is_open)
			agents_exit(&yard->scheduler.agents, token, pid,
			    status);
	}
}

/* The launcher's part: tell of those that ended. */
static void
yard_reap(struct yard *yard)
{
	for (size_t i = 0; i < yard->agent_count;) {
		pid_t pid = yard->agents[i].pid;
		int status;

		if (waitpid(pid, &status, WNOHANG) > 0)
			yard_reap_agents(yard, pid, status);
		else
			i++;
	}
}

/* ---- the yard ---------------------------------------------------- */

static void
conf_read(struct yard *yard, const char *text)
{
	struct str all = STR_INIT, shown = STR_INIT;
	struct conf_report report;

	str_addf(&all, "host mx.example.org\nspool %s/spool\nrun %s/run\n"
	    "log %s/log\nuser smtpserver -\nuser router -\nuser scheduler -\n"
	    "user agent -\n%s\n", yard->dir, yard->dir, yard->dir, text);
	yard->conf = conf_parse("yard.conf", str_slice(&all), yard->arena,
	    &report);
	if (yard->conf == NULL)
		conf_report_print(&report, "yard.conf", &shown);
	cr_assert_not_null(yard->conf, "%s", shown.buf);
	str_release(&all);
	str_release(&shown);
}

static void
clock_open(struct yard *yard)
{
	char path[256];
	const int64_t zero[2] = { 0, 0 };
	int fd;

	snprintf(path, sizeof(path), "%s/clock", yard->dir);
	fd = open(path, O_RDWR | O_CREAT, 0600);
	cr_assert_eq(write(fd, zero, sizeof(zero)), (ssize_t)sizeof(zero));
	yard->clock = mmap(NULL, sizeof(zero), PROT_READ | PROT_WRITE,
	    MAP_SHARED, fd, 0);
	close(fd);
	setenv("ZMAILER_TEST_CLOCK", path, 1);
}

void
yard_open(struct yard *yard, const char *conf_text)
{
	const char *tmp = getenv("TMPDIR");
	struct err err;
	char path[256];

	memset(yard, 0, sizeof(*yard));
	the_yard = yard;
	signal(SIGPIPE, SIG_IGN);
	snprintf(yard->dir, sizeof(yard->dir), "%s/zm-yard-XXXXXX",
	    tmp ? tmp : "/tmp");
	cr_assert_not_null(mkdtemp(yard->dir));
	clock_open(yard);
	yard->shared = mmap(NULL, sizeof(*yard->shared),
	    PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	yard->arena = arena_new();
	conf_read(yard, conf_text);
	snprintf(path, sizeof(path), "%s/log", yard->dir);
	cr_assert_eq(mkdir(path, 0700), 0);
	event_open(path);
	snprintf(path, sizeof(path), "%s/run", yard->dir);
	cr_assert_eq(mkdir(path, 0700), 0);
	cr_assert_eq(spool_open(yard->conf->spool_dir, SPOOL_CREATE,
	    yard->conf->hash_levels, &yard->spool, &err), 0, "%s", err.text);
	yard_start(yard);
}

void
yard_start(struct yard *yard)
{
	struct err err;

	yard->loop = loop_new();
	cr_assert_eq(core_open(&yard->scheduler, yard->conf, yard->spool,
	    yard->loop, yard_agents_start != NULL ? yard_agents_start :
	    yard_agent_start, yard_agent_kill, &err), 0, "%s", err.text);
	if (!yard_names_unread)
		core_begin(&yard->scheduler);
	loop_at_turn_end(yard->loop, core_turn, &yard->scheduler);
	yard->is_open = true;
}

void
yard_stop(struct yard *yard)
{
	yard->is_open = false;
	/* tokens are of one scheduler: the next one begins anew */
	for (size_t i = 0; i < yard->agent_count; i++)
		yard->agents[i].token = 0;
	core_close(&yard->scheduler);
	loop_free(&yard->loop);
}

void
yard_reload(struct yard *yard, const char *conf_text)
{
	struct conf *old = yard->conf;

	conf_read(yard, conf_text);
	core_reload(&yard->scheduler, yard->conf);
	conf_free(&old);
}

static int
remove_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	return remove(path);
}

void
yard_close(struct yard *yard)
{
	if (yard->is_open)
		yard_stop(yard);
	for (size_t i = 0; i < yard->agent_count; i++) {
		kill(yard->agents[i].pid, SIGKILL);
		waitpid(yard->agents[i].pid, NULL, 0);
	}
	spool_close(&yard->spool);
	conf_free(&yard->conf);
	arena_free(&yard->arena);
	event_flush();
	event_open(NULL);
	nftw(yard->dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* ---- messages ---------------------------------------------------- */

static void
rcpt_read(struct slice text, struct control_rcpt *rcpt)
{
	struct slice rest = text, piece;
	struct err err;

	slice_cut(&rest, '/', &rcpt->channel);
	slice_cut(&rest, '/', &rcpt->host);
	slice_cut(&rest, ';', &rcpt->user);
	rcpt->uid = -2;
	while (slice_cut(&rest, ';', &piece)) {
		if (slice_starts(piece, "NOTIFY="))
			cr_assert_eq(dsn_notify_parse(slice_from(piece, 7),
			    &rcpt->notify, &err), 0);
		else if (slice_starts(piece, "RFC822="))
			rcpt->orcpt = slice_from(piece, 7);
	}
}

static void
draft_make(struct yard *yard, struct draft *draft)
{
	static const char text[] =
	    "Subject: hello\nFrom: a@src.test\n\nThe body.\n";
	struct draft *drafts[] = { draft };
	struct envelope_line { const char *p; } lines[] = {
	    { "from <a@src.test>\n" }, { "to <b@dst.test>\n" },
	    { "env-end\n" } };
	struct err err;
	char id[64];

	cr_assert_eq(draft_open(yard->spool, NULL, draft, &err), 0, "%s",
	    err.text);
	if (yard_accepted_as != 0)
		spool_id_make_of(clock_wall_us(), yard_accepted_as, draft->id);
	snprintf(id, sizeof(id), "id %s\n", draft->id);
	draft_write(draft, id, strlen(id), &err);
	for (size_t i = 0; i < 3; i++)
		draft_write(draft, lines[i].p, strlen(lines[i].p), &err);
	draft_write(draft, text, strlen(text), &err);
	cr_assert_eq(draft_sync(drafts, 1, &err), 1, "%s", err.text);
}

ino_t
yard_message(struct yard *yard, const char *sender, const char *rcpts,
    char out_id[SPOOL_ID_BYTES])
{
	struct arena *arena = arena_new();
	struct control_group group = { .sender = slice_of(sender),
	    .header = SLICE("Subject: hello\nFrom: a@src.test\n") };
	struct control_file control = { .groups = &group, .group_count = 1,
	    .errors_to = slice_of(sender), .msgid = SLICE("<1@src.test>"),
	    .size_bytes = 45 };
	struct slice rest = slice_of(rcpts), word;
	struct str plan = STR_INIT;
	struct draft draft;
	struct claim claim;
	struct err err;
	char name[64];
	ino_t inode;

	if (yard_terms != NULL)
		control.terms = *yard_terms;
	if (yard_user != NULL)
		control.user = slice_of(yard_user);
	draft_make(yard, &draft);
	inode = draft.inode;
	strlcpy(control.id, draft.id, sizeof(control.id));
	control.inode = inode;
	/* "id ...", two lines and env-end, header and blank line */
	control.body_offset = DRAFT_FIRST_LINE_BYTES + 3 + strlen(draft.id) +
	    1 +
	    strlen("from <a@src.test>\nto <b@dst.test>\nenv-end\n"
	    "Subject: hello\nFrom: a@src.test\n\n");
	group.rcpts = arena_alloc(arena, (strlen(rcpts) + 1) *
	    sizeof(*group.rcpts));
	while (slice_word(&rest, &word))
		rcpt_read(word, &group.rcpts[group.rcpt_count++]);
	if (out_id != NULL)
		strlcpy(out_id, draft.id, SPOOL_ID_BYTES);
	cr_assert_eq(control_file_format(&control, &plan, &err), 0, "%s",
	    err.text);
	cr_assert_eq(draft_publish(&draft, AREA_ROUTER, 0, NULL, &err), 0);
	snprintf(name, sizeof(name), "%ju", (uintmax_t)inode);
	cr_assert_eq(spool_claim(yard->spool, 0, name, &claim, &err), 1);
	cr_assert_eq(spool_route(yard->spool, &claim, str_slice(&plan), &err),
	    0, "%s", err.text);
	str_release(&plan);
	arena_free(&arena);
	return inode;
}

/* ---- time and turns ---------------------------------------------- */

void
yard_clock(struct yard *yard, int64_t seconds)
{
	*yard->clock += seconds;
}

void
yard_set_clock(struct yard *yard, int64_t seconds)
{
	yard->clock[1] += seconds;
}

static int64_t
real_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* It hangs, or has said all that it will. */
static bool
is_idle(const struct yard *yard, unsigned token)
{
	for (size_t i = 0; i < yard->agent_count; i++)
		for (size_t k = 0; yard->agents[i].token == token &&
		    k < YARD_AGENTS_MAX; k++)
			if (yard->shared->idle[k] == yard->agents[i].pid)
				return true;
	return false;
}

/* An agent has work or has yet to say that it is there: on a busy machine that
 * takes longer than any number of turns. */
static bool
is_under_way(const struct yard *yard)
{
	const struct agents *agents = &yard->scheduler.agents;
	const struct agent *agent;

	TAILQ_FOREACH(agent, &agents->all, all_entry)
		if (agent->socket != -1 && (agent->hungry_ms == 0 ||
		    agent->job_count > 0) && !is_idle(yard, agent->token))
			return true;
	return intake_unread(&yard->scheduler.intake) > 0;
}

void
yard_turns(struct yard *yard, int count)
{
	for (int i = 0; i < count; i++) {
		loop_turn(yard->loop, 2);
		yard_reap(yard);
	}
}

void
yard_settle(struct yard *yard, int count)
{
	int64_t end_ms = real_ms() + YARD_SETTLE_MS;

	yard_turns(yard, count);
	while (is_under_way(yard) && real_ms() < end_ms)
		yard_turns(yard, 1);
}

bool
yard_until(struct yard *yard, yard_condition *condition, void *arg)
{
	int64_t end_ms = real_ms() + YARD_WAIT_MS;

	while (!condition(yard, arg)) {
		if (real_ms() > end_ms)
			return false;
		loop_turn(yard->loop, 2);
		yard_reap(yard);
	}
	return true;
}

/* ---- looking ----------------------------------------------------- */

static unsigned found;
static char found_path[512];

static int
count_one(const char *path, const struct stat *st, int flag, struct FTW *ftw)
{
	if (flag == FTW_F && path[ftw->base] != '.') {
		found++;
		strlcpy(found_path, path, sizeof(found_path));
	}
	return 0;
}

unsigned
yard_count(struct yard *yard, const char *area)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/spool/%s", yard->dir, area);
	found = 0;
	nftw(path, count_one, 16, FTW_PHYS);
	return found;
}

void
yard_only_file(struct yard *yard, const char *area, struct str *out)
{
	struct err err;
	int fd;

	cr_assert_eq(yard_count(yard, area), 1, "%s has %u files", area,
	    found);
	fd = open(found_path, O_RDONLY);
	str_reset(out);
	cr_assert_eq(control_file_read(fd, 1 << 24, out, &err), 0);
	close(fd);
}

bool
yard_has(struct yard *yard, const char *area, ino_t inode,
    const char *suffix)
{
	char path[256], name[SPOOL_NAME_BYTES];

	spool_hashed_name(yard->spool, inode, name);
	if (*suffix != '\0')
		snprintf(name, sizeof(name), "%ju", (uintmax_t)inode);
	snprintf(path, sizeof(path), "%s/spool/%s/%s%s", yard->dir, area,
	    name, suffix);
	return access(path, F_OK) == 0;
}

bool
yard_control(struct yard *yard, ino_t inode, struct control_file *out)
{
	char path[256], name[SPOOL_NAME_BYTES];
	struct str text = STR_INIT;
	struct slice file;
	struct err err;
	int fd;

	spool_hashed_name(yard->spool, inode, name);
	snprintf(path, sizeof(path), "%s/spool/transport/%s", yard->dir,
	    name);
	fd = open(path, O_RDONLY);
	if (fd < 0)
		return false;
	cr_assert_eq(control_file_read(fd, 1 << 24, &text, &err), 0);
	close(fd);
	file = slice_copy(yard->arena, str_slice(&text));
	str_release(&text);
	return control_file_parse(yard->arena, file, out, &err) == 0;
}

bool
yard_is_empty(struct yard *yard, void *arg)
{
	return yard->scheduler.queue.jobs.count == 0 &&
	    yard->scheduler.intake.count == 0 &&
	    yard_count(yard, "queue") == 0 &&
	    yard_count(yard, "transport") == 0;
}

bool
yard_is_quiet(struct yard *yard, void *arg)
{
	struct scheduler *scheduler = &yard->scheduler;

	return scheduler->queue.plan.flight_count == 0 &&
	    scheduler->queue.plan.ready_count == 0 &&
	    scheduler->intake.count == 0 && scheduler->intake.large == NULL &&
	    scheduler->reporter.kept == NULL &&
	    scheduler->queue.jobs.count > 0 &&
	    scheduler->queue.jobs.lists[JOB_REPORT].count == 0 &&
	    scheduler->reporter.batch == NULL &&
	    scheduler->queue.jobs.lists[JOB_DIRTY].count == 0 &&
	    scheduler->group.parts_left == 0 &&
	    scheduler->queue.jobs.lists[JOB_FINISHED].count == 0 &&
	    scheduler->queue.jobs.lists[JOB_ENDING].count == 0;
}

bool
yard_has_delivered(struct yard *yard, void *arg)
{
	return yard->shared->delivered >= *(unsigned *)arg;
}

bool
yard_router_has(struct yard *yard, void *arg)
{
	return yard_count(yard, "router") >= *(unsigned *)arg;
}

bool
yard_postman_has(struct yard *yard, void *arg)
{
	return yard_count(yard, "postman") >= *(unsigned *)arg;
}

bool
yard_says(const struct str *text, const char *words)
{
	return strstr(text->buf, words) != NULL;
}

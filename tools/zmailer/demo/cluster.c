/* cluster.c - zmailer demo --cluster: a machine is lost, its mail is not
 *
 * In     nothing: the demo makes a PostgreSQL, three instances and mail
 * Out    what happens, with times; exit 0 only if each message arrived once
 * Holds  the directory, and the database in another one below /tmp, because
 *        the path of a socket has to be short; both removed at the end
 * Spec   doc/CLUSTER.md; zmailer(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "tools/zmailer/demo/demo.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum {
	NODES = 3,
	MESSAGES = 20,
	BASE_BYTES = 64,		/* of a path below /tmp */
	WORDS_MAX = 16,
	PROCESSES_MAX = 256,
	WAIT_MS = 60000,		/* for each thing */
	LOOK_EVERY_MS = 100,
	ORDER_EVERY_MS = 500
};
#define LOST 0				/* mx1 */
#define TAKER 1				/* mx2 */

struct machine {
	char		name[8], dir[STAGE_PATH_BYTES + 8];
	char		conf[STAGE_PATH_BYTES + 32];
	unsigned	port;
	bool		is_up;
};

struct demo_cluster {
	struct stage	stage;
	struct machine	machines[NODES];
	char		bin[256];	/* of PostgreSQL */
	char		base[BASE_BYTES];	/* its directory; "": none */
	char		tables[BASE_BYTES + 16];
	char		pg_data[BASE_BYTES + 16];
	const struct passwd *as;	/* its account; NULL: ours */
	pid_t		postgres;
	char		ids[MESSAGES][STAGE_ID_BYTES];
	unsigned	counts[MESSAGES];	/* deliveries */
	unsigned	deferred;
	int64_t		began_ms;
};

static void
demo_say(const struct demo_cluster *demo, const char *text)
{
	printf("%5.1f s  %s\n",
	    (double)(clock_steady_ms() - demo->began_ms) / 1000, text);
	fflush(stdout);
}

/* ---- PostgreSQL ------------------------------------------------------ */

static int
postgres_find(struct demo_cluster *demo)
{
	glob_t found;

	if (glob("/usr/lib/postgresql/*/bin/initdb", 0, NULL, &found) == 0 &&
	    found.gl_pathc > 0)
		snprintf(demo->bin, sizeof(demo->bin), "%.*s",
		    (int)(strlen(found.gl_pathv[found.gl_pathc - 1]) -
		    strlen("/initdb")), found.gl_pathv[found.gl_pathc - 1]);
	globfree(&found);
	if (demo->bin[0] == '\0')
		return stage_problem("PostgreSQL is not installed here",
		    "apt-get install postgresql; it needs not run");
	if (geteuid() != 0)
		return 0;
	demo->as = getpwnam("postgres");
	return demo->as != NULL ? 0 : stage_problem("there is no account "
	    "postgres", "PostgreSQL does not run as root");
}

/* Start one of its programs, quietly, as its account. */
static pid_t
postgres_spawn(const struct demo_cluster *demo, const char *const words[])
{
	const char *argv[WORDS_MAX + 1];
	char path[sizeof(demo->bin) + 16];
	size_t n = 0;
	pid_t child;
	int null;

	snprintf(path, sizeof(path), "%s/%s", demo->bin, words[0]);
	for (; words[n] != NULL && n < WORDS_MAX; n++)
		argv[n] = words[n];
	argv[n] = NULL;
	fflush(NULL);
	child = fork();
	if (child != 0)
		return child;
	if (demo->as != NULL && (setgroups(0, NULL) != 0 ||
	    setgid(demo->as->pw_gid) != 0 || setuid(demo->as->pw_uid) != 0))
		_exit(127);
	(void)prctl(PR_SET_PDEATHSIG, SIGINT);	/* it ends with us */
	null = open("/dev/null", O_RDWR);
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		(void)dup2(null, fd);
	if (chdir("/") == 0)
		execv(path, (char *const *)(uintptr_t)argv);
	_exit(127);
}

static int
postgres_tool(const struct demo_cluster *demo, const char *const words[])
{
	pid_t child = postgres_spawn(demo, words);
	int status;

	return child > 0 && waitpid(child, &status, 0) == child &&
	    WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -1;
}

static int
postgres_wait(const struct demo_cluster *demo)
{
	const char *ready[] = { "pg_isready", "-q", "-h", demo->base, NULL };
	int64_t end_ms = clock_steady_ms() + WAIT_MS;

	while (postgres_tool(demo, ready) != 0) {
		if (clock_steady_ms() > end_ms ||
		    waitpid(demo->postgres, NULL, WNOHANG) != 0)
			return stage_problem("PostgreSQL does not start",
			    NULL);
		poll(NULL, 0, LOOK_EVERY_MS);
	}
	return 0;
}

/* The tables, as an administrator makes them. */
static int
postgres_make_tables(struct demo_cluster *demo)
{
	static const char *const init[] = { "cluster", "init", NULL };
	const char *fill[] = { "psql", "-q", "-h", demo->base, "-U", "demo",
	    "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-f", demo->tables,
	    NULL };

	if (stage_run(&demo->stage, "/dev/null", init, demo->tables) != 0 ||
	    (demo->as != NULL && chown(demo->tables, demo->as->pw_uid,
	    demo->as->pw_gid) != 0) || postgres_tool(demo, fill) != 0)
		return stage_problem("the tables of zmailer cluster init "
		    "cannot be made", NULL);
	return 0;
}

static int
postgres_start(struct demo_cluster *demo)
{
	const char *make[] = { "initdb", "-D", demo->pg_data, "-U", "demo",
	    "-A", "trust", "-E", "UTF8", "--locale=C", "-N", NULL };
	const char *serve[] = { "postgres", "-D", demo->pg_data, "-k",
	    demo->base, "-h", "", NULL };

	snprintf(demo->base, sizeof(demo->base), "/tmp/zmailer-demo-XXXXXX");
	if (mkdtemp(demo->base) == NULL) {
		stage_problem(demo->base, strerror(errno));
		demo->base[0] = '\0';
		return -1;
	}
	snprintf(demo->pg_data, sizeof(demo->pg_data), "%s/data", demo->base);
	snprintf(demo->tables, sizeof(demo->tables), "%s/tables.sql",
	    demo->base);
	if (demo->as != NULL && chown(demo->base, demo->as->pw_uid,
	    demo->as->pw_gid) != 0)
		return stage_problem(demo->base, strerror(errno));
	if (postgres_tool(demo, make) != 0)
		return stage_problem("initdb failed for", demo->pg_data);
	demo->postgres = postgres_spawn(demo, serve);
	return postgres_wait(demo) == 0 ? postgres_make_tables(demo) : -1;
}

static void
postgres_end(struct demo_cluster *demo)
{
	int ignored;

	if (demo->postgres > 0) {
		kill(demo->postgres, SIGINT);
		waitpid(demo->postgres, &ignored, 0);
	}
	if (demo->base[0] != '\0')
		(void)stage_remove(demo->base);
}

/* ---- the machines --------------------------------------------------- */

static int
machine_start(struct demo_cluster *demo, int which)
{
	struct machine *machine = &demo->machines[which];
	struct str text = STR_INIT;

	snprintf(machine->name, sizeof(machine->name), "mx%d", which + 1);
	snprintf(machine->dir, sizeof(machine->dir), "%s/%s", demo->stage.dir,
	    machine->name);
	snprintf(machine->conf, sizeof(machine->conf), "%s/zmailer.conf",
	    machine->dir);
	str_addf(&text, "cluster demo { node mx1 mx2 mx3; self %s; "
	    "postgres \"host=%s dbname=postgres user=demo\" }\n"
	    "route sink.example via 127.0.0.1:%u\n"
	    "schedule smtp/* { retry 1h }\n", machine->name, demo->base,
	    demo->stage.sink_port);
	machine->is_up = stage_start(&demo->stage, machine->dir, text.buf,
	    &machine->port) == 0;
	str_release(&text);
	return machine->is_up ? 0 : -1;
}

struct processes {
	pid_t	pids[PROCESSES_MAX];
	size_t	count;
};

static bool
processes_have(const struct processes *processes, pid_t pid)
{
	for (size_t i = 0; i < processes->count; i++)
		if (processes->pids[i] == pid)
			return true;
	return false;
}

/* 0: it is no number */
static pid_t
pid_of(const char *text)
{
	return (pid_t)strtol(text, NULL, 10);
}

/* The parent of a process, by its name in /proc; 0: it is none, or gone. */
static pid_t
parent_of(const char *name)
{
	char path[300], text[512] = "", *end;
	int fd, parent = 0;

	snprintf(path, sizeof(path), "/proc/%s/stat", name);
	fd = pid_of(name) > 0 ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return 0;
	(void)fd_read_at(fd, text, sizeof(text) - 1, 0);
	close(fd);
	end = strrchr(text, ')');
	return end != NULL && sscanf(end, ") %*c %d", &parent) == 1 ? parent :
	    0;
}

/* Add the children of those that are known.  false: there are no more. */
static bool
processes_grow(struct processes *processes)
{
	size_t before = processes->count;
	DIR *dir = opendir("/proc");
	struct dirent *entry;

	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (processes->count < PROCESSES_MAX &&
		    processes_have(processes, parent_of(entry->d_name)) &&
		    !processes_have(processes, pid_of(entry->d_name)))
			processes->pids[processes->count++] =
			    pid_of(entry->d_name);
	if (dir != NULL)
		closedir(dir);
	return processes->count > before;
}

/* As if its power and its disk were gone. */
static int
machine_destroy(struct machine *machine)
{
	struct processes processes = { .count = 1 };
	char path[STAGE_PATH_BYTES + 64], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/run/zmailer.pid", machine->dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return stage_problem(path, strerror(errno));
	(void)fd_read_at(fd, text, sizeof(text) - 1, 0);
	close(fd);
	processes.pids[0] = pid_of(text);
	if (processes.pids[0] <= 1)
		return stage_problem(path, "no process id");
	while (processes_grow(&processes))
		;
	for (size_t i = 0; i < processes.count; i++)
		kill(processes.pids[i], SIGKILL);
	machine->is_up = false;
	snprintf(path, sizeof(path), "%s/spool", machine->dir);
	return stage_remove(path);
}

/* ---- the mail ------------------------------------------------------- */

static int
demo_send_all(struct demo_cluster *demo)
{
	for (int i = 0; i < MESSAGES; i++) {
		char from[64];	/* each pair is refused once */

		snprintf(from, sizeof(from), "alice%d@localhost", i);
		if (stage_send(demo->machines[LOST].port,
		    &(struct stage_mail){ "a lost machine", from,
		    "greylist@sink.example" }, demo->ids[i]) != 0)
			return -1;
	}
	return 0;
}

/* stage_line_fn */
static void
delivery_note(void *context, struct slice line)
{
	struct demo_cluster *demo = context;
	struct str id = STR_INIT, ev = STR_INIT;

	(void)json_get(line, "id", &id);
	(void)json_get(line, "ev", &ev);
	for (int i = 0; i < MESSAGES; i++) {
		if (!slice_is(str_slice(&id), demo->ids[i]))
			continue;
		demo->counts[i] += slice_is(str_slice(&ev), "rcpt.ok");
		demo->deferred += slice_is(str_slice(&ev), "rcpt.defer");
	}
	str_release(&id);
	str_release(&ev);
}

/* How many have arrived; also counts tries that were put off. */
static unsigned
deliveries_look(struct demo_cluster *demo)
{
	unsigned arrived = 0;

	memset(demo->counts, 0, sizeof(demo->counts));
	demo->deferred = 0;
	for (int i = 0; i < NODES; i++)
		stage_read_journal(demo->machines[i].dir, delivery_note,
		    demo);
	for (int i = 0; i < MESSAGES; i++)
		arrived += demo->counts[i] > 0;
	return arrived;
}

static int
refusals_wait(struct demo_cluster *demo)
{
	int64_t end_ms = clock_steady_ms() + WAIT_MS;

	while (deliveries_look(demo), demo->deferred < MESSAGES) {
		if (clock_steady_ms() > end_ms)
			return stage_problem("the sink does not refuse them",
			    NULL);
		poll(NULL, 0, LOOK_EVERY_MS);
	}
	return 0;
}

/* Until each has a copy that says what became of its try. */
static int
tries_wait(const struct demo_cluster *demo)
{
	char question[128];
	const char *words[] = { "psql", "-q", "-h", demo->base, "-U", "demo",
	    "-d", "postgres", "-v", "ON_ERROR_STOP=1", "-c", question, NULL };
	int64_t end_ms = clock_steady_ms() + WAIT_MS;

	/* an error until they are as many */
	snprintf(question, sizeof(question), "select 1 / (count(*) >= %d)::int "
	    "from zm_copy where control is not null", (int)MESSAGES);
	while (postgres_tool(demo, words) != 0) {
		if (clock_steady_ms() > end_ms)
			return stage_problem("not all of them have a copy "
			    "with their try", NULL);
		poll(NULL, 0, ORDER_EVERY_MS);
	}
	return 0;
}

/* Run it on mx2 until it does not exit with status `again`.
 * returns the last exit status */
static int
demo_order(const struct demo_cluster *demo, const char *const words[],
    int again)
{
	const char *conf = demo->machines[TAKER].conf;
	int64_t end_ms = clock_steady_ms() + WAIT_MS;
	int quiet = open("/dev/null", O_WRONLY | O_CLOEXEC);
	int errors = dup(STDERR_FILENO), status;

	do {
		dup2(quiet, STDERR_FILENO);	/* that it has to wait */
		status = stage_run(&demo->stage, conf, words, NULL);
		dup2(errors, STDERR_FILENO);
		if (status == again)
			poll(NULL, 0, ORDER_EVERY_MS);
	} while (status == again && clock_steady_ms() < end_ms);
	close(quiet);
	close(errors);
	return status;
}

static int
demo_take_over(const struct demo_cluster *demo)
{
	const char *words[] = { "cluster", "takeover", "--yes",
	    demo->machines[LOST].name, NULL };

	/* its lease has to be over first */
	return demo_order(demo, words, EX_TEMPFAIL) == 0 ? 0 :
	    stage_problem("zmailer cluster takeover failed", NULL);
}

/* They would wait for an hour; again and again, because mx2's scheduler may
 * not have seen them all yet. */
static int
demo_retry(struct demo_cluster *demo)
{
	static const char *const retry[] = { "retry", "--yes", "all", NULL };
	int64_t end_ms = clock_steady_ms() + WAIT_MS;

	do {
		(void)demo_order(demo, retry, -1);
		poll(NULL, 0, ORDER_EVERY_MS);
		if (deliveries_look(demo) == MESSAGES)
			return 0;
	} while (clock_steady_ms() < end_ms);
	return stage_problem("not all of it arrived", NULL);
}

/* ---- the story ------------------------------------------------------ */

static int
demo_stage_all(struct demo_cluster *demo)
{
	demo_say(demo, "a PostgreSQL and three machines are started");
	if (postgres_start(demo) != 0)
		return -1;
	for (int i = 0; i < NODES; i++)
		if (machine_start(demo, i) != 0)
			return -1;
	printf("         mx1 127.0.0.1:%u   mx2 127.0.0.1:%u   mx3 "
	    "127.0.0.1:%u   sink 127.0.0.1:%u\n", demo->machines[0].port,
	    demo->machines[1].port, demo->machines[2].port,
	    demo->stage.sink_port);
	return 0;
}

static int
demo_tell_result(struct demo_cluster *demo)
{
	unsigned arrived = deliveries_look(demo), twice = 0;

	for (int i = 0; i < MESSAGES; i++)
		twice += demo->counts[i] > 1;
	printf("\n%u of %d messages of the lost machine arrived, %u of them "
	    "twice.\n", arrived, (int)MESSAGES, twice);
	return arrived == MESSAGES && twice == 0 ? EX_OK : EX_SOFTWARE;
}

static int
demo_play(struct demo_cluster *demo)
{
	if (demo_stage_all(demo) != 0)
		return EX_UNAVAILABLE;
	if (demo_send_all(demo) != 0)
		return EX_SOFTWARE;
	demo_say(demo, "mx1 has answered 250 to 20 messages; before each, "
	    "its copy was committed");
	if (refusals_wait(demo) != 0)
		return EX_SOFTWARE;
	demo_say(demo, "the next hop says \"450 come again\": they wait at "
	    "mx1");
	if (tries_wait(demo) != 0)
		return EX_SOFTWARE;
	if (machine_destroy(&demo->machines[LOST]) != 0)
		return EX_SOFTWARE;
	demo_say(demo, "mx1 is destroyed: kill -9 to all its processes, rm "
	    "-rf of its spool");
	demo_say(demo, "at mx2: zmailer cluster takeover --yes mx1 (mx1's "
	    "lease of 15 s has to be over for 15 s)");
	if (demo_take_over(demo) != 0)
		return EX_SOFTWARE;
	demo_say(demo, "mx2 has them, with their first try; at mx2: zmailer "
	    "retry all");
	if (demo_retry(demo) != 0)
		return EX_SOFTWARE;
	demo_say(demo, "all are at the next hop");
	return demo_tell_result(demo);
}

static void
demo_tell_machines(const struct demo_cluster *demo)
{
	printf("\nmx2, mx3 and PostgreSQL go on running until you press "
	    "return.  Try, in another window:\n"
	    "  export ZMAILER_CONF=%s\n  zmailer cluster status\n"
	    "  zmailer trace %s\n", demo->machines[TAKER].conf,
	    demo->ids[0]);
	fflush(stdout);
	while (getchar() != '\n' && !feof(stdin))
		;
}

int
demo_cluster(const char *where, bool is_kept)
{
	static const char *const stop[] = { "stop", NULL };
	struct demo_cluster demo = { .began_ms = clock_steady_ms() };
	int status;

	if (postgres_find(&demo) != 0)
		return EX_UNAVAILABLE;
	status = stage_open(&demo.stage, where);
	if (status != EX_OK)
		return status;
	if (mkdir(demo.stage.dir, 0755) != 0) {
		stage_problem(demo.stage.dir, strerror(errno));
		status = EX_CANTCREAT;
	} else {
		printf("zmailer demo --cluster in %s, about 45 seconds "
		    "(nothing outside it is touched)\n", demo.stage.dir);
		status = demo_play(&demo);
		if (is_kept && status == EX_OK)
			demo_tell_machines(&demo);
	}
	for (int i = 0; i < NODES; i++)
		if (demo.machines[i].is_up)
			stage_run(&demo.stage, demo.machines[i].conf, stop,
			    NULL);
	postgres_end(&demo);
	stage_close(&demo.stage, status != EX_OK);
	return status;
}

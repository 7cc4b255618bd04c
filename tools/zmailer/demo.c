/* demo.c - six messages with six fates through the real processes
 *
 * In     nothing: the demo makes its own instance, sink and mail
 * Out    a table of stages and times; exit 0 only if all six came out as
 *        expected
 * Holds  ./demo (or the directory named), removed and stopped at the end
 *        unless --keep
 * Spec   zmailer(8); the six rows are in fates[]
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/json.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { PATH_BYTES = 1024, WAIT_MS = 12000, LOOK_EVERY_MS = 10 };

/* A message of the demo, and the event at its end. */
struct fate {
	const char	*name, *from, *to;
	const char	*last_event;	/* of this id: the fate is known */
	const char	*result;	/* what a reader is told */
};

static const struct fate fates[] = {
	{ "local", "bob@localhost", "alice@localhost", "rcpt.ok",
	    "delivered, mail/alice" },
	{ "remote", "alice@localhost", "bob@sink.example", "rcpt.ok",
	    "delivered to the sink" },
	{ "greylisted", "alice@localhost", "greylist@sink.example", "rcpt.ok",
	    "451 at first, delivered at try 2" },
	{ "refused", "alice@localhost", "550@sink.example", "dsn.sent",
	    "bounced, report in mail/alice" },
	{ "policy", "stranger@frozen.example", "alice@localhost",
	    "message.frozen", "waits in freezer/ for a person" },
	{ "routing", "alice@localhost", "bob@later.example", "rcpt.ok",
	    "deferred/, resubmitted, delivered" },
};
enum { FATES = sizeof(fates) / sizeof(fates[0]), POLICY = 4, ROUTING = 5 };

struct life {			/* what was seen of one message */
	char	id[64];
	double	accepted_ms;	/* from connect to the 250 */
	char	t_accepted[64], t_routed[64], t_done[64];
	bool	is_deferred, is_over;
	unsigned tries;
};

struct demo {
	char		dir[PATH_BYTES], self[PATH_BYTES], conf[PATH_BYTES];
	unsigned	port, sink_port;
	pid_t		sink;
	struct life	lives[FATES];
};

static int
demo_problem(const char *what, const char *detail)
{
	fprintf(stderr, "zmailer: demo: %s%s%s\n", what, detail ? ": " : "",
	    detail ? detail : "");
	return -1;
}

/* ---- other programs ------------------------------------------------- */

/* Run ourselves with these words, quietly; returns the exit status. */
static int
run_self(const struct demo *demo, const char *const words[])
{
	const char *argv[12] = { demo->self, "-C", demo->conf };
	size_t n = 3;
	int status;
	pid_t child;

	for (size_t i = 0; words[i] != NULL && n < 11; i++)
		argv[n++] = words[i];
	fflush(NULL);
	child = fork();
	if (child == 0) {
		int null = open("/dev/null", O_WRONLY);

		if (null >= 0)
			dup2(null, STDOUT_FILENO);
		execv(demo->self, (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Start the sink; its first line of output ends in its port. */
static int
sink_start(struct demo *demo)
{
	char line[256] = "", *digits;
	size_t n = 0;
	int ends[2];

	if (pipe(ends) < 0)
		return demo_problem("pipe", strerror(errno));
	demo->sink = fork();
	if (demo->sink == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		execl(demo->self, "zmailer", "sink", "--port", "0",
		    (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	while (n + 1 < sizeof(line) && strchr(line, '\n') == NULL) {
		ssize_t got = read(ends[0], line + n, sizeof(line) - 1 - n);

		if (got <= 0)
			return demo_problem("the sink does not start", NULL);
		n += (size_t)got;
		line[n] = '\0';
	}
	/* the pipe stays open: the sink may say more */
	*strchr(line, '\n') = '\0';
	digits = line + strlen(line);
	while (digits > line && ascii_is_digit(digits[-1]))
		digits--;
	demo->sink_port = (unsigned)strtoul(digits, NULL, 10);
	return demo->sink_port ? 0 : demo_problem("no port from the sink",
	    line);
}

static unsigned
free_port(void)
{
	struct sockaddr_in at = { .sin_family = AF_INET };
	socklen_t n = sizeof(at);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (void *)&at, sizeof(at)) < 0 ||
	    getsockname(fd, (void *)&at, &n) < 0)
		at.sin_port = 0;
	if (fd >= 0)
		close(fd);
	return ntohs(at.sin_port);
}

/* ---- the instance --------------------------------------------------- */

static int
write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
		return demo_problem(path, strerror(errno));
	return 0;
}

/* Put our statements before those of init: the first match wins. */
static int
demo_configure(const struct demo *demo)
{
	struct str text = STR_INIT;
	char piece[4096];
	FILE *file = fopen(demo->conf, "r");
	size_t n;
	int status;

	if (file == NULL)
		return demo_problem(demo->conf, strerror(errno));
	str_addf(&text,
	    "# the demo's own statements\n"
	    "freeze sender @frozen.example\n"
	    "route sink.example via 127.0.0.1:%u\n"
	    "table later file:%s/routes\n"
	    "routes <later>\n"
	    "schedule smtp/* { retry 2s }\n\n",
	    demo->sink_port, demo->dir);
	while ((n = fread(piece, 1, sizeof(piece), file)) > 0)
		str_add(&text, piece, n);
	fclose(file);
	status = write_file(demo->conf, text.buf);
	str_release(&text);
	return status;
}

static int
instance_start(struct demo *demo)
{
	char port[16];
	const char *init[] = { "init", demo->dir, "--port", port, NULL };
	static const char *const start[] = { "start", NULL };

	demo->port = free_port();
	snprintf(port, sizeof(port), "%u", demo->port);
	if (sink_start(demo) < 0)
		return -1;
	if (run_self(demo, init) != 0)
		return demo_problem("zmailer init failed for", demo->dir);
	if (demo_configure(demo) < 0)
		return -1;
	fputs("the table of the sixth message is missing on purpose; what "
	    "that looks like:\n", stderr);
	if (run_self(demo, start) != 0)
		return demo_problem("zmailer start failed; see",
		    "zmailer -C demo/zmailer.conf run");
	return 0;
}

/* ---- sending -------------------------------------------------------- */

static int
reply_read(FILE *in, char *line, size_t size)
{
	do
		if (fgets(line, (int)size, in) == NULL)
			return -1;
	while (strlen(line) > 3 && line[3] == '-');
	return 0;
}

/* One SMTP session; the id of the 250 goes to life. */
static int
send_one(const struct demo *demo, const struct fate *fate, struct life *life)
{
	struct sockaddr_in to = { .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)demo->port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	int64_t began_us = clock_wall_us();
	char line[1024] = "", text[2048];
	FILE *in;
	int status = 0;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (void *)&to, sizeof(to)) < 0)
		return demo_problem("cannot connect", strerror(errno));
	in = fdopen(fd, "r");
	snprintf(text, sizeof(text), "EHLO demo.localhost\r\n"
	    "MAIL FROM:<%s>\r\nRCPT TO:<%s>\r\nDATA\r\n", fate->from, fate->to);
	if (reply_read(in, line, sizeof(line)) < 0 ||
	    write(fd, text, strlen(text)) < 0)
		status = -1;
	for (int i = 0; i < 4 && status == 0; i++)
		if (reply_read(in, line, sizeof(line)) < 0 ||
		    (line[0] != '2' && line[0] != '3'))
			status = -1;
	snprintf(text, sizeof(text), "From: %s\r\nTo: %s\r\n"
	    "Subject: demo: %s\r\n\r\nThis message shows the fate: %s.\r\n"
	    ".\r\nQUIT\r\n", fate->from, fate->to, fate->name, fate->name);
	if (status == 0 && (write(fd, text, strlen(text)) < 0 ||
	    reply_read(in, line, sizeof(line)) < 0 || line[0] != '2'))
		status = -1;
	life->accepted_ms = (double)(clock_wall_us() - began_us) / 1000;
	fclose(in);
	if (status < 0 ||
	    sscanf(line, "250 %*s %63s", life->id) != 1)
		return demo_problem("the server said", line);
	return 0;
}

/* ---- watching ------------------------------------------------------- */

static void
note_event(struct demo *demo, struct slice line)
{
	struct str id = STR_INIT, ev = STR_INIT, t = STR_INIT;

	json_get(line, "id", &id);
	json_get(line, "ev", &ev);
	json_get(line, "t", &t);
	for (int i = 0; i < FATES; i++) {
		struct life *life = &demo->lives[i];

		if (id.len == 0 || strcmp(life->id, id.buf) != 0)
			continue;
		if (strcmp(ev.buf, "message.accepted") == 0)
			snprintf(life->t_accepted, 64, "%s", t.buf);
		if (strcmp(ev.buf, "message.routed") == 0)
			snprintf(life->t_routed, 64, "%s", t.buf);
		if (strcmp(ev.buf, "message.deferred") == 0)
			life->is_deferred = true;
		if (strcmp(ev.buf, "rcpt.defer") == 0)
			life->tries++;
		if (strcmp(ev.buf, fates[i].last_event) == 0) {
			life->is_over = true;
			snprintf(life->t_done, 64, "%s", t.buf);
		}
	}
	str_release(&id);
	str_release(&ev);
	str_release(&t);
}

static void
read_journal_file(struct demo *demo, const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	if (file == NULL)
		return;
	while ((n = getline(&line, &size, file)) > 0)
		note_event(demo, (struct slice){ line, (size_t)n });
	mem_release(line);
	fclose(file);
}

static void
demo_look(struct demo *demo)
{
	char dir_path[PATH_BYTES + 8], path[2 * PATH_BYTES];
	struct dirent *entry;
	DIR *dir;

	for (int i = 0; i < FATES; i++) {
		demo->lives[i].is_over = false;
		demo->lives[i].tries = 0;
	}
	snprintf(dir_path, sizeof(dir_path), "%s/log", demo->dir);
	dir = opendir(dir_path);
	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (strncmp(entry->d_name, "events-", 7) == 0) {
			snprintf(path, sizeof(path), "%s/%s", dir_path,
			    entry->d_name);
			read_journal_file(demo, path);
		}
	if (dir != NULL)
		closedir(dir);
}

static bool
all_over(const struct demo *demo)
{
	for (int i = 0; i < FATES; i++)
		if (!demo->lives[i].is_over)
			return false;
	return true;
}

/* The sixth message waits in deferred/ because its table is missing: make
 * the table, and move the message back. */
static void
mend_routing(struct demo *demo)
{
	static const char *const resubmit[] = { "resubmit", NULL };
	char path[PATH_BYTES + 16], text[128];

	snprintf(path, sizeof(path), "%s/routes", demo->dir);
	snprintf(text, sizeof(text), "later.example [127.0.0.1]:%u\n",
	    demo->sink_port);
	if (write_file(path, text) == 0)
		run_self(demo, resubmit);
}

static void
demo_watch(struct demo *demo)
{
	int64_t end_at_ms = clock_steady_ms() + WAIT_MS;
	bool is_mended = false;

	while (clock_steady_ms() < end_at_ms) {
		demo_look(demo);
		if (all_over(demo))
			return;
		if (!is_mended && demo->lives[ROUTING].is_deferred) {
			/* tables are looked at for change once a second */
			poll(NULL, 0, 1100);
			mend_routing(demo);
			is_mended = true;
		}
		poll(NULL, 0, LOOK_EVERY_MS);
	}
}

/* ---- telling -------------------------------------------------------- */

/* Milliseconds of the day of an RFC 3339 stamp; -1 when there is none. */
static double
day_ms(const char *stamp)
{
	int h, m, s, ms;

	if (sscanf(stamp, "%*4d-%*2d-%*2dT%2d:%2d:%2d.%3d", &h, &m, &s,
	    &ms) != 4)
		return -1;
	return ((h * 60 + m) * 60 + s) * 1000.0 + ms;
}

static void
print_span(const char *from, const char *to)
{
	double a = day_ms(from), b = day_ms(to);

	if (b >= 0 && b < a)
		b = a;		/* noted by two processes within a moment */
	if (a < 0 || b < 0)
		printf(" %9s", "-");
	else if (b - a >= 1000)
		printf(" %7.1f s", (b - a) / 1000);
	else
		printf(" %6.0f ms", b - a);
}

static int
demo_tell(const struct demo *demo)
{
	const char *green = verb_is_fancy() ? "\033[32m" : "";
	const char *red = verb_is_fancy() ? "\033[31m" : "";
	const char *plain = verb_is_fancy() ? "\033[0m" : "";
	int good = 0;

	printf("\n %-12s %9s %9s %9s  %s\n", "", "accepted", "routed",
	    "outcome", "result");
	for (int i = 0; i < FATES; i++) {
		const struct life *life = &demo->lives[i];
		bool is_good = life->is_over &&
		    (i != 2 || life->tries == 1) &&
		    (i != ROUTING || life->is_deferred);

		printf(" %d %-10s %6.0f ms", i + 1, fates[i].name,
		    life->accepted_ms);
		print_span(life->t_accepted, life->t_routed);
		print_span(i == POLICY ? "" : life->t_routed, life->t_done);
		printf("  %s%s%s  %s\n", is_good ? green : red,
		    is_good ? fates[i].result : "NOT as expected", plain,
		    life->id);
		good += is_good;
	}
	printf("\n%d of %d as expected.\n", good, (int)FATES);
	return good == FATES ? EX_OK : EX_SOFTWARE;
}

static void
demo_finish(struct demo *demo, bool is_kept, int status)
{
	static const char *const stop[] = { "stop", NULL };
	char command[PATH_BYTES + 32];
	pid_t child;
	int ignored;

	if (is_kept) {
		printf("\nIt goes on running.  Try:\n"
		    "  export ZMAILER_CONF=%s\n  zmailer status\n"
		    "  zmailer trace %s\n  zmailer list\n  zmailer stop\n",
		    demo->conf, demo->lives[2].id);
		return;
	}
	run_self(demo, stop);
	if (demo->sink > 0) {
		kill(demo->sink, SIGTERM);
		waitpid(demo->sink, &ignored, 0);
	}
	if (status != EX_OK) {
		printf("%s is kept for you to look at.\n", demo->dir);
		return;
	}
	fflush(NULL);
	child = fork();
	if (child == 0) {
		execlp("rm", "rm", "-rf", "--", demo->dir, (char *)NULL);
		_exit(127);
	}
	if (child > 0)
		waitpid(child, &ignored, 0);
	snprintf(command, sizeof(command), "%s demo --keep", demo->self);
	printf("Next: %s   (leaves it running to look around)\n", command);
}

int
verb_demo(struct arguments *arguments)
{
	struct demo demo = { .sink = 0 };
	const char *word = arguments_word(arguments, 0), *where =
	    word != NULL ? word : "demo";
	bool is_kept = arguments_has(arguments, OPT_KEEP);
	char cwd[PATH_BYTES / 2];
	ssize_t n;
	int status = EX_UNAVAILABLE;

	n = readlink("/proc/self/exe", demo.self, sizeof(demo.self) - 1);
	if (n < 0)
		snprintf(demo.self, sizeof(demo.self), "zmailer");
	if (getcwd(cwd, sizeof(cwd)) == NULL)
		return demo_problem("current directory", strerror(errno)),
		    EX_OSERR;
	snprintf(demo.dir, sizeof(demo.dir), "%s%s%s",
	    where[0] == '/' ? "" : cwd, where[0] == '/' ? "" : "/", where);
	snprintf(demo.conf, sizeof(demo.conf), "%.1000s/zmailer.conf",
	    demo.dir);
	if (access(demo.dir, F_OK) == 0)
		return demo_problem("exists already; remove it or name another "
		    "directory", demo.dir), EX_CANTCREAT;
	signal(SIGPIPE, SIG_IGN);
	unsetenv("ZMAILER_CONF");
	if (instance_start(&demo) == 0) {
		printf("zmailer demo in %s (nothing outside it is touched)\n"
		    "smtpserver 127.0.0.1:%u   router   scheduler   "
		    "sink 127.0.0.1:%u\n", demo.dir, demo.port,
		    demo.sink_port);
		status = EX_OK;
		for (int i = 0; i < FATES && status == EX_OK; i++)
			if (send_one(&demo, &fates[i], &demo.lives[i]) < 0)
				status = EX_SOFTWARE;
		if (status == EX_OK) {
			demo_watch(&demo);
			status = demo_tell(&demo);
		}
	}
	demo_finish(&demo, is_kept && status == EX_OK, status);
	return status;
}

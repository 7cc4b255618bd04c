/* stage.c - instances, a sink and mail for a demo
 *
 * In     where it is
 * Out    processes that are started, files below the directory
 * Holds  the sink
 * Spec   demo.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "tools/zmailer/demo/demo.h"

#include "base/banned.h"

enum { WORDS_MAX = 12 };

int
stage_problem(const char *what, const char *detail)
{
	fprintf(stderr, "zmailer: demo: %s%s%s\n", what, detail ? ": " : "",
	    detail ? detail : "");
	return -1;
}

/* ---- other programs ------------------------------------------------- */

int
stage_run(const struct stage *stage, const char *conf,
    const char *const words[], const char *out)
{
	const char *argv[WORDS_MAX + 1] = { stage->self, "-C", conf };
	size_t n = 3;
	int status;
	pid_t child;

	for (size_t i = 0; words[i] != NULL && n < WORDS_MAX; i++)
		argv[n++] = words[i];
	fflush(NULL);
	child = fork();
	if (child == 0) {
		int fd = open(out != NULL ? out : "/dev/null", O_WRONLY |
		    O_CREAT | O_TRUNC, 0600);

		if (fd >= 0)
			dup2(fd, STDOUT_FILENO);
		execv(stage->self, (char *const *)(uintptr_t)argv);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Start the sink; its first line of output ends in its port. */
static int
stage_start_sink(struct stage *stage)
{
	char line[256] = "", *digits;
	size_t n = 0;
	int ends[2];

	if (pipe(ends) < 0)
		return stage_problem("pipe", strerror(errno));
	stage->sink = fork();
	if (stage->sink == 0) {
		dup2(ends[1], STDOUT_FILENO);
		close(ends[0]);
		execl(stage->self, "zmailer", "sink", "--port", "0",
		    (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	while (n + 1 < sizeof(line) && strchr(line, '\n') == NULL) {
		ssize_t got = read(ends[0], line + n, sizeof(line) - 1 - n);

		if (got <= 0)
			return stage_problem("the sink does not start", NULL);
		n += (size_t)got;
		line[n] = '\0';
	}
	/* the pipe stays open: the sink may say more */
	*strchr(line, '\n') = '\0';
	digits = line + strlen(line);
	while (digits > line && ascii_is_digit(digits[-1]))
		digits--;
	stage->sink_port = (unsigned)strtoul(digits, NULL, 10);
	return stage->sink_port ? 0 : stage_problem("no port from the sink",
	    line);
}

int
stage_open(struct stage *stage, const char *where)
{
	char cwd[STAGE_PATH_BYTES / 2];

	memset(stage, 0, sizeof(*stage));
	if (readlink("/proc/self/exe", stage->self,
	    sizeof(stage->self) - 1) < 0)
		snprintf(stage->self, sizeof(stage->self), "zmailer");
	if (getcwd(cwd, sizeof(cwd)) == NULL) {
		stage_problem("current directory", strerror(errno));
		return EX_OSERR;
	}
	snprintf(stage->dir, sizeof(stage->dir), "%s%s%s",
	    where[0] == '/' ? "" : cwd, where[0] == '/' ? "" : "/", where);
	if (access(stage->dir, F_OK) == 0) {
		stage_problem("exists already; remove it or name another "
		    "directory", stage->dir);
		return EX_CANTCREAT;
	}
	signal(SIGPIPE, SIG_IGN);
	unsetenv("ZMAILER_CONF");
	return stage_start_sink(stage) == 0 ? EX_OK : EX_UNAVAILABLE;
}

int
stage_remove(const char *path)
{
	int ignored;
	pid_t child;

	fflush(NULL);
	child = fork();
	if (child == 0) {
		execlp("rm", "rm", "-rf", "--", path, (char *)NULL);
		_exit(127);
	}
	return child > 0 && waitpid(child, &ignored, 0) == child &&
	    access(path, F_OK) != 0 ? 0 : stage_problem(path, "it is still "
	    "there");
}

void
stage_close(struct stage *stage, bool is_kept)
{
	int ignored;

	if (stage->sink > 0) {
		kill(stage->sink, SIGTERM);
		waitpid(stage->sink, &ignored, 0);
	}
	if (is_kept) {
		printf("%s is kept for you to look at.\n", stage->dir);
		return;
	}
	(void)stage_remove(stage->dir);
}

/* ---- an instance ---------------------------------------------------- */

static unsigned
stage_free_port(void)
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

int
stage_write(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");

	if (file == NULL || fputs(text, file) < 0 || fclose(file) != 0)
		return stage_problem(path, strerror(errno));
	return 0;
}

/* Put our statements before those of init: the first match wins. */
static int
stage_configure(const char *conf, const char *statements)
{
	struct str text = STR_INIT;
	char piece[4096];
	FILE *file = fopen(conf, "r");
	size_t n;
	int status;

	if (file == NULL)
		return stage_problem(conf, strerror(errno));
	str_addf(&text, "# the demo's own statements\n%s\n", statements);
	while ((n = fread(piece, 1, sizeof(piece), file)) > 0)
		str_add(&text, piece, n);
	fclose(file);
	status = stage_write(conf, text.buf);
	str_release(&text);
	return status;
}

int
stage_start(const struct stage *stage, const char *dir,
    const char *statements, unsigned *out_port)
{
	char port[16], conf[STAGE_PATH_BYTES + 32];
	const char *init[] = { "init", dir, "--port", port, NULL };
	static const char *const start[] = { "start", NULL };

	*out_port = stage_free_port();
	snprintf(port, sizeof(port), "%u", *out_port);
	snprintf(conf, sizeof(conf), "%s/zmailer.conf", dir);
	if (stage_run(stage, conf, init, NULL) != 0)
		return stage_problem("zmailer init failed for", dir);
	if (stage_configure(conf, statements) != 0)
		return -1;
	if (stage_run(stage, conf, start, NULL) != 0)
		return stage_problem("zmailer start failed; zmailer run says "
		    "why, with -C", conf);
	return 0;
}

/* ---- a message ------------------------------------------------------ */

static int
reply_read(FILE *in, char *line, size_t size)
{
	do
		if (fgets(line, (int)size, in) == NULL)
			return -1;
	while (strlen(line) > 3 && line[3] == '-');
	return 0;
}

/* Envelope and text.  0, the last reply in line; or -1. */
static int
mail_say(int fd, FILE *in, const struct stage_mail *mail, char *line,
    size_t size)
{
	char text[2048];

	snprintf(text, sizeof(text), "EHLO demo.localhost\r\n"
	    "MAIL FROM:<%s>\r\nRCPT TO:<%s>\r\nDATA\r\n", mail->from,
	    mail->to);
	if (reply_read(in, line, size) < 0 ||
	    write(fd, text, strlen(text)) < 0)
		return -1;
	for (int i = 0; i < 4; i++)
		if (reply_read(in, line, size) < 0 ||
		    (line[0] != '2' && line[0] != '3'))
			return -1;
	snprintf(text, sizeof(text), "From: %s\r\nTo: %s\r\n"
	    "Subject: demo: %s\r\n\r\nThis message shows the fate: %s.\r\n"
	    ".\r\nQUIT\r\n", mail->from, mail->to, mail->name, mail->name);
	return write(fd, text, strlen(text)) < 0 ||
	    reply_read(in, line, size) < 0 || line[0] != '2' ? -1 : 0;
}

int
stage_send(unsigned port, const struct stage_mail *mail,
    char out_id[STAGE_ID_BYTES])
{
	struct sockaddr_in to = { .sin_family = AF_INET,
	    .sin_port = htons((uint16_t)port) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char line[1024] = "";
	FILE *in;
	int status;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || connect(fd, (void *)&to, sizeof(to)) < 0)
		return stage_problem("cannot connect", strerror(errno));
	in = fdopen(fd, "r");
	status = mail_say(fd, in, mail, line, sizeof(line));
	fclose(in);
	if (status < 0 || sscanf(line, "250 %*s %63s", out_id) != 1)
		return stage_problem("the server said", line);
	return 0;
}

/* ---- the journal ---------------------------------------------------- */

static void
journal_file_read(const char *path, stage_line_fn *fn, void *context)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;
	ssize_t n;

	if (file == NULL)
		return;
	while ((n = getline(&line, &size, file)) > 0)
		fn(context, (struct slice){ line, (size_t)n });
	mem_release(line);
	fclose(file);
}

void
stage_read_journal(const char *instance, stage_line_fn *fn, void *context)
{
	char dir_path[STAGE_PATH_BYTES + 8], path[2 * STAGE_PATH_BYTES];
	struct dirent *entry;
	DIR *dir;

	snprintf(dir_path, sizeof(dir_path), "%s/log", instance);
	dir = opendir(dir_path);
	while (dir != NULL && (entry = readdir(dir)) != NULL)
		if (strncmp(entry->d_name, "events-", 7) == 0) {
			snprintf(path, sizeof(path), "%s/%s", dir_path,
			    entry->d_name);
			journal_file_read(path, fn, context);
		}
	if (dir != NULL)
		closedir(dir);
}

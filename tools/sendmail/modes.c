/* modes.c - what stands after -b and -q of sendmail(1)
 *
 * In     the command line, understood
 * Out    another program in our place, or a message submitted
 * Trusts nobody: runs as the caller
 * Spec   sendmail(1), flags.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/ascii.h"
#include "journal/event.h"
#include "daemon/skeleton.h"
#include "mail/spool/spool.h"
#include "tools/sendmail/bsmtp.h"
#include "tools/run/supervisor.h"
#include "tools/sendmail/sendmail.h"
#include "tools/sendmail/errors.h"
#include "tools/sendmail/wait.h"

#include "base/banned.h"

enum { TESTED_MAX = 1000 };	/* addresses of -bt */

/* mailq, newaliases and zmailer stand beside us.  words end in NULL; the
 * first is the name. */
static int
sendmail_become(const char *self, char *const words[], const char *conf_path)
{
	const char *slash = strrchr(self, '/');
	char path[4096];

	if (conf_path != NULL)
		setenv("ZMAILER_CONF", conf_path, 1);
	if (slash != NULL) {
		snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - self),
		    self, words[0]);
		execv(path, words);
	}
	execvp(words[0], words);
	fprintf(stderr, "sendmail: %s cannot be started\n", words[0]);
	return EX_UNAVAILABLE;
}

/* -q, -qI ID, -qR PART of a recipient, -qS PART of a sender; -q30m is the
 * daemon's pace in other systems, and nothing here. */
static int
run_queue(const struct sendmail_request *request, const char *self)
{
	const char *what = request->queue;
	struct str selector = STR_INIT;
	char *words[] = { (char *)"zmailer", (char *)"retry",
		(char *)"--yes", NULL, NULL, NULL };

	if (strchr(what, '"') != NULL)
		return sendmail_usage("a quote in -q", what);
	if (*what == '\0')
		str_adds(&selector, "all");
	else if (*what == 'I')
		str_addf(&selector, "id:\"%s*\"", what + 1);
	else if (*what == 'R')
		str_addf(&selector, "to:\"*%s*\"", what + 1);
	else if (*what == 'S')
		str_addf(&selector, "from:\"*%s*\"", what + 1);
	else if (ascii_is_digit(*what))
		return EX_OK;
	else
		return sendmail_usage("-q takes I, R, S or a span, not ", what);
	words[3] = selector.buf;
	if (*what == '\0') {	/* an empty queue is no fault */
		words[3] = (char *)"--quiet";
		words[4] = selector.buf;
	}
	return sendmail_become(self, words, request->conf_path);
}

/* Where our own server is. */
static void
server_find(const char *conf_path, char path[PATH_MAX])
{
	libexec_settle();
	if (conf_path != NULL)
		setenv("ZMAILER_CONF", conf_path, 1);
	daemon_libexec("smtpserver", path, PATH_MAX);
}

static int
submit_one(const struct conf_brief *conf,
    const struct sendmail_request *request)
{
	struct submission what = request->submission;
	char id[SPOOL_ID_BYTES] = "";
	int status;

	what.out_id = id;
	status = request->mails_errors ? submit_or_tell(conf, &what,
	    request->hides_errors) :
	    submit_message(conf, &what, STDIN_FILENO);
	if (id[0] == '\0')
		return status;
	if (status == EX_OK && (request->waits || request->is_verbose))
		sendmail_wait(conf, id, request->is_verbose);
	return status;
}

/* Mail of a local program is taken also while somebody edits: what wants to
 * be told of it has no other day. */
static struct conf *
conf_to_submit(const char *path)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct conf_report report;
	bool is_makeshift;
	struct conf *conf = conf_load_makeshift(path, arena, &report,
	    &is_makeshift);

	if (conf == NULL) {
		conf_report_print(&report, path, &text);
		fputs(text.buf, stderr);
	} else if (is_makeshift) {
		fprintf(stderr, "sendmail: %s has errors (zmailer check); the "
		    "message waits in %s\n", conf->path, conf->spool_dir);
	}
	str_release(&text);
	arena_free(&arena);
	return conf;
}

/* The configuration is read where nothing is in force. */
static int
modes_submit_one(const struct sendmail_request *request)
{
	struct conf_brief brief;
	struct conf *conf = NULL;
	int status;

	if (!conf_brief_in_force(request->conf_path, request->arena, &brief)) {
		conf = conf_to_submit(request->conf_path);
		if (conf == NULL)
			return EX_CONFIG;
		conf_brief_of(conf, &brief);
	}
	(void)event_open(brief.log_dir);
	status = submit_one(&brief, request);
	conf_free(&conf);
	return status;
}

/* A batch of messages on standard input. */
static int
modes_submit_batch(const struct sendmail_request *request)
{
	struct conf *conf = conf_to_submit(request->conf_path);
	char path[PATH_MAX];
	int status;

	if (conf == NULL)
		return EX_CONFIG;
	(void)event_open(conf->log_dir);
	server_find(request->conf_path, path);
	status = bsmtp_run(conf, path, STDIN_FILENO);
	conf_free(&conf);
	return status;
}

/* ---- modes: rows of flags.h ------------------------------- */

typedef int mode_fn(const struct sendmail_request *request, const char *self);

static int
do_submit(const struct sendmail_request *request, const char *self)
{
	return modes_submit_one(request);
}

static int
do_batch(const struct sendmail_request *request, const char *self)
{
	return modes_submit_batch(request);
}

static int
become_alone(const struct sendmail_request *request, const char *self,
    const char *name, const char *word)
{
	char *words[] = { (char *)(uintptr_t)name, (char *)(uintptr_t)word,
	    NULL };

	return sendmail_become(self, words, request->conf_path);
}

static int
do_mailq(const struct sendmail_request *request, const char *self)
{
	return become_alone(request, self, "mailq", NULL);
}

static int
do_newaliases(const struct sendmail_request *request, const char *self)
{
	return become_alone(request, self, "newaliases", NULL);
}

/* old rc scripts say it */
static int
do_daemon(const struct sendmail_request *request, const char *self)
{
	fprintf(stderr, "sendmail: -bd is zmailer start\n");
	return become_alone(request, self, "zmailer", "start");
}

static int
do_foreground(const struct sendmail_request *request, const char *self)
{
	return become_alone(request, self, "zmailer", "run");
}

/* The server's own code on our stdin and stdout. */
static int
do_smtp(const struct sendmail_request *request, const char *self)
{
	char path[PATH_MAX];

	server_find(request->conf_path, path);
	execl(path, "smtpserver", "-bs", (char *)NULL);
	fprintf(stderr, "sendmail: %s: %s\n", path, strerror(errno));
	return EX_UNAVAILABLE;
}

/* zmailer VERB [--from SENDER] [words] RECIPIENT ... */
static int
ask_zmailer(const struct sendmail_request *request, const char *self,
    const char *const front[], size_t front_count)
{
	const struct submission *what = &request->submission;
	char **words = arena_alloc(request->arena,
	    (front_count + what->rcpt_count + 4) * sizeof(*words));
	size_t count = 0;

	for (size_t i = 0; i < front_count; i++)
		words[count++] = (char *)(uintptr_t)front[i];
	if (what->sender != NULL && *what->sender != '\0') {
		words[count++] = (char *)(uintptr_t) "--from";
		words[count++] = (char *)(uintptr_t)what->sender;
	}
	for (size_t i = 0; i < what->rcpt_count; i++)
		words[count++] = (char *)(uintptr_t)what->rcpts[i];
	words[count] = NULL;
	return sendmail_become(self, words, request->conf_path);
}

/* As zmailer route, whose 1 says that somebody cannot be served. */
static int
do_verify(const struct sendmail_request *request, const char *self)
{
	static const char *const front[] = { "zmailer", "route" };
	int status = 0;
	pid_t pid;

	if (request->submission.rcpt_count == 0)
		return sendmail_usage("-bv wants addresses", "");
	pid = fork();
	if (pid == 0)
		_exit(ask_zmailer(request, self, front, 2));
	while (pid > 0 && waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (pid < 0 || !WIFEXITED(status))
		return EX_OSERR;
	return WEXITSTATUS(status) == 1 ? EX_NOUSER : WEXITSTATUS(status);
}

/* Lines of standard input when there are no addresses. */
static void
addresses_read(struct sendmail_request *request)
{
	struct submission *what = &request->submission;
	char line[1024];

	what->rcpts = arena_alloc(request->arena,
	    (TESTED_MAX + 1) * sizeof(char *));
	while (what->rcpt_count < TESTED_MAX &&
	    fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0] != '\0' && line[0] != '-')
			what->rcpts[what->rcpt_count++] = arena_dup(
			    request->arena, line, strlen(line));
	}
}

static int
do_address_test(const struct sendmail_request *given, const char *self)
{
	static const char *const front[] = { "zmailer", "route" };
	struct sendmail_request request = *given;

	if (request.submission.rcpt_count == 0)
		addresses_read(&request);
	return request.submission.rcpt_count == 0 ? EX_OK :
	    ask_zmailer(&request, self, front, 2);
}

/* The first word after -bh is the client. */
static int
do_rehearse(const struct sendmail_request *given, const char *self)
{
	struct sendmail_request request = *given;
	struct submission *what = &request.submission;
	const char *front[] = { "zmailer", "test", "smtp", "--ip", NULL,
	    "--to", NULL };

	if (what->rcpt_count == 0)
		return sendmail_usage("-bh wants an IP address", "");
	front[4] = what->rcpts[0];
	if (what->rcpt_count == 1) {
		what->rcpt_count = 0;
		what->sender = NULL;
		front[5] = "--session";
		return ask_zmailer(&request, self, front, 6);
	}
	front[6] = what->rcpts[1];
	what->rcpt_count = 0;
	return ask_zmailer(&request, self, front, 7);
}

int
sendmail_act(const struct sendmail_request *request, const char *self)
{
	static const struct { char letter; mode_fn *act; } modes[] = {
#define MODE(letter, act, shown, text) { letter, act },
#include "tools/sendmail/flags.h"
	};

	if (request->queue != NULL && request->mode[0] != 'd')
		return run_queue(request, self);
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (request->mode[0] == modes[i].letter &&
		    request->mode[1] == '\0')
			return modes[i].act(request, self);
	return sendmail_usage("this mode is not offered: -b", request->mode);
}


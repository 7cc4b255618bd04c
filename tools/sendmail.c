/* sendmail.c - the command that every Unix program calls to send mail
 *
 * In     flags, recipients, a message on standard input
 * Out    an exit status of <sysexits.h>; 0 only when the message is on
 *        disk and synced
 * Trusts nobody: no set-id bit, runs as the caller
 * Spec   sendmail(1); the rows below say what each flag does
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/err.h"
#include "base/event.h"
#include "daemon/skeleton.h"
#include "grammar/dsn.h"
#include "tools/bsmtp.h"
#include "tools/run/supervisor.h"
#include "tools/submit.h"

#include "base/banned.h"

struct request {		/* the command line, understood */
	struct submission submission;
	struct arena	*arena;
	const char	*conf_path;
	const char	*mode;		/* behind -b: "m", "p", "i" ... */
	const char	*queue;		/* behind -q: "", "Iid" ...; NULL */
};

enum flag_value { NO_VALUE, VALUE, MAYBE_VALUE };	/* glued or next */

typedef int flag_fn(struct request *request, const char *value);

struct flag {
	char		 letter;
	enum flag_value	 takes;
	flag_fn		*act;		/* NULL: accepted and ignored */
};

static int
usage(const char *what, const char *value)
{
	fprintf(stderr, "sendmail: %s%s\nusage: sendmail [-i] [-t] "
	    "[-f SENDER] [-F NAME] [-B BODY] [-N NOTIFY] [-R RET]\n"
	    "                [-V ENVID] [-C FILE] [-b MODE] [--] "
	    "[RECIPIENT ...]\n", what, value);
	return EX_USAGE;
}

static int
act_sender(struct request *request, const char *value)
{
	size_t n = strlen(value);

	if (n >= 2 && value[0] == '<' && value[n - 1] == '>') {
		value = arena_dup(request->arena, value + 1, n - 2);
	}
	request->submission.sender = value;
	return EX_OK;
}

static int
act_name(struct request *request, const char *value)
{
	request->submission.full_name = value;
	return EX_OK;
}

static int
act_no_dot(struct request *request, const char *value)
{
	request->submission.dot_ends = false;
	return EX_OK;
}

static int
act_header_rcpts(struct request *request, const char *value)
{
	request->submission.header_rcpts = true;
	return EX_OK;
}

static int
act_body(struct request *request, const char *value)
{
	if (strcasecmp(value, "7BIT") != 0 &&
	    strcasecmp(value, "8BITMIME") != 0)
		return usage("-B takes 7BIT or 8BITMIME, not ", value);
	request->submission.bodytype =
	    strcasecmp(value, "7BIT") == 0 ? "7BIT" : "8BITMIME";
	return EX_OK;
}

static int
act_notify(struct request *request, const char *value)
{
	struct err err;

	if (dsn_notify_parse(slice_of(value), &request->submission.notify,
	    &err) < 0)
		return usage("-N: ", err.text);
	return EX_OK;
}

static int
act_ret(struct request *request, const char *value)
{
	struct err err;

	if (dsn_ret_parse(slice_of(value), &request->submission.ret, &err) < 0)
		return usage("-R: ", err.text);
	return EX_OK;
}

static int
act_envid(struct request *request, const char *value)
{
	struct err err;

	if (dsn_envid_check(slice_of(value), &err) < 0)
		return usage("-V: ", err.text);
	request->submission.envid = value;
	return EX_OK;
}

static int
act_conf(struct request *request, const char *value)
{
	request->conf_path = value;
	return EX_OK;
}

static int
act_mode(struct request *request, const char *value)
{
	request->mode = value;
	return EX_OK;
}

static int
act_option(struct request *request, const char *value)
{
	if (strcmp(value, "i") == 0)
		request->submission.dot_ends = false;
	return EX_OK;		/* -oem -odb and others: see sendmail(1) */
}

static int
act_queue(struct request *request, const char *value)
{
	request->queue = value;
	return EX_OK;
}

static int
act_newaliases(struct request *request, const char *value)
{
	request->mode = "i";
	return EX_OK;
}

static const struct flag flags[] = {
	{ 'A', VALUE, NULL }, { 'B', VALUE, act_body },
	{ 'C', VALUE, act_conf }, { 'E', NO_VALUE, NULL },
	{ 'F', VALUE, act_name }, { 'G', NO_VALUE, NULL },
	{ 'I', NO_VALUE, act_newaliases }, { 'J', MAYBE_VALUE, NULL },
	{ 'L', VALUE, NULL }, { 'N', VALUE, act_notify },
	{ 'O', VALUE, NULL }, { 'R', VALUE, act_ret },
	{ 'U', NO_VALUE, NULL }, { 'V', VALUE, act_envid },
	{ 'X', VALUE, NULL }, { 'b', VALUE, act_mode },
	{ 'd', MAYBE_VALUE, NULL }, { 'e', VALUE, NULL },
	{ 'f', VALUE, act_sender }, { 'h', VALUE, NULL },
	{ 'i', NO_VALUE, act_no_dot }, { 'm', NO_VALUE, NULL },
	{ 'n', NO_VALUE, NULL }, { 'o', VALUE, act_option },
	{ 'p', VALUE, NULL }, { 'q', MAYBE_VALUE, act_queue },
	{ 'r', VALUE, act_sender },
	{ 's', NO_VALUE, NULL }, { 't', NO_VALUE, act_header_rcpts },
	{ 'v', NO_VALUE, NULL }, { 'x', MAYBE_VALUE, NULL },
};

static const struct flag *
flag_find(char letter)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].letter == letter)
			return &flags[i];
	return NULL;
}

/* One argument that begins with "-": letters without values may be glued
 * together ("-ti"), a value may be glued or the next argument. */
static int
take_flags(struct request *request, int argc, char **argv, int *at)
{
	const char *p = argv[*at] + 1;
	int status = EX_OK;

	for (; *p != '\0' && status == EX_OK; p++) {
		const struct flag *flag = flag_find(*p);
		const char *value = p + 1;

		if (flag == NULL)
			return usage("unknown option ", argv[*at]);
		if (flag->takes == NO_VALUE) {
			if (flag->act != NULL)
				status = flag->act(request, NULL);
			continue;
		}
		if (*value == '\0' && flag->takes == VALUE) {
			if (*at + 1 >= argc)
				return usage("a value is missing behind ",
				    argv[*at]);
			value = argv[++*at];
		}
		return flag->act != NULL ? flag->act(request, value) : EX_OK;
	}
	return status;
}

static int
parse(struct request *request, int argc, char **argv)
{
	struct submission *submission = &request->submission;
	int at, status = EX_OK;

	for (at = 1; at < argc && status == EX_OK; at++) {
		if (strcmp(argv[at], "--") == 0) {
			at++;
			break;
		}
		if (argv[at][0] != '-' || argv[at][1] == '\0')
			break;
		status = take_flags(request, argc, argv, &at);
	}
	submission->rcpts = arena_alloc(request->arena,
	    (size_t)argc * sizeof(char *));
	for (; at < argc; at++)
		submission->rcpts[submission->rcpt_count++] = argv[at];
	return status;
}

/* mailq, newaliases and zmailer stand beside us.  words end in NULL; the
 * first is the name. */
static int
become(const char *self, char *const words[], const char *conf_path)
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

static int
become_alone(const char *self, const char *name, const char *conf_path)
{
	char *words[] = { (char *)(uintptr_t)name, NULL };

	return become(self, words, conf_path);
}

/* -q, -qI ID, -qR PART of a recipient, -qS PART of a sender; -q30m is the
 * daemon's pace in other systems, and nothing here. */
static int
run_queue(const struct request *request, const char *self)
{
	const char *what = request->queue;
	struct str selector = STR_INIT;
	char *words[] = { (char *)"zmailer", (char *)"retry",
		(char *)"--yes", NULL, NULL };

	if (strchr(what, '"') != NULL)
		return usage("a quote in -q", what);
	if (*what == '\0')
		str_adds(&selector, "all");
	else if (*what == 'I')
		str_addf(&selector, "id:\"%s*\"", what + 1);
	else if (*what == 'R')
		str_addf(&selector, "to:\"*%s*\"", what + 1);
	else if (*what == 'S')
		str_addf(&selector, "from:\"*%s*\"", what + 1);
	else if (*what >= '0' && *what <= '9')
		return EX_OK;
	else
		return usage("-q takes I, R, S or a span, not ", what);
	words[3] = selector.buf;
	return become(self, words, request->conf_path);
}

/* -bd: rc scripts of old. */
static int
start_daemon(const struct request *request, const char *self)
{
	char *words[] = { (char *)"zmailer", (char *)"start", NULL };

	fprintf(stderr, "sendmail: -bd is zmailer start\n");
	return become(self, words, request->conf_path);
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

/* One message, or (-bS) a batch of them, on standard input. */
static int
submit(const struct request *request)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct conf_report report;
	struct conf *conf = conf_load(request->conf_path, arena, &report);
	char path[PATH_MAX];
	int status = EX_CONFIG;

	if (conf == NULL) {
		conf_report_print(&report, request->conf_path, &text);
		fputs(text.buf, stderr);
	} else {
		(void)event_open(conf->log_dir);
		if (request->mode[0] == 'S') {
			server_find(request->conf_path, path);
			status = bsmtp_run(conf, path, STDIN_FILENO);
		} else {
			status = submit_message(conf, &request->submission,
			    STDIN_FILENO);
		}
		conf_free(&conf);
	}
	str_release(&text);
	arena_free(&arena);
	return status;
}

/* -bs: the server's own code on our stdin and stdout. */
static int
speak_smtp(const char *conf_path)
{
	char path[PATH_MAX];

	server_find(conf_path, path);
	execl(path, "smtpserver", "-bs", (char *)NULL);
	fprintf(stderr, "sendmail: %s: %s\n", path, strerror(errno));
	return EX_UNAVAILABLE;
}

static int
act(const struct request *request, const char *self)
{
	bool is_daemon = request->mode[0] == 'd';

	if (request->queue != NULL && !is_daemon)
		return run_queue(request, self);
	switch (request->mode[0]) {
	case 'm':
	case 'S':
		return submit(request);
	case 'p':
		return become_alone(self, "mailq", request->conf_path);
	case 'i':
		return become_alone(self, "newaliases", request->conf_path);
	case 'd':
		return start_daemon(request, self);
	case 's':
		return speak_smtp(request->conf_path);
	default:
		return usage("this mode is not offered: -b", request->mode);
	}
}

/* rsmtp is what uux of another system calls (UUCP). */
static bool
is_called(const char *self, const char *name)
{
	const char *slash = strrchr(self, '/');

	return strcmp(slash != NULL ? slash + 1 : self, name) == 0;
}

int
main(int argc, char **argv)
{
	struct request request = {
		.submission = { .dot_ends = true }, .mode = "m",
	};
	int status;

	err_program("sendmail");
	request.arena = arena_new();
	request.submission.full_name = getenv("NAME");
	if (is_called(argv[0], "rsmtp") || is_called(argv[0], "bsmtp"))
		request.mode = "S";
	status = parse(&request, argc, argv);
	if (status == EX_OK)
		status = act(&request, argv[0]);
	arena_free(&request.arena);
	return status;
}

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
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sysexits.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/fd.h"
#include "grammar/smtp/dsn.h"
#include "tools/sendmail/sendmail.h"

#include "base/banned.h"

enum flag_value { NO_VALUE, VALUE, MAYBE_VALUE };	/* glued or next */

typedef int flag_fn(struct sendmail_request *request, const char *value);

struct flag {
	char		 letter;
	enum flag_value	 takes;
	flag_fn		*act;		/* NULL: accepted and ignored */
};

int
sendmail_usage(const char *what, const char *value)
{
	struct str shown = STR_INIT;

	str_add_escaped(&shown, slice_of(value));
	fprintf(stderr, "sendmail: %s%s\nusage: sendmail [-i] [-t] "
	    "[-f SENDER] [-F NAME] [-B BODY] [-N NOTIFY] [-R RET]\n"
	    "                [-V ENVID] [-C FILE] [-b MODE] [--] "
	    "[RECIPIENT ...]\n", what, shown.buf);
	str_release(&shown);
	return EX_USAGE;
}

static int
act_sender(struct sendmail_request *request, const char *value)
{
	size_t n = strlen(value);

	if (n >= 2 && value[0] == '<' && value[n - 1] == '>') {
		value = arena_dup(request->arena, value + 1, n - 2);
	}
	request->submission.sender = value;
	return EX_OK;
}

static int
act_name(struct sendmail_request *request, const char *value)
{
	request->submission.full_name = value;
	return EX_OK;
}

static int
act_no_dot(struct sendmail_request *request, const char *value)
{
	request->submission.dot_ends = false;
	return EX_OK;
}

static int
act_header_rcpts(struct sendmail_request *request, const char *value)
{
	request->submission.header_rcpts = true;
	return EX_OK;
}

static int
act_body(struct sendmail_request *request, const char *value)
{
	if (strcasecmp(value, "7BIT") != 0 &&
	    strcasecmp(value, "8BITMIME") != 0)
		return sendmail_usage("-B takes 7BIT or 8BITMIME, not ", value);
	request->submission.bodytype =
	    strcasecmp(value, "7BIT") == 0 ? "7BIT" : "8BITMIME";
	return EX_OK;
}

static int
act_notify(struct sendmail_request *request, const char *value)
{
	struct err err;

	if (dsn_notify_parse(slice_of(value), &request->submission.notify,
	    &err) < 0)
		return sendmail_usage("-N: ", err.text);
	return EX_OK;
}

static int
act_ret(struct sendmail_request *request, const char *value)
{
	struct err err;

	if (dsn_ret_parse(slice_of(value), &request->submission.ret, &err) < 0)
		return sendmail_usage("-R: ", err.text);
	return EX_OK;
}

static int
act_envid(struct sendmail_request *request, const char *value)
{
	struct err err;

	if (dsn_envid_check(slice_of(value), &err) < 0)
		return sendmail_usage("-V: ", err.text);
	request->submission.envid = value;
	return EX_OK;
}

static int
act_conf(struct sendmail_request *request, const char *value)
{
	request->conf_path = value;
	return EX_OK;
}

static int
act_mode(struct sendmail_request *request, const char *value)
{
	request->mode = value;
	return EX_OK;
}

static int
act_gateway(struct sendmail_request *request, const char *value)
{
	request->submission.is_gateway = true;
	return EX_OK;
}

static int
act_tag(struct sendmail_request *request, const char *value)
{
	request->submission.tag = value;
	return EX_OK;
}

static int
act_verbose(struct sendmail_request *request, const char *value)
{
	request->is_verbose = true;
	return EX_OK;
}

static int
act_wait(struct sendmail_request *request, const char *value)
{
	request->waits = true;
	return EX_OK;
}

static int
act_hops(struct sendmail_request *request, const char *value)
{
	uint64_t hops;

	if (!slice_number(slice_of(value), 0, 1000000, &hops))
		return sendmail_usage("-h takes a number, not ", value);
	request->submission.hops = hops;
	return EX_OK;
}

/* "p" is the default; "w", once a line on a terminal, is as "m". */
static int
act_errors(struct sendmail_request *request, const char *value)
{
	if (strlen(value) != 1 || !ascii_is_among(*value, "empqw"))
		return sendmail_usage("-e takes one of e m p q w, not ",
		    value);
	request->is_quiet = *value == 'q' || *value == 'e';
	request->mails_errors = ascii_is_among(*value, "mwe");
	request->hides_errors = *value == 'e';
	return EX_OK;
}

static int
act_log(struct sendmail_request *request, const char *value)
{
	if (strcmp(value, "V") == 0)
		request->submission.is_verp = true;
	return EX_OK;
}

static int
act_queue_only(struct sendmail_request *request, const char *value)
{
	request->submission.is_queue_only = true;
	return EX_OK;
}

static int
act_long_option(struct sendmail_request *request, const char *value)
{
	if (strcasecmp(value, "requiretls=yes") == 0)
		request->submission.needs_tls = true;
	else if (strcasecmp(value, "smtputf8=yes") == 0)
		request->submission.is_utf8 = true;
	return EX_OK;
}

static int
act_option(struct sendmail_request *request, const char *value)
{
	static const struct { const char *word; flag_fn *act; } options[] = {
#define OPTION(word, act, shown, text) { word, act },
#include "tools/sendmail/flags.h"
	};
	size_t i = 0;

	while (strncmp(value, options[i].word, strlen(options[i].word)) != 0)
		i++;		/* the last row fits all */
	return options[i].act == NULL ? EX_OK :
	    options[i].act(request, value + strlen(options[i].word));
}

static int
act_queue_show(struct sendmail_request *request, const char *value)
{
	request->queue = value;
	return EX_OK;
}

static int
act_newaliases(struct sendmail_request *request, const char *value)
{
	request->mode = "i";
	return EX_OK;
}

static const struct flag flags[] = {
#define FLAG(letter, takes, act, shown, text) { letter, takes, act },
#include "tools/sendmail/flags.h"
};

static const struct flag *
sendmail_flag_find(char letter)
{
	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].letter == letter)
			return &flags[i];
	return NULL;
}

/* One argument that begins with "-": letters without values may be glued
 * together ("-ti"), a value may be glued or the next argument. */
static int
sendmail_take_flags(struct sendmail_request *request, int argc, char **argv,
    int *at)
{
	const char *p = argv[*at] + 1;
	int status = EX_OK;

	for (; *p != '\0' && status == EX_OK; p++) {
		const struct flag *flag = sendmail_flag_find(*p);
		const char *value = p + 1;

		if (flag == NULL)
			return sendmail_usage("unknown option ",
			    argv[*at]);
		if (flag->takes == NO_VALUE) {
			if (flag->act != NULL)
				status = flag->act(request, NULL);
			continue;
		}
		if (*value == '\0' && flag->takes == VALUE) {
			if (*at + 1 >= argc)
				return sendmail_usage("no value after ",
				    argv[*at]);
			value = argv[++*at];
		}
		return flag->act != NULL ? flag->act(request, value) : EX_OK;
	}
	return status;
}

static int
sendmail_parse(struct sendmail_request *request, int argc, char **argv)
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
		status = sendmail_take_flags(request, argc, argv, &at);
	}
	submission->rcpts = arena_alloc(request->arena,
	    (size_t)argc * sizeof(char *));
	for (; at < argc; at++)
		submission->rcpts[submission->rcpt_count++] = argv[at];
	return status;
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
	struct sendmail_request request = {
		.submission = { .dot_ends = true }, .mode = "m",
	};
	int status;

	fd_claim_standard();
	err_program("sendmail");
	/* `ulimit -f`: an error to tell, and exit 75 */
	signal(SIGXFSZ, SIG_IGN);
	request.arena = arena_new();
	request.submission.full_name = getenv("NAME");
	if (is_called(argv[0], "rsmtp") || is_called(argv[0], "bsmtp"))
		request.mode = "S";
	status = sendmail_parse(&request, argc, argv);
	if (request.is_quiet && freopen("/dev/null", "w", stderr) == NULL)
		return EX_OSERR;
	if (status == EX_OK)
		status = sendmail_act(&request, argv[0]);
	arena_free(&request.arena);
	return status;
}

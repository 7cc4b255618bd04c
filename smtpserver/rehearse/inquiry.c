/* inquiry.c - who answers the questions of a rehearsal
 *
 * In     questions of the policy and of the recipient's check
 * Out    what the helpers and the router's own code say
 * Holds  a pipe to `router --ask`, and the DNS helper, while it runs
 * Spec   inquiry.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/consult/share_ask.h"
#include "smtpserver/helper/helpers.h"
#include "smtpserver/listener/helper_kinds.h"
#include "smtpserver/auth/blocks.h"
#include "smtpserver/rehearse/inquiry.h"

#include "base/banned.h"

static void
inquiry_on_answer(void *context, uint64_t asker, struct slice line)
{
	struct inquiry *inquiry = context;
	struct slice word;

	(void)slice_word(&line, &word);		/* "answer" */
	(void)slice_word(&line, &word);		/* the token */
	(void)slice_word(&line, &word);
	inquiry->state = slice_is(word, "ok") ? ASK_ANSWERED : ASK_TROUBLE;
	str_add_slice(&inquiry->answer, slice_trim(line));
	inquiry->is_answered = true;
}

static bool
inquiry_ask_helper(struct inquiry *inquiry, const char *kind,
    struct slice question)
{
	struct str line = STR_INIT;

	if (inquiry->helpers == NULL) {
		inquiry->process.loop = loop_new();
		inquiry->helpers = helpers_new(&inquiry->process,
		    helper_kinds, NULL, inquiry_on_answer, inquiry);
	}
	inquiry->is_answered = false;
	str_addf(&line, "1 %s " SLICE_FMT, kind, SLICE_ARG(question));
	if (helpers_ask(inquiry->helpers, 1, str_slice(&line)))
		while (!inquiry->is_answered)
			loop_turn(inquiry->process.loop, -1);
	str_release(&line);
	return inquiry->is_answered;
}

static void
inquiry_router_start(struct inquiry *inquiry)
{
	char path[4200];
	struct err err;
	int ends[2];

	daemon_libexec("router", path, sizeof(path));
	inquiry->router = -1;
	if (access(path, X_OK) != 0 || ipc_pair(ends, &err) != 0)
		return;
	inquiry->router = fork();
	if (inquiry->router == 0) {
		dup2(ends[1], STDIN_FILENO);
		dup2(ends[1], STDOUT_FILENO);
		execl(path, "router", "--ask", (char *)NULL);
		_exit(127);
	}
	close(ends[1]);
	inquiry->router_socket = ends[0];
	ipc_inbox_init(&inquiry->router_inbox);
}

/* The router's own code, in a process of its own: nothing has to run. */
static bool
inquiry_ask_router(struct inquiry *inquiry, struct slice question)
{
	struct str line = STR_INIT;
	struct slice answer = { NULL, 0 }, word = { NULL, 0 };
	size_t cursor = 0;

	if (inquiry->router == 0)
		inquiry_router_start(inquiry);
	if (inquiry->router < 0)
		return false;
	str_addf(&line, SLICE_FMT "\n", SLICE_ARG(question));
	(void)ipc_send(inquiry->router_socket, str_slice(&line), NULL, 0);
	str_release(&line);
	while (ipc_line(&inquiry->router_inbox, &cursor, &answer) ==
	    IPC_LINE_NONE)
		if (ipc_receive(inquiry->router_socket,
		    &inquiry->router_inbox) != IPC_GOT)
			return false;
	(void)slice_word(&answer, &word);
	inquiry->state = slice_is(word, "ok") ? ASK_ANSWERED : ASK_TROUBLE;
	str_add_slice(&inquiry->answer, slice_trim(answer));
	ipc_inbox_consume(&inquiry->router_inbox, cursor);
	return true;
}

bool
inquiry_ask(void *context, const char *kind, struct slice question,
    enum ask_state *out_state, struct str *out)
{
	struct inquiry *inquiry = context;
	bool is_known;

	str_reset(&inquiry->answer);
	is_known = strcmp(kind, "router") == 0 ?
	    inquiry_ask_router(inquiry, question) :
	    inquiry_ask_helper(inquiry, kind, question);
	*out_state = inquiry->state;
	str_add_slice(out, str_slice(&inquiry->answer));
	return is_known;
}

static struct conf *
inquiry_conf_read(void)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct conf_report report;
	struct conf *conf = conf_load(NULL, arena, &report);

	if (conf == NULL) {
		conf_report_print(&report, NULL, &text);
		fputs(text.buf, stderr);
	}
	str_release(&text);
	arena_free(&arena);
	return conf;
}

/* Whom all machines of the cluster refuse.  Nothing has to run: who cannot ask
 * is told so, and goes by the configuration. */
static void
inquiry_read_blocks(const struct conf *conf)
{
	struct str lines = STR_INIT;
	struct slice rest, line;
	struct err err;

	if (!conf_cluster_has_redis(&conf->cluster))
		return;
	if (share_ask_blocks(conf->run_dir, &lines, &err) != 0)
		fprintf(stderr, "zmailer: blocks of the cluster are not known "
		    "here: %s\n", err.text);
	else if (blocks_open(&err) == 0)
		blocks_begin();
	rest = str_slice(&lines);
	while (rest.n > 0 && slice_cut(&rest, '\n', &line))
		if (slice_starts(line, "block "))
			(void)blocks_add(slice_from(line, strlen("block ")));
	blocks_commit();
	str_release(&lines);
}

int
inquiry_open(struct inquiry *inquiry, struct rehearsal *out)
{
	struct conf *conf = inquiry_conf_read();

	*inquiry = (struct inquiry){ .process = { .lifeline = -1 } };
	str_init(&inquiry->answer);
	if (conf == NULL)
		return -1;
	inquiry->process.conf = conf;
	inquiry_read_blocks(conf);
	*out = (struct rehearsal){ .conf = conf, .policy = policy_new(conf),
	    .ask = inquiry_ask, .ask_context = inquiry };
	return 0;
}

void
inquiry_close(struct inquiry *inquiry, struct rehearsal *rehearsal)
{
	int status;

	if (inquiry->router > 0) {
		/* a helper that was forked since has it open, too */
		shutdown(inquiry->router_socket, SHUT_RDWR);
		close(inquiry->router_socket);
		while (waitpid(inquiry->router, &status, 0) < 0 &&
		    errno == EINTR)
			;
		ipc_inbox_release(&inquiry->router_inbox);
	}
	helpers_free(&inquiry->helpers);
	loop_free(&inquiry->process.loop);
	policy_free(&rehearsal->policy);
	blocks_close();
	conf_free(&inquiry->process.conf);
	str_release(&inquiry->answer);
}

/* standalone.c - one session on stdin and stdout
 *
 * In     SMTP from a local program, on a pipe, a terminal or a file
 * Out    replies; messages in router/, or in public/ for the router (S4)
 * Holds  two processes: one serves a socket as ever, one copies between the
 *        socket and stdin and stdout, which the loop could not watch
 * Trusts the caller no more than a client at 127.0.0.1; nobody is asked
 *        whether recipients exist: the router will tell
 * Spec   sendmail(1) -bs; doc/INTERNALS.md rows S0 to S4
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>

#include "journal/event.h"
#include "base/fd.h"
#include "smtpserver/worker/standalone.h"
#include "smtpserver/worker/worker.h"

#include "base/banned.h"

enum { PIECE_BYTES = 65536, TOKEN = 1 };

bool
standalone_is_meant(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], "-bs") == 0;
}

/* ---- the session ------------------------------------------------------ */

/* There are no helpers here: what would be asked of one cannot be known. */
static bool
standalone_lines_take(struct worker *worker)
{
	struct str lines = STR_INIT;
	struct slice rest, line, word;
	bool was_asked = false;
	uint64_t token;

	worker_take_lines(worker, &lines);
	rest = str_slice(&lines);
	while (slice_cut(&rest, '\n', &line)) {
		if (!slice_word(&line, &word) || !slice_is(word, "ask") ||
		    !slice_word(&line, &word) ||
		    !slice_number(word, 1, UINT64_MAX, &token))
			continue;
		worker_answer(worker, token, ASK_TROUBLE,
		    SLICE("not asked from stdin"));
		was_asked = true;
	}
	str_release(&lines);
	return was_asked;
}

static int
standalone_serve(struct conf *conf, int fd)
{
	struct loop *loop = loop_new();
	struct spool *spool = NULL;
	struct worker *worker;
	struct client client;
	struct err err;
	bool is_stirred = true;		/* its greeting is to be said */

	if (conf_spool_open(conf, 0, &spool, &err) !=
	    0 || client_parse(SLICE("127.0.0.1:0"),
	    SLICE(SESSION_ON_STDIN), &client, &err) < 0) {
		fprintf(stderr, "smtpserver: %s\n", err.text);
		return EX_TEMPFAIL;
	}
	worker = worker_new(loop, spool, settings_new(conf, false));
	worker_open(worker, fd, TOKEN, &client);
	while (worker_session_count(worker) > 0) {
		loop_turn(loop, is_stirred ? 0 : -1);
		is_stirred = standalone_lines_take(worker);
	}
	worker_free(&worker);
	loop_free(&loop);
	spool_close(&spool);
	event_flush();
	return EX_OK;
}

/* ---- the copying ------------------------------------------------------ */

/* One read and all of it written.  false: that way is over. */
static bool
standalone_copy(int from, int to)
{
	static char piece[PIECE_BYTES];
	ssize_t n = read(from, piece, sizeof(piece));

	if (n < 0 && errno == EINTR)
		return true;
	return n > 0 && fd_write_all(to, piece, (size_t)n) == 0;
}

static void
standalone_pump(int fd)
{
	struct pollfd ways[] = {
		{ STDIN_FILENO, POLLIN, 0 }, { fd, POLLIN, 0 },
	};

	for (;;) {
		if (poll(ways, 2, -1) < 0 && errno != EINTR)
			return;
		if (ways[1].revents != 0 && !standalone_copy(fd, STDOUT_FILENO))
			return;
		if (ways[0].revents != 0 && !standalone_copy(STDIN_FILENO,
		    fd)) {
			shutdown(fd, SHUT_WR);
			ways[0].fd = -1;
		}
	}
}

static int
standalone_child_status(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return EX_OSERR;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EX_SOFTWARE;
}

int
standalone_run(int argc, char **argv)
{
	const char *path = argc > 3 && strcmp(argv[2], "-C") == 0 ? argv[3] :
	    NULL;
	struct conf *conf = conf_makeshift_or_tell(path);
	int ends[2];
	pid_t child;

	if (conf == NULL)
		return EX_CONFIG;
	conf_hand_on(conf);
	err_program("smtpserver");
	(void)event_open(conf->log_dir);
	signal(SIGPIPE, SIG_IGN);
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return EX_OSERR;
	child = fork();
	if (child == 0) {
		close(ends[0]);
		_exit(standalone_serve(conf, ends[1]));
	}
	close(ends[1]);
	if (child < 0)
		return EX_OSERR;
	standalone_pump(ends[0]);
	close(ends[0]);
	conf_free(&conf);
	return standalone_child_status(child);
}

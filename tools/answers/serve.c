/* serve.c - the process that runs verbs for those who may not read
 *
 * In     connections; a line of words and two pipes from each
 * Out    what the verb says, in the pipes; "exit N" on the connection
 * Holds  the listening socket; the pids of those at work and for whom
 * Trusts nobody: who asks is told by the kernel, words go to verbs that only
 *        read, and each question has a process that can write nowhere else
 * Spec   answers.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysexits.h>
#include <unistd.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include "base/title.h"
#include "daemon/sandbox.h"
#include "daemon/skeleton.h"
#include "io/ipc.h"
#include "tools/answers/internal.h"

#include "base/banned.h"

enum { SERVE_NICE = 10, REAP_MS = 100, CONNECTION_FD = 3,
	SERVE_BYTES_MAX = 512 << 20 };

struct serve {
	int		 socket, lifeline;
	const struct conf *conf;
	answers_run_fn	*run;
	struct peer_rules rules;
	struct { pid_t pid; uid_t uid; } at_work[ANSWERS_AT_ONCE];
};

static struct rights_peer serve_asker;
static bool serve_is_asked;

const struct rights_peer *
answers_asker(void)
{
	return serve_is_asked ? &serve_asker : NULL;
}

/* ---- one question ------------------------------------------------------- */

/* A question is one line; nobody gets more of our memory for it. */
static int
serve_receive(int fd, struct ipc_inbox *inbox)
{
	while (inbox->bytes.len == 0 ||
	    inbox->bytes.buf[inbox->bytes.len - 1] != '\n')
		if (inbox->bytes.len > ANSWERS_BYTES_MAX ||
		    ipc_receive(fd, inbox) != IPC_GOT)
			return -1;
	return 0;
}

/* What is written goes through pipes and nowhere else: not into a file that
 * somebody may not write. */
static bool
serve_is_pipe(int fd)
{
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

static int
serve_take_pipes(struct ipc_inbox *inbox)
{
	int out = ipc_take_fd(inbox), said = ipc_take_fd(inbox);
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	if (!serve_is_pipe(out) || !serve_is_pipe(said) || null < 0)
		return -1;
	return dup2(null, STDIN_FILENO) < 0 ||
	    dup2(out, STDOUT_FILENO) < 0 || dup2(said, STDERR_FILENO) < 0 ?
	    -1 : 0;
}

static void
serve_lock_in(void)
{
	static const struct sandbox rules = { .readable = { "/" },
	    .readable_count = 1, .may_list = true, .sockets = SOCKETS_LOCAL };
	struct err err;

	if (sandbox_enter(&rules, &err) < 0) {
		warning("answers: %s", err.text);
		_exit(EX_OSERR);
	}
}

static int
serve_run(const struct serve *serve, struct answers_question *question)
{
	struct str text = STR_INIT;
	int status = EX_NOPERM;

	if (answers_may(serve_asker.right, question, &text))
		status = serve->run(question->count, question->words,
		    serve->conf->path);
	else
		fprintf(stderr, "zmailer: %s: %s\n", question->words[0],
		    text.buf);
	str_release(&text);
	return status;
}

/* An answer without end, as of events -f, lasts as long as who asked: the
 * end of his connection is a signal that ends us. */
static void
serve_until_gone(void)
{
	char byte;

	if (fcntl(CONNECTION_FD, F_SETOWN, getpid()) < 0 ||
	    fcntl(CONNECTION_FD, F_SETFL, O_ASYNC) < 0)
		return;			/* the alarm is its end */
	if (recv(CONNECTION_FD, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0)
		_exit(EX_OK);		/* he went before that */
	(void)alarm(0);
}

static void
serve_bound_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__)	/* which takes terabytes of shadow */
	static const struct rlimit bytes = { SERVE_BYTES_MAX,
		SERVE_BYTES_MAX };

	(void)setrlimit(RLIMIT_DATA, &bytes);
#endif
}

static void
serve_question(const struct serve *serve, int fd)
    __attribute__((noreturn));
static void
serve_question(const struct serve *serve, int fd)
{
	struct answers_question question;
	struct ipc_inbox inbox;
	char text[32];
	int n, status;

	(void)alarm(ANSWERS_QUESTION_FOR_S);
	serve_bound_memory();
	ipc_inbox_init(&inbox);
	serve_is_asked = true;
	serve_lock_in();
	if (serve_receive(fd, &inbox) < 0 || serve_take_pipes(&inbox) < 0 ||
	    answers_question_read(inbox.bytes.buf, inbox.bytes.len - 1,
	    &question) < 0)
		_exit(EX_USAGE);
	(void)alarm(ANSWERS_FOR_S);
	if (fd != CONNECTION_FD && dup2(fd, CONNECTION_FD) < 0)
		_exit(EX_OSERR);
	closefrom(CONNECTION_FD + 1);
	err_program("zmailer");
	if (answers_follow(&question))
		serve_until_gone();
	status = serve_run(serve, &question);
	fflush(stdout);
	fflush(stderr);
	n = snprintf(text, sizeof(text), "exit %d\n", status & 255);
	if (write(CONNECTION_FD, text, (size_t)n) != n)
		status = EX_IOERR;
	_exit(status);
}

/* ---- all of them -------------------------------------------------------- */

static void
serve_reap(struct serve *serve)
{
	pid_t pid;

	while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
		for (int i = 0; i < ANSWERS_AT_ONCE; i++)
			if (serve->at_work[i].pid == pid)
				serve->at_work[i].pid = 0;
}

/* -1: all are at work, or enough for him. */
static int
serve_place(const struct serve *serve, uid_t uid)
{
	int place = -1, his = 0;

	for (int i = 0; i < ANSWERS_AT_ONCE; i++)
		if (serve->at_work[i].pid == 0)
			place = i;
		else
			his += serve->at_work[i].uid == uid;
	return his >= (serve_asker.is_nodes ? ANSWERS_OF_NODES :
	    ANSWERS_OF_ONE_USER) ? -1 : place;
}

static bool
serve_is_busy(const struct serve *serve)
{
	for (int i = 0; i < ANSWERS_AT_ONCE; i++)
		if (serve->at_work[i].pid > 0)
			return true;
	return false;
}

static void
serve_connection(struct serve *serve)
{
	int fd = accept(serve->socket, NULL, NULL), place;
	pid_t pid;

	if (fd < 0)
		return;
	(void)fcntl(fd, F_SETFL, 0);
	if (peer_ask(fd, &serve->rules, &serve_asker) < 0 ||
	    (place = serve_place(serve, serve_asker.uid)) < 0) {
		close(fd);
		return;
	}
	/* it asks for those who may read there */
	if (serve_asker.is_nodes && serve_asker.right < RIGHT_READ)
		serve_asker.right = RIGHT_READ;
	pid = fork();
	if (pid == 0)
		serve_question(serve, fd);
	serve->at_work[place].pid = pid > 0 ? pid : 0;
	serve->at_work[place].uid = serve_asker.uid;
	close(fd);
}

void
answers_serve(int socket, int lifeline, const struct conf *conf,
    answers_run_fn *run)
{
	struct serve serve = { .socket = socket, .lifeline = lifeline,
	    .conf = conf, .run = run };
	struct pollfd fds[] = { { .fd = socket, .events = POLLIN },
	    { .fd = lifeline, .events = POLLIN } };
	struct err err;

	err_program("answers");
	title_set("answers");
#ifdef HAVE_SYS_PRCTL_H
	(void)prctl(PR_SET_NAME, "zmailer-answers", 0, 0, 0);
#endif
	(void)setpriority(PRIO_PROCESS, 0, SERVE_NICE);
	peer_rules_read(conf, &serve.rules);
	if (daemon_drop(conf, ROLE_ROUTER, &err) < 0)
		fatal("%s", err.text);
	while (fds[1].revents == 0) {
		if (poll(fds, 2, serve_is_busy(&serve) ? REAP_MS : -1) < 0 &&
		    errno != EINTR)
			fatal("poll: %s", strerror(errno));
		serve_reap(&serve);
		if (fds[0].revents != 0)
			serve_connection(&serve);
	}
	for (int i = 0; i < ANSWERS_AT_ONCE; i++)
		if (serve.at_work[i].pid > 0)
			kill(serve.at_work[i].pid, SIGTERM);
	_exit(EX_OK);
}

/* process.c - where passwords are looked at
 *
 * In     "helper" with a socket, "reload", from the listener
 * Out    a process for each socket
 * Holds  the configuration; a secret for users who are not there
 * Trusts the listener; it is gone when the listener is
 * Spec   auth/process.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "journal/event.h"
#include "base/mem.h"
#include "daemon/child.h"
#include "io/ipc.h"
#include "smtpserver/auth/check.h"
#include "smtpserver/auth/process.h"
#include "smtpserver/helper/helper.h"

#include "base/banned.h"

enum {
	SECRET_BYTES = 32,
	QUESTION_FOR_S = 60	/* then the helper hangs, and is ended */
};

struct auth_process {		/* the listener's side */
	struct process	*process;
	struct child	*child;
	loop_fn		*child_fn;	/* or NULL */
	void		*context;
};

/* ---- a helper --------------------------------------------------------- */

/* SIGALRM ends it: whoever waits in a PAM module cannot be asked to. */
static bool
auth_helper_answer(void *context, struct slice question, struct str *out)
{
	bool is_answer;

	(void)alarm(QUESTION_FOR_S);
	is_answer = auth_check_answer(context, question, out);
	(void)alarm(0);
	return is_answer;
}

static void __attribute__((noreturn))
auth_helper_run(struct conf *conf, struct slice secret, int socket)
{
	struct auth_check *check = auth_check_new(conf, secret);

	signal(SIGCHLD, SIG_DFL);	/* PAM modules fork and wait */
	helper_serve(socket, auth_helper_answer, check);
	auth_check_free(&check);
	event_flush();
	_exit(0);
}

/* ---- the process ------------------------------------------------------ */

struct auth_server {
	struct process	*process;
	struct conf	*conf;
	int		 listener;
	struct ipc_inbox inbox;
	char		 secret[SECRET_BYTES];
};

static void
auth_helper_start(struct auth_server *server)
{
	struct slice secret = { server->secret, SECRET_BYTES };
	int fd = ipc_take_fd(&server->inbox);
	pid_t pid;

	if (fd < 0)
		return;
	event_flush();
	pid = fork();
	if (pid == 0) {
		close(server->listener);
		auth_helper_run(server->conf, secret, fd);
	}
	if (pid < 0)
		warning("cannot fork a helper for passwords: error %d",
		    errno);
	close(fd);
}

static void
auth_server_reload(struct auth_server *server)
{
	struct arena *arena = arena_new();
	struct conf_report report;
	struct conf *fresh = conf_load(server->process->conf_path, arena,
	    &report);

	if (fresh != NULL)
		server->conf = fresh;	/* the old one is the process's */
	arena_free(&arena);
}

static void __attribute__((noreturn))
auth_server_run(struct process *process, int socket)
{
	struct auth_server server = {
		.process = process, .conf = process->conf, .listener = socket,
	};
	struct slice line;

	/* only PAM's modules want root */
	daemon_keep_secrets(process, process->conf->auth.kind == AUTH_PAM);
	signal(SIGHUP, SIG_IGN);	/* the listener tells */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);	/* its end of file ends us */
	signal(SIGCHLD, SIG_IGN);	/* nobody waits for them */
	arc4random_buf(server.secret, SECRET_BYTES);
	ipc_inbox_init(&server.inbox);
	while (ipc_receive(socket, &server.inbox) == IPC_GOT) {
		size_t cursor = 0;

		while (ipc_line(&server.inbox, &cursor, &line) == IPC_LINE)
			if (slice_is(line, "reload"))
				auth_server_reload(&server);
			else
				auth_helper_start(&server);
		ipc_inbox_consume(&server.inbox, cursor);
	}
	_exit(0);
}

/* ---- the listener's side ---------------------------------------------- */

bool
auth_process_is_wanted(const struct conf *conf)
{
	return conf->auth.kind != AUTH_NONE &&
	    conf->auth.kind != AUTH_DOVECOT;
}

static void
auth_process_run(void *context, int socket)
{
	struct auth_process *auth = context;

	if (auth->child_fn != NULL)
		auth->child_fn(auth->context);
	auth_server_run(auth->process, socket);
}

static const struct child_kind auth_process_kind = {
	.name = "smtpserver-auth", .run = auth_process_run,
};

struct auth_process *
auth_process_start(struct process *process, loop_fn *child_fn, void *context,
    struct err *err)
{
	struct auth_process *auth = mem_alloc(1, sizeof(*auth));

	auth->process = process;
	auth->child_fn = child_fn;
	auth->context = context;
	auth->child = child_new(process, &auth_process_kind, auth);
	if (child_start(auth->child, err) < 0)
		auth_process_free(&auth);
	return auth;
}

void
auth_process_attach(struct auth_process *auth)
{
	child_attach(auth->child);
}

void
auth_process_free(struct auth_process **auth)
{
	if (*auth == NULL)
		return;
	child_free(&(*auth)->child);
	mem_free(auth);
}

int
auth_process_open(struct auth_process *auth, struct err *err)
{
	int ends[2];

	if (!child_is_running(auth->child) || child_fd_room(auth->child) == 0)
		return err_set(err, "the process for passwords is gone");
	if (ipc_pair(ends, err) < 0)
		return -1;
	str_adds(child_outbox(auth->child), "helper\n");
	child_add_fd(auth->child, ends[1]);
	child_send(auth->child);
	return ends[0];
}

void
auth_process_reload(struct auth_process *auth)
{
	str_adds(child_outbox(auth->child), "reload\n");
	child_send(auth->child);
}

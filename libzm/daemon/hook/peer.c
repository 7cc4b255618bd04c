/* peer.c - the process of a script, seen from outside
 *
 * In     the text of a script
 * Out    a process that serves it; its frames
 * Holds  a pid and a socket
 * Trusts the process with nothing: each wait has an end
 * Spec   peer.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/title.h"
#include "daemon/hook/peer.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include "base/clock.h"
#include "journal/event.h"
#include "daemon/hook/script.h"
#include "io/ipc.h"

#include "base/banned.h"

enum { PEER_SOCKET = 3, PEER_READ_BYTES = 65536 };

void
hook_peer_init(struct hook_peer *peer)
{
	*peer = (struct hook_peer){ .socket = -1 };
	str_init(&peer->in);
}

/* Nothing of its owner's stays open. */
static void
peer_child_run(int socket, pid_t parent, const struct conf_hooks *conf,
    struct slice text)
{
	title_set("%s hooks", err_program_name());
	err_program("hooks");
#ifdef HAVE_SYS_PRCTL_H
	(void)prctl(PR_SET_NAME, "zmailer hooks", 0, 0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
#endif
	if (getppid() != parent)
		_exit(EXIT_FATAL);
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	if (socket != PEER_SOCKET && dup2(socket, PEER_SOCKET) < 0)
		_exit(EXIT_FATAL);
	closefrom(PEER_SOCKET + 1);
	script_serve(PEER_SOCKET, conf, text);
}

int
hook_peer_start(struct hook_peer *peer, const struct conf_hooks *conf,
    struct slice text, struct err *err)
{
	pid_t parent = getpid();
	int ends[2];

	if (ipc_pair(ends, err) < 0)
		return -1;
	event_flush();		/* else the child has these lines, too */
	peer->pid = fork();
	if (peer->pid == 0)
		peer_child_run(ends[1], parent, conf, text);
	close(ends[1]);
	if (peer->pid < 0) {
		peer->pid = 0;
		close(ends[0]);
		return err_sys(err, "cannot fork a process for %s",
		    conf->script);
	}
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	peer->socket = ends[0];
	peer->used = 0;
	str_reset(&peer->in);
	return 0;
}

static void
hook_peer_forget(struct hook_peer *peer)
{
	close(peer->socket);
	str_release(&peer->in);
	hook_peer_init(peer);
}

void
hook_peer_end(struct hook_peer *peer)
{
	if (peer->pid == 0)
		return;
	(void)kill(peer->pid, SIGKILL);
	while (waitpid(peer->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	hook_peer_forget(peer);
}

void
hook_peer_look(struct hook_peer *peer)
{
	if (peer->pid != 0 && waitpid(peer->pid, NULL, WNOHANG) == peer->pid)
		hook_peer_forget(peer);
}

bool
hook_peer_is_there(const struct hook_peer *peer)
{
	return peer->pid != 0;
}

/* False when the time is over. */
static bool
hook_peer_await(const struct hook_peer *peer, short what, int64_t until_ms)
{
	struct pollfd fd = { peer->socket, what, 0 };
	int64_t left_ms = until_ms - clock_steady_ms();

	return left_ms > 0 && (poll(&fd, 1, (int)left_ms) > 0 ||
	    errno == EINTR);
}

int
hook_peer_send(struct hook_peer *peer, struct slice bytes, int64_t until_ms)
{
	ssize_t sent;

	while (bytes.n > 0) {
		sent = ipc_send(peer->socket, bytes, NULL, 0);
		if (sent < 0)
			return -1;
		bytes = slice_from(bytes, (size_t)sent);
		if (bytes.n > 0 && !hook_peer_await(peer, POLLOUT, until_ms))
			return -1;
	}
	return 0;
}

/* 1 some bytes; 0 its end; -1 none yet. */
static int
hook_peer_receive(struct hook_peer *peer)
{
	ssize_t got = read(peer->socket, str_room(&peer->in,
	    PEER_READ_BYTES), PEER_READ_BYTES);

	if (got < 0 && (errno == EAGAIN || errno == EINTR))
		return -1;
	if (got <= 0)
		return 0;
	peer->in.len += (size_t)got;
	return 1;
}

enum hook_peer_word
hook_peer_take(struct hook_peer *peer, int64_t until_ms,
    struct hook_frame *out, struct err *err)
{
	enum hook_frame_found found;

	str_consume(&peer->in, peer->used);
	peer->used = 0;
	while ((found = hook_frame_take(str_slice(&peer->in), out,
	    &peer->used, err)) == HOOK_FRAME_PART) {
		if (!hook_peer_await(peer, POLLIN, until_ms)) {
			err_set(err, "it did not end in time and was killed");
			return HOOK_PEER_LATE;
		}
		if (hook_peer_receive(peer) == 0) {
			err_set(err, "its process died");
			return HOOK_PEER_DEAD;
		}
	}
	return found == HOOK_FRAME_WHOLE ? HOOK_PEER_SPOKE : HOOK_PEER_DEAD;
}

/* answering.c - a verb that runs here, for somebody at another node
 *
 * In     words; what two pipes and a connection say
 * Out    frames
 * Holds  the connection and the reading ends of the pipes
 * Trusts the process that answers to run only what reads; its output is
 *        bounded by what the other side takes
 * Spec   answering.h; doc/protocol/control.md section 8
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/consult/nodes_line.h"
#include "io/ipc.h"
#include "io/unix_socket.h"
#include "nodes/answer/answering.h"

#include "base/banned.h"

enum { PIECE_BYTES = 16384, STATUS_BYTES = 32, CUT_OFF = 75 };
enum { END_OUT, END_ERR, END_STATUS, ENDS };

struct answering_end {
	struct answering *answering;
	struct watch	*watch;
	int		 fd;		/* -1: it is at its end */
};

struct answering {
	struct answering_end ends[ENDS];
	struct stream	*to;
	loop_fn		*changed;
	void		*context;
	char		 status[STATUS_BYTES];
	size_t		 status_n;
	bool		 is_waiting, is_over;
};

static void
answering_end_close(struct answering_end *end)
{
	watch_free(&end->watch);
	if (end->fd >= 0)
		close(end->fd);
	end->fd = -1;
}

static void
answering_say_exit(struct answering *answering)
{
	struct str text = STR_INIT;
	unsigned number = CUT_OFF;

	answering->status[answering->status_n] = '\0';
	if (sscanf(answering->status, "exit %u", &number) != 1 ||
	    number > 255) {
		number = CUT_OFF;
		nodes_frame_add(&text, NODES_ERR, SLICE("zmailer: the answer "
		    "was cut off: too many ask there at once, or it took too "
		    "long\n"));
	}
	str_addf(&text, "exit %u\n", number);
	stream_say(answering->to, str_slice(&text));
	str_release(&text);
	answering->is_over = true;
}

static void
answering_set_waiting(struct answering *answering, bool is_waiting)
{
	answering->is_waiting = is_waiting;
	for (int i = 0; i < END_STATUS; i++)
		if (answering->ends[i].watch != NULL)
			watch_set(answering->ends[i].watch,
			    is_waiting ? 0 : LOOP_READ);
}

static void
answering_add(struct answering *answering, int which, struct slice bytes)
{
	struct str frame = STR_INIT;
	size_t room = STATUS_BYTES - 1 - answering->status_n;

	if (which == END_STATUS) {
		bytes = slice_first(bytes, bytes.n < room ? bytes.n : room);
		memcpy(answering->status + answering->status_n, bytes.p,
		    bytes.n);
		answering->status_n += bytes.n;
		return;
	}
	nodes_frame_add(&frame, which == END_OUT ? NODES_OUT : NODES_ERR,
	    bytes);
	stream_say(answering->to, str_slice(&frame));
	str_release(&frame);
}

static void
answering_on_ready(void *context, unsigned ready)
{
	struct answering_end *end = context;
	struct answering *answering = end->answering;
	char piece[PIECE_BYTES];
	ssize_t n = read(end->fd, piece, sizeof(piece));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		answering_add(answering, (int)(end - answering->ends),
		    (struct slice){ piece, (size_t)n });
	else
		answering_end_close(end);
	if (stream_unsent_bytes(answering->to) > ANSWERING_UNSENT_BYTES_MAX)
		answering_set_waiting(answering, true);
	if (answering->ends[END_OUT].fd < 0 &&
	    answering->ends[END_ERR].fd < 0 &&
	    answering->ends[END_STATUS].fd < 0)
		answering_say_exit(answering);
	answering->changed(answering->context);
}

/* Its line is far smaller than what a new connection takes at once. */
static int
answering_ask(int fd, struct slice words, const int pipes[2], struct err *err)
{
	struct str line = STR_INIT;
	ssize_t sent;
	size_t n;

	str_add_slice(&line, words);
	str_addc(&line, '\n');
	n = line.len;
	sent = ipc_send(fd, str_slice(&line), pipes, 2);
	str_release(&line);
	return sent >= 0 && (size_t)sent == n ? 0 : err_sys(err,
	    "ask who answers");
}

static int
answering_open(struct answering *answering, const char *run_dir,
    struct slice words, struct err *err)
{
	int out[2] = { -1, -1 }, said[2] = { -1, -1 }, result = -1;
	int fd = unix_socket_connect_in(run_dir, "answers.sock",
	    SOCK_NONBLOCK, err);

	answering->ends[END_STATUS].fd = fd;
	if (fd < 0)
		return -1;
	if (pipe2(out, O_CLOEXEC) != 0 || pipe2(said, O_CLOEXEC) != 0)
		err_sys(err, "pipe");
	else
		result = answering_ask(fd, words, (int[]){ out[1], said[1] },
		    err);
	answering->ends[END_OUT].fd = out[0];
	answering->ends[END_ERR].fd = said[0];
	if (out[1] >= 0)
		close(out[1]);
	if (said[1] >= 0)
		close(said[1]);
	return result;
}

struct answering *
answering_new(struct loop *loop, const char *run_dir, struct slice words,
    struct stream *to, loop_fn *changed, void *context, struct err *err)
{
	struct answering *answering = mem_alloc(1, sizeof(*answering));

	answering->to = to;
	answering->changed = changed;
	answering->context = context;
	for (int i = 0; i < ENDS; i++)
		answering->ends[i] = (struct answering_end){ answering, NULL,
			-1 };
	if (answering_open(answering, run_dir, words, err) < 0) {
		answering_free(&answering);
		return NULL;
	}
	for (int i = 0; i < ENDS; i++) {
		struct answering_end *end = &answering->ends[i];

		(void)fcntl(end->fd, F_SETFL, O_NONBLOCK);
		end->watch = loop_watch(loop, end->fd, LOOP_READ,
		    answering_on_ready, end);
	}
	return answering;
}

void
answering_free(struct answering **panswering)
{
	struct answering *answering = *panswering;

	if (answering == NULL)
		return;
	for (int i = 0; i < ENDS; i++)
		answering_end_close(&answering->ends[i]);
	mem_free(panswering);
}

void
answering_resume(struct answering *answering)
{
	if (answering->is_waiting && stream_unsent_bytes(answering->to) <
	    ANSWERING_UNSENT_BYTES_MAX / 2)
		answering_set_waiting(answering, false);
}

bool
answering_is_over(const struct answering *answering)
{
	return answering->is_over;
}

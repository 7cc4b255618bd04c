/* ask.c - questions under way, beside an event loop
 *
 * In     a question
 * Out    its answer, bounded in bytes and time
 * Holds  a child with two pipes, or a connection
 * Trusts nothing that comes: see question.c
 * Spec   ask.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <sys/queue.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "web/ask/ask.h"
#include "web/ask/source.h"
#include "base/err.h"

#include "base/banned.h"

enum { PIECE_BYTES = 64 << 10 };

struct stream {
	struct ask	*ask;
	struct event	*event;		/* NULL: at its end */
	int		 fd;
	struct str	*to;
	size_t		 most;
};

struct ask {
	LIST_ENTRY(ask)	 all;
	struct question	*question;
	struct event_base *base;
	struct source	 source;
	struct stream	 out, err;
	struct str	 sent;		/* by the socket */
	size_t		 written;	/* of the request */
	struct event	*writer, *timer;
	int		 status;	/* of the child */
	bool		 is_reaped;
	ask_fn		*fn;
	void		*context;
};
static LIST_HEAD(, ask) asks = LIST_HEAD_INITIALIZER(asks);

static void
ask_event_free(struct event **event)
{
	if (*event != NULL)
		event_free(*event);
	*event = NULL;
}

static void
stream_close(struct stream *stream)
{
	ask_event_free(&stream->event);
	if (stream->fd >= 0)
		close(stream->fd);
	stream->fd = -1;
}

/* The answer is what it is: tell who asked. */
static void
ask_end(struct ask *ask)
{
	ask_fn *fn = ask->fn;
	void *context = ask->context;

	LIST_REMOVE(ask, all);
	stream_close(&ask->out);
	stream_close(&ask->err);
	ask_event_free(&ask->writer);
	ask_event_free(&ask->timer);
	str_release(&ask->sent);
	mem_free(&ask);
	fn(context);
}

static void
ask_fail(struct ask *ask, enum question_answer_kind kind, const char *words)
{
	struct question_answer *answer = &ask->question->answer;

	if (ask->source.pid > 0 && !ask->is_reaped) {
		(void)kill(-ask->source.pid, SIGKILL);
		(void)waitpid(ask->source.pid, NULL, 0);
	}
	answer->kind = kind;
	str_reset(&answer->trouble);
	str_adds(&answer->trouble, words);
	ask_end(ask);
}

static void
ask_on_late(evutil_socket_t fd, short what, void *context)
{
	ask_fail(context, ANSWER_TROUBLE, "there was no answer in time");
}

/* ---- a verb ------------------------------------------------------------- */

/* Both pipes ended and so did it. */
static void
ask_check_child(struct ask *ask)
{
	struct question_answer *answer = &ask->question->answer;

	if (ask->out.event != NULL || ask->err.event != NULL ||
	    !ask->is_reaped)
		return;
	answer->kind = answer->is_cut ? ANSWER_GOOD :
	    WIFEXITED(ask->status) ? answer_of_exit(WEXITSTATUS(ask->status)) :
	    ANSWER_TROUBLE;
	ask_end(ask);
}

static void
ask_on_child(evutil_socket_t fd, short what, void *context)
{
	struct ask *ask = LIST_FIRST(&asks), *next;

	for (; ask != NULL; ask = next) {
		next = LIST_NEXT(ask, all);
		if (ask->source.pid <= 0 || ask->is_reaped ||
		    waitpid(ask->source.pid, &ask->status, WNOHANG) !=
		    ask->source.pid)
			continue;
		ask->is_reaped = true;
		ask_check_child(ask);
	}
}

/* ---- the socket --------------------------------------------------------- */

static void
ask_take_socket(struct ask *ask, bool is_end)
{
	struct question_answer *answer = &ask->question->answer;

	if (answer_take_socket(answer, str_slice(&ask->sent)))
		ask_end(ask);
	else if (is_end)
		ask_fail(ask, ANSWER_DOWN, "the scheduler hung up");
}

static void
ask_on_write(evutil_socket_t fd, short what, void *context)
{
	struct ask *ask = context;
	const struct str *request = &ask->question->request;
	ssize_t n = send(fd, request->buf + ask->written,
	    request->len - ask->written, MSG_NOSIGNAL);

	if (n > 0)
		ask->written += (size_t)n;
	if ((n < 0 && errno != EAGAIN && errno != EINTR))
		ask_fail(ask, ANSWER_DOWN, "the scheduler does not listen");
	else if (ask->written == request->len)
		ask_event_free(&ask->writer);
}

/* ---- both --------------------------------------------------------------- */

/* What is beyond the limit is not kept; a verb that writes so much is ended,
 * and its lines until there are good. */
static void
stream_take(struct stream *stream, const char *piece, size_t n)
{
	struct ask *ask = stream->ask;

	if (stream->to->len + n <= stream->most) {
		str_add(stream->to, piece, n);
		return;
	}
	if (stream == &ask->out) {
		ask->question->answer.is_cut = true;
		if (ask->source.pid > 0 && !ask->is_reaped)
			(void)kill(-ask->source.pid, SIGKILL);
	}
}

static void
stream_on_read(evutil_socket_t fd, short what, void *context)
{
	struct stream *stream = context;
	struct ask *ask = stream->ask;
	char piece[PIECE_BYTES];
	ssize_t n = read(fd, piece, sizeof(piece));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		stream_take(stream, piece, (size_t)n);
	else
		stream_close(stream);
	if (!ask->question->is_socket)
		ask_check_child(ask);
	else if (ask->question->answer.is_cut)
		ask_fail(ask, ANSWER_TROUBLE, "the answer is too long");
	else
		ask_take_socket(ask, n <= 0);
}

static void
stream_open(struct stream *stream, struct ask *ask, int fd, struct str *to,
    size_t most)
{
	*stream = (struct stream){ .ask = ask, .fd = fd, .to = to,
	    .most = most };
	if (fd < 0)
		return;
	stream->event = event_new(ask->base, fd, EV_READ | EV_PERSIST,
	    stream_on_read, stream);
	event_add(stream->event, NULL);
}

static void
ask_on_absent(evutil_socket_t fd, short what, void *context)
{
	struct ask *ask = context;

	ask_fail(ask, ask->question->is_socket ? ANSWER_DOWN : ANSWER_TROUBLE,
	    ask->question->is_socket ? "the scheduler does not run, or does "
	    "not listen: zmailer start" : "the verb cannot be run");
}

/* Without a source the answer comes in the next turn. */
static void
ask_set_timer(struct ask *ask)
{
	bool is_there = ask->source.out_fd >= 0;
	struct timeval when = { .tv_sec = is_there ? ANSWER_MS / 1000 : 0 };

	ask->timer = evtimer_new(ask->base, is_there ? ask_on_late :
	    ask_on_absent, ask);
	evtimer_add(ask->timer, &when);
}

void
ask_begin(const struct asker *asker, struct question *question, ask_fn *fn,
    void *context)
{
	struct ask *ask = mem_alloc(1, sizeof(*ask));

	*ask = (struct ask){ .question = question, .base = asker->base,
	    .sent = STR_INIT, .fn = fn, .context = context };
	LIST_INSERT_HEAD(&asks, ask, all);
	if (question->is_socket) {
		str_adds(&question->request, "}\n");
		source_connect(&ask->source, asker->run_dir);
		stream_open(&ask->out, ask, ask->source.out_fd, &ask->sent,
		    ANSWER_BYTES_MAX);
		stream_open(&ask->err, ask, -1, NULL, 0);
		if (ask->source.out_fd >= 0) {
			ask->writer = event_new(ask->base, ask->source.out_fd,
			    EV_WRITE | EV_PERSIST, ask_on_write, ask);
			event_add(ask->writer, NULL);
		}
	} else {
		source_start(&ask->source, asker, question->words,
		    question->who);
		stream_open(&ask->out, ask, ask->source.out_fd,
		    &question->answer.text, ANSWER_BYTES_MAX);
		stream_open(&ask->err, ask, ask->source.err_fd,
		    &question->answer.trouble, ANSWER_TROUBLE_BYTES_MAX);
	}
	ask_set_timer(ask);
}

void
ask_open(struct event_base *base)
{
	struct event *event = evsignal_new(base, SIGCHLD, ask_on_child, NULL);

	if (event == NULL || event_add(event, NULL) < 0)
		panic("no signal for children");
}

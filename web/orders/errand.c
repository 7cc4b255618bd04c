/* errand.c - questions that are carried to a verb or to the scheduler
 *
 * In     a question
 * Out    its answer, bounded in bytes and time
 * Holds  a child with two pipes, or a connection
 * Trusts nothing that comes: see question.c
 * Spec   errand.h
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

#include "base/err.h"
#include "web/orders/errand.h"
#include "web/orders/source.h"

#include "base/banned.h"

enum { PIECE_BYTES = 64 << 10 };

struct stream {
	struct errand	*errand;
	struct event	*event;		/* NULL: at its end */
	int		 fd;
	struct str	*to;
	size_t		 most;
};

struct errand {
	LIST_ENTRY(errand)	 all;
	struct question	*question;
	struct event_base *base;
	struct source	 source;
	struct stream	 out, err;
	struct str	 sent;		/* by the socket */
	size_t		 written;	/* of the request */
	struct event	*writer, *timer;
	int		 status;	/* of the child */
	bool		 is_reaped;
	errand_fn		*fn;
	void		*context;
};
static LIST_HEAD(, errand) errands = LIST_HEAD_INITIALIZER(errands);

static void
errand_event_free(struct event **event)
{
	if (*event != NULL)
		event_free(*event);
	*event = NULL;
}

static void
stream_close(struct stream *stream)
{
	errand_event_free(&stream->event);
	if (stream->fd >= 0)
		close(stream->fd);
	stream->fd = -1;
}

/* The answer is what it is: tell who asked. */
static void
errand_end(struct errand *errand)
{
	errand_fn *fn = errand->fn;
	void *context = errand->context;

	LIST_REMOVE(errand, all);
	stream_close(&errand->out);
	stream_close(&errand->err);
	errand_event_free(&errand->writer);
	errand_event_free(&errand->timer);
	str_release(&errand->sent);
	mem_free(&errand);
	fn(context);
}

static void
errand_fail(struct errand *errand, enum question_answer_kind kind,
    const char *words)
{
	struct question_answer *answer = &errand->question->answer;

	if (errand->source.pid > 0 && !errand->is_reaped) {
		(void)kill(-errand->source.pid, SIGKILL);
		(void)waitpid(errand->source.pid, NULL, 0);
	}
	answer->kind = kind;
	str_reset(&answer->trouble);
	str_adds(&answer->trouble, words);
	errand_end(errand);
}

static void
errand_on_late(evutil_socket_t fd, short what, void *context)
{
	errand_fail(context, ANSWER_TROUBLE, "there was no answer in time");
}

/* ---- a verb ------------------------------------------------------------- */

/* Both pipes ended and so did it. */
static void
errand_check_child(struct errand *errand)
{
	struct question_answer *answer = &errand->question->answer;

	if (errand->out.event != NULL || errand->err.event != NULL ||
	    !errand->is_reaped)
		return;
	answer->kind = answer->is_cut ? ANSWER_GOOD :
	    WIFEXITED(errand->status) ? answer_of_exit(WEXITSTATUS(
	    errand->status)) : ANSWER_TROUBLE;
	errand_end(errand);
}

static void
errand_on_child(evutil_socket_t fd, short what, void *context)
{
	struct errand *errand = LIST_FIRST(&errands), *next;

	for (; errand != NULL; errand = next) {
		next = LIST_NEXT(errand, all);
		if (errand->source.pid <= 0 || errand->is_reaped ||
		    waitpid(errand->source.pid, &errand->status, WNOHANG) !=
		    errand->source.pid)
			continue;
		errand->is_reaped = true;
		errand_check_child(errand);
	}
}

/* ---- the socket --------------------------------------------------------- */

static void
errand_take_socket(struct errand *errand, bool is_end)
{
	struct question_answer *answer = &errand->question->answer;

	if (answer_take_socket(answer, str_slice(&errand->sent)))
		errand_end(errand);
	else if (is_end)
		errand_fail(errand, ANSWER_DOWN, "the scheduler hung up");
}

static void
errand_on_write(evutil_socket_t fd, short what, void *context)
{
	struct errand *errand = context;
	const struct str *request = &errand->question->request;
	ssize_t n = send(fd, request->buf + errand->written,
	    request->len - errand->written, MSG_NOSIGNAL);

	if (n > 0)
		errand->written += (size_t)n;
	if ((n < 0 && errno != EAGAIN && errno != EINTR))
		errand_fail(errand, ANSWER_DOWN, "the scheduler does not "
		    "listen");
	else if (errand->written == request->len)
		errand_event_free(&errand->writer);
}

/* ---- both --------------------------------------------------------------- */

/* What is beyond the limit is not kept; a verb that writes so much is ended,
 * and its lines until there are good. */
static void
stream_take(struct stream *stream, const char *piece, size_t n)
{
	struct errand *errand = stream->errand;

	if (stream->to->len + n <= stream->most) {
		str_add(stream->to, piece, n);
		return;
	}
	if (stream == &errand->out) {
		errand->question->answer.is_cut = true;
		if (errand->source.pid > 0 && !errand->is_reaped)
			(void)kill(-errand->source.pid, SIGKILL);
	}
}

static void
stream_on_read(evutil_socket_t fd, short what, void *context)
{
	struct stream *stream = context;
	struct errand *errand = stream->errand;
	char piece[PIECE_BYTES];
	ssize_t n = read(fd, piece, sizeof(piece));

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		stream_take(stream, piece, (size_t)n);
	else
		stream_close(stream);
	if (!errand->question->is_socket)
		errand_check_child(errand);
	else if (errand->question->answer.is_cut)
		errand_fail(errand, ANSWER_TROUBLE, "the answer is too long");
	else
		errand_take_socket(errand, n <= 0);
}

static void
stream_open(struct stream *stream, struct errand *errand, int fd,
    struct str *to, size_t most)
{
	*stream = (struct stream){ .errand = errand, .fd = fd, .to = to,
	    .most = most };
	if (fd < 0)
		return;
	stream->event = event_new(errand->base, fd, EV_READ | EV_PERSIST,
	    stream_on_read, stream);
	event_add(stream->event, NULL);
}

static void
errand_on_absent(evutil_socket_t fd, short what, void *context)
{
	struct errand *errand = context;

	if (errand->question->is_socket)
		errand_fail(errand, ANSWER_DOWN, "the scheduler does not run, "
		    "or does not listen: zmailer start");
	else
		errand_fail(errand, ANSWER_TROUBLE, "the verb cannot be run");
}

/* Without a source the answer comes in the next turn. */
static void
errand_set_timer(struct errand *errand)
{
	bool is_there = errand->source.out_fd >= 0;
	struct timeval when = { .tv_sec = is_there ? ANSWER_MS / 1000 : 0 };

	errand->timer = evtimer_new(errand->base, is_there ? errand_on_late :
	    errand_on_absent, errand);
	evtimer_add(errand->timer, &when);
}

void
errand_begin(const struct asker *asker, struct question *question,
    const char *who, errand_fn *fn, void *context)
{
	struct errand *errand = mem_alloc(1, sizeof(*errand));

	*errand = (struct errand){ .question = question, .base = asker->base,
	    .sent = STR_INIT, .fn = fn, .context = context };
	LIST_INSERT_HEAD(&errands, errand, all);
	if (question->is_socket) {
		str_adds(&question->request, "}\n");
		source_connect(&errand->source, asker->run_dir);
		stream_open(&errand->out, errand, errand->source.out_fd,
		    &errand->sent, ANSWER_BYTES_MAX);
		stream_open(&errand->err, errand, -1, NULL, 0);
		if (errand->source.out_fd >= 0) {
			errand->writer = event_new(errand->base,
			    errand->source.out_fd, EV_WRITE | EV_PERSIST,
			    errand_on_write, errand);
			event_add(errand->writer, NULL);
		}
	} else {
		source_start(&errand->source, asker, question->words, who);
		stream_open(&errand->out, errand, errand->source.out_fd,
		    &question->answer.text, ANSWER_BYTES_MAX);
		stream_open(&errand->err, errand, errand->source.err_fd,
		    &question->answer.trouble, ANSWER_TROUBLE_BYTES_MAX);
	}
	errand_set_timer(errand);
}

void
errand_open(struct event_base *base)
{
	struct event *event = evsignal_new(base, SIGCHLD, errand_on_child,
	    NULL);

	if (event == NULL || event_add(event, NULL) < 0)
		panic("no signal for children");
}

void
errand_end_all(void)
{
	struct errand *errand;

	LIST_FOREACH(errand, &errands, all)
		if (errand->source.pid > 0 && !errand->is_reaped)
			(void)kill(-errand->source.pid, SIGKILL);
}

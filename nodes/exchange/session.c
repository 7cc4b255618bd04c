/* session.c - one connection, and where it leads
 *
 * In     readiness of two streams; time
 * Out    what one side says, to the other
 * Holds  both streams; at most RELAY_UNSENT_BYTES_MAX that a side has not
 *        taken
 * Trusts neither side with anything but its own patience
 * Spec   session.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "nodes/exchange/session.h"

#include "base/banned.h"

enum { RELAY_UNSENT_BYTES_MAX = 65536 };

/* ---- for the steps ----------------------------------------------------- */

enum session_step
session_line(struct session *session, int side, size_t max, struct slice *out)
{
	struct stream *stream = session->sides[side];
	enum stream_got got = stream_fill(stream);
	struct slice input = stream_input(stream);
	size_t end = slice_find(input, '\n');

	*out = slice_first(input, end);
	if (end < input.n && end <= max)
		return STEP_NEXT;
	return got < 0 || input.n > max ? STEP_END : STEP_WAIT;
}

static void
session_close_far(struct session *session)
{
	watch_free(&session->dial);
	if (session->dial_fd >= 0)
		close(session->dial_fd);
	session->dial_fd = -1;
	answering_free(&session->answering);
	stream_free(&session->sides[SIDE_FAR]);
}

enum session_step
session_refuse(struct session *session, const char *format, ...)
{
	char words[NODES_LINE_BYTES_MAX - 8], line[NODES_LINE_BYTES_MAX];
	va_list list;

	va_start(list, format);
	vsnprintf(words, sizeof(words), format, list);
	va_end(list);
	for (char *at = words; *at != '\0'; at++)
		if ((unsigned char)*at < ' ' || (unsigned char)*at > '~')
			*at = '?';
	snprintf(line, sizeof(line), "no %s\n", words);
	session_close_far(session);
	/* what lies unread at the end would cut off our words */
	stream_consume(session->sides[SIDE_NEAR],
	    stream_input(session->sides[SIDE_NEAR]).n);
	stream_say(session->sides[SIDE_NEAR], slice_of(line));
	session->at = AT_CLOSING;
	return STEP_NEXT;
}

/* ---- steps ------------------------------------------------------------- */

static enum session_step
session_closing(struct session *session)
{
	return stream_flush(session->sides[SIDE_NEAR]) == STREAM_FLUSH_PART ?
	    STEP_WAIT : STEP_END;
}

/* What is said while a verb runs is nothing; the end of it ends the verb. */
static enum session_step
session_verb(struct session *session)
{
	struct stream *near = session->sides[SIDE_NEAR];

	if (stream_fill(near) < 0)
		return STEP_END;
	stream_consume(near, stream_input(near).n);
	if (answering_is_over(session->answering)) {
		session->at = AT_CLOSING;
		return STEP_NEXT;
	}
	return STEP_WAIT;
}

/* From one side to the other.  false: one of them broke. */
static bool
session_pass(struct session *session, int from)
{
	struct stream *in = session->sides[from];
	struct stream *out = session->sides[!from];
	enum stream_got got;
	struct slice input;

	if (session->is_eof[from] ||
	    stream_unsent_bytes(out) >= RELAY_UNSENT_BYTES_MAX)
		return true;
	got = stream_fill(in);
	input = stream_input(in);
	if (got == STREAM_BROKEN)
		return false;
	stream_say(out, input);
	stream_consume(in, input.n);
	if (input.n > 0)
		session_settle(session, AT_RELAY);
	session->is_eof[from] = got == STREAM_EOF;
	return true;
}

/* The end of one side is told to the other when all before it was sent. */
static enum session_step
session_relay(struct session *session)
{
	for (int from = 0; from < SIDES; from++) {
		enum stream_flushed flushed;

		if (!session_pass(session, from))
			return STEP_END;
		flushed = stream_flush(session->sides[!from]);
		if (flushed == STREAM_FLUSH_BROKEN)
			return STEP_END;
		if (session->is_eof[from] && !session->is_told[from] &&
		    flushed == STREAM_FLUSH_ALL) {
			stream_end_output(session->sides[!from]);
			session->is_told[from] = true;
		}
	}
	return session->is_told[SIDE_NEAR] && session->is_told[SIDE_FAR] ?
	    STEP_END : STEP_WAIT;
}

static enum session_step
session_wait(struct session *session)
{
	return STEP_WAIT;
}

typedef enum session_step session_step_fn(struct session *session);

static session_step_fn *const session_steps[] = {
	[AT_CALL] = session_call, [AT_DIAL] = session_wait,
	[AT_REACH] = session_reach, [AT_SHAKE] = session_shake,
	[AT_HELLO] = session_hello, [AT_FOR] = session_for,
	[AT_WORDS] = session_words, [AT_VERB] = session_verb,
	[AT_RELAY] = session_relay, [AT_CLOSING] = session_closing,
};

/* ---- turns ------------------------------------------------------------- */

static bool
session_listens(const struct session *session, int side)
{
	switch (session->at) {
	case AT_CALL:
	case AT_SHAKE:
	case AT_HELLO:
	case AT_WORDS:
	case AT_VERB:
		return side == SIDE_NEAR;
	case AT_REACH:
	case AT_FOR:
		return side == SIDE_FAR;
	case AT_RELAY:
		return !session->is_eof[side] && stream_unsent_bytes(
		    session->sides[!side]) < RELAY_UNSENT_BYTES_MAX;
	case AT_DIAL:
	case AT_CLOSING:
		break;
	}
	return false;
}

/* false: a side broke. */
static bool
session_await(struct session *session)
{
	for (int side = 0; side < SIDES; side++)
		if (session->sides[side] != NULL &&
		    stream_flush(session->sides[side]) ==
		    STREAM_FLUSH_BROKEN &&
		    !(side == SIDE_FAR && session->at == AT_REACH))
			return false;
	if (session->answering != NULL)
		answering_resume(session->answering);
	for (int side = 0; side < SIDES; side++)
		if (session->sides[side] != NULL)
			stream_await(session->sides[side],
			    session_listens(session, side));
	return true;
}

void
session_go(void *context)
{
	struct session *session = context;
	enum session_step step;

	do
		step = session_steps[session->at](session);
	while (step == STEP_NEXT);
	if (step == STEP_END || !session_await(session))
		session_free(&session);
}

/* ---- life -------------------------------------------------------------- */

static void
session_on_time(void *context)
{
	struct session *session = context;

	if (!session->is_local || session->at == AT_CALL ||
	    session->at >= AT_RELAY) {
		session_free(&session);
		return;
	}
	timer_set(session->exchange->process->loop, &session->timer,
	    clock_steady_ms() + EXCHANGE_SHAKE_MS, session_on_time, session);
	(void)session_refuse(session, "no answer for %d s",
	    EXCHANGE_SHAKE_MS / 1000);
	session_go(session);
}

void
session_settle(struct session *session, enum session_at at)
{
	session->at = at;
	timer_set(session->exchange->process->loop, &session->timer,
	    clock_steady_ms() + EXCHANGE_IDLE_MS, session_on_time, session);
}

struct session *
session_new(struct exchange *exchange, int fd, bool is_local)
{
	struct session *session = mem_alloc(1, sizeof(*session));

	session->exchange = exchange;
	session->is_local = is_local;
	session->at = is_local ? AT_CALL : AT_SHAKE;
	session->dial_fd = -1;
	session->sides[SIDE_NEAR] = stream_new(exchange->process->loop, fd,
	    session_go, session);
	timer_set(exchange->process->loop, &session->timer, clock_steady_ms() +
	    EXCHANGE_SHAKE_MS, session_on_time, session);
	TAILQ_INSERT_TAIL(&exchange->sessions, session, entry);
	exchange->counts[!is_local]++;
	return session;
}

void
session_free(struct session **psession)
{
	struct session *session = *psession;
	struct exchange *exchange = session->exchange;

	session_close_far(session);
	stream_free(&session->sides[SIDE_NEAR]);
	timer_clear(&session->timer);
	TAILQ_REMOVE(&exchange->sessions, session, entry);
	exchange->counts[!session->is_local]--;
	mem_free(psession);
	if (exchange->is_leaving && TAILQ_EMPTY(&exchange->sessions))
		loop_stop(exchange->process->loop);
}

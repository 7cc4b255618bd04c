/* transit.c - one connection, and where it leads
 *
 * In     readiness of two streams; time
 * Out    what one side says, to the other
 * Holds  both streams; at most RELAY_UNSENT_BYTES_MAX that a side has not
 *        taken
 * Trusts neither side with anything but its own patience
 * Spec   transit.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "nodes/exchange/transit.h"

#include "base/banned.h"

enum { RELAY_UNSENT_BYTES_MAX = 65536 };

/* ---- for the steps ----------------------------------------------------- */

enum transit_step
transit_line(struct transit *transit, int side, size_t max, struct slice *out)
{
	struct stream *stream = transit->sides[side];
	enum stream_got got = stream_fill(stream);
	struct slice input = stream_input(stream);
	size_t end = slice_find(input, '\n');

	*out = slice_first(input, end);
	if (end < input.n && end <= max)
		return STEP_NEXT;
	return got < 0 || input.n > max ? STEP_END : STEP_WAIT;
}

static void
transit_close_far(struct transit *transit)
{
	watch_free(&transit->dial);
	if (transit->dial_fd >= 0)
		close(transit->dial_fd);
	transit->dial_fd = -1;
	answering_free(&transit->answering);
	stream_free(&transit->sides[SIDE_FAR]);
}

enum transit_step
transit_refuse(struct transit *transit, const char *format, ...)
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
	transit_close_far(transit);
	/* what lies unread at the end would cut off our words */
	stream_consume(transit->sides[SIDE_NEAR],
	    stream_input(transit->sides[SIDE_NEAR]).n);
	stream_say(transit->sides[SIDE_NEAR], slice_of(line));
	transit->at = AT_CLOSING;
	return STEP_NEXT;
}

/* ---- steps ------------------------------------------------------------- */

static enum transit_step
transit_closing(struct transit *transit)
{
	return stream_flush(transit->sides[SIDE_NEAR]) == STREAM_FLUSH_PART ?
	    STEP_WAIT : STEP_END;
}

/* What is said while a verb runs is nothing; the end of it ends the verb. */
static enum transit_step
transit_verb(struct transit *transit)
{
	struct stream *near = transit->sides[SIDE_NEAR];

	if (stream_fill(near) < 0)
		return STEP_END;
	stream_consume(near, stream_input(near).n);
	if (answering_is_over(transit->answering)) {
		transit->at = AT_CLOSING;
		return STEP_NEXT;
	}
	return STEP_WAIT;
}

/* From one side to the other.  false: one of them broke. */
static bool
transit_pass(struct transit *transit, int from)
{
	struct stream *in = transit->sides[from];
	struct stream *out = transit->sides[!from];
	enum stream_got got;
	struct slice input;

	if (transit->is_eof[from] ||
	    stream_unsent_bytes(out) >= RELAY_UNSENT_BYTES_MAX)
		return true;
	got = stream_fill(in);
	input = stream_input(in);
	if (got == STREAM_BROKEN)
		return false;
	stream_say(out, input);
	stream_consume(in, input.n);
	if (input.n > 0)
		transit_settle(transit, AT_RELAY);
	transit->is_eof[from] = got == STREAM_EOF;
	return true;
}

/* The end of one side is told to the other when all before it was sent. */
static enum transit_step
transit_relay(struct transit *transit)
{
	for (int from = 0; from < SIDES; from++) {
		enum stream_flushed flushed;

		if (!transit_pass(transit, from))
			return STEP_END;
		flushed = stream_flush(transit->sides[!from]);
		if (flushed == STREAM_FLUSH_BROKEN)
			return STEP_END;
		if (transit->is_eof[from] && !transit->is_told[from] &&
		    flushed == STREAM_FLUSH_ALL) {
			stream_end_output(transit->sides[!from]);
			transit->is_told[from] = true;
		}
	}
	return transit->is_told[SIDE_NEAR] && transit->is_told[SIDE_FAR] ?
	    STEP_END : STEP_WAIT;
}

static enum transit_step
transit_wait(struct transit *transit)
{
	return STEP_WAIT;
}

typedef enum transit_step transit_step_fn(struct transit *transit);

static transit_step_fn *const transit_steps[] = {
	[AT_CALL] = transit_call, [AT_DIAL] = transit_wait,
	[AT_REACH] = transit_reach, [AT_SHAKE] = transit_shake,
	[AT_HELLO] = transit_hello, [AT_FOR] = transit_for,
	[AT_WORDS] = transit_words, [AT_VERB] = transit_verb,
	[AT_RELAY] = transit_relay, [AT_CLOSING] = transit_closing,
};

/* ---- turns ------------------------------------------------------------- */

static bool
transit_listens(const struct transit *transit, int side)
{
	switch (transit->at) {
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
		return !transit->is_eof[side] && stream_unsent_bytes(
		    transit->sides[!side]) < RELAY_UNSENT_BYTES_MAX;
	case AT_DIAL:
	case AT_CLOSING:
		break;
	}
	return false;
}

/* false: a side broke. */
static bool
transit_await(struct transit *transit)
{
	for (int side = 0; side < SIDES; side++)
		if (transit->sides[side] != NULL &&
		    stream_flush(transit->sides[side]) ==
		    STREAM_FLUSH_BROKEN &&
		    !(side == SIDE_FAR && transit->at == AT_REACH))
			return false;
	if (transit->answering != NULL)
		answering_resume(transit->answering);
	for (int side = 0; side < SIDES; side++)
		if (transit->sides[side] != NULL)
			stream_await(transit->sides[side],
			    transit_listens(transit, side));
	return true;
}

void
transit_go(void *context)
{
	struct transit *transit = context;
	enum transit_step step;

	do
		step = transit_steps[transit->at](transit);
	while (step == STEP_NEXT);
	if (step == STEP_END || !transit_await(transit))
		transit_free(&transit);
}

/* ---- life -------------------------------------------------------------- */

static void
transit_on_time(void *context)
{
	struct transit *transit = context;

	if (!transit->is_local || transit->at == AT_CALL ||
	    transit->at >= AT_RELAY) {
		transit_free(&transit);
		return;
	}
	timer_set(transit->exchange->process->loop, &transit->timer,
	    clock_steady_ms() + EXCHANGE_SHAKE_MS, transit_on_time, transit);
	(void)transit_refuse(transit, "no answer for %d s",
	    EXCHANGE_SHAKE_MS / 1000);
	transit_go(transit);
}

void
transit_settle(struct transit *transit, enum transit_at at)
{
	transit->at = at;
	timer_set(transit->exchange->process->loop, &transit->timer,
	    clock_steady_ms() + EXCHANGE_IDLE_MS, transit_on_time, transit);
}

struct transit *
transit_new(struct exchange *exchange, int fd, bool is_local)
{
	struct transit *transit = mem_alloc(1, sizeof(*transit));

	transit->exchange = exchange;
	transit->is_local = is_local;
	transit->at = is_local ? AT_CALL : AT_SHAKE;
	transit->dial_fd = -1;
	transit->sides[SIDE_NEAR] = stream_new(exchange->process->loop, fd,
	    transit_go, transit);
	timer_set(exchange->process->loop, &transit->timer, clock_steady_ms() +
	    EXCHANGE_SHAKE_MS, transit_on_time, transit);
	TAILQ_INSERT_TAIL(&exchange->transits, transit, entry);
	exchange->counts[!is_local]++;
	return transit;
}

void
transit_free(struct transit **ptransit)
{
	struct transit *transit = *ptransit;
	struct exchange *exchange = transit->exchange;

	transit_close_far(transit);
	stream_free(&transit->sides[SIDE_NEAR]);
	timer_clear(&transit->timer);
	TAILQ_REMOVE(&exchange->transits, transit, entry);
	exchange->counts[!transit->is_local]--;
	exchange->denied_count -= transit->is_denied;
	mem_free(ptransit);
	if (exchange->is_leaving && TAILQ_EMPTY(&exchange->transits))
		loop_stop(exchange->process->loop);
}

/* poster.c - the process of one receiver: reads the journal and posts
 *
 * In     the journal, from the receiver's mark on
 * Out    batches; lines to the parent
 * Holds  a batch; the mark
 * Trusts nothing that the receiver says (post.c)
 * Spec   poster.h; doc/NOTIFY.md; doc/INTERNALS.md section 2.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <poll.h>

#include "base/clock.h"
#include "io/ipc.h"
#include "journal/counters.h"
#include "journal/event.h"
#include "notify/post/poster.h"
#include "past/line.h"

#include "base/banned.h"

struct poster {
	const struct poster_order *order;
	int		 socket;
	bool		 is_wanted[EV_COUNT];
	char		 name[MARK_NAME_BYTES];
	struct mark	 mark;		/* as on the disk */
	int64_t		 saved_ms;	/* when: steady */
	struct trail	*trail;
	struct notify_batch	 batch;
	bool		 is_failing, is_over;
	int64_t		 failing_ms;	/* since: steady */
	bool		 is_unkept;	/* told that the mark is not written */
};

/* ---- telling ----------------------------------------------------------- */

static void
poster_tell(struct poster *poster, const char *word, struct slice words)
{
	struct str line = STR_INIT;

	str_addf(&line, "%s ", word);
	str_add_escaped(&line, words);
	str_addc(&line, '\n');
	(void)ipc_send(poster->socket, str_slice(&line), NULL, 0);
	str_release(&line);
}

static void
poster_tell_waits(struct poster *poster, int64_t since_ms)
{
	poster_tell(poster, "waits", event_number(since_ms > 0 ? since_ms :
	    0));
}

static void
poster_tell_lost(struct poster *poster, int64_t since_ms)
{
	struct slice line;
	struct trail_place here = *trail_at(poster->trail);
	int64_t until_ms = since_ms;

	/* the oldest line that there is says until when */
	if (trail_next(poster->trail, &line) == TRAIL_LINE)
		until_ms = journal_line_ms(line);
	trail_go(poster->trail, &here);
	event(EV_NOTIFY_LOST, NULL, "to",
	    slice_of(poster->order->notify->name), "since",
	    event_number(since_ms / 1000), "until",
	    event_number(until_ms / 1000), NULL);
	event_flush();
}

/* Wait so long, or until it is to end.  true: it is. */
static bool
poster_wait(struct poster *poster, int64_t for_ms)
{
	int64_t until_ms = clock_steady_ms() + for_ms;
	struct pollfd wait = { .fd = poster->socket, .events = POLLIN };

	event_flush();
	for (;;) {
		int64_t left_ms = until_ms - clock_steady_ms();
		int count = poll(&wait, 1, left_ms > 0 ? (int)left_ms : 0);

		if (count > 0 || (count < 0 && errno != EINTR))
			poster->is_over = true;
		if (count > 0 || left_ms <= 0)
			return poster->is_over;
	}
}

/* ---- the mark ---------------------------------------------------------- */

/* If the machine stops after an answer and before this is durable, the batch
 * comes again, with the same id. */
static void
poster_save(struct poster *poster)
{
	struct err err;

	poster->saved_ms = clock_steady_ms();
	if (mark_write(poster->order->mark_fd, poster->name, &poster->mark,
	    &err) == 0) {
		poster->is_unkept = false;
		return;
	}
	if (!poster->is_unkept)
		warning("notify: what %s has is not kept for the next start: "
		    "%s", poster->order->notify->name, err.text);
	poster->is_unkept = true;
}

/* Events that are not for this receiver are passed without a request. */
static void
poster_pass(struct poster *poster)
{
	const struct trail_place *here = trail_at(poster->trail);

	if (trail_place_equal(here, &poster->mark.taken) ||
	    (here->first == poster->mark.taken.first &&
	    clock_steady_ms() < poster->saved_ms + POSTER_SAVE_MS))
		return;
	poster->mark.taken = *here;
	poster_save(poster);
}

/* ---- gathering --------------------------------------------------------- */

static bool
poster_wants(const struct poster *poster, struct slice line)
{
	struct slice name;

	if (!journal_line_has(line, "ev", &name))
		return false;
	for (int kind = 0; kind < EV_COUNT; kind++)
		if (poster->is_wanted[kind] &&
		    slice_is(name, event_rows[kind].name))
			return true;
	return false;
}

/* After a crash: the batch that was being posted, as it was.  false: it
 * cannot be had again. */
static bool
poster_regain(struct poster *poster)
{
	const struct trail_place *end = &poster->mark.end;
	struct slice line;

	trail_go(poster->trail, &poster->mark.taken);
	while (!trail_place_equal(trail_at(poster->trail), end)) {
		if (trail_next(poster->trail, &line) != TRAIL_LINE)
			return false;
		if (poster_wants(poster, line) &&
		    !notify_batch_add(&poster->batch, line))
			return false;
	}
	return true;
}

/* false: it is full. */
static bool
poster_take_line(struct poster *poster, struct slice line,
    const struct trail_place *before)
{
	if (!poster_wants(poster, line) ||
	    notify_batch_add(&poster->batch, line))
		return true;
	trail_go(poster->trail, before);
	return false;
}

/* Events from the mark on, until the batch is full or old enough. */
static void
poster_gather(struct poster *poster)
{
	int64_t end_ms = INT64_MAX, begin_ms;
	struct trail_place before;
	struct slice line;

	while (!poster->is_over && clock_steady_ms() < end_ms) {
		before = *trail_at(poster->trail);
		switch (trail_next(poster->trail, &line)) {
		case TRAIL_LINE:
			if (!poster_take_line(poster, line, &before))
				return;
			break;
		case TRAIL_GAP:
			poster_tell_lost(poster, before.at_ms);
			break;
		case TRAIL_NONE:
			begin_ms = clock_steady_ms();
			if (poster->batch.count == 0)
				poster_pass(poster);
			(void)poster_wait(poster, end_ms - begin_ms <
			    POSTER_LOOK_MS ? end_ms - begin_ms :
			    POSTER_LOOK_MS);
		}
		if (poster->batch.count > 0 && end_ms == INT64_MAX)
			end_ms = clock_steady_ms() + BATCH_GATHER_MS;
		if (poster->batch.count == BATCH_EVENTS_MAX)
			return;
	}
}

/* ---- posting ----------------------------------------------------------- */

static void
poster_note_good(struct poster *poster)
{
	if (!poster->is_failing)
		return;
	poster->is_failing = false;
	event(EV_NOTIFY_BACK, NULL, "to",
	    slice_of(poster->order->notify->name), "seconds",
	    event_number((clock_steady_ms() - poster->failing_ms) / 1000),
	    NULL);
	poster_tell(poster, "good", SLICE(""));
}

static void
poster_note_failing(struct poster *poster, const struct err *err)
{
	if (poster->is_failing)
		return;
	poster->is_failing = true;
	poster->failing_ms = clock_steady_ms();
	event(EV_NOTIFY_FAILED, NULL, "to",
	    slice_of(poster->order->notify->name), "reason",
	    slice_of(err->text), NULL);
	poster_tell(poster, "failing", slice_of(err->text));
}

/* It said 410: until a reload, which starts another process. */
static void
poster_rest(struct poster *poster, const struct err *err)
{
	event(EV_NOTIFY_GONE, NULL, "to",
	    slice_of(poster->order->notify->name), NULL);
	poster_tell(poster, "over", slice_of(err->text));
	trail_rest(poster->trail);
	while (!poster_wait(poster, POSTER_AGAIN_MAX_MS))
		continue;
}

/* Until it is accepted, or this process is to end. */
static void
poster_deliver(struct poster *poster)
{
	int64_t again_ms = POSTER_AGAIN_MS;
	struct err err;

	while (!poster->is_over) {
		switch (post_send(&poster->order->goal, &poster->batch,
		    &err)) {
		case POST_TAKEN:
			poster->mark.taken = poster->mark.end;
			poster->mark.has_batch = false;
			poster_save(poster);
			for (size_t i = 0; i < poster->batch.count; i++)
				counters_tally(TALLY_NOTIFY_SENT);
			poster_note_good(poster);
			return;
		case POST_GONE:
			poster_rest(poster, &err);
			return;
		case POST_FAILED:
			poster_note_failing(poster, &err);
			trail_rest(poster->trail);
			(void)poster_wait(poster, again_ms);
			again_ms = again_ms * 2 < POSTER_AGAIN_MAX_MS ?
			    again_ms * 2 : POSTER_AGAIN_MAX_MS;
		}
	}
}

static void
poster_post(struct poster *poster)
{
	notify_batch_end(&poster->batch, &poster->mark.taken, &poster->mark.end,
	    poster->order->notify->events);
	poster_tell_waits(poster, poster->batch.oldest_ms);
	poster_deliver(poster);
	if (!poster->is_over)
		poster_tell_waits(poster, 0);
}

/* One batch; that of before a crash comes first. */
static void
poster_turn(struct poster *poster)
{
	notify_batch_begin(&poster->batch, poster->order->host);
	if (poster->mark.has_batch && !poster_regain(poster)) {
		poster->mark.has_batch = false;
		notify_batch_release(&poster->batch);
		notify_batch_begin(&poster->batch, poster->order->host);
		trail_go(poster->trail, &poster->mark.taken);
	}
	if (!poster->mark.has_batch) {
		poster_gather(poster);
		poster->mark.end = *trail_at(poster->trail);
		poster->mark.has_batch = poster->batch.count > 0;
		if (poster->mark.has_batch && !poster->is_over)
			poster_save(poster);
	}
	if (poster->batch.count > 0 && !poster->is_over) {
		poster_post(poster);
	} else if (poster->mark.has_batch) {
		poster->mark.has_batch = false;	/* others are wanted now */
		poster->mark.taken = poster->mark.end;
	}
	notify_batch_release(&poster->batch);
}

/* ---- the process ------------------------------------------------------- */

/* Where the receiver is; one that is new begins with what comes. */
static void
poster_find_mark(struct poster *poster)
{
	struct err err;

	mark_name(poster->order->notify->url, poster->name);
	if (mark_read(poster->order->mark_fd, poster->name, &poster->mark))
		return;
	poster->mark = (struct mark){ .has_batch = false };
	while (!poster->is_over && trail_end(poster->order->log_fd,
	    &poster->mark.taken, &err) < 0) {
		warning("notify: %s", err.text);
		(void)poster_wait(poster, POSTER_AGAIN_MS);
	}
	if (!poster->is_over)
		poster_save(poster);
}

void
poster_run(const struct poster_order *order, int socket)
{
	struct poster poster = { .order = order, .socket = socket };

	for (int kind = 0; kind < EV_COUNT; kind++)
		poster.is_wanted[kind] =
		    conf_notify_means(slice_of(order->notify->events), kind);
	poster_find_mark(&poster);
	poster.trail = trail_new(order->log_fd);
	trail_go(poster.trail, &poster.mark.taken);
	while (!poster.is_over)
		poster_turn(&poster);
	event_flush();
	trail_free(&poster.trail);
}

/* receivers.c - who is told of events: a process each, and how it stands
 *
 * In     the configuration; what the processes say
 * Out    processes; levels of metrics
 * Holds  of each its key, and its process
 * Trusts what they say no more than a receiver: words are escaped
 * Spec   receivers.h, notify/post/poster.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "daemon/child.h"
#include "daemon/machine/notify_key.h"
#include "daemon/sandbox.h"
#include "io/consult/notify_ask.h"
#include "journal/counters.h"
#include "journal/event.h"
#include "notify/post/poster.h"
#include "notify/receivers/receivers.h"

#include "base/banned.h"

struct receiver {
	struct receivers	*receivers;
	struct poster_order	 order;
	struct str		 key;
	struct child		*child;
	enum notify_state	 state;
	int64_t			 since_s;	/* wall */
	int64_t			 waits_ms;	/* an event since then; 0 */
	char			 words[ERR_TEXT_BYTES];
};

struct receivers {
	struct process		*process;
	struct timer		 timer;
	size_t			 count;
	struct receiver		 list[];
};

/* ---- the process ------------------------------------------------------- */

/* The walls of the parent hold; keys of others are of no use here. */
static void
receiver_run(void *context, int socket)
{
	struct receiver *self = context;
	struct receivers *all = self->receivers;

	for (size_t i = 0; i < all->count; i++)
		if (&all->list[i] != self)
			explicit_bzero(all->list[i].key.buf,
			    all->list[i].key.len);
	poster_run(&self->order, socket);
}

/* ---- what it says ------------------------------------------------------ */

static void
receiver_note(struct receiver *receiver, enum notify_state state,
    struct slice words)
{
	receiver->state = state;
	receiver->since_s = clock_wall_s();
	snprintf(receiver->words, sizeof(receiver->words), SLICE_FMT,
	    SLICE_ARG(words));
}

static void
receiver_hear(struct receiver *receiver, struct slice line)
{
	struct slice word;
	uint64_t ms;

	if (!slice_word(&line, &word))
		return;
	line = slice_trim(line);
	if (slice_is(word, "waits") && slice_number(line, 0, INT64_MAX, &ms))
		receiver->waits_ms = (int64_t)ms;
	else if (slice_is(word, "good"))
		receiver_note(receiver, NOTIFY_GOOD, SLICE(""));
	else if (slice_is(word, "failing"))
		receiver_note(receiver, NOTIFY_FAILING, line);
	else if (slice_is(word, "over"))
		receiver_note(receiver, NOTIFY_OVER, line);
}

static void
receiver_on_read(void *context)
{
	struct receiver *receiver = context;
	struct slice line;

	while (child_line(receiver->child, &line))
		receiver_hear(receiver, line);
}

/* What waits goes on to wait, and its successor says so again. */
static void
receiver_on_end(void *context, const struct child_end *end)
{
	struct receiver *receiver = context;

	if (receiver->state == NOTIFY_FAILING)
		receiver_note(receiver, NOTIFY_GOOD, SLICE(""));
}

static const struct child_kind receiver_kind = {
	.name = "notify-post", .title = "notify post", .is_kept = true,
	.end_signal = SIGTERM, .run = receiver_run, .read = receiver_on_read,
	.ended = receiver_on_end,
};

/* ---- levels ------------------------------------------------------------ */

static void
receivers_tell_levels(int64_t behind_s, int64_t failed)
{
	counters_tell(TALLY_NOTIFY_BEHIND, SLICE(""), behind_s);
	counters_tell(TALLY_NOTIFY_FAILED, SLICE(""), failed);
}

static void
receivers_on_time(void *context)
{
	struct receivers *receivers = context;
	int64_t now_ms = clock_wall_us() / 1000, behind_ms = 0, failed = 0;

	for (size_t i = 0; i < receivers->count; i++) {
		const struct receiver *one = &receivers->list[i];

		failed += one->state != NOTIFY_GOOD;
		if (one->waits_ms > 0 && now_ms - one->waits_ms > behind_ms)
			behind_ms = now_ms - one->waits_ms;
	}
	receivers_tell_levels(behind_ms / 1000, failed);
	timer_set(receivers->process->loop, &receivers->timer,
	    clock_steady_ms() + RECEIVERS_LEVEL_MS, receivers_on_time,
	    receivers);
}

/* ---- their life -------------------------------------------------------- */

/* Without a key nothing can be signed, without roots nobody be trusted. */
static void
receiver_refuse(struct receiver *receiver, const struct err *err)
{
	event(EV_NOTIFY_FAILED, NULL, "to",
	    slice_of(receiver->order.notify->name), "reason",
	    slice_of(err->text), NULL);
	receiver_note(receiver, NOTIFY_FAILING, slice_of(err->text));
}

static void
receiver_init(struct receiver *receiver, struct receivers *receivers,
    const struct conf_notify *notify)
{
	const struct tls_client_files files = { .roots = notify->roots };
	struct post_goal *goal = &receiver->order.goal;
	const char *hint;
	struct err err;

	receiver->receivers = receivers;
	receiver->order.host = receivers->process->conf->host;
	receiver->order.notify = notify;
	str_init(&receiver->key);
	if (http_url_parse(slice_of(notify->url), &goal->url, &err) < 0 ||
	    notify_key_read(notify->key_path, &receiver->key, &hint,
	    &err) < 0 || (goal->url.is_tls &&
	    (goal->tls = tls_client_new(&files, &err)) == NULL)) {
		receiver_refuse(receiver, &err);
		return;
	}
	goal->key = str_slice(&receiver->key);
	receiver->child = child_new(receivers->process, &receiver_kind,
	    receiver);
}

struct receivers *
receivers_new(struct process *process)
{
	const struct conf *conf = process->conf;
	struct receivers *receivers = mem_alloc(1, sizeof(*receivers) +
	    conf->notify_count * sizeof(receivers->list[0]));

	receivers->process = process;
	receivers->count = conf->notify_count;
	for (size_t i = 0; i < receivers->count; i++)
		receiver_init(&receivers->list[i], receivers,
		    &conf->notifies[i]);
	return receivers;
}

void
receivers_start(struct receivers *receivers, int log_fd, int mark_fd)
{
	struct err err;

	for (size_t i = 0; i < receivers->count; i++) {
		struct receiver *one = &receivers->list[i];

		one->order.log_fd = log_fd;
		one->order.mark_fd = mark_fd;
		if (one->child == NULL)
			continue;
		if (child_start(one->child, &err) < 0) {
			warning("%s", err.text);
			child_start_later(one->child);
			continue;
		}
		child_attach(one->child);
	}
	receivers_on_time(receivers);
}

void
receivers_free(struct receivers **preceivers)
{
	struct receivers *receivers = *preceivers;

	if (receivers == NULL)
		return;
	timer_clear(&receivers->timer);
	receivers_tell_levels(0, 0);
	for (size_t i = 0; i < receivers->count; i++) {
		struct receiver *one = &receivers->list[i];

		child_free(&one->child);
		tls_client_free(&one->order.goal.tls);
		explicit_bzero(one->key.buf, one->key.len);
		str_release(&one->key);
	}
	mem_free(preceivers);
}

void
receivers_list(const struct receivers *receivers, struct str *out)
{
	for (size_t i = 0; i < receivers->count; i++) {
		const struct receiver *one = &receivers->list[i];
		const struct notify_line line = { .state = one->state,
		    .since_s = one->since_s,
		    .name = slice_of(one->order.notify->name),
		    .words = slice_of(one->words) };

		notify_line_add(out, &line);
	}
}

/* plan.c - the control file of a message in the making
 *
 * In     places, senders
 * Out    the bytes of a control file; large ones through a sink
 * Holds  at most PLAN_PIECE_BYTES of a plan that has a sink
 * Trusts nothing: the writer refuses what cannot stand in a line
 * Spec   zmailer-control(5); RFC 3461 section 5.2.7
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/message/plan.h"

#include <string.h>

#include "base/clock.h"
#include "grammar/path.h"

#include "base/banned.h"

void
plan_init(struct plan *plan, struct arena *arena, struct str *out,
    const struct plan_sink *sink, const struct work *work,
    struct slice header)
{
	*plan = (struct plan){ .arena = arena, .out = out, .sink = sink,
	    .work = work, .own = { .text = header }, .result = 1 };
}

static void
plan_begin(struct plan *plan)
{
	plan->is_begun = true;
	work_writer_begin(&plan->writer, plan->out);
	plan->result = work_writer_common(&plan->writer, plan->work,
	    &plan->err);
}

static void
sink_said(struct plan *plan, int result)
{
	if (result < 0) {
		plan->result = -1;
		plan->is_unwritten = true;
	}
}

/* What is in memory goes to the sink. */
static void
plan_flush(struct plan *plan)
{
	uint64_t taken = plan->writer.taken;

	if (plan->sink == NULL || plan->result < 0 || plan->out->len == 0)
		return;
	if (plan->mark.bytes >= taken)
		plan->mark.crc = work_writer_crc(&plan->writer,
		    (size_t)(plan->mark.bytes - taken));
	sink_said(plan, plan->sink->write(plan->sink->context,
	    str_slice(plan->out), &plan->err));
	work_writer_take(&plan->writer);
}

/* ---- headers ---------------------------------------------------------- */

static struct plan_header *
header_of(struct plan *plan, unsigned number)
{
	struct plan_header *header;

	if (number == 0 || plan->others == NULL)
		return &plan->own;
	if (plan->headers == NULL)
		plan->headers = arena_alloc(plan->arena,
		    (plan->others->count + 1) * sizeof(*plan->headers));
	header = &plan->headers[number];
	if (header->text.p == NULL && plan->others->find(
	    plan->others->context, number, &header->text, &plan->err) < 0) {
		plan->result = -1;
		plan->is_deferred = true;
	}
	return header->text.p == plan->own.text.p ? &plan->own : header;
}

/* The groups so far get their header: whole, or where it stands. */
static void
header_write(struct plan *plan)
{
	struct plan_header *header = plan->header;

	if (header->offset > 0)
		plan->result = work_writer_header_again(&plan->writer,
		    header->offset, &plan->err);
	else
		plan->result = work_writer_header(&plan->writer, header->text,
		    &header->offset, &plan->err);
}

/* The next place has this header. */
static void
header_open(struct plan *plan, unsigned number)
{
	struct plan_header *header = header_of(plan, number);

	if (plan->result == 1 && plan->header != NULL &&
	    plan->header != header) {
		header_write(plan);
		plan->sender = NULL;
	}
	plan->header = header;
}

/* What was written behind these bytes is not there any more. */
static void
headers_back(struct plan *plan, uint64_t bytes)
{
	if (plan->own.offset >= bytes)
		plan->own.offset = 0;
	for (size_t i = 0; plan->headers != NULL && i <= plan->others->count;
	    i++)
		if (plan->headers[i].offset >= bytes)
			plan->headers[i].offset = 0;
}

/* ---- senders ---------------------------------------------------------- */

/* "owner+user=domain@list" (VERP).  False when the recipient does not fit
 * into a local part: it gets the sender without. */
static bool
verp_address(const struct plan_sender *sender, struct slice user,
    struct str *out)
{
	size_t at = user.n;

	while (at > 0 && user.p[at - 1] != '@')
		at--;
	if (at < 2 || user.p[0] == '"' || memchr(user.p, '[', user.n) != NULL)
		return false;
	str_reset(out);
	str_add_slice(out, sender->address);
	str_addc(out, sender->delimiter);
	str_add_slice(out, slice_first(user, at - 1));
	str_addc(out, '=');
	str_add_slice(out, slice_from(user, at));
	str_addc(out, '@');
	str_add_slice(out, sender->verp);
	return out->len <= PATH_MAX_BYTES - 2;
}

static void
sender_write(struct plan *plan, const struct plan_sender *sender,
    struct slice user)
{
	struct str text = STR_INIT;
	struct slice address = sender->address;
	uint32_t offset;

	if (sender->verp.n > 0 && verp_address(sender, user, &text)) {
		address = str_slice(&text);
	} else if (sender->verp.n > 0) {
		str_reset(&text);
		str_addf(&text, SLICE_FMT "@" SLICE_FMT,
		    SLICE_ARG(sender->address), SLICE_ARG(sender->verp));
		address = str_slice(&text);
	}
	plan->result = work_writer_sender(&plan->writer, address,
	    sender->errors_to, &offset, &plan->err);
	str_release(&text);
	plan->sender = sender;
}

/* ---- places ----------------------------------------------------------- */

static void
done_add(struct plan *plan, uint32_t offset, enum place_done done)
{
	struct plan_done *grown;

	if (plan->done_count == PLAN_DONE_MAX)
		return;
	if (plan->done_count == plan->done_room) {
		plan->done_room = plan->done_room * 2 + 4;
		grown = arena_alloc(plan->arena, plan->done_room *
		    sizeof(*grown));
		if (plan->done_count > 0)
			memcpy(grown, plan->done, plan->done_count *
			    sizeof(*grown));
		plan->done = grown;
	}
	plan->done[plan->done_count++] = (struct plan_done){ offset, done };
}

void
plan_add(struct plan *plan, const struct place *place,
    const struct plan_sender *sender)
{
	struct work_rcpt rcpt = { .channel = place->channel,
	    .host = place->host, .user = place->user, .uid = place->uid,
	    .notify = place->notify, .orcpt = place->orcpt,
	    .ways = place->ways, .way_count = place->way_count,
	    .zone = place->zone };

	if (!plan->is_begun)
		plan_begin(plan);
	if (plan->result == 1)
		header_open(plan, place->header);
	if (slice_is(place->host, "-"))
		rcpt.host = (struct slice){ NULL, 0 };
	if (plan->result == 1 && (sender != plan->sender ||
	    sender->verp.n > 0))
		sender_write(plan, sender, place->user);
	if (plan->result == 1)
		plan->result = work_writer_rcpt(&plan->writer, &rcpt,
		    &plan->err);
	if (plan->result < 0)
		return;
	plan->rcpts++;
	if (place->done != PLACE_OPEN)
		done_add(plan, rcpt.offset, place->done);
	if (plan->out->len >= PLAN_PIECE_BYTES)
		plan_flush(plan);
}

void
plan_mark(struct plan *plan)
{
	plan->mark = (struct plan_mark){
	    .bytes = plan->is_begun ? plan->writer.taken + plan->out->len : 0,
	    .rcpts = plan->rcpts, .done_count = plan->done_count,
	    .header = plan->header, .sender = plan->sender,
	    .is_begun = plan->is_begun };
}

/* Of the bytes that were not written, those in front of the mark stay. */
static void
bytes_back(struct plan *plan)
{
	const struct plan_mark *mark = &plan->mark;

	if (plan->writer.taken <= mark->bytes) {
		str_truncate(plan->out,
		    (size_t)(mark->bytes - plan->writer.taken));
		return;
	}
	if (plan->result == 1)
		sink_said(plan, plan->sink->back(plan->sink->context,
		    mark->bytes, &plan->err));
	str_reset(plan->out);
	plan->writer.taken = mark->bytes;
	plan->writer.crc = mark->crc;
}

void
plan_back(struct plan *plan)
{
	const struct plan_mark *mark = &plan->mark;

	bytes_back(plan);
	plan->rcpts = mark->rcpts;
	plan->done_count = mark->done_count;
	plan->header = mark->header;
	headers_back(plan, mark->bytes);
	plan->sender = mark->sender;
	plan->is_begun = mark->is_begun;
}

/* ---- the end ---------------------------------------------------------- */

static void
done_write(struct plan *plan, const struct plan_done *done)
{
	struct work_record record = { .kind = WORK_OUTCOME,
	    .rcpt_offset = done->offset, .time_s = clock_wall_s(),
	    .tries = 1 };

	if (done->done == PLACE_EXPANDED)
		verdict_set(&record.verdict, VERDICT_EXPANDED, NULL, "router",
		    "sent on to the addresses behind it");
	else
		verdict_set(&record.verdict, VERDICT_DELIVERED, NULL,
		    "router", "handed to the mailing list");
	work_writer_record(&plan->writer, plan->work->id, &record);
}

int
plan_end(struct plan *plan, struct err *err)
{
	char first[WORK_FIRST_LINE_BYTES + 1];

	if (plan->header == NULL)
		plan->header = &plan->own;
	if (plan->result == 1)
		header_write(plan);
	if (plan->result == 1) {
		work_writer_end(&plan->writer, first);
		for (size_t i = 0; i < plan->done_count; i++)
			done_write(plan, &plan->done[i]);
		if (plan->writer.taken > 0) {
			plan_flush(plan);
			if (plan->result == 1)
				sink_said(plan, plan->sink->first(
				    plan->sink->context, slice_of(first),
				    &plan->err));
		}
	}
	if (plan->result < 0)
		return err_set(err, "%s", plan->err.text);
	return 1;
}

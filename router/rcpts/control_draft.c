/* draft.c - the control file of a message in the making
 *
 * In     rcpts, senders
 * Out    the bytes of a control file; large ones through a sink
 * Holds  at most CONTROL_PIECE_BYTES of a control file that has a sink
 * Trusts nothing: the writer refuses what cannot stand in a line
 * Spec   zmailer-control(5); RFC 3461 section 5.2.7
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/rcpts/control_draft.h"

#include <string.h>

#include "base/clock.h"
#include "grammar/smtp/path.h"

#include "base/banned.h"

void
control_draft_init(struct control_draft *draft, struct arena *arena,
    struct str *out, const struct control_sink *sink,
    const struct control_file *control, struct slice header)
{
	*draft = (struct control_draft){ .arena = arena, .out = out,
	    .sink = sink,
	    .control = control, .own = { .text = header }, .result = 0 };
}

static void
control_draft_note(struct control_draft *draft, int result)
{
	if (result < 0)
		draft->result = -1;
}

static void
control_draft_begin(struct control_draft *draft)
{
	draft->is_begun = true;
	control_writer_begin(&draft->writer, draft->out);
	control_draft_note(draft, control_writer_common(&draft->writer,
	    draft->control,
	    &draft->err));
}

static void
control_draft_note_sink(struct control_draft *draft, int result)
{
	if (result < 0) {
		draft->result = -1;
		draft->is_unwritten = true;
	}
}

/* What is in memory goes to the sink. */
static void
control_draft_flush(struct control_draft *draft)
{
	uint64_t taken = draft->writer.taken;

	if (draft->sink == NULL || draft->result < 0 || draft->out->len == 0)
		return;
	if (draft->mark.bytes >= taken)
		draft->mark.crc = control_writer_crc(&draft->writer,
		    (size_t)(draft->mark.bytes - taken));
	control_draft_note_sink(draft, draft->sink->write(draft->sink->context,
	    str_slice(draft->out), &draft->err));
	control_writer_take(&draft->writer);
}

/* ---- addresses of senders --------------------------------------------- */

/* "owner+user=domain@list" (VERP).  False when the recipient does not fit
 * into a local part: it gets the sender without. */
static bool
control_draft_verp(const struct rcpt_sender *sender, struct slice user,
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

/* The sender as it will be on the wire; text is for the caller to release. */
static struct slice
control_draft_address(const struct rcpt_sender *sender, struct slice user,
    struct str *text)
{
	if (sender->verp.n == 0)
		return sender->address;
	if (!control_draft_verp(sender, user, text)) {
		str_reset(text);
		str_addf(text, SLICE_FMT "@" SLICE_FMT,
		    SLICE_ARG(sender->address), SLICE_ARG(sender->verp));
	}
	return str_slice(text);
}

/* ---- headers ---------------------------------------------------------- */

static struct control_header *
control_draft_header(struct control_draft *draft, unsigned number)
{
	struct control_header *header;

	if (number == 0 || draft->others == NULL)
		return &draft->own;
	if (draft->headers == NULL)
		draft->headers = arena_alloc(draft->arena,
		    (draft->others->count + 1) * sizeof(*draft->headers));
	header = &draft->headers[number];
	if (header->text.p == NULL && draft->others->find(
	    draft->others->context, number, &header->text, &draft->err) < 0) {
		draft->result = -1;
		draft->is_deferred = true;
	}
	return header->text.p == draft->own.text.p ? &draft->own : header;
}

/* The header of this recipient, which may be his alone. */
static struct control_header *
control_draft_stamped(struct control_draft *draft,
    const struct draft_rcpt *rcpt, const struct rcpt_sender *sender)
{
	struct control_header *base = control_draft_header(draft,
	    rcpt->header), *mine;
	struct str text = STR_INIT;
	struct slice stamped;

	if (draft->stamps == NULL || draft->result < 0)
		return base;
	stamped = base->text;
	if (draft->stamps->find(draft->stamps->context, rcpt,
	    control_draft_address(sender, rcpt->user, &text), base->text,
	    &stamped, &draft->err) < 0) {
		draft->result = -1;
		draft->is_deferred = true;
	}
	str_release(&text);
	if (stamped.p == base->text.p)
		return base;
	mine = arena_alloc(draft->arena, sizeof(*mine));
	mine->text = stamped;
	return mine;
}

/* The groups so far get their header: whole, or where it stands. */
static void
control_draft_write_header(struct control_draft *draft)
{
	struct control_header *header = draft->header;

	if (header->offset > 0)
		control_draft_note(draft,
		    control_writer_header_again(&draft->writer,
		    header->offset, &draft->err));
	else
		control_draft_note(draft, control_writer_header(&draft->writer,
		    header->text,
		    &header->offset, &draft->err));
}

/* The next recipient has this header. */
static void
control_draft_open_header(struct control_draft *draft,
    const struct draft_rcpt *rcpt, const struct rcpt_sender *sender)
{
	struct control_header *header = control_draft_stamped(draft, rcpt,
	    sender);

	if (draft->result == 0 && draft->header != NULL &&
	    draft->header != header) {
		control_draft_write_header(draft);
		draft->sender = NULL;
	}
	draft->header = header;
}

/* What was written after these bytes is not there any more. */
static void
control_draft_headers_back(struct control_draft *draft, uint64_t bytes)
{
	if (draft->own.offset >= bytes)
		draft->own.offset = 0;
	for (size_t i = 0; draft->headers != NULL && i <= draft->others->count;
	    i++)
		if (draft->headers[i].offset >= bytes)
			draft->headers[i].offset = 0;
}

/* ---- senders ---------------------------------------------------------- */

static void
control_draft_write_sender(struct control_draft *draft,
    const struct rcpt_sender *sender,
    struct slice user)
{
	struct str text = STR_INIT;
	struct slice address = control_draft_address(sender, user, &text);
	uint32_t offset;

	control_draft_note(draft, control_writer_sender(&draft->writer, address,
	    sender->errors_to, &offset, &draft->err));
	str_release(&text);
	draft->sender = sender;
}

/* ---- recipients ------------------------------------------------------- */

static void
control_draft_add_done(struct control_draft *draft, uint32_t offset,
    enum rcpt_done done)
{
	struct control_done *grown;

	if (draft->done_count == CONTROL_DONE_MAX)
		return;
	if (draft->done_count == draft->done_capacity) {
		draft->done_capacity = draft->done_capacity * 2 + 4;
		grown = arena_alloc(draft->arena, draft->done_capacity *
		    sizeof(*grown));
		if (draft->done_count > 0)
			memcpy(grown, draft->done, draft->done_count *
			    sizeof(*grown));
		draft->done = grown;
	}
	draft->done[draft->done_count++] = (struct control_done){ offset, done
	    };
}

void
control_draft_add(struct control_draft *draft, const struct draft_rcpt *rcpt,
    const struct rcpt_sender *sender)
{
	struct control_rcpt line = { .channel = rcpt->channel,
	    .host = rcpt->host, .user = rcpt->user, .uid = rcpt->uid,
	    .notify = rcpt->notify, .orcpt = rcpt->orcpt,
	    .ways = rcpt->ways, .way_count = rcpt->way_count,
	    .zone = rcpt->zone, .given = rcpt->given };

	if (!draft->is_begun)
		control_draft_begin(draft);
	if (draft->result == 0)
		control_draft_open_header(draft, rcpt, sender);
	if (slice_is(rcpt->host, "-"))
		line.host = (struct slice){ NULL, 0 };
	if (draft->result == 0 && (sender != draft->sender ||
	    sender->verp.n > 0))
		control_draft_write_sender(draft, sender, rcpt->user);
	if (draft->result == 0)
		control_draft_note(draft, control_writer_rcpt(&draft->writer,
		    &line,
		    &draft->err));
	if (draft->result < 0)
		return;
	draft->rcpts++;
	if (rcpt->done != RCPT_OPEN)
		control_draft_add_done(draft, line.offset, rcpt->done);
	if (draft->out->len >= CONTROL_PIECE_BYTES)
		control_draft_flush(draft);
}

void
control_draft_mark(struct control_draft *draft)
{
	draft->mark = (struct control_mark){ .bytes = draft->is_begun ?
	    draft->writer.taken + draft->out->len : 0, .rcpts = draft->rcpts,
	    .done_count = draft->done_count, .header = draft->header, .sender =
	    draft->sender, .is_begun = draft->is_begun };
}

/* Of the bytes that were not written, those in front of the mark stay. */
static void
control_draft_bytes_back(struct control_draft *draft)
{
	const struct control_mark *mark = &draft->mark;

	if (draft->writer.taken <= mark->bytes) {
		str_truncate(draft->out,
		    (size_t)(mark->bytes - draft->writer.taken));
		return;
	}
	if (draft->result == 0)
		control_draft_note_sink(draft,
		    draft->sink->back(draft->sink->context,
		    mark->bytes, &draft->err));
	str_reset(draft->out);
	draft->writer.taken = mark->bytes;
	draft->writer.crc = mark->crc;
}

void
control_draft_back(struct control_draft *draft)
{
	const struct control_mark *mark = &draft->mark;

	control_draft_bytes_back(draft);
	draft->rcpts = mark->rcpts;
	draft->done_count = mark->done_count;
	draft->header = mark->header;
	control_draft_headers_back(draft, mark->bytes);
	draft->sender = mark->sender;
	draft->is_begun = mark->is_begun;
}

/* ---- the end ---------------------------------------------------------- */

static void
control_draft_write_done(struct control_draft *draft,
    const struct control_done *done)
{
	struct control_record record = { .kind = RECORD_OUTCOME,
	    .rcpt_offset = done->offset, .time_s = clock_wall_s(),
	    .tries = 1 };

	if (done->done == RCPT_EXPANDED)
		verdict_set(&record.verdict, VERDICT_EXPANDED, NULL, "router",
		    "sent on to the addresses after it");
	else
		verdict_set(&record.verdict, VERDICT_DELIVERED, NULL,
		    "router", "handed to the mailing list");
	control_writer_record(&draft->writer, draft->control->id, &record);
}

int
control_draft_end(struct control_draft *draft, struct err *err)
{
	char first[CONTROL_FIRST_LINE_BYTES + 1];

	if (draft->header == NULL)
		draft->header = &draft->own;
	if (draft->result == 0)
		control_draft_write_header(draft);
	if (draft->result == 0) {
		control_writer_end(&draft->writer, first);
		for (size_t i = 0; i < draft->done_count; i++)
			control_draft_write_done(draft, &draft->done[i]);
		if (draft->writer.taken > 0) {
			control_draft_flush(draft);
			if (draft->result == 0)
				control_draft_note_sink(draft,
				    draft->sink->first(
				    draft->sink->context, slice_of(first),
				    &draft->err));
		}
	}
	if (draft->result < 0)
		return err_set(err, "%s", draft->err.text);
	return 0;
}

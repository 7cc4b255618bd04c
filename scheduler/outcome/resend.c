/* resend.c - some recipients of a message become a new message
 *
 * In     recipients of a control file, the message file
 * Out    a submission for each sender; `relayed` records
 * Holds  nothing
 * Trusts control files as far as control_file_parse does
 * Spec   doc/INTERNALS.md row D9
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "mail/envelope.h"
#include "mail/whole.h"
#include "scheduler/outcome/resend.h"

#include "base/banned.h"

enum {
	FRONT_BYTES_MAX = 4 << 20,	/* envelope of the message file */
	COPY_BYTES = 65536
};

struct range {			/* of a resend's recipients */
	size_t	first, count;
};

void
resend_init(struct resend *resend, size_t count)
{
	*resend = (struct resend){
	    .rcpts = mem_alloc(count, sizeof(*resend->rcpts)),
	    .groups = mem_alloc(count, sizeof(*resend->groups)) };
}

void
resend_release(struct resend *resend)
{
	mem_free(&resend->rcpts);
	mem_free(&resend->groups);
	resend->count = 0;
}

bool
resend_is_address(struct slice user)
{
	struct path path;
	struct slice rest;
	struct err err;

	return user.n > 0 && !ascii_is_among(user.p[0], "|/:\"") &&
	    path_parse(user, PATH_BARE_OK | PATH_LOCAL_OK | PATH_UTF8, &path,
	    &rest, &err) == 0 && rest.n == 0;
}

/* The envelope's front of the message file, and where the header begins. */
static int
resend_read_front(const struct job *job, struct arena *arena,
    struct envelope *out, struct str *text, struct err *err)
{
	while (text->len < FRONT_BYTES_MAX) {
		ssize_t n = pread(job->body_fd, str_room(text, COPY_BYTES),
		    COPY_BYTES, (off_t)text->len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "read message");
		text->len += (size_t)n;
		text->buf[text->len] = '\0';
		if (n == 0 || memmem(text->buf, text->len, "\nenv-end\n", 9))
			break;
	}
	return envelope_parse(arena, str_slice(text), out, err);
}

static int
resend_copy_body(const struct job *job, size_t offset, struct draft *draft,
    struct err *err)
{
	static char buffer[COPY_BYTES];

	for (;;) {
		ssize_t n = pread(job->body_fd, buffer, sizeof(buffer),
		    (off_t)offset);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_sys(err, "read message");
		if (n == 0)
			return 0;
		if (draft_write(draft, buffer, (size_t)n, err) < 0)
			return -1;
		offset += (size_t)n;
	}
}

/* The same envelope, with the recipients of one sender as they are now. */
static int
resend_make_envelope(struct envelope *envelope, const struct resend *resend,
    struct range range, struct arena *arena, struct err *err)
{
	struct slice rest, sender = resend->groups[range.first]->sender;

	envelope->rcpts = arena_alloc(arena, range.count *
	    sizeof(*envelope->rcpts));
	envelope->rcpt_count = range.count;
	envelope->terms.is_rerouted |= resend->is_exhausted;
	envelope->terms.tried = 0;
	envelope->terms.via = resend->via;
	envelope->terms.via_words = resend->via_words;
	if (resend->is_steered && envelope->terms.steered < TERMS_STEERED_MAX)
		envelope->terms.steered++;
	envelope->header_rcpts = false;
	envelope->with = SLICE("reroute");
	envelope->is_error = sender.n == 0;
	if (sender.n > 0 && path_parse(sender, PATH_BARE_OK | PATH_LOCAL_OK |
	    PATH_UTF8, &envelope->from, &rest, err) < 0)
		return -1;
	for (size_t i = 0; i < range.count; i++) {
		const struct control_rcpt *rcpt = resend->rcpts[range.first +
		    i];

		envelope->rcpts[i] = (struct envelope_rcpt){
			.notify = rcpt->notify,
			.orcpt = rcpt->orcpt
		};
		if (path_parse(rcpt->user, PATH_BARE_OK | PATH_LOCAL_OK |
		    PATH_UTF8, &envelope->rcpts[i].path, &rest, err) < 0)
			return -1;
	}
	return 0;
}

/* A draft that is durable.  0; -1: nothing is left of it. */
static int
resend_make_draft(struct spool *spool, const struct job *job,
    const struct resend *resend, struct range range, struct draft *draft,
    struct err *err)
{
	struct draft *drafts[1] = { draft };
	struct arena *arena = arena_new();
	struct str front = STR_INIT, text = STR_INIT;
	struct envelope envelope;
	int result = -1;

	/* else the new checksum would vouch for what the disk changed */
	if (whole_file(job->body_fd, err) == WHOLE_YES &&
	    resend_read_front(job, arena, &envelope, &front, err) == 0 &&
	    resend_make_envelope(&envelope, resend, range, arena, err) == 0 &&
	    draft_open(spool, NULL, draft, err) == 0) {
		strlcpy(envelope.id, draft->id, sizeof(envelope.id));
		if (envelope_add(&text, &envelope, err) == 0 &&
		    draft_write(draft, text.buf, text.len, err) == 0 &&
		    resend_copy_body(job, envelope.header_offset, draft,
		    err) == 0 &&
		    draft_sync(drafts, 1, err) == 1)
			result = 0;
		if (result < 0)
			draft_abort(draft);
	}
	str_release(&front);
	str_release(&text);
	arena_free(&arena);
	return result;
}

/* The new message is on its way: those recipients are final here.  A crash
 * in between sends them twice, as a delivery whose answer was in flight. */
static int
resend_write_records(struct job *job, const struct resend *resend,
    struct range range, const char *new_id, struct err *err)
{
	struct control_record *records = mem_alloc(range.count,
	    sizeof(*records));
	int result;

	for (size_t i = 0; i < range.count; i++) {
		const struct control_rcpt *rcpt = resend->rcpts[range.first +
		    i];

		records[i] = (struct control_record){ .kind = RECORD_OUTCOME,
		    .rcpt_offset = rcpt->offset, .time_s = clock_wall_s(),
		    .tries = rcpt->tries };
		/* relayed: the new one tells what has to be told */
		verdict_set(&records[i].verdict, VERDICT_RELAYED, NULL,
		    "scheduler", "routed again as %s", new_id);
	}
	result = control_file_append(job->control_fd, job->id, records,
	    range.count,
	    err);
	mem_free(&records);
	return result;
}

/* Those of one sender, from first on. */
static struct range
resend_range(const struct resend *resend, size_t first)
{
	struct range range = { first, 1 };

	while (first + range.count < resend->count &&
	    resend->groups[first + range.count] == resend->groups[first])
		range.count++;
	return range;
}

int
resend(struct spool *spool, struct job *job,
    const struct resend *resend, resend_fn *done, void *context,
    struct err *err)
{
	struct range range = { 0, 0 };

	while (range.first < resend->count) {
		struct draft draft;

		range = resend_range(resend, range.first);
		/* S1 -> S2, then P4: records (D9) */
		if (resend_make_draft(spool, job, resend, range, &draft,
		    err) < 0 || draft_publish(&draft, AREA_ROUTER, 0, NULL,
		    err) < 0 || resend_write_records(job, resend, range,
		    draft.id,
		    err) < 0)
			return -1;
		done(context, job, range.count, draft.id);
		range.first += range.count;
	}
	return 0;
}

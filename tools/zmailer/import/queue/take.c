/* take.c - a message of an old queue becomes one of ours
 *
 * In     a row
 * Out    a durable message file in router/, or in freezer/ when it was held
 * Holds  one draft, locked, until it is where it belongs
 * Spec   doc/INTERNALS.md rows I1 and I2
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <string.h>

#include "mail/spool/imports.h"
#include "base/clock.h"
#include "journal/event.h"
#include "tools/zmailer/import/queue/queue.h"

#include "base/banned.h"

struct taking {
	struct old_queue	*queue;
	struct old_row		*row;
	struct old_files	 files;
	struct old_message	 message;
	struct draft		 draft;
	struct arena		*arena;
};

static int
taking_put(void *context, struct slice bytes, struct err *err)
{
	return draft_write(context, bytes.p, bytes.n, err);
}

/* The old time, so that the message keeps its age.  Where only its second is
 * known, the rest is of now: no two have the same. */
static void
taking_name(struct taking *it)
{
	int64_t now_us = clock_wall_us(), at_us = it->row->arrived_us;

	if (at_us % 1000000 == 0)
		at_us += now_us % 1000000;
	if (at_us > now_us)
		at_us = now_us;
	spool_id_make_of(at_us, it->draft.inode, it->message.envelope.id);
}

static int
taking_write(struct taking *it, struct err *err)
{
	struct old_sink sink = { .put = taking_put, .context = &it->draft };
	struct envelope *envelope = &it->message.envelope;
	struct str head = STR_INIT;
	int result;

	if (it->row->has_8bit)
		envelope->bodytype = SLICE("8BITMIME");
	taking_name(it);
	envelope->terms.tried = it->row->tries < TERMS_TRIED_MAX ?
	    (unsigned)it->row->tries : TERMS_TRIED_MAX;
	result = envelope_add(&head, envelope, err);
	if (result == 0)
		result = draft_write(&it->draft, head.buf, head.len, err);
	str_release(&head);
	if (result != 0)
		return -1;
	return it->queue->kind->copy(&it->files, &it->message, &sink, err);
}

/* I1: complete and durable in public/, and the old queue's still. */
static int
taking_draft(struct taking *it, struct spool *spool, struct err *err)
{
	struct draft *drafts[] = { &it->draft };
	char name[SPOOL_NAME_BYTES];

	if (spool_free_bytes(spool) < SPOOL_RESERVE_BYTES + it->row->bytes) {
		errno = ENOSPC;
		return err_sys(err, "the spool");
	}
	spool_import_name(it->row->key, it->row->is_held, name);
	if (draft_open_again(spool, name, &it->draft, err) != 0)
		return -1;
	if (taking_write(it, err) != 0 ||
	    draft_sync(drafts, 1, err) != 1) {
		draft_abort(&it->draft);
		return -1;
	}
	return 0;
}

static void
taking_tell(const struct taking *it)
{
	const struct envelope *envelope = &it->message.envelope;
	struct str from = STR_INIT;
	char by[64];

	verb_who(by, sizeof(by));
	path_add(&from, &envelope->from);
	event(EV_MESSAGE_ACCEPTED, envelope->id, "from", str_slice(&from),
	    "rcpts", event_number((int64_t)envelope->rcpt_count),
	    "size", event_number((int64_t)it->draft.bytes), NULL);
	event(EV_IMPORTED, envelope->id, "queue",
	    slice_of(it->queue->kind->name), "old", slice_of(it->row->id),
	    "frozen", slice_of(it->row->is_held ? "yes" : "no"),
	    "by", slice_of(by), "tries", it->row->tries == 0 ? SLICE("") :
	    event_number((int64_t)it->row->tries), "said", slice_of(
	    it->row->said), NULL);
	event_flush();
	str_release(&from);
}

/* I2: its line is there; then it goes to its place (S2, D1). */
static int
taking_publish(struct taking *it, struct spool_imports *imports,
    struct err *err)
{
	const char *id = it->message.envelope.id;
	const char *reason = arena_printf(it->arena, "it was held in the queue "
	    "of %s, as %s", it->queue->kind->name, it->row->id);

	if (it->row->is_held)	/* not there without attributes */
		(void)spool_reason_write(it->draft.fd, reason);
	if (spool_imports_add(imports, it->row->key, id, err) != 0) {
		draft_hand_over(&it->draft);	/* a start looks which it is */
		return -1;
	}
	memcpy(it->row->new_id, id, SPOOL_ID_BYTES);
	it->row->fate = OLD_TAKEN;
	if (draft_publish(&it->draft, it->row->is_held ? AREA_FREEZER :
	    AREA_ROUTER, 0, it->row->is_held ? SPOOL_IMPORT_CAUSE : NULL,
	    err) != 0) {
		draft_hand_over(&it->draft);	/* I2: adopted */
		return err_prefix(err, "the next start puts it into its "
		    "place");
	}
	return 0;
}

int
old_row_take(struct old_queue *queue, struct old_row *row,
    struct spool *spool, struct spool_imports *imports, struct err *err)
{
	struct taking it = { .queue = queue, .row = row,
	    .message = { .lost = STR_INIT }, .draft = { .fd = -1 },
	    .arena = arena_new() };
	int result = old_files_open(queue, row, &it.files, err);

	if (result == 0)
		result = queue->kind->read(it.arena, &it.files, &it.message,
		    err);
	if (result == 0)
		result = taking_draft(&it, spool, err);
	if (result == 0) {
		result = taking_publish(&it, imports, err);
		if (row->fate == OLD_TAKEN)
			taking_tell(&it);
	}
	if (row->fate != OLD_TAKEN) {
		row->fate = OLD_FAILED;
		row->wrong = arena_dup(queue->arena, err->text,
		    strlen(err->text));
	}
	old_files_close(&it.files);
	str_release(&it.message.lost);
	arena_free(&it.arena);
	return result;
}

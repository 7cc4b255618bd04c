/* look.c - read the messages of an old queue
 *
 * In     rows with paths
 * Out    rows with addresses, size, date, and what would become of them
 * Trusts nothing: a message that cannot be read is reported, and the next read
 * Spec   zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "mail/spool/imports.h"
#include "tools/zmailer/import/queue/queue.h"

#include "base/banned.h"

enum { SHOWN_RCPTS = 5 };

static int
nothing_put(void *context, struct slice bytes, struct err *err)
{
	(void)context, (void)bytes, (void)err;
	return 0;
}

/* "a@b, c@d and 7 more", for a terminal. */
static const char *
rcpts_text(struct arena *arena, const struct envelope *envelope)
{
	struct str plain = STR_INIT, shown = STR_INIT;
	const char *text;

	for (size_t i = 0; i < envelope->rcpt_count && i < SHOWN_RCPTS; i++) {
		str_adds(&plain, i > 0 ? ", " : "");
		path_add(&plain, &envelope->rcpts[i].path);
	}
	if (envelope->rcpt_count > SHOWN_RCPTS)
		str_addf(&plain, " and %zu more", envelope->rcpt_count -
		    SHOWN_RCPTS);
	str_add_escaped(&shown, str_slice(&plain));
	text = slice_dup(arena, str_slice(&shown));
	str_release(&plain);
	str_release(&shown);
	return text;
}

static const char *
sender_text(struct arena *arena, const struct envelope *envelope)
{
	struct str plain = STR_INIT, shown = STR_INIT;
	const char *text;

	path_add(&plain, &envelope->from);
	str_add_escaped(&shown, str_slice(&plain));
	text = arena_printf(arena, "<%s>", shown.buf);
	str_release(&plain);
	str_release(&shown);
	return text;
}

/* What names it for life, in a queue that was copied, too. */
static const char *
row_key(const struct old_queue *queue, const struct old_row *row)
{
	return arena_printf(queue->arena, "%s-%s-%jd", queue->kind->name,
	    row->id, (intmax_t)row->arrived_us);
}

static void
row_fill(struct old_queue *queue, struct old_row *row,
    struct old_message *message, const struct old_sink *sink)
{
	if (sink->lone_crs > 0)
		old_lost_add(message, "CRs alone, which become ends of lines");
	row->sender = sender_text(queue->arena, &message->envelope);
	row->rcpts = rcpts_text(queue->arena, &message->envelope);
	row->lost = slice_dup(queue->arena, str_slice(&message->lost));
	row->waiting = message->envelope.rcpt_count;
	row->done = message->done;
	row->arrived_us = message->arrived_us;
	row->bytes = sink->bytes;
	row->has_8bit = sink->has_8bit;
	if (message->is_held) {
		row->is_held = true;
		row->state = queue->kind == &old_exim ? "frozen" : row->state;
	}
	row->key = row_key(queue, row);
}

static int
row_read(struct old_queue *queue, struct old_row *row, struct arena *arena,
    struct err *err)
{
	struct old_message message = { .lost = STR_INIT };
	struct old_sink sink = { .put = nothing_put };
	struct old_files files;
	int result = old_files_open(queue, row, &files, err);

	if (result != 0)
		return -1;
	result = queue->kind->read(arena, &files, &message, err);
	if (result == 0)
		result = queue->kind->copy(&files, &message, &sink, err);
	if (result == 0) {
		row_fill(queue, row, &message, &sink);
		old_row_hear(queue, row, &files);
	}
	old_files_close(&files);
	str_release(&message.lost);
	return result;
}

static void
row_look(struct old_queue *queue, struct old_row *row, struct arena *arena,
    const struct spool_imports *imports)
{
	struct err err;

	if (row->fate != OLD_WAITS)
		return;
	if (row_read(queue, row, arena, &err) != 0) {
		row->fate = OLD_DAMAGED;
		row->wrong = arena_dup(queue->arena, err.text,
		    strlen(err.text));
	} else if (row->waiting == 0) {
		row->fate = OLD_SERVED;
	} else if (!spool_import_key_is(slice_of(row->key))) {
		row->fate = OLD_DAMAGED;
		row->wrong = "its name is none of a message";
	} else if (imports != NULL && spool_imports_has(imports, row->key)) {
		row->fate = OLD_KNOWN;
	}
}

static int
row_compare(const void *a, const void *b)
{
	const struct old_row *one = a, *other = b;

	return one->arrived_us != other->arrived_us ?
	    (one->arrived_us > other->arrived_us) -
	    (one->arrived_us < other->arrived_us) : strcmp(one->id, other->id);
}

/* A crash of the old mailer may leave a message under two names. */
static void
twins_leave(struct old_queue *queue)
{
	for (size_t i = 1; i < queue->count; i++) {
		const struct old_row *before = &queue->rows[i - 1];
		struct old_row *row = &queue->rows[i];

		if (row->fate == OLD_WAITS && before->key != NULL &&
		    strcmp(before->key, row->key) == 0) {
			row->fate = OLD_DAMAGED;
			row->wrong = arena_printf(queue->arena,
			    "it is there a second time: %s", before->main);
		}
	}
}

void
old_queue_look(struct old_queue *queue, const struct spool_imports *imports)
{
	struct arena *arena = arena_new();

	for (size_t i = 0; i < queue->count; i++) {
		row_look(queue, &queue->rows[i], arena, imports);
		arena_reset(arena);
	}
	arena_free(&arena);
	if (queue->count > 0)
		qsort(queue->rows, queue->count, sizeof(*queue->rows),
		    row_compare);
	twins_leave(queue);
}

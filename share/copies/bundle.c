/* bundle.c - copies that are one transaction
 *
 * In     who waits; their files
 * Out    statements, one after another
 * Holds  a part of one message, or its control file
 * Trusts no file to stay as long as it was: the transaction fails then
 * Spec   bundle.h; doc/protocol/share.md section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "share/copies/bundle.h"

#include "base/banned.h"

void
bundle_init(struct bundle *bundle, const struct conf_cluster *cluster)
{
	bundle->cluster = cluster;
	TAILQ_INIT(&bundle->waits);
	str_init(&bundle->array);
	str_init(&bundle->control);
}

void
bundle_release(struct bundle *bundle)
{
	struct copies_wait *wait;

	while ((wait = TAILQ_FIRST(&bundle->waits)) != NULL) {
		TAILQ_REMOVE(&bundle->waits, wait, entry);
		waits_free(&wait);
	}
	bundle->count = 0;
	str_release(&bundle->array);
	str_release(&bundle->control);
}

void
bundle_fill(struct bundle *bundle, struct waits_list *queue)
{
	struct copies_wait *wait;

	bundle->count = 0;
	bundle->bytes = 0;
	while ((wait = TAILQ_FIRST(queue)) != NULL &&
	    waits_is_grouped(wait) &&
	    (!wait->is_alone || bundle->count == 0) &&
	    bounds_takes(bundle->count, bundle->bytes, waits_bytes(wait))) {
		TAILQ_REMOVE(queue, wait, entry);
		TAILQ_INSERT_TAIL(&bundle->waits, wait, entry);
		bundle->count++;
		bundle->bytes += waits_bytes(wait);
		if (wait->is_alone)
			break;
	}
}

/* ---- which messages the rows have -------------------------------------- */

bool
bundle_has_kept(const struct bundle *bundle)
{
	const struct copies_wait *wait;

	TAILQ_FOREACH(wait, &bundle->waits, entry)
		if (wait->question.verb == COPYING_KEPT)
			return true;
	return false;
}

static void
bundle_say_place(struct bundle *bundle, struct wire_statement *out)
{
	sql_add(out, slice_of(bundle->cluster->name));
	sql_add(out, slice_of(bundle->cluster->self));
}

void
bundle_say_lines(struct bundle *bundle, struct wire_statement *out)
{
	struct copies_wait *wait;
	struct str ids = STR_INIT;

	TAILQ_FOREACH(wait, &bundle->waits, entry)
		if (wait->question.verb == COPYING_KEPT) {
			wait->is_body_said = true;
			str_addc(&ids, ' ');
			str_add_slice(&ids, wait->question.id);
		}
	str_reset(&bundle->array);
	copying_add_array(&bundle->array, str_slice(&ids));
	str_release(&ids);
	sql_begin(out, SAY_LINES);
	bundle_say_place(bundle, out);
	sql_add_digits(out, bundle->array.buf);
}

/* The first line has the length and the checksum of all that follows. */
static void
bundle_take_line(struct copies_wait *wait, struct slice first, uint64_t bytes)
{
	char own[WAITS_FIRST_BYTES];
	size_t n = wait->bytes[0] < sizeof(own) ? (size_t)wait->bytes[0] :
	    sizeof(own);

	if (waits_read(wait, 0, 0, own, n) == 0 && bytes == wait->bytes[0] &&
	    slice_equal(first, (struct slice){ own, n }))
		wait->is_body_said = false;
}

void
bundle_take_lines(struct bundle *bundle, const struct wire_rows *rows)
{
	struct copies_wait *wait;
	uint64_t bytes;

	for (int i = 0; i < (int)wire_row_count(rows); i++)
		TAILQ_FOREACH(wait, &bundle->waits, entry)
			if (wait->question.verb == COPYING_KEPT &&
			    slice_equal(wait->question.id,
			    wire_value(rows, i, 0)) &&
			    wire_number(rows, i, 2, &bytes))
				bundle_take_line(wait, wire_value(rows, i, 1),
				    bytes);
}

/* ---- statements -------------------------------------------------------- */

/* A file that is shorter than it was, or cannot be read: all of it fails. */
static void
bundle_say_nothing(struct copies_wait *wait, struct wire_statement *out)
{
	wait->is_bad = true;
	sql_begin(out, SAY_NOTHING);
}

static void
bundle_number(struct bundle *bundle, uint64_t number)
{
	snprintf(bundle->number, sizeof(bundle->number), "%" PRIu64, number);
}

/* false: it cannot be read. */
static bool
bundle_add_control(struct bundle *bundle, struct wire_statement *out)
{
	const struct copies_wait *wait = bundle->at;
	size_t bytes = (size_t)wait->bytes[1];

	if (wait->fds[1] < 0) {
		sql_add_null(out);
		return true;
	}
	str_reset(&bundle->control);
	if (waits_read(wait, 1, 0, str_room(&bundle->control, bytes),
	    bytes) < 0)
		return false;
	sql_add_bytes(out, (struct slice){ bundle->control.buf,
	    bytes });
	return true;
}

static void
bundle_say_head(struct bundle *bundle, struct wire_statement *out)
{
	struct copies_wait *wait = bundle->at;
	size_t n = wait->bytes[0] < sizeof(bundle->first) ?
	    (size_t)wait->bytes[0] : sizeof(bundle->first);

	sql_begin(out, SAY_HEAD);
	bundle_say_place(bundle, out);
	sql_add(out, wait->question.id);
	sql_add(out, wait->question.verb == COPYING_COPY ?
	    wait->question.area : SLICE("router"));
	sql_add_bytes(out, (struct slice){ bundle->first, n });
	bundle_number(bundle, wait->bytes[0]);
	sql_add_digits(out, bundle->number);
	if (waits_read(wait, 0, 0, bundle->first, n) < 0 ||
	    !bundle_add_control(bundle, out))
		bundle_say_nothing(wait, out);
}

static void
bundle_say_control(struct bundle *bundle, struct wire_statement *out)
{
	sql_begin(out, SAY_CONTROL);
	bundle_say_place(bundle, out);
	sql_add(out, bundle->at->question.id);
	if (!bundle_add_control(bundle, out))
		bundle_say_nothing(bundle->at, out);
}

static void
bundle_say_part(struct bundle *bundle, uint64_t n, struct wire_statement *out)
{
	struct copies_wait *wait = bundle->at;
	size_t bytes = bounds_part_bytes(wait->bytes[0], n);

	sql_begin(out, SAY_PART);
	sql_add(out, slice_of(bundle->cluster->name));
	sql_add(out, wait->question.id);
	bundle_number(bundle, n);
	sql_add_digits(out, bundle->number);
	sql_add_bytes(out, (struct slice){ bundle->part, bytes });
	if (waits_read(wait, 0, n * COPIES_PART_BYTES, bundle->part,
	    bytes) < 0)
		bundle_say_nothing(wait, out);
}

static void
bundle_say_done(struct bundle *bundle, struct wire_statement *out)
{
	str_reset(&bundle->array);
	copying_add_array(&bundle->array, bundle->at->question.ids);
	sql_begin(out, SAY_DONE);
	bundle_say_place(bundle, out);
	sql_add_digits(out, bundle->array.buf);
}

/* The head, what takes away the parts before, the parts. */
static bool
bundle_next_of_body(struct bundle *bundle, struct wire_statement *out)
{
	struct copies_wait *wait = bundle->at;
	size_t step = wait->step++;

	if (step == 0) {
		bundle_say_head(bundle, out);
		return true;
	}
	if (step == 1) {
		sql_begin(out, SAY_NO_PARTS);
		sql_add(out, slice_of(bundle->cluster->name));
		sql_add(out, wait->question.id);
		return true;
	}
	if (step - 2 >= bounds_parts(wait->bytes[0]))
		return false;
	bundle_say_part(bundle, step - 2, out);
	return true;
}

/* false: that was all of this one. */
static bool
bundle_next_of(struct bundle *bundle, struct wire_statement *out)
{
	struct copies_wait *wait = bundle->at;

	if (wait->is_bad)
		return false;
	if (wait->question.verb == COPYING_COPY || wait->is_body_said)
		return bundle_next_of_body(bundle, out);
	if (wait->step++ > 0)
		return false;
	if (wait->question.verb == COPYING_KEPT)
		bundle_say_control(bundle, out);
	else
		bundle_say_done(bundle, out);
	return true;
}

void
bundle_begin(struct bundle *bundle, uint64_t epoch)
{
	struct copies_wait *wait;

	snprintf(bundle->epoch, sizeof(bundle->epoch), "%" PRIu64, epoch);
	bundle->is_fenced = false;
	bundle->at = TAILQ_FIRST(&bundle->waits);
	TAILQ_FOREACH(wait, &bundle->waits, entry)
		wait->step = 0;
}

bool
bundle_next(struct bundle *bundle, struct wire_statement *out)
{
	if (!bundle->is_fenced) {
		bundle->is_fenced = true;
		sql_begin(out, SAY_FENCE);
		bundle_say_place(bundle, out);
		sql_add_digits(out, bundle->epoch);
		return true;
	}
	for (; bundle->at != NULL; bundle->at = TAILQ_NEXT(bundle->at, entry))
		if (bundle_next_of(bundle, out))
			return true;
	return false;
}

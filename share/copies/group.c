/* group.c - copies that are one transaction
 *
 * In     who waits; their files
 * Out    statements, one after another
 * Holds  a part of one message, or its control file
 * Trusts no file to stay as long as it was: the transaction fails then
 * Spec   group.h; doc/protocol/share.md section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "share/copies/group.h"

#include "base/banned.h"

void
group_init(struct group *group, const struct conf_cluster *cluster)
{
	group->cluster = cluster;
	TAILQ_INIT(&group->waits);
	str_init(&group->array);
	str_init(&group->control);
}

void
group_release(struct group *group)
{
	struct copies_wait *wait;

	while ((wait = TAILQ_FIRST(&group->waits)) != NULL) {
		TAILQ_REMOVE(&group->waits, wait, entry);
		waits_free(&wait);
	}
	group->count = 0;
	str_release(&group->array);
	str_release(&group->control);
}

void
group_fill(struct group *group, struct waits_list *queue)
{
	struct copies_wait *wait;

	group->count = 0;
	group->bytes = 0;
	while ((wait = TAILQ_FIRST(queue)) != NULL &&
	    waits_is_grouped(wait) &&
	    (!wait->is_alone || group->count == 0) &&
	    bounds_takes(group->count, group->bytes, waits_bytes(wait))) {
		TAILQ_REMOVE(queue, wait, entry);
		TAILQ_INSERT_TAIL(&group->waits, wait, entry);
		group->count++;
		group->bytes += waits_bytes(wait);
		if (wait->is_alone)
			break;
	}
}

/* ---- which messages the rows have -------------------------------------- */

bool
group_has_kept(const struct group *group)
{
	const struct copies_wait *wait;

	TAILQ_FOREACH(wait, &group->waits, entry)
		if (wait->question.verb == COPYING_KEPT)
			return true;
	return false;
}

static void
group_say_place(struct group *group, struct wire_statement *out)
{
	statement_add(out, slice_of(group->cluster->name));
	statement_add(out, slice_of(group->cluster->self));
}

void
group_say_lines(struct group *group, struct wire_statement *out)
{
	struct copies_wait *wait;
	struct str ids = STR_INIT;

	TAILQ_FOREACH(wait, &group->waits, entry)
		if (wait->question.verb == COPYING_KEPT) {
			wait->is_body_said = true;
			str_addc(&ids, ' ');
			str_add_slice(&ids, wait->question.id);
		}
	str_reset(&group->array);
	copying_add_array(&group->array, str_slice(&ids));
	str_release(&ids);
	statement_begin(out, SAY_LINES);
	group_say_place(group, out);
	statement_add_digits(out, group->array.buf);
}

/* The first line has the length and the checksum of all that follows. */
static void
group_take_line(struct copies_wait *wait, struct slice first, uint64_t bytes)
{
	char own[WAITS_FIRST_BYTES];
	size_t n = wait->bytes[0] < sizeof(own) ? (size_t)wait->bytes[0] :
	    sizeof(own);

	if (waits_read(wait, 0, 0, own, n) == 0 && bytes == wait->bytes[0] &&
	    slice_equal(first, (struct slice){ own, n }))
		wait->is_body_said = false;
}

void
group_take_lines(struct group *group, const struct wire_rows *rows)
{
	struct copies_wait *wait;
	uint64_t bytes;

	for (int i = 0; i < (int)wire_row_count(rows); i++)
		TAILQ_FOREACH(wait, &group->waits, entry)
			if (wait->question.verb == COPYING_KEPT &&
			    slice_equal(wait->question.id,
			    wire_value(rows, i, 0)) &&
			    wire_number(rows, i, 2, &bytes))
				group_take_line(wait, wire_value(rows, i, 1),
				    bytes);
}

/* ---- statements -------------------------------------------------------- */

/* A file that is shorter than it was, or cannot be read: all of it fails. */
static void
group_say_nothing(struct copies_wait *wait, struct wire_statement *out)
{
	wait->is_bad = true;
	statement_begin(out, SAY_NOTHING);
}

static void
group_number(struct group *group, uint64_t number)
{
	snprintf(group->number, sizeof(group->number), "%" PRIu64, number);
}

/* false: it cannot be read. */
static bool
group_add_control(struct group *group, struct wire_statement *out)
{
	const struct copies_wait *wait = group->at;
	size_t bytes = (size_t)wait->bytes[1];

	if (wait->fds[1] < 0) {
		statement_add_null(out);
		return true;
	}
	str_reset(&group->control);
	if (waits_read(wait, 1, 0, str_room(&group->control, bytes),
	    bytes) < 0)
		return false;
	statement_add_bytes(out, (struct slice){ group->control.buf,
	    bytes });
	return true;
}

static void
group_say_head(struct group *group, struct wire_statement *out)
{
	struct copies_wait *wait = group->at;
	size_t n = wait->bytes[0] < sizeof(group->first) ?
	    (size_t)wait->bytes[0] : sizeof(group->first);

	statement_begin(out, SAY_HEAD);
	group_say_place(group, out);
	statement_add(out, wait->question.id);
	statement_add(out, wait->question.verb == COPYING_COPY ?
	    wait->question.area : SLICE("router"));
	statement_add_bytes(out, (struct slice){ group->first, n });
	group_number(group, wait->bytes[0]);
	statement_add_digits(out, group->number);
	if (waits_read(wait, 0, 0, group->first, n) < 0 ||
	    !group_add_control(group, out))
		group_say_nothing(wait, out);
}

static void
group_say_control(struct group *group, struct wire_statement *out)
{
	statement_begin(out, SAY_CONTROL);
	group_say_place(group, out);
	statement_add(out, group->at->question.id);
	if (!group_add_control(group, out))
		group_say_nothing(group->at, out);
}

static void
group_say_part(struct group *group, uint64_t n, struct wire_statement *out)
{
	struct copies_wait *wait = group->at;
	size_t bytes = bounds_part_bytes(wait->bytes[0], n);

	statement_begin(out, SAY_PART);
	statement_add(out, slice_of(group->cluster->name));
	statement_add(out, wait->question.id);
	group_number(group, n);
	statement_add_digits(out, group->number);
	statement_add_bytes(out, (struct slice){ group->part, bytes });
	if (waits_read(wait, 0, n * COPIES_PART_BYTES, group->part,
	    bytes) < 0)
		group_say_nothing(wait, out);
}

static void
group_say_done(struct group *group, struct wire_statement *out)
{
	str_reset(&group->array);
	copying_add_array(&group->array, group->at->question.ids);
	statement_begin(out, SAY_DONE);
	group_say_place(group, out);
	statement_add_digits(out, group->array.buf);
}

/* The head, what takes away the parts before, the parts. */
static bool
group_next_of_body(struct group *group, struct wire_statement *out)
{
	struct copies_wait *wait = group->at;
	size_t step = wait->step++;

	if (step == 0) {
		group_say_head(group, out);
		return true;
	}
	if (step == 1) {
		statement_begin(out, SAY_NO_PARTS);
		statement_add(out, slice_of(group->cluster->name));
		statement_add(out, wait->question.id);
		return true;
	}
	if (step - 2 >= bounds_parts(wait->bytes[0]))
		return false;
	group_say_part(group, step - 2, out);
	return true;
}

/* false: that was all of this one. */
static bool
group_next_of(struct group *group, struct wire_statement *out)
{
	struct copies_wait *wait = group->at;

	if (wait->is_bad)
		return false;
	if (wait->question.verb == COPYING_COPY || wait->is_body_said)
		return group_next_of_body(group, out);
	if (wait->step++ > 0)
		return false;
	if (wait->question.verb == COPYING_KEPT)
		group_say_control(group, out);
	else
		group_say_done(group, out);
	return true;
}

void
group_begin(struct group *group, uint64_t epoch)
{
	struct copies_wait *wait;

	snprintf(group->epoch, sizeof(group->epoch), "%" PRIu64, epoch);
	group->is_fenced = false;
	group->at = TAILQ_FIRST(&group->waits);
	TAILQ_FOREACH(wait, &group->waits, entry)
		wait->step = 0;
}

bool
group_next(struct group *group, struct wire_statement *out)
{
	if (!group->is_fenced) {
		group->is_fenced = true;
		statement_begin(out, SAY_FENCE);
		group_say_place(group, out);
		statement_add_digits(out, group->epoch);
		return true;
	}
	for (; group->at != NULL; group->at = TAILQ_NEXT(group->at, entry))
		if (group_next_of(group, out))
			return true;
	return false;
}

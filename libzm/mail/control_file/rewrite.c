/* rewrite.c - a control file again, with other lines of recipients
 *
 * In     a whole control file; what is to be changed
 * Out    the same one, with the records at their recipients' new places
 * Holds  the old and new places while it works
 * Trusts a record only when its checksum fits; others are left out
 * Spec   control_file.h; doc/man/zmailer-control.5
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "mail/control_file/internal.h"

#include "base/banned.h"

struct place {			/* of an r or X line */
	uint32_t	 was;
	const uint32_t	*now;		/* filled in when it is written */
};

struct places {
	struct place	*list;		/* by was */
	size_t		 count;
};

/* In the order of the file.  Before the change: ways may go. */
static void
control_places_note(struct arena *arena, const struct control_file *control,
    struct places *out)
{
	size_t room = control->rcpt_total * CONTROL_WAYS_MAX;

	out->list = arena_alloc(arena, room * sizeof(*out->list));
	out->count = 0;
	for (size_t i = 0; i < control->group_count; i++)
		for (size_t k = 0; k < control->groups[i].rcpt_count; k++) {
			const struct control_rcpt *rcpt =
			    &control->groups[i].rcpts[k];

			out->list[out->count++] = (struct place){
				rcpt->first_offset, &rcpt->offset };
			for (size_t j = 0; j < rcpt->way_count; j++)
				out->list[out->count++] = (struct place){
					rcpt->ways[j].offset, NULL };
		}
}

/* Ways that are written again have no place of their own afterwards: what they
 * came to is told of their recipient, in the order in which it came. */
static const uint32_t *
control_places_find(const struct places *places, uint32_t was)
{
	const uint32_t *now = NULL;
	size_t low = 0, high = places->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (places->list[middle].was <= was)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0 || places->list[low - 1].was != was)
		return NULL;
	for (size_t i = low; i > 0 && now == NULL; i--)
		now = places->list[i - 1].now;
	return now;
}

static void
rewrite_records(const struct control_file *control, struct slice text,
    const struct places *places, struct str *out)
{
	uint32_t id_crc = crc32c(0, control->id, strlen(control->id));
	struct control_record record;
	struct slice line, rest;

	while (text.n > 0) {
		const uint32_t *now;

		line = slice_first(text, slice_find(text, '\n'));
		text = slice_from(text, line.n + 1);
		if (line.n == 0 || line.p[0] != 'd' ||
		    !control_record_check(line, id_crc, &record, &rest))
			continue;
		now = control_places_find(places, record.rcpt_offset);
		if (now != NULL)
			control_record_move(out, id_crc, line, *now);
	}
}

int
control_file_rewrite(struct arena *arena, struct slice file,
    control_change_fn *change, void *context, struct str *out,
    struct err *err)
{
	size_t head = control_file_head_bytes(file);
	struct control_file control;
	struct places places;
	bool is_changed;

	str_reset(out);
	/* the head alone: recipients as they were before their records */
	if (head == 0 || head > file.n || control_file_parse(arena,
	    slice_first(file, head), &control, err) != 0)
		return err_set(err, "its head is damaged");
	control_places_note(arena, &control, &places);
	is_changed = change(context, &control, NULL, NULL);
	for (size_t i = 0; i < control.group_count; i++)
		for (size_t k = 0; k < control.groups[i].rcpt_count; k++)
			if (change(context, &control, &control.groups[i],
			    &control.groups[i].rcpts[k]))
				is_changed = true;
	if (!is_changed)
		return 0;
	if (control_file_format(&control, out, err) < 0)
		return -1;
	rewrite_records(&control, slice_from(file, head), &places, out);
	return 0;
}

/* gather.c - who of a control file may be owed a report
 *
 * In     a control file as read, whole or some of it
 * Out    a list
 * Holds  copies of those in the list, if the file is read in windows
 * Trusts the control file as far as control_file_parse does
 * Spec   doc/INTERNALS.md row S3
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/mem.h"
#include "scheduler/report/gather.h"

#include "base/banned.h"

enum { SAME_OUTCOMES = 256 };	/* a power of two */

/* Recipients of a window point to one outcome, and so do their copies. */
struct outcome_copy {
	const struct control_record	*from, *to;
};

struct copying {
	struct arena	*arena;
	const struct control_group *group, *group_copy;
	struct outcome_copy outcomes[SAME_OUTCOMES];
};

static bool
gather_wants(const struct gather *gather, const struct control_file *control,
    const struct control_rcpt *rcpt)
{
	return rcpt->is_final ? rcpt_owes(control, rcpt) ||
	    control_rcpt_is_failed(rcpt) : gather->with_notices;
}

/* Those of whom no record says how an attempt went. */
static void
gather_untried(struct gather *gather, const struct control_file *control,
    struct arena *arena)
{
	for (size_t i = 0; gather->with_notices && i < control->rcpt_total;
	    i++) {
		const struct control_rcpt *rcpt =
		    &control->groups[0].rcpts[i];

		if (rcpt->is_final || (rcpt->tries > 0 && rcpt->last != NULL))
			continue;
		gather->untried = arena_grow(arena, gather->untried,
		    gather->untried_count, sizeof(*gather->untried));
		gather->untried[gather->untried_count++] = rcpt->offset;
	}
}

/* ---- a whole file ------------------------------------------------ */

void
gather_all(struct gather *gather)
{
	const struct control_file *control = &gather->reading->control;
	struct arena *arena = gather->reading->arena;
	struct report_list *list = &gather->list;
	size_t count = 0;

	for (size_t i = 0; i < control->rcpt_total; i++)
		count += gather_wants(gather, control,
		    &control->groups[0].rcpts[i]);
	*list = (struct report_list){ .owed = arena_alloc(arena,
	    count * sizeof(*list->owed)) };
	for (size_t i = 0; i < control->group_count; i++) {
		const struct control_group *group = &control->groups[i];

		for (size_t k = 0; k < group->rcpt_count; k++)
			if (gather_wants(gather, control, &group->rcpts[k]))
				list->owed[list->count++] =
				    (struct report_owed){ &group->rcpts[k],
				    group };
	}
	gather_untried(gather, control, arena);
}

/* ---- copies ------------------------------------------------------ */

static const struct control_record *
copy_outcome(struct copying *copying, const struct control_record *from)
{
	struct outcome_copy *copy = &copying->outcomes[((uintptr_t)from >> 4) &
	    (SAME_OUTCOMES - 1)];

	if (from == NULL)
		return NULL;
	if (copy->from != from) {
		copy->from = from;
		copy->to = (const struct control_record *)arena_dup(
		    copying->arena, from, sizeof(*from));
	}
	return copy->to;
}

static const struct control_group *
copy_group(struct copying *copying, const struct control_group *from)
{
	struct control_group *to;

	if (copying->group == from)
		return copying->group_copy;
	copying->group = from;
	if (copying->group_copy != NULL &&
	    copying->group_copy->sender_offset == from->sender_offset)
		return copying->group_copy;
	to = arena_alloc(copying->arena, sizeof(*to));
	to->sender = slice_copy(copying->arena, from->sender);
	to->errors_to = slice_copy(copying->arena, from->errors_to);
	to->sender_offset = from->sender_offset;
	to->header_offset = from->header_offset;
	return copying->group_copy = to;
}

/* Without the ways that are left and the words of orders: reports tell of
 * neither. */
static struct control_rcpt *
copy_rcpt(struct copying *copying, const struct control_rcpt *from)
{
	struct control_rcpt *to = arena_alloc(copying->arena, sizeof(*to));
	struct arena *arena = copying->arena;

	*to = *from;
	to->channel = slice_copy(arena, from->channel);
	to->host = slice_copy(arena, from->host);
	to->user = slice_copy(arena, from->user);
	to->orcpt = slice_copy(arena, from->orcpt);
	to->given = slice_copy(arena, from->given);
	to->zone = slice_copy(arena, from->zone);
	to->ordered_by = to->order_reason = slice_first(to->zone, 0);
	to->ways = NULL;
	to->way_count = 0;
	to->last = copy_outcome(copying, from->last);
	return to;
}

static void
gather_copy(struct gather *gather, struct copying *copying,
    const struct control_rcpt *rcpt, const struct control_group *group)
{
	struct report_list *list = &gather->list;

	list->owed = arena_grow(gather->arena, list->owed, list->count,
	    sizeof(*list->owed));
	list->owed[list->count++] = (struct report_owed){
		copy_rcpt(copying, rcpt), copy_group(copying, group)
	};
}

/* ---- windows ----------------------------------------------------- */

/* Who is kept; is anybody of the window owed a report, or pending? */
static bool
gather_total(struct gather *gather, const struct control_file *window)
{
	struct report_list *list = &gather->list;
	bool has_owed = pending_has_some(gather->pending,
	    gather->reading->windows, gather->reading->next - 1);

	control_windows_common(gather->reading->windows)->report_records +=
	    window->report_records;
	for (size_t i = 0; i < window->rcpt_total; i++) {
		const struct control_rcpt *rcpt = &window->groups[0].rcpts[i];
		int64_t kept_s = control_rcpt_kept_until_s(rcpt,
		    gather->keep_s, gather->now_s);

		if (kept_s > 0 && (list->kept_s == 0 || kept_s < list->kept_s))
			list->kept_s = kept_s;
		has_owed |= gather_wants(gather, window, rcpt);
	}
	return has_owed;
}

static void
gather_window(struct gather *gather, const struct control_file *window)
{
	struct copying *copying = mem_alloc(1, sizeof(*copying));

	copying->arena = gather->arena;
	for (size_t i = 0; i < window->group_count; i++) {
		const struct control_group *group = &window->groups[i];

		for (size_t k = 0; k < group->rcpt_count; k++) {
			const struct control_rcpt *rcpt = &group->rcpts[k];

			if (gather_wants(gather, window, rcpt) &&
			    control_rcpt_kept_until_s(rcpt, gather->keep_s,
			    gather->now_s) == 0)
				gather_copy(gather, copying, rcpt, group);
		}
	}
	mem_free(&copying);
	gather_untried(gather, window, gather->arena);
	gather->unwritten += pending_sift_some(gather->pending,
	    gather->reading->windows, gather->reading->next - 1, window);
	gather->next = gather->reading->next;
}

/* The list's rest into another arena: what was told is forgotten. */
static void
gather_renew(struct gather *gather)
{
	struct report_list old = gather->list;
	struct arena *old_arena = gather->arena;
	struct copying *copying = mem_alloc(1, sizeof(*copying));

	gather->arena = copying->arena = arena_new();
	gather->list.owed = NULL;
	gather->list.count = gather->list.first = 0;
	gather->untried = NULL;
	gather->untried_count = 0;
	for (size_t i = old.first; i < old.count; i++)
		gather_copy(gather, copying, old.owed[i].rcpt,
		    old.owed[i].group);
	mem_free(&copying);
	arena_free(&old_arena);
}

static bool
gather_is_enough(const struct gather *gather)
{
	return gather->list.count > REPORT_RCPTS_MAX;
}

bool
gather_has_more(const struct gather *gather)
{
	const struct control_windows *windows = gather->reading->windows;

	for (size_t i = gather->next; windows != NULL &&
	    i < control_windows_count(windows); i++)
		if (gather->has_owed == NULL || gather->has_owed[i])
			return true;
	return false;
}

/* The next one that is worth it. */
static bool
gather_next(struct gather *gather)
{
	struct intake_reading *reading = gather->reading;

	while (gather->has_owed != NULL &&
	    gather->next < control_windows_count(reading->windows) &&
	    !gather->has_owed[gather->next])
		gather->next++;
	reading->next = gather->next;
	if (!reading_has_more(reading))
		return false;
	reading_next(reading);
	return reading->got == INTAKE_READ;
}

/* All windows once, the first of which was read. */
static void
gather_totals(struct gather *gather)
{
	struct intake_reading *reading = gather->reading;

	gather->has_owed = mem_alloc(control_windows_count(reading->windows),
	    sizeof(*gather->has_owed));
	for (;;) {
		gather->has_owed[reading->next - 1] = gather_total(gather,
		    &reading->control);
		if (gather->next == reading->next - 1 &&
		    !gather_is_enough(gather))
			gather_window(gather, &reading->control);
		if (!reading_has_more(reading))
			return;
		reading_next(reading);
		if (reading->got != INTAKE_READ)
			return;
	}
}

void
gather_begin(struct gather *gather)
{
	gather->arena = arena_new();
	gather->list.is_part = true;
	if (gather->keep_s > 0 ||
	    control_windows_have_reports(gather->reading->windows)) {
		gather_totals(gather);
	} else {
		gather_window(gather, &gather->reading->control);
		while (!gather_is_enough(gather) && gather_next(gather))
			gather_window(gather, &gather->reading->control);
	}
}

void
gather_more(struct gather *gather)
{
	gather_renew(gather);
	while (!gather_is_enough(gather) && gather_next(gather))
		gather_window(gather, &gather->reading->control);
}

void
gather_release(struct gather *gather)
{
	arena_free(&gather->arena);
	pending_free(&gather->pending);
	mem_free(&gather->has_owed);
}

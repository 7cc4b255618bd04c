/* objectives.c - whether mail arrives as soon as the site wants it to
 *
 * In     the configuration; deliveries
 * Out    counts of an hour
 * Holds  a slot a statement, at most OBJECTIVE_SLOTS
 * Trusts lines of the file only in bounds
 * Spec   zmailer.conf(5), objective; doc/INTERNALS.md row O8
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/mem.h"
#include "scheduler/plan/arrivals/objectives.h"
#include "scheduler/plan/shaping/shape_line.h"

#include "base/banned.h"

static const char objectives_word[] = "%objective\t";

/* ---- statements ------------------------------------------------------ */

static bool
objective_is(const struct objective *slot, struct slice pattern,
    int64_t span_s)
{
	return slot->pattern != NULL && slot->span_s == span_s &&
	    slice_is(pattern, slot->pattern);
}

/* Its own, a free one, or one that is stated no more; NULL: none is left. */
static struct objective *
objectives_slot(struct objectives *objectives, const char *pattern,
    int64_t span_s)
{
	struct objective *slots = objectives->slots, *found = NULL;

	for (unsigned i = 0; i < OBJECTIVE_SLOTS; i++)
		if (objective_is(&slots[i], slice_of(pattern), span_s))
			return &slots[i];
	for (unsigned i = 0; i < OBJECTIVE_SLOTS; i++)
		if (slots[i].pattern == NULL || (slots[i].percent == 0 &&
		    found == NULL)) {
			found = &slots[i];
			if (found->pattern == NULL)
				break;
		}
	if (found == NULL)
		return NULL;
	mem_free(&found->pattern);
	*found = (struct objective){ .pattern = mem_strdup(pattern),
	    .span_s = span_s };
	return found;
}

static void
objectives_state(struct objectives *objectives, const struct conf *conf)
{
	objectives->count = 0;
	if (objectives->slots == NULL && conf->objective_count == 0)
		return;
	if (objectives->slots == NULL)
		objectives->slots = mem_alloc(OBJECTIVE_SLOTS,
		    sizeof(*objectives->slots));
	for (unsigned i = 0; i < OBJECTIVE_SLOTS; i++)
		objectives->slots[i].percent = 0;
	for (size_t i = 0; i < conf->objective_count; i++) {
		const struct conf_objective *one = &conf->objectives[i];
		struct objective *slot = objectives_slot(objectives,
		    one->pattern, one->span_s);

		if (slot == NULL || slot->percent > 0)
			continue;
		slot->percent = one->percent;
		slot->place = objectives->count++;
	}
}

/* Which slots are stated, in which order. */
static uint64_t
objectives_sum(const struct objectives *objectives)
{
	uint64_t sum = 14695981039346656037u;

	for (unsigned i = 0; objectives->slots != NULL && i < OBJECTIVE_SLOTS;
	    i++) {
		const struct objective *slot = &objectives->slots[i];

		if (slot->percent == 0)
			continue;
		sum = (sum ^ (i << 8 | slot->place)) * 1099511628211u;
		for (const char *p = slot->pattern; *p != '\0'; p++)
			sum = (sum ^ (unsigned char)*p) * 1099511628211u;
	}
	return sum;
}

void
objectives_set(struct objectives *objectives, const struct conf *conf)
{
	uint64_t before = objectives_sum(objectives);

	objectives_state(objectives, conf);
	if (objectives_sum(objectives) != before)
		objectives->generation++;
}

void
objectives_release(struct objectives *objectives)
{
	for (unsigned i = 0; objectives->slots != NULL &&
	    i < OBJECTIVE_SLOTS; i++)
		mem_free(&objectives->slots[i].pattern);
	mem_free(&objectives->slots);
	objectives->count = 0;
}

const struct objective *
objectives_at(const struct objectives *objectives, unsigned slot)
{
	const struct objective *objective;

	if (slot == OBJECTIVE_NONE || slot > OBJECTIVE_SLOTS ||
	    objectives->slots == NULL)
		return NULL;
	objective = &objectives->slots[slot - 1];
	return objective->percent > 0 ? objective : NULL;
}

unsigned
objectives_for(const struct objectives *objectives, struct slice address)
{
	unsigned found = OBJECTIVE_NONE, place = objectives->count;

	for (unsigned i = 1; place > 0 && i <= OBJECTIVE_SLOTS; i++) {
		const struct objective *slot = objectives_at(objectives, i);

		if (slot != NULL && slot->place < place &&
		    conf_objective_fits(slot->pattern, address)) {
			found = i;
			place = slot->place;
		}
	}
	return found;
}

/* ---- deliveries ------------------------------------------------------ */

void
objectives_arrived(struct objectives *objectives, unsigned slot,
    int64_t span_ms, bool was_deferred, int64_t now_s)
{
	const struct objective *stated = objectives_at(objectives, slot);
	int64_t number = now_s / OBJECTIVE_PIECE_S;
	struct objective_piece *piece;

	if (stated == NULL)
		return;
	piece = &objectives->slots[slot - 1].pieces[(uint64_t)number %
	    OBJECTIVE_PIECES];
	if (piece->number != number)
		*piece = (struct objective_piece){ .number = number };
	if (span_ms <= stated->span_s * 1000) {
		piece->in_time++;
	} else {
		piece->late++;
		piece->tried += was_deferred;
	}
}

/* Of the last hour, the piece of now included. */
static bool
piece_counts(const struct objective_piece *piece, int64_t now_s)
{
	int64_t number = now_s / OBJECTIVE_PIECE_S;

	return piece->number <= number &&
	    piece->number > number - OBJECTIVE_PIECES;
}

struct objective_piece
objective_sum(const struct objective *objective, int64_t now_s)
{
	struct objective_piece sum = { .number = 0 };

	for (unsigned i = 0; i < OBJECTIVE_PIECES; i++) {
		const struct objective_piece *piece = &objective->pieces[i];

		if (!piece_counts(piece, now_s))
			continue;
		sum.in_time += piece->in_time;
		sum.late += piece->late;
		sum.tried += piece->tried;
	}
	return sum;
}

bool
objective_is_met(const struct objective *objective,
    const struct objective_piece *sum, uint64_t waiting)
{
	uint64_t all = (uint64_t)sum->in_time + sum->late + waiting;

	return (uint64_t)sum->in_time * 100 >= all * objective->percent;
}

/* ---- the file -------------------------------------------------------- */

void
objectives_add_lines(const struct objectives *objectives, int64_t now_s,
    struct str *out)
{
	for (unsigned i = 1; i <= OBJECTIVE_SLOTS; i++) {
		const struct objective *slot = objectives_at(objectives, i);

		if (slot == NULL || strpbrk(slot->pattern, "\t\n") != NULL)
			continue;
		str_addf(out, "%s%lld\t%s", objectives_word,
		    (long long)slot->span_s, slot->pattern);
		for (unsigned k = 0; k < OBJECTIVE_PIECES; k++) {
			const struct objective_piece *piece =
			    &slot->pieces[k];

			/* an empty one has a number, too */
			if (piece_counts(piece, now_s) && (piece->in_time |
			    piece->late | piece->tried) != 0)
				str_addf(out, "\t%lld,%u,%u,%u",
				    (long long)piece->number, piece->in_time,
				    piece->late, piece->tried);
		}
		str_addc(out, '\n');
	}
}

static bool
objective_read_piece(struct slice text, int64_t now_s,
    struct objective_piece *out)
{
	uint64_t numbers[4];
	struct slice field;

	for (int i = 0; i < 4; i++)
		if (!slice_cut(&text, ',', &field) || !slice_number(field, 0,
		    i == 0 ? INT64_MAX : UINT32_MAX / OBJECTIVE_PIECES,
		    &numbers[i]))
			return false;
	*out = (struct objective_piece){ .number = (int64_t)numbers[0],
	    .in_time = (uint32_t)numbers[1], .late = (uint32_t)numbers[2],
	    .tried = (uint32_t)numbers[3] };
	return text.p == NULL && piece_counts(out, now_s);
}

static void
objective_read_line(struct objectives *objectives, struct slice line,
    int64_t now_s)
{
	struct objective *slot = NULL;
	struct slice span, pattern, field;
	struct objective_piece piece;
	uint64_t span_s;

	if (!slice_cut(&line, '\t', &span) ||
	    !slice_number(span, 1, INT32_MAX, &span_s) ||
	    !slice_cut(&line, '\t', &pattern))
		return;
	for (unsigned i = 0; i < OBJECTIVE_SLOTS && slot == NULL; i++)
		if (objective_is(&objectives->slots[i], pattern,
		    (int64_t)span_s))
			slot = &objectives->slots[i];
	while (slot != NULL && slice_cut(&line, '\t', &field))
		if (objective_read_piece(field, now_s, &piece))
			slot->pieces[(uint64_t)piece.number %
			    OBJECTIVE_PIECES] = piece;
}

void
objectives_read(struct objectives *objectives, struct slice text,
    int64_t now_s)
{
	struct slice line;

	while (objectives->slots != NULL && slice_cut(&text, '\n', &line))
		if (slice_starts(line, objectives_word) &&
		    shape_line_is_text(line))
			objective_read_line(objectives, slice_from(line,
			    sizeof(objectives_word) - 1), now_s);
}

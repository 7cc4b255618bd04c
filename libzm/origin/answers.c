/* answers.c - what the DNS said, for judgements that ask nobody
 *
 * In     questions of judgements, answers of who asks the DNS
 * Out    the same answers, and which question is open
 * Holds  at most ANSWERS_MAX of them, in the order of the questions
 * Trusts nobody: what does not fit is ANSWER_SERVFAIL
 *
 * A message needs a dozen answers, so they are looked through one by one.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "origin/answers.h"

#include "base/banned.h"

struct answers {
	struct arena	*arena;
	struct origin_answer	*rows;
	size_t		 count, cap;
	bool		 is_closed;	/* what is not there is ANSWER_NONE */
	struct dns_kept	*kept;		/* or NULL */
	int64_t		 now_ms;
};

static const struct origin_answer answer_none = { .status = ANSWER_NONE,
    .is_no_name = true };
static const struct origin_answer answer_servfail = { .status =
    ANSWER_SERVFAIL };

struct answers *
answers_new(struct arena *arena)
{
	struct answers *answers = arena_alloc(arena, sizeof(*answers));

	*answers = (struct answers){ .arena = arena };
	return answers;
}

bool
answer_has(const struct origin_answer *answer)
{
	return answer->status == ANSWER_SECURE ||
	    answer->status == ANSWER_INSECURE;
}

bool
answer_is_trouble(const struct origin_answer *answer)
{
	return answer->status == ANSWER_SERVFAIL ||
	    answer->status == ANSWER_BOGUS;
}

/* Labels of 1 to 63 bytes, 253 in all (RFC 1035 section 2.3.4). */
static bool
answer_name_fits(struct slice name)
{
	struct slice rest = name, label;

	if (name.n == 0 || name.n > 253)
		return false;
	while (slice_cut(&rest, '.', &label))
		if (label.n == 0 || label.n > 63)
			return false;
	return true;
}

static struct slice
answer_name(struct slice name)
{
	return slice_ends(name, ".") ? slice_first(name, name.n - 1) : name;
}

static struct origin_answer *
answers_find(const struct answers *answers, enum dns_type type,
    struct slice name)
{
	for (size_t i = 0; i < answers->count; i++)
		if (answers->rows[i].type == type &&
		    slice_equal_nocase(answers->rows[i].name, name))
			return &answers->rows[i];
	return NULL;
}

/* NULL: there is no room. */
static struct origin_answer *
answers_add(struct answers *answers, enum dns_type type, struct slice name)
{
	struct origin_answer *rows;

	if (answers->count == ANSWERS_MAX)
		return NULL;
	if (answers->count == answers->cap) {
		answers->cap = answers->cap == 0 ? 16 : answers->cap * 2;
		rows = arena_alloc(answers->arena,
		    answers->cap * sizeof(*rows));
		if (answers->count > 0)
			memcpy(rows, answers->rows,
			    answers->count * sizeof(*rows));
		answers->rows = rows;
	}
	rows = &answers->rows[answers->count++];
	*rows = (struct origin_answer){ .type = type,
	    .name = slice_lower(answers->arena, name) };
	return rows;
}

void
answers_use_kept(struct answers *answers, struct dns_kept *kept,
    int64_t now_ms)
{
	answers->kept = kept;
	answers->now_ms = now_ms;
}

/* Fill a row that is missing, if its answer is kept. */
static void
answers_take_kept(struct answers *answers, struct origin_answer *row)
{
	enum dns_result result;
	struct slice bytes;

	if (answers->kept != NULL && dns_kept_find(answers->kept, row->type,
	    row->name, answers->now_ms, &result, &bytes))
		answers_put_wire(answers, row->type, row->name, result, bytes);
}

const struct origin_answer *
answers_look(struct answers *answers, enum dns_type type, struct slice name)
{
	struct origin_answer *row;

	name = answer_name(name);
	if (!answer_name_fits(name))
		return &answer_none;
	row = answers_find(answers, type, name);
	if (row == NULL && answers->is_closed)
		return &answer_none;
	if (row == NULL) {
		row = answers_add(answers, type, name);
		if (row == NULL)
			return &answer_servfail;
		answers_take_kept(answers, row);
	}
	return row->status == ANSWER_MISSING ? NULL : row;
}

const struct origin_answer *
answers_question(const struct answers *answers)
{
	for (size_t i = 0; i < answers->count; i++)
		if (answers->rows[i].status == ANSWER_MISSING)
			return &answers->rows[i];
	return NULL;
}

const struct origin_answer *
answers_next_question(const struct answers *answers, size_t *cursor)
{
	while (*cursor < answers->count) {
		const struct origin_answer *row = &answers->rows[(*cursor)++];

		if (row->status == ANSWER_MISSING)
			return row;
	}
	return NULL;
}

static bool
answer_fits(const struct origin_answer *answer)
{
	for (size_t i = 0; i < answer->record_count; i++)
		if (answer->records[i].text.n > ANSWER_TEXT_MAX)
			return false;
	return answer->record_count <= ANSWER_RECORDS_MAX;
}

static void
answer_copy_records(struct answers *answers, struct origin_answer *row,
    const struct origin_answer *from)
{
	row->record_count = from->record_count;
	if (from->record_count == 0)
		return;
	row->records = arena_alloc(answers->arena,
	    from->record_count * sizeof(*row->records));
	for (size_t i = 0; i < from->record_count; i++) {
		row->records[i] = from->records[i];
		row->records[i].text = slice_copy(answers->arena,
		    from->records[i].text);
	}
}

void
answers_put(struct answers *answers, const struct origin_answer *answer)
{
	struct slice name = answer_name(answer->name);
	struct origin_answer *row = answers_find(answers, answer->type, name);

	if (row == NULL &&
	    (row = answers_add(answers, answer->type, name)) == NULL)
		return;
	row->is_no_name = answer->is_no_name;
	row->ttl_s = answer->ttl_s;
	row->status = answer_fits(answer) ? answer->status : ANSWER_SERVFAIL;
	row->records = NULL;
	row->record_count = 0;
	if (answer_has(row))
		answer_copy_records(answers, row, answer);
}

void
answers_close(struct answers *answers)
{
	answers->is_closed = true;
}

/* single.c - questions that are a transaction each: about nodes, and of tools
 *
 * In     who waits; answers of the database
 * Out    statements, answers; bytes into the file of who fetches
 * Holds  one of them
 * Trusts no row: what `arriving` gets must have the size that the row says
 * Spec   single.h; doc/protocol/share.md section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/ascii.h"
#include "share/copies/offers.h"

#include "base/banned.h"

enum { SINGLE_OWNERS_MS = 1000, SINGLE_HELD_BYTES_MAX = 32768 };

/* ---- statements -------------------------------------------------------- */

void
single_begin_of(struct single *single, enum copies_statement which,
    struct slice node, struct wire_statement *out)
{
	sql_begin(out, which);
	sql_add(out, slice_of(single->cluster->name));
	sql_add(out, node);
}

static void
single_add_number(struct single *single, uint64_t number,
    struct wire_statement *out)
{
	snprintf(single->number, sizeof(single->number), "%" PRIu64, number);
	sql_add_digits(out, single->number);
}

void
single_add_ids(struct single *single, struct wire_statement *out)
{
	str_reset(&single->array);
	copying_add_array(&single->array, single->wait->question.ids);
	sql_add_digits(out, single->array.buf);
}

/* self EPOCH SINCE_US AFTER_MS */
static void
single_add_overdue(struct single *single, struct wire_statement *out)
{
	sql_add(out, slice_of(single->cluster->self));
	sql_add_digits(out, single->epoch);
	sql_add_digits(out, single->since);
	single_add_number(single, single->wait->question.after_s * 1000, out);
}

static bool
single_next_of_takeover(struct single *single, size_t step,
    struct wire_statement *out)
{
	static const enum copies_statement steps[] = {
		SAY_TAKEOVER, SAY_ALIVE, SAY_COUNT
	};
	const struct slice epoch = single->wait->question.epoch;

	if (step >= sizeof(steps) / sizeof(steps[0]))
		return false;
	if (step == 0 && epoch.n > 0) {
		single_begin_of(single, SAY_TAKEOVER_OVERDUE,
		    single->wait->question.node, out);
		single_add_overdue(single, out);
		snprintf(single->its_epoch, sizeof(single->its_epoch),
		    SLICE_FMT, SLICE_ARG(epoch));
		sql_add_digits(out, single->its_epoch);
		return true;
	}
	single_begin_of(single, steps[step], single->wait->question.node,
	    out);
	if (steps[step] == SAY_TAKEOVER)
		sql_add(out, slice_of(single->cluster->self));
	if (steps[step] != SAY_COUNT)
		single_add_number(single, COPIES_LEASE_MS, out);
	return true;
}

static bool
single_next_of_arriving(struct single *single, size_t step,
    struct wire_statement *out)
{
	const struct copies_wait *wait = single->wait;
	const struct slice self = slice_of(single->cluster->self);

	if (step == 0)
		single_begin_of(single, SAY_ALIVE_SELF, self, out);
	else if (step == 1 && !wait->fetch.has_head) {
		single_begin_of(single, SAY_ARRIVING, self, out);
		sql_add(out, wait->question.id);
	} else if (step == 1) {
		single_begin_of(single, SAY_GET_PART,
		    slice_of(wait->fetch.id), out);
		single_add_number(single, wait->fetch.part, out);
	} else
		return false;
	return true;
}

static bool
single_next_of_status(struct single *single, size_t step,
    struct wire_statement *out)
{
	if (step == 0) {
		sql_begin(out, SAY_BRIEFLY);
		single_add_number(single, SINGLE_OWNERS_MS, out);
	} else if (step == 1) {
		sql_begin(out, SAY_OWNERS);
		sql_add(out, slice_of(single->cluster->name));
	} else
		return false;
	return true;
}

/* A look, which may not keep mail waiting. */
static bool
single_next_of_held(struct single *single, size_t step,
    struct wire_statement *out)
{
	if (step == 0) {
		sql_begin(out, SAY_BRIEFLY);
		single_add_number(single, SINGLE_OWNERS_MS, out);
	} else if (step == 1) {
		single_begin_of(single, SAY_HELD, single->wait->question.node,
		    out);
		sql_add(out, single->wait->question.id);
	} else
		return false;
	return true;
}

bool
single_next(struct single *single, struct wire_statement *out)
{
	struct copies_wait *wait = single->wait;
	size_t step = wait->step++;

	if (wait->is_status)
		return single_next_of_status(single, step, out);
	switch (wait->question.verb) {
	case COPYING_TAKEOVER:
		return single_next_of_takeover(single, step, out);
	case COPYING_ARRIVING:
		return single_next_of_arriving(single, step, out);
	case COPYING_ROWS:
		if (step > 0)
			return false;
		single_begin_of(single, SAY_ROWS,
		    slice_of(single->cluster->self), out);
		sql_add(out, wait->question.id);
		return true;
	case COPYING_HELD:
		return single_next_of_held(single, step, out);
	case COPYING_OVERDUE:
		if (step > 0)
			return false;
		single_begin_of(single, SAY_OVERDUE,
		    slice_of(single->cluster->self), out);
		single_add_overdue(single, out);
		return true;
	default:
		return offers_next(single, step, out);
	}
}

/* ---- rows -------------------------------------------------------------- */

static void
single_take_takeover(struct single *single, size_t index,
    const struct wire_rows *rows)
{
	if (index == 0)
		single->is_taken = wire_row_count(rows) > 0;
	else if (index == 1) {
		single->is_known = wire_row_count(rows) > 0;
		(void)wire_number(rows, 0, 0, &single->seconds);
	} else {
		(void)wire_number(rows, 0, 0, &single->count);
		(void)wire_number(rows, 0, 1, &single->bytes);
	}
}

static void
single_put(struct single *single, struct slice bytes, uint64_t at)
{
	size_t put = 0;
	ssize_t n;

	while (put < bytes.n) {
		n = pwrite(single->wait->fds[0], bytes.p + put, bytes.n - put,
		    (off_t)(at + put));
		if (n <= 0) {
			single->wrong = "it cannot be written into the file";
			return;
		}
		put += (size_t)n;
	}
}

static void
single_take_head(struct single *single, const struct wire_rows *rows)
{
	struct waits_fetch *fetch = &single->wait->fetch;
	struct slice id = wire_value(rows, 0, 0);
	struct slice area = wire_value(rows, 0, 1);
	struct slice control = wire_value(rows, 0, 3);

	if (wire_row_count(rows) == 0)
		return;
	if (id.n == 0 || id.n >= sizeof(fetch->id) || area.n == 0 ||
	    area.n >= sizeof(fetch->area) ||
	    !wire_number(rows, 0, 2, &fetch->body_bytes) ||
	    !wire_number(rows, 0, 4, &fetch->since)) {
		single->wrong = "a row of it is damaged";
		return;
	}
	snprintf(fetch->id, sizeof(fetch->id), SLICE_FMT, SLICE_ARG(id));
	snprintf(fetch->area, sizeof(fetch->area), SLICE_FMT,
	    SLICE_ARG(area));
	fetch->control_bytes = control.n;
	fetch->has_head = true;
	single_put(single, control, fetch->body_bytes);
}

static void
single_take_part(struct single *single, const struct wire_rows *rows)
{
	struct waits_fetch *fetch = &single->wait->fetch;
	struct slice bytes = wire_value(rows, 0, 0);

	if (bytes.n != bounds_part_bytes(fetch->body_bytes, fetch->part)) {
		single->wrong = "a part of it is missing";
		return;
	}
	single_put(single, bytes, fetch->part * COPIES_PART_BYTES);
	fetch->part++;
}

static void
single_take_fetched(struct single *single, size_t index,
    const struct wire_rows *rows)
{
	if (index == 0) {
		(void)wire_number(rows, 0, 0, &single->count);
		if (single->count == 0)
			single->wrong = "this node was taken over";
	} else if (!single->wait->fetch.has_head)
		single_take_head(single, rows);
	else
		single_take_part(single, rows);
}

bool
single_is_word(struct slice word)
{
	for (size_t i = 0; i < word.n; i++)
		if (!ascii_is_print(word.p[i]) || ascii_is_blank(word.p[i]))
			return false;
	return word.n > 0;
}

/* "ok rows ID ID ...": one line. */
static void
single_take_ids(struct single *single, const struct wire_rows *rows)
{
	struct str *out = &single->wait->lines;

	str_adds(out, "ok rows");
	for (int i = 0; i < (int)wire_row_count(rows); i++) {
		struct slice id = wire_value(rows, i, 0);

		if (single_is_word(id))
			str_addf(out, " " SLICE_FMT, SLICE_ARG(id));
	}
	str_addc(out, '\n');
}

/* A line "ID AREA BODY_BYTES SINCE CONTROL_BYTES FRONT_BYTES", and the bytes of
 * both: into the file of who asks. */
static void
single_put_held(struct single *single, const struct wire_rows *rows, int row)
{
	struct slice id = wire_value(rows, row, 0);
	struct slice area = wire_value(rows, row, 1);
	struct slice control = wire_value(rows, row, 4);
	struct slice front = wire_value(rows, row, 5);
	struct str text = STR_INIT;
	uint64_t bytes, since;

	if (!single_is_word(id) || !single_is_word(area) ||
	    !wire_number(rows, row, 2, &bytes) ||
	    !wire_number(rows, row, 3, &since) ||
	    id.n + area.n + control.n + front.n > SINGLE_HELD_BYTES_MAX) {
		single->wrong = "a row of it is damaged";
		return;
	}
	str_addf(&text, SLICE_FMT " " SLICE_FMT " %" PRIu64 " %" PRIu64
	    " %zu %zu\n", SLICE_ARG(id), SLICE_ARG(area), bytes, since,
	    control.n, front.n);
	str_add_slice(&text, control);
	str_add_slice(&text, front);
	single_put(single, str_slice(&text), single->bytes);
	single->bytes += text.len;
	single->count++;
	str_release(&text);
}

static void
single_take_held(struct single *single, const struct wire_rows *rows)
{
	for (int i = 0; i < (int)wire_row_count(rows) &&
	    single->wrong == NULL; i++)
		single_put_held(single, rows, i);
}

/* "ok overdue NODE EPOCH COUNT BYTES ...": one line. */
static void
single_take_overdue(struct single *single, const struct wire_rows *rows)
{
	struct str *out = &single->wait->lines;
	uint64_t numbers[3];
	bool is_good;

	str_adds(out, "ok overdue");
	for (int i = 0; i < (int)wire_row_count(rows); i++) {
		struct slice node = wire_value(rows, i, 0);

		is_good = single_is_word(node);
		for (int k = 0; k < 3 && is_good; k++)
			is_good = wire_number(rows, i, k + 1, &numbers[k]);
		if (is_good)
			str_addf(out, " " SLICE_FMT " %" PRIu64 " %" PRIu64
			    " %" PRIu64, SLICE_ARG(node), numbers[0],
			    numbers[1], numbers[2]);
	}
	str_addc(out, '\n');
}

/* "owner NODE EPOCH LEASE_SECONDS|- COUNT BYTES TAKER|-" each */
static void
single_take_owners(struct single *single, const struct wire_rows *rows)
{
	for (int i = 0; i < (int)wire_row_count(rows); i++) {
		struct str *out = &single->wait->lines;

		str_adds(out, "owner");
		for (int column = 0; column < 6; column++) {
			struct slice word = wire_value(rows, i, column);

			str_addc(out, ' ');
			str_add_slice(out, single_is_word(word) ? word :
			    SLICE("-"));
		}
		str_addc(out, '\n');
	}
}

void
single_take_rows(struct single *single, size_t index,
    const struct wire_rows *rows)
{
	const struct copies_wait *wait = single->wait;

	if (single->wrong != NULL)
		return;
	if (wait->is_status) {
		if (index == 1)
			single_take_owners(single, rows);
	} else if (wait->question.verb == COPYING_TAKEOVER)
		single_take_takeover(single, index, rows);
	else if (wait->question.verb == COPYING_ARRIVING)
		single_take_fetched(single, index, rows);
	else if (wait->question.verb == COPYING_ROWS)
		single_take_ids(single, rows);
	else if (wait->question.verb == COPYING_OVERDUE)
		single_take_overdue(single, rows);
	else if (wait->question.verb == COPYING_HELD) {
		if (index == 1)
			single_take_held(single, rows);
	} else
		offers_take_rows(single, index, rows);
}

/* ---- the end ----------------------------------------------------------- */

void
single_begin(struct single *single, struct copies_wait *wait, uint64_t epoch,
    uint64_t since_us)
{
	single->wait = wait;
	single->count = single->bytes = single->seconds = 0;
	single->is_known = single->is_taken = single->is_left = false;
	single->wrong = NULL;
	wait->step = 0;
	snprintf(single->epoch, sizeof(single->epoch), "%" PRIu64, epoch);
	snprintf(single->since, sizeof(single->since), "%" PRIu64, since_us);
}

static void
single_add_takeover(struct single *single, struct str *lines)
{
	if (single->is_taken)
		str_addf(lines, "ok ok %" PRIu64 " %" PRIu64 "\n",
		    single->count, single->bytes);
	else if (single->wait->question.epoch.n > 0)
		str_adds(lines, "ok none it is back, or another node took it "
		    "over\n");
	else if (single->is_known)
		str_addf(lines, "ok alive %" PRIu64 "\n", single->seconds);
	else
		str_adds(lines, "ok none there is no such node\n");
}

static void
single_add_fetched(struct single *single, struct str *lines)
{
	const struct waits_fetch *fetch = &single->wait->fetch;

	if (fetch->has_head)
		str_addf(lines, "ok message %s %s %" PRIu64 " %" PRIu64 " %"
		    PRIu64 "\n", fetch->id, fetch->area, fetch->body_bytes,
		    fetch->control_bytes, fetch->since);
	else
		str_adds(lines, "ok end\n");
}

enum single_left
single_done(struct single *single)
{
	struct copies_wait *wait = single->wait;
	struct str *lines = &wait->lines;

	if (single->wrong != NULL) {
		single->wait = NULL;
		waits_answer_away(wait, single->wrong);
		return SINGLE_OVER;
	}
	if (!wait->is_status && wait->question.verb == COPYING_ARRIVING &&
	    wait->fetch.has_head &&
	    wait->fetch.part < bounds_parts(wait->fetch.body_bytes)) {
		single->wait = NULL;
		return SINGLE_AGAIN;
	}
	if (wait->is_status)
		str_adds(lines, "ok\n");
	else if (wait->question.verb == COPYING_TAKEOVER)
		single_add_takeover(single, lines);
	else if (wait->question.verb == COPYING_ARRIVING)
		single_add_fetched(single, lines);
	else if (wait->question.verb == COPYING_HELD)
		str_addf(lines, "ok held %" PRIu64 " %" PRIu64 "\n",
		    single->count, single->bytes);
	else if (wait->question.verb != COPYING_ROWS &&
	    wait->question.verb != COPYING_OVERDUE)	/* have their line */
		offers_add_end(single, lines);
	single->wait = NULL;
	waits_answer(wait, str_slice(lines));
	return SINGLE_OVER;
}

void
single_refused(struct single *single, const struct wire_trouble *trouble)
{
	struct copies_wait *wait = single->wait;

	single->wait = NULL;
	if (wait->is_status || !offers_refused(wait, trouble))
		waits_answer_away(wait, trouble->text);
}

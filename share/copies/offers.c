/* offers.c - questions about mail that goes to another node by an order
 *
 * In     who waits; answers of the database
 * Out    statements, answers
 * Holds  nothing
 * Trusts no row: words of it are words of a line
 * Spec   offers.h; doc/protocol/share.md sections 4 and 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "share/copies/offers.h"

#include "base/banned.h"

enum { OFFERS_STEPS = 4 };

/* ---- statements -------------------------------------------------------- */

/* The statements of each question. */
static size_t
offers_steps(const struct single *single,
    enum copies_statement out[OFFERS_STEPS])
{
	const struct copying *question = &single->wait->question;
	size_t count = 0;

	switch (question->verb) {
	case COPYING_TAKEN:
		if (question->serial.n > 0) {
			out[count++] = SAY_NEW_SERIAL;
			out[count++] = SAY_WITHDRAW_ALL;
		}
		out[count++] = SAY_TAKEN;
		break;
	case COPYING_WITHDRAW:
		out[count++] = SAY_FENCE;
		out[count++] = SAY_WITHDRAW;
		out[count++] = SAY_LEFT;
		break;
	case COPYING_LEFT:
		out[count++] = SAY_LEFT;
		break;
	case COPYING_OFFER:
		out[count++] = SAY_FENCE_OFFER;
		out[count++] = SAY_IS_THERE;
		out[count++] = SAY_OFFER;
		break;
	case COPYING_OFFERS:
		out[count++] = SAY_OFFERS;
		break;
	case COPYING_TAKE:
		out[count++] = SAY_FENCE;
		out[count++] = SAY_TAKE;
		out[count++] = SAY_IS_LEFT;
		break;
	case COPYING_ARRIVED:
		out[count++] = SAY_FENCE;
		out[count++] = SAY_ARRIVED;
		break;
	default:
		break;
	}
	return count;
}

static void
offers_add_serial(struct single *single, struct wire_statement *out)
{
	struct slice serial = single->wait->question.serial;

	memcpy(single->number, serial.p, serial.n <
	    sizeof(single->number) ? serial.n : sizeof(single->number) - 1);
	single->number[serial.n < sizeof(single->number) ? serial.n :
	    sizeof(single->number) - 1] = '\0';
	sql_add_digits(out, single->number);
}

static void
offers_add_values(struct single *single, enum copies_statement which,
    struct wire_statement *out)
{
	switch (which) {
	case SAY_FENCE:
		sql_add_digits(out, single->epoch);
		break;
	case SAY_NEW_SERIAL:
	case SAY_FENCE_OFFER:
		sql_add_digits(out, single->epoch);
		offers_add_serial(single, out);
		break;
	case SAY_OFFER:
		sql_add(out, single->wait->question.node);
		single_add_ids(single, out);
		break;
	case SAY_TAKE:
		sql_add(out, slice_of(single->cluster->self));
		break;
	case SAY_LEFT:
	case SAY_WITHDRAW:
	case SAY_ARRIVED:
		single_add_ids(single, out);
		break;
	default:
		break;
	}
}

bool
offers_next(struct single *single, size_t step, struct wire_statement *out)
{
	enum copies_statement steps[OFFERS_STEPS];
	bool is_of_node;

	if (step >= offers_steps(single, steps))
		return false;
	is_of_node = steps[step] == SAY_IS_THERE ||
	    steps[step] == SAY_TAKE || steps[step] == SAY_IS_LEFT;
	single_begin_of(single, steps[step], is_of_node ?
	    single->wait->question.node : slice_of(single->cluster->self),
	    out);
	offers_add_values(single, steps[step], out);
	return true;
}

/* ---- rows -------------------------------------------------------------- */

/* "WORD ID NODE" each */
static void
offers_take_pairs(struct single *single, const char *word,
    const struct wire_rows *rows)
{
	for (int i = 0; i < (int)wire_row_count(rows); i++) {
		struct slice id = wire_value(rows, i, 0);
		struct slice taker = wire_value(rows, i, 1);

		if (single_is_word(id) && single_is_word(taker))
			str_addf(&single->wait->lines, "%s " SLICE_FMT " "
			    SLICE_FMT "\n", word, SLICE_ARG(id),
			    SLICE_ARG(taker));
	}
}

/* "ok offers NODE COUNT BYTES NODE COUNT BYTES ...": one line. */
static void
offers_take_offers(struct single *single, const struct wire_rows *rows)
{
	struct str *out = &single->wait->lines;
	uint64_t count, bytes;

	str_adds(out, "ok offers");
	for (int i = 0; i < (int)wire_row_count(rows); i++) {
		struct slice node = wire_value(rows, i, 0);

		if (single_is_word(node) && wire_number(rows, i, 1, &count) &&
		    wire_number(rows, i, 2, &bytes))
			str_addf(out, " " SLICE_FMT " %" PRIu64 " %" PRIu64,
			    SLICE_ARG(node), count, bytes);
	}
	str_addc(out, '\n');
}

/* "ok offered ID ID ...": one line. */
static void
offers_take_offered(struct single *single, const struct wire_rows *rows)
{
	struct str *out = &single->wait->lines;

	str_adds(out, "ok offered");
	for (int i = 0; i < (int)wire_row_count(rows); i++) {
		struct slice id = wire_value(rows, i, 0);

		if (single_is_word(id))
			str_addf(out, " " SLICE_FMT, SLICE_ARG(id));
	}
	str_addc(out, '\n');
}

void
offers_take_rows(struct single *single, size_t index,
    const struct wire_rows *rows)
{
	enum copies_statement steps[OFFERS_STEPS];
	uint64_t number;

	if (index >= offers_steps(single, steps))
		return;
	switch (steps[index]) {
	case SAY_TAKEN:
		offers_take_pairs(single, "taken", rows);
		break;
	case SAY_LEFT:
		offers_take_pairs(single, "left", rows);
		break;
	case SAY_OFFER:
		offers_take_offered(single, rows);
		break;
	case SAY_OFFERS:
		offers_take_offers(single, rows);
		break;
	case SAY_TAKE:
		single->count = wire_row_count(rows);
		break;
	case SAY_IS_LEFT:
		single->is_left = wire_number(rows, 0, 0, &number) &&
		    number > 0;
		break;
	default:
		break;
	}
}

/* ---- the end ----------------------------------------------------------- */

void
offers_add_end(struct single *single, struct str *lines)
{
	switch (single->wait->question.verb) {
	case COPYING_OFFER:
	case COPYING_OFFERS:
		break;			/* has its line */
	case COPYING_TAKE:
		str_addf(lines, "ok ok %" PRIu64 " %s\n", single->count,
		    single->is_left ? "more" : "all");
		break;
	case COPYING_ARRIVED:
		str_adds(lines, "ok ok\n");
		break;
	default:
		str_adds(lines, "ok\n");
		break;
	}
}

bool
offers_refused(struct copies_wait *wait, const struct wire_trouble *trouble)
{
	struct str line = STR_INIT;

	if (strcmp(trouble->code, SAY_DIVIDED_BY_NONE) != 0)
		return false;
	if (wait->question.verb == COPYING_TAKE)
		str_adds(&line, "ok none this node was taken over\n");
	else if (wait->question.verb != COPYING_OFFER || trouble->index > 1)
		return false;
	else if (trouble->index == 0)
		str_adds(&line, "ok stale\n");
	else
		str_addf(&line, "ok none " SLICE_FMT " has no lease: it is "
		    "stopped, lost, or was never there\n",
		    SLICE_ARG(wait->question.node));
	waits_answer(wait, str_slice(&line));
	str_release(&line);
	return true;
}

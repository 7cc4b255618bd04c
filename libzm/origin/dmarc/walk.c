/* walk.c - from a domain up the tree to who publishes for it
 *
 * In     a domain, answers
 * Out    the records above it, the organizational domain, whose policy counts
 * Trusts nobody; at most DMARC_QUESTIONS_MAX questions
 * Spec   RFC 9989 section 4.10
 *
 * SPDX-License-Identifier: ISC
 */
#include "origin/dmarc/record.h"

#include "base/banned.h"

enum { LABELS_MAX = 7 };	/* asked about beside the whole name */

static size_t
name_labels(struct slice name)
{
	struct slice label;
	size_t n = 0;

	while (slice_cut(&name, '.', &label))
		n++;
	return n;
}

/* The next name up: one label less, and at most LABELS_MAX. */
static struct slice
name_up(struct slice name)
{
	size_t labels = name_labels(name);
	struct slice label;

	do {
		if (!slice_cut(&name, '.', &label))
			return (struct slice){ NULL, 0 };
		labels--;
	} while (labels > LABELS_MAX);
	return name;
}

/* One record, or none: several are as none (section 4.10, step 2). */
static enum dmarc_read
walk_read(const struct origin_answer *answer, struct dmarc_record *out)
{
	enum dmarc_read found = DMARC_READ_OTHER, one;
	struct dmarc_record record;
	size_t count = 0;

	for (size_t i = 0; answer_has(answer) && i < answer->record_count;
	    i++) {
		one = dmarc_read(answer->records[i].text, &record);
		if (one == DMARC_READ_OTHER)
			continue;
		found = one;
		*out = record;
		count++;
	}
	return count > 1 ? DMARC_READ_BAD : found;
}

enum origin
dmarc_walk(struct answers *answers, struct slice domain, struct arena *arena,
    struct dmarc_walk *out)
{
	const struct origin_answer *answer;
	struct dmarc_record *record;
	bool asks = false;

	out->count = out->record_count = 0;
	for (; domain.n > 0 && out->count < DMARC_QUESTIONS_MAX;
	    domain = name_up(domain)) {
		size_t row = out->count++;

		out->domains[row] = domain;
		answer = answers_look(answers, DNS_TYPE_TXT, slice_of(
		    arena_printf(arena, "_dmarc.%.*s", (int)domain.n,
		    domain.p)));
		asks = asks || answer == NULL;
		if (asks)
			continue;	/* those above are asked for at once */
		if (answer_is_trouble(answer))
			return ORIGIN_TEMPERROR;
		record = &out->records[row];
		*record = (struct dmarc_record){ .psd = DMARC_PSD_UNKNOWN };
		out->found[row] = walk_read(answer, record);
		if (out->found[row] != DMARC_READ)
			continue;
		out->record_count++;
		if (record->psd != DMARC_PSD_UNKNOWN)
			break;
	}
	return asks ? ORIGIN_ASKS : ORIGIN_NONE;
}

struct slice
dmarc_organization(const struct dmarc_walk *walk)
{
	struct slice best = walk->domains[0];

	for (size_t i = 0; i < walk->count; i++) {
		if (walk->found[i] != DMARC_READ)
			continue;
		if (walk->records[i].psd == DMARC_PSD_NO)
			return walk->domains[i];
		if (walk->records[i].psd == DMARC_PSD_YES && i > 0)
			return walk->domains[i - 1];
		best = walk->domains[i];
	}
	return best;
}

size_t
dmarc_policy_row(const struct dmarc_walk *walk)
{
	struct slice organization = dmarc_organization(walk);
	size_t row = walk->count;

	if (walk->count > 0 && walk->found[0] == DMARC_READ)
		return 0;
	for (size_t i = 0; i < walk->count; i++) {
		if (walk->found[i] != DMARC_READ)
			continue;
		if (slice_equal(walk->domains[i], organization))
			return i;
		if (walk->records[i].psd == DMARC_PSD_YES)
			row = i;
	}
	return row;
}

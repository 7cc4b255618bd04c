/* retry.c - when mail is tried again
 *
 * In     rules after `begin retry`
 * Out    schedule
 * Holds  nothing
 * Spec   the Exim specification, chapter 32; zmailer.conf(5), schedule
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/units.h"
#include "tools/zmailer/import/exim/exim4.h"

#include "base/banned.h"

enum { RETRY_WAITS_MAX = 30 };

struct exim4_retry {		/* a rule on its way */
	int64_t		waits[RETRY_WAITS_MAX];
	size_t		count;
	int64_t		at_ms;		/* after these waits */
	int64_t		last_ms;	/* the wait that came last */
	int64_t		end_ms;		/* when it is given up */
};

static void
retry_wait(struct exim4_retry *retry, int64_t ms)
{
	retry->at_ms += ms;
	retry->last_ms = ms;
	if (retry->count < RETRY_WAITS_MAX)
		retry->waits[retry->count++] = ms / 1000 * 1000;
}

/* " 15m 1h": the last one repeats, so it is written once. */
static void
retry_text(const struct exim4_retry *retry, struct str *out)
{
	size_t count = retry->count;

	while (count > 1 && retry->waits[count - 1] ==
	    retry->waits[count - 2])
		count--;
	for (size_t i = 0; i < count; i++) {
		str_addc(out, ' ');
		units_add_span(out, retry->waits[i]);
	}
}

/* "1.5" as 1500; 0: it is not such a number. */
static uint64_t
retry_factor(struct slice text)
{
	struct slice whole = slice_first(text, slice_find(text, '.'));
	struct slice part = slice_first(slice_from(text, whole.n + 1), 3);
	uint64_t number = 0, thousandths = 0;

	if (!slice_number(whole, 0, 100, &number) || (part.n > 0 &&
	    !slice_number(part, 0, 999, &thousandths)))
		return 0;
	for (size_t i = part.n; i < 3; i++)
		thousandths *= 10;
	return number * 1000 + thousandths;
}

/* F,UNTIL,WAIT and G,UNTIL,FIRST,FACTOR.  returns false: it is neither */
static bool
retry_part(struct exim4_retry *retry, struct slice part)
{
	struct slice kind, until, wait, factor = SLICE("");
	int64_t until_ms, wait_ms;
	uint64_t times = 1000;

	if (!slice_cut(&part, ',', &kind) || !slice_cut(&part, ',', &until) ||
	    !slice_cut(&part, ',', &wait) || units_span_ms(slice_trim(until),
	    &until_ms, NULL) != 0 || units_span_ms(slice_trim(wait),
	    &wait_ms, NULL) != 0 || wait_ms < 1000)
		return false;
	kind = slice_trim(kind);
	if (slice_is(kind, "G") || slice_is(kind, "H")) {
		(void)slice_cut(&part, ',', &factor);
		times = retry_factor(slice_trim(factor));
		if (times <= 1000)
			return false;
	} else if (!slice_is(kind, "F"))
		return false;
	while (retry->at_ms + wait_ms <= until_ms &&
	    retry->count < RETRY_WAITS_MAX) {
		retry_wait(retry, wait_ms);
		wait_ms = wait_ms / 1000 * (int64_t)times;
	}
	if (times == 1000 && retry->last_ms != wait_ms)
		retry_wait(retry, wait_ms);
	retry->end_ms = until_ms;
	retry->at_ms = until_ms;
	return true;
}

/* The address of a rule as CHANNEL/HOST; NULL: it has none. */
static const char *
retry_clause(struct exim4 *exim, struct slice pattern)
{
	const char *domain;

	if (slice_is(pattern, "*"))
		return "*/*";
	if (slice_starts(pattern, "*."))
		pattern = slice_from(pattern, 1);
	domain = import_domain(exim->import, slice_from(pattern,
	    slice_starts(pattern, "*@") ? 2 : 0));
	return domain == NULL ? NULL : arena_printf(exim->import->arena,
	    "smtp/%s%s", domain[0] == '.' ? "*" : "", domain);
}

static void
retry_visit(struct exim4 *exim, struct exim4_row *row)
{
	struct slice rest = row->value, error = SLICE(""), part;
	const char *clause = retry_clause(exim, row->said.name);
	struct exim4_retry retry = { .count = 0 };
	bool is_good = clause != NULL && slice_word(&rest, &error);
	struct str end = STR_INIT, waits = STR_INIT;

	while (is_good && slice_cut(&rest, ';', &part))
		if (slice_trim(part).n > 0)
			is_good = retry_part(&retry, slice_trim(part));
	retry_text(&retry, &waits);
	if (!is_good || retry.count == 0)
		exim4_note(exim, row, IMPORT_MISSING, "write `schedule "
		    "CHANNEL/HOST { retry SPAN...; expire SPAN }`");
	else if (!slice_is(error, "*"))
		exim4_note(exim, row, IMPORT_DIFFERS, "it is about one kind "
		    "of error: write `schedule %s { retry on CLASS%s }` "
		    "(zmailer-classify(8))", clause, waits.buf);
	else {
		units_add_span(&end, retry.end_ms);
		exim4_say(exim, row, IMPORT_QUEUE,
		    "schedule %s { retry%s; expire %s }", clause,
		    waits.buf, end.buf);
	}
	str_release(&waits);
	str_release(&end);
}

void
exim4_retries(struct exim4 *exim)
{
	for (size_t i = 0; i < exim->count; i++)
		if (exim->rows[i].said.section == EXIM4_RETRY &&
		    exim->rows[i].said.kind == EXIM4_RULE &&
		    !exim->rows[i].item.is_told)
			retry_visit(exim, &exim->rows[i]);
}

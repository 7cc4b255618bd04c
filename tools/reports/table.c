/* table.c - rows of reports summed up: who sends as us, what fails, since when
 *
 * In     rows of many files
 * Out    a line a source (DMARC) or a failure (TLS), a line a domain
 * Holds  every row, up to a bound
 * Trusts no row: one that is not as received.h has it is passed over
 * Spec   received.h; zmailer-report(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "tools/reports/received.h"

#include "base/banned.h"

enum { TABLE_ROWS_MAX = 2000000, TABLE_BYTES_MAX = 512 * 1024 * 1024 };

struct table_row {
	struct slice	 reporter, report, domain;
	struct slice	 since, until;
	struct slice	 what, where;	/* DMARC: source, ""; TLS: what failed
					 * ("" nothing), next hop */
	uint64_t	 count;
	bool		 has_dkim, has_spf, is_refused, is_uncounted;
	size_t		 copy;		/* which of the reports taken */
};

struct table_sum {			/* of rows with one domain, what and
					 * where */
	const struct table_row *row;
	uint64_t	 count, dkim, spf, failed, refused;
	struct slice	 since, until, failing;	/* days; empty: never */
};

struct received_table {
	enum received_kind kind;
	struct arena	*arena;
	struct table_row *rows;
	size_t		 count, room;
	size_t		 copies, bytes;
	uint64_t	 reports;	/* that were taken, each once */
};

struct received_table *
received_table_new(enum received_kind kind)
{
	struct received_table *table = mem_alloc(1, sizeof(*table));

	*table = (struct received_table){ .kind = kind,
	    .arena = arena_new() };
	return table;
}

void
received_table_free(struct received_table **table)
{
	if (*table == NULL)
		return;
	arena_free(&(*table)->arena);
	mem_free(&(*table)->rows);
	mem_free(table);
}

/* ---- rows --------------------------------------------------------------- */

/* The number of the report in its file, and the values.  false: it is no
 * row. */
static bool
table_split(struct slice line, uint64_t *out_report,
    struct slice values[RECEIVED_FIELDS])
{
	struct slice number;

	if (!slice_cut(&line, '\t', &number) ||
	    !slice_number(number, 0, SIZE_MAX / 2, out_report))
		return false;
	for (size_t i = 0; i < RECEIVED_FIELDS; i++)
		if (!slice_cut(&line, '\t', &values[i]))
			return false;
	return line.p == NULL;
}

static void
table_fill(const struct received_table *table,
    const struct slice values[RECEIVED_FIELDS], struct table_row *out)
{
	bool is_dmarc = table->kind == RECEIVED_DMARC;

	*out = (struct table_row){ .reporter = values[0], .report = values[1],
	    .domain = values[2], .since = values[3], .until = values[4],
	    .what = values[is_dmarc ? 5 : 6],
	    .where = is_dmarc ? slice_of("") : values[8] };
	if (!slice_number(values[is_dmarc ? 6 : 7], 0, UINT32_MAX,
	    &out->count)) {
		out->count = 0;
		out->is_uncounted = true;
	}
	out->is_refused = is_dmarc && (slice_is_nocase(values[7], "reject") ||
	    slice_is_nocase(values[7], "quarantine"));
	out->has_dkim = is_dmarc && slice_is_nocase(values[8], "pass");
	out->has_spf = is_dmarc && slice_is_nocase(values[9], "pass");
}

static void
table_add(struct received_table *table, const struct table_row *row)
{
	if (table->count == table->room) {
		table->room = table->room == 0 ? 256 : table->room * 2;
		table->rows = mem_grow(table->rows, table->room,
		    sizeof(*table->rows));
	}
	table->rows[table->count++] = *row;
}

void
received_table_take(struct received_table *table, const char *name,
    struct slice lines, struct str *complaints)
{
	struct slice rest, line, values[RECEIVED_FIELDS];
	struct table_row row;
	uint64_t report, most = 0;
	size_t uncounted = 0;

	if (table->bytes + lines.n > TABLE_BYTES_MAX ||
	    table->count > TABLE_ROWS_MAX) {
		str_addf(complaints, "%s: left out: there is more than can be "
		    "summed up at once; give fewer files\n", name);
		return;
	}
	table->bytes += lines.n;
	rest = slice_copy(table->arena, lines);
	while (rest.n > 0 && slice_cut(&rest, '\n', &line)) {
		if (slice_starts(line, "! "))
			str_addf(complaints, "%s: " SLICE_FMT "\n", name,
			    SLICE_ARG(slice_from(line, 2)));
		if (!table_split(line, &report, values))
			continue;
		table_fill(table, values, &row);
		row.copy = table->copies + report;
		most = report > most ? report : most;
		uncounted += row.is_uncounted;
		table_add(table, &row);
	}
	if (uncounted > 0)
		str_addf(complaints, "%s: rows without a count below 2^32, "
		    "which are shown as 0: %zu\n", name, uncounted);
	table->copies += most + 1;
}

size_t
received_table_rows(const struct received_table *table)
{
	return table->count;
}

/* ---- each report once --------------------------------------------------- */

static int
slice_order(struct slice a, struct slice b)
{
	int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return order != 0 ? order : (a.n > b.n) - (a.n < b.n);
}

static int
row_report_order(const void *a, const void *b)
{
	const struct table_row *one = a, *other = b;
	int order = slice_order(one->reporter, other->reporter);

	if (order == 0)
		order = slice_order(one->report, other->report);
	if (order == 0)
		order = slice_order(one->domain, other->domain);
	return order != 0 ? order : (one->copy > other->copy) -
	    (one->copy < other->copy);
}

/* One without a name is itself alone. */
static bool
row_is_of(const struct table_row *one, const struct table_row *other)
{
	if (one->report.n == 0 && one->copy != other->copy)
		return false;
	return slice_equal(one->reporter, other->reporter) &&
	    slice_equal(one->report, other->report) &&
	    slice_equal(one->domain, other->domain);
}

/* A report that is in several files: its first copy stays. */
static void
table_once(struct received_table *table)
{
	const struct table_row *first = NULL;
	struct table_row last;
	size_t kept = 0;

	qsort(table->rows, table->count, sizeof(*table->rows),
	    row_report_order);
	table->reports = 0;
	for (size_t i = 0; i < table->count; i++) {
		if (first == NULL || !row_is_of(&last, &table->rows[i])) {
			last = table->rows[i];
			first = &last;
			table->reports++;
		}
		if (table->rows[i].copy == last.copy)
			table->rows[kept++] = table->rows[i];
	}
	table->count = kept;
}

/* ---- sums --------------------------------------------------------------- */

static int
row_sum_order(const void *a, const void *b)
{
	const struct table_row *one = a, *other = b;
	int order = slice_order(one->domain, other->domain);

	if (order == 0)
		order = slice_order(one->what, other->what);
	return order != 0 ? order : slice_order(one->where, other->where);
}

static bool
row_fails(const struct received_table *table, const struct table_row *row)
{
	return table->kind == RECEIVED_DMARC ? !row->has_dkim && !row->has_spf :
	    row->what.n > 0;
}

static void
sum_add(const struct received_table *table, struct table_sum *sum,
    const struct table_row *row)
{
	bool fails = row_fails(table, row);

	sum->count += row->count;
	sum->dkim += row->has_dkim ? row->count : 0;
	sum->spf += row->has_spf ? row->count : 0;
	sum->failed += fails ? row->count : 0;
	sum->refused += row->is_refused ? row->count : 0;
	if (sum->since.n == 0 || slice_order(row->since, sum->since) < 0)
		sum->since = row->since;
	if (sum->until.n == 0 || slice_order(row->until, sum->until) > 0)
		sum->until = row->until;
	if (fails && row->count > 0 && (sum->failing.n == 0 ||
	    slice_order(row->since, sum->failing) < 0))
		sum->failing = row->since;
}

/* What fails most comes first. */
static int
sum_order(const void *a, const void *b)
{
	const struct table_sum *one = a, *other = b;

	if (one->failed != other->failed)
		return one->failed < other->failed ? 1 : -1;
	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return row_sum_order(one->row, other->row);
}

/* Rows beside each other that are of one sum; of one domain alone when
 * is_domain.  returns how many; *out is to be freed */
static size_t
table_sums(const struct received_table *table, bool is_domain,
    struct table_sum **out)
{
	struct table_sum *sums = mem_alloc(table->count + 1, sizeof(*sums));
	size_t count = 0;

	for (size_t i = 0; i < table->count; i++) {
		const struct table_row *row = &table->rows[i];

		if (count == 0 || (is_domain ? !slice_equal(row->domain,
		    sums[count - 1].row->domain) :
		    row_sum_order(row, sums[count - 1].row) != 0))
			sums[count++] = (struct table_sum){ .row = row };
		sum_add(table, &sums[count - 1], row);
	}
	qsort(sums, count, sizeof(*sums), sum_order);
	*out = sums;
	return count;
}

/* ---- for people, for programs ------------------------------------------- */

static void
sum_add_text(const struct received_table *table, const struct table_sum *sum,
    struct str *out)
{
	if (table->kind == RECEIVED_DMARC)
		str_addf(out, "%9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9"
		    PRIu64 " %9" PRIu64 "  %-10.*s  %-24.*s  " SLICE_FMT "\n",
		    sum->count, sum->dkim, sum->spf, sum->failed, sum->refused,
		    SLICE_ARG(sum->failing.n > 0 ? sum->failing :
		    slice_of("-")), SLICE_ARG(sum->row->what),
		    SLICE_ARG(sum->row->domain));
	else if (sum->row->what.n > 0)
		str_addf(out, "%9" PRIu64 "  %-10.*s  %-28.*s  %-28.*s  "
		    SLICE_FMT "\n", sum->failed, SLICE_ARG(sum->failing),
		    SLICE_ARG(sum->row->what),
		    SLICE_ARG(sum->row->where.n > 0 ? sum->row->where :
		    slice_of("-")), SLICE_ARG(sum->row->domain));
}

static void
sum_add_json(const struct received_table *table, const struct table_sum *sum,
    struct str *out)
{
	bool is_dmarc = table->kind == RECEIVED_DMARC;

	json_open_answer(out);
	json_text(out, "domain", sum->row->domain);
	json_text(out, is_dmarc ? "source" : "result", sum->row->what);
	if (!is_dmarc)
		json_text(out, "mx", sum->row->where);
	json_number(out, is_dmarc ? "messages" : "sessions",
	    (int64_t)sum->count);
	if (is_dmarc) {
		json_number(out, "dkim", (int64_t)sum->dkim);
		json_number(out, "spf", (int64_t)sum->spf);
		json_number(out, "refused", (int64_t)sum->refused);
	}
	json_number(out, "failed", (int64_t)sum->failed);
	json_text(out, "since", sum->since);
	json_text(out, "until", sum->until);
	json_text(out, "failing_since", sum->failing);
	json_close(out);
}

static void
domain_add_text(const struct received_table *table,
    const struct table_sum *sum, struct str *out)
{
	double good = sum->count == 0 ? 100 : 100.0 * (double)(sum->count -
	    sum->failed) / (double)sum->count;

	str_addf(out, SLICE_FMT ": %" PRIu64 " %s from " SLICE_FMT " to "
	    SLICE_FMT ", %.1f %% %s\n", SLICE_ARG(sum->row->domain),
	    sum->count, table->kind == RECEIVED_DMARC ? "messages" :
	    "sessions", SLICE_ARG(sum->since), SLICE_ARG(sum->until), good,
	    table->kind == RECEIVED_DMARC ? "pass DMARC" : "as they must be");
}

static void
table_show_sums(const struct received_table *table, bool is_json,
    struct str *out)
{
	struct table_sum *sums;
	size_t count = table_sums(table, false, &sums);

	if (!is_json && table->kind == RECEIVED_DMARC)
		str_adds(out, " MESSAGES      DKIM       SPF   NEITHER   "
		    "REFUSED  FAILS FROM  SOURCE                    DOMAIN\n");
	else if (!is_json)
		str_adds(out, "   FAILED  SINCE       WHAT                  "
		    "        NEXT HOP                      DOMAIN\n");
	for (size_t i = 0; i < count; i++)
		(is_json ? sum_add_json : sum_add_text)(table, &sums[i], out);
	mem_free(&sums);
}

void
received_table_show(struct received_table *table, bool is_json,
    struct str *out)
{
	struct table_sum *sums;
	size_t count;

	if (table->count == 0)
		return;
	table_once(table);
	qsort(table->rows, table->count, sizeof(*table->rows), row_sum_order);
	table_show_sums(table, is_json, out);
	if (is_json)
		return;
	count = table_sums(table, true, &sums);
	str_addc(out, '\n');
	for (size_t i = 0; i < count; i++)
		domain_add_text(table, &sums[i], out);
	str_addf(out, "%" PRIu64 " report%s\n", table->reports,
	    table->reports == 1 ? "" : "s");
	mem_free(&sums);
}

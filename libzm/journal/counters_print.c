/* counters_print.c - what was counted, as OpenMetrics text
 *
 * In     the shared numbers; what a caller looked up
 * Out    lines
 * Trusts nothing in a learned name: it is escaped
 * Spec   OpenMetrics 1.0; metrics.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/err.h"
#include "journal/counters.h"
#include "journal/counters_table.h"

#include "base/banned.h"

enum { US = 1000000 };

static const char *const type_names[] = {
	[ROW_COUNTER] = "counter", [ROW_SUM] = "counter",
	[ROW_HISTOGRAM] = "histogram", [ROW_GAUGE] = "gauge"
};

static const char *
type_of(const struct counters_row *row)
{
	return row->type == ROW_LOOKED ? row->looked : type_names[row->type];
}

static bool
print_is_first(unsigned i)
{
	return i == 0 || strcmp(counters_rows[i].metric,
	    counters_rows[i - 1].metric) != 0;
}

uint64_t
counters_sum(const char *metric, const char *labels)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < counters_row_count; i++) {
		const struct counters_row *row = &counters_rows[i];
		unsigned slot = counters_row_slot(i);

		if (strcmp(row->metric, metric) != 0 ||
		    strcmp(row->labels, labels) != 0)
			continue;
		for (unsigned k = 0; k < counters_row_width(row) *
		    counters_row_ways(row); k++)
			sum += counters_slot(slot + k);
	}
	return sum;
}

/* ---- pieces ------------------------------------------------------------ */

static void
add_head(struct str *out, const struct counters_row *row)
{
	str_addf(out, "# TYPE zmailer_%s %s\n# HELP zmailer_%s %s\n",
	    row->metric, type_of(row), row->metric, row->text);
}

void
counters_print_head(struct str *out, const char *metric)
{
	for (unsigned i = 0; i < counters_row_count; i++)
		if (strcmp(counters_rows[i].metric, metric) == 0) {
			add_head(out, &counters_rows[i]);
			return;
		}
	panic("no row for metric %s", metric);
}

void
counters_print_label(struct str *out, const char *name, struct slice value)
{
	str_addf(out, "%s=\"", name);
	for (size_t i = 0; i < value.n; i++) {
		char c = value.p[i];

		if (c == '"' || c == '\\')
			str_addc(out, '\\');
		str_addc(out, ascii_is_print(c) ? c : '?');
	}
	str_addc(out, '"');
}

/* Microseconds as seconds: "0.001", "5.0". */
static void
add_seconds(struct str *out, uint64_t us)
{
	char text[40];
	size_t n = (size_t)snprintf(text, sizeof(text), "%" PRIu64 ".%06"
	    PRIu64, us / US, us % US);

	while (text[n - 1] == '0' && text[n - 2] != '.')
		n--;
	str_add(out, text, n);
}

static void
add_bound(struct str *out, const struct counters_bounds_row *bounds,
    unsigned i)
{
	str_adds(out, "le=\"");
	if (i < bounds->count)
		add_seconds(out, (uint64_t)bounds->us[i]);
	else
		str_adds(out, "+Inf");
	str_addc(out, '"');
}

static void
print_add_name(struct str *out, const char *metric, const char *suffix,
    const struct str *labels)
{
	str_addf(out, "zmailer_%s%s", metric, suffix);
	if (labels->len > 0)
		str_addf(out, "{%s}", labels->buf);
	str_addc(out, ' ');
}

/* ---- rows -------------------------------------------------------------- */

static void
print_histogram(struct str *out, const struct counters_row *row,
    unsigned slot, const struct str *labels)
{
	const struct counters_bounds_row *bounds =
	    &counters_bounds[row->bounds];
	uint64_t count = 0;

	for (unsigned k = 0; k <= bounds->count; k++) {
		count += counters_slot(slot + k);
		str_addf(out, "zmailer_%s_bucket{%s%s", row->metric,
		    labels->buf, labels->len > 0 ? "," : "");
		add_bound(out, bounds, k);
		str_addf(out, "} %" PRIu64 "\n", count);
	}
	print_add_name(out, row->metric, "_count", labels);
	str_addf(out, "%" PRIu64 "\n", count);
	print_add_name(out, row->metric, "_sum", labels);
	add_seconds(out, counters_slot(slot + bounds->count + 1));
	str_addc(out, '\n');
}

/* The labels of one combination; false: a name that nobody said. */
static bool
add_labels(struct str *out, const struct counters_row *row, unsigned way)
{
	unsigned value[COUNTERS_BY_MAX];

	str_reset(out);
	str_adds(out, row->labels);
	for (int i = COUNTERS_BY_MAX - 1; i >= 0; i--) {
		unsigned count = counters_sets[row->by[i].set].count;

		value[i] = way % count;
		way /= count;
	}
	for (int i = 0; i < COUNTERS_BY_MAX; i++) {
		const char *name;

		if (row->by[i].set == SET_NONE)
			continue;
		name = counters_value_name(row->by[i].set, value[i]);
		if (name == NULL)
			return false;
		if (out->len > 0)
			str_addc(out, ',');
		counters_print_label(out, row->by[i].label, slice_of(name));
	}
	return true;
}

/* Zeros are printed where there are few, so that graphs have no gaps: not of
 * two labels, nor of names that are learned. */
static bool
is_worth_it(const struct counters_row *row, unsigned slot)
{
	if (row->by[1].set == SET_NONE && (row->by[0].set == SET_NONE ||
	    counters_sets[row->by[0].set].values != NULL))
		return true;
	for (unsigned k = 0; k < counters_row_width(row); k++)
		if (counters_slot(slot + k) > 0)
			return true;
	return false;
}

static void
print_row(struct str *out, unsigned i)
{
	const struct counters_row *row = &counters_rows[i];
	unsigned ways = counters_row_ways(row);
	struct str labels = STR_INIT;

	for (unsigned way = 0; way < ways; way++) {
		unsigned slot = counters_row_slot(i) +
		    way * counters_row_width(row);

		if (!add_labels(&labels, row, way) ||
		    !is_worth_it(row, slot))
			continue;
		if (row->type == ROW_HISTOGRAM) {
			print_histogram(out, row, slot, &labels);
			continue;
		}
		print_add_name(out, row->metric, row->type == ROW_GAUGE ? "" :
		    "_total", &labels);
		str_addf(out, "%" PRIu64 "\n", counters_slot(slot));
	}
	str_release(&labels);
}

void
counters_print(struct str *out)
{
	for (unsigned i = 0; i < counters_row_count; i++) {
		if (counters_rows[i].type == ROW_LOOKED)
			continue;
		if (print_is_first(i))
			add_head(out, &counters_rows[i]);
		else if (counters_rows[i].type == ROW_GAUGE)
			continue;	/* the same number */
		print_row(out, i);
	}
}

void
counters_print_ages(struct str *out, const char *metric,
    const int64_t *ages_s, size_t count)
{
	const struct counters_bounds_row *bounds =
	    &counters_bounds[BOUNDS_SLOW];
	uint64_t counts[COUNTERS_BOUNDS_MAX + 1] = { 0 }, sum_s = 0, so_far = 0;

	counters_print_head(out, metric);
	for (size_t i = 0; i < count; i++) {
		unsigned k = 0;

		while (k < bounds->count && ages_s[i] > bounds->us[k] / US)
			k++;
		counts[k]++;
		sum_s += (uint64_t)ages_s[i];
	}
	for (unsigned k = 0; k <= bounds->count; k++) {
		so_far += counts[k];
		str_addf(out, "zmailer_%s_bucket{", metric);
		add_bound(out, bounds, k);
		str_addf(out, "} %" PRIu64 "\n", so_far);
	}
	str_addf(out, "zmailer_%s_count %" PRIu64 "\nzmailer_%s_sum %" PRIu64
	    "\n", metric, so_far, metric, sum_s);
}

/* ---- the table --------------------------------------------------------- */

static unsigned
print_row_at(unsigned wanted)
{
	unsigned i = 0;

	for (; i < counters_row_count; i++)
		if (print_is_first(i) && wanted-- == 0)
			break;
	return i;
}

/* The names in labels as they stand between braces, then those of sets. */
static const char *
label_names(const struct counters_row *row)
{
	static struct str names = STR_INIT;
	struct slice fixed = slice_of(row->labels);

	if (row->type == ROW_LOOKED)
		return row->labels;
	str_reset(&names);
	str_add_slice(&names, slice_first(fixed, slice_find(fixed, '=')));
	for (int i = 0; i < COUNTERS_BY_MAX; i++)
		if (row->by[i].set != SET_NONE)
			str_addf(&names, "%s%s", names.len > 0 ? "," : "",
			    row->by[i].label);
	return names.buf;
}

bool
counters_about(unsigned i, struct counters_about *out)
{
	unsigned at = print_row_at(i);
	const struct counters_row *row;

	if (at == counters_row_count)
		return false;
	row = &counters_rows[at];
	out->type = type_of(row);
	out->labels = label_names(row);
	out->text = row->text;
	snprintf(out->name, sizeof(out->name), "zmailer_%s%s", row->metric,
	    strcmp(out->type, "counter") == 0 ? "_total" :
	    strcmp(out->type, "info") == 0 ? "_info" : "");
	return true;
}

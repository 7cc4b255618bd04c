/* tops_print.c - those with most mail: tables for people, lines of JSON
 *
 * In     a struct tops
 * Out    text
 * Trusts nothing: names are escaped and cut
 * Spec   tops.h; zmailer-report(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "tools/zmailer/report/tops.h"

#include "base/banned.h"

static const struct { const char *name, *head, *kind, *what; } sorts[] = {
	[TOPS_SENDERS] = { "senders", "SENDER", "sender", "MESSAGES" },
	[TOPS_USERS] = { "users", "USER", "user", "MESSAGES" },
	[TOPS_CLIENTS] = { "clients", "CLIENT", "client", "MESSAGES" },
	[TOPS_DOMAINS] = { "domains", "DOMAIN", "domain", "RECIPIENTS" },
};
static const char *const bys[TOPS_BYS] = { "count", "bytes", "failures" };

int
tops_sort_parse(const char *text)
{
	for (int i = 0; i < TOPS_SORTS; i++)
		if (strcmp(text, sorts[i].name) == 0)
			return i;
	return -1;
}

int
tops_by_parse(const char *text)
{
	for (int i = 0; i < TOPS_BYS; i++)
		if (strcmp(text, bys[i]) == 0)
			return i;
	return -1;
}

static void
tops_print_row(const char *name, const uint64_t numbers[TOPS_BYS],
    struct str *out)
{
	struct str clean = STR_INIT;

	str_add_escaped(&clean, slice_of(name));
	str_addf(out, "  %-42.42s %10" PRIu64 " %10" PRIu64 " %8" PRIu64 "\n",
	    clean.buf, numbers[TOPS_BY_COUNT],
	    numbers[TOPS_BY_BYTES] / 1024, numbers[TOPS_BY_FAILURES]);
	str_release(&clean);
}

void
tops_print(struct tops *tops, enum tops_sort sort, enum tops_by by,
    size_t most, struct str *out)
{
	const struct tops_table *table = &tops->tables[sort];

	if (table->count == 0)
		return;
	tops_order(tops, sort, by);
	str_addf(out, "%-44s %10s %10s %8s\n", sorts[sort].head,
	    sorts[sort].what, "KB", "FAILURES");
	for (size_t i = 0; i < table->count && i < most; i++)
		tops_print_row(table->rows[i].name, table->rows[i].numbers,
		    out);
	if (table->count > most)
		str_addf(out, "  and %zu more\n", table->count - most);
	if (table->forgotten == 0)
		return;
	str_addf(out, "  %" PRIu64 " times a name with few was left out; "
	    "together they had:\n", table->forgotten);
	tops_print_row("(others)", table->others, out);
}

static void
tops_json_row(const char *kind, const char *name,
    const uint64_t numbers[TOPS_BYS], struct str *out)
{
	json_open_answer(out);
	json_text(out, "kind", slice_of(kind));
	json_text(out, "name", slice_of(name));
	for (int by = 0; by < TOPS_BYS; by++)
		json_number(out, bys[by], (int64_t)numbers[by]);
	json_close(out);
}

void
tops_print_json(struct tops *tops, enum tops_sort sort, enum tops_by by,
    size_t most, struct str *out)
{
	const struct tops_table *table = &tops->tables[sort];

	tops_order(tops, sort, by);
	for (size_t i = 0; i < table->count && i < most; i++)
		tops_json_row(sorts[sort].kind, table->rows[i].name,
		    table->rows[i].numbers, out);
	if (table->forgotten > 0)
		tops_json_row(sorts[sort].kind, "(others)", table->others,
		    out);
}

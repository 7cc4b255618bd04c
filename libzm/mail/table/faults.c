/* faults.c - all that is wrong with a table of lines, not only the first
 *
 * In     the text of a table, read anew
 * Out    a call for each fault
 * Holds  nothing
 * Trusts no text: a bad line is told and left out
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/mem.h"
#include "mail/table/internal.h"
#include "mail/table/type.h"

#include "base/banned.h"

struct faults {
	table_fault_fn	*fn;
	void		*context;
};

static void
fault_tell(void *context, unsigned line, const char *what)
{
	struct faults *faults = context;

	faults->fn(faults->context, line, what, false);
}

static void
fault_check_entry(const struct faults *faults,
    const struct table_contents *contents, const struct table_entry *entry,
    bool is_networks)
{
	struct slice key = { contents->text + entry->key, entry->key_n };
	const struct table_entry *first = table_contents_find(contents, key);
	struct err why, text;
	struct net net;

	if (first != NULL && first->line != entry->line) {
		err_set(&text, "this key stands in line %u already; the "
		    "first counts", first->line);
		faults->fn(faults->context, entry->line, text.text, true);
	} else if (is_networks && net_parse(key, &net, &why) != 0) {
		err_set(&text, "'" SLICE_FMT "' is not a network: %s",
		    SLICE_ARG(slice_first(key, 64)), why.text);
		faults->fn(faults->context, entry->line, text.text, false);
	}
}

/* A copy of the text of a table; NULL: it has none, or none that can be
 * read. */
static char *
fault_text(const struct table *table, size_t *out_bytes)
{
	const char *path = table_path(table), *lines = table_argument(table);
	struct stat seen;
	struct err err;

	if (path[0] != '\0')
		return table_read_file(path, &seen, out_bytes, &err);
	*out_bytes = strlen(lines);
	return memcpy(mem_grow(NULL, *out_bytes + 1, 1), lines,
	    *out_bytes + 1);
}

void
table_faults(struct table *table, bool is_networks, table_fault_fn *fn,
    void *context)
{
	struct faults faults = { fn, context };
	struct slice kind = slice_of(table_kind(table));
	bool is_cidr = slice_is(kind, "cidr"), is_pcre = slice_is(kind, "pcre");
	struct table_contents *contents;
	size_t bytes = 0;
	char *text;

	if (!is_cidr && !is_pcre && !slice_is(kind, "file") &&
	    !slice_is(kind, "inline"))
		return;
	text = fault_text(table, &bytes);
	if (text == NULL)
		return;
	if (is_pcre) {
		table_pcre_look(text, bytes, fault_tell, &faults);
		return;
	}
	contents = table_contents_look(text, bytes, fault_tell, &faults);
	for (size_t i = 0; i < contents->count; i++)
		fault_check_entry(&faults, contents, &contents->entries[i],
		    is_cidr || is_networks);
	table_contents_free(&contents);
}

/* tables.c - tables of the new directory
 *
 * In     the text of a table
 * Out    a file to be written, and its statement
 * Holds  nothing
 * Spec   zmailer-import(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/import.h"

#include "base/banned.h"

const char *
import_table_add(struct import *import, const char *from, const char *type,
    const char *base, struct str *text,
    enum import_reader reader)
{
	const char *name = base;
	int number = 1;

	for (size_t i = 0; i < import->file_count; i++)
		if (strcmp(import->files[i].name, name) == 0) {
			name = arena_printf(import->arena, "%s-%d", base,
			    ++number);
			i = (size_t)-1;
		}
	if (import->file_count == IMPORT_FILES_MAX) {
		import_find(import, &(struct import_finding){
		    .file = import->order[0], .name = from, .value = base,
		    .kind = IMPORT_MISSING, .statement = -1,
		    .text = arena_printf(import->arena, "more than %d "
		    "tables; this one was left out", IMPORT_FILES_MAX) });
		str_release(text);
		return name;
	}
	import->files[import->file_count++] = (struct import_file){
		.name = name,
		.text = *text,
		.reader = reader
	};
	str_init(text);
	import_say(import, IMPORT_TABLES, from, "table %s %s:%s/%s", name,
	    type, import->to, name);
	return name;
}

void
import_row_note(struct import *import, const char *path,
    const struct import_entry *entry, enum import_kind kind,
    const char *text)
{
	struct import_finding finding = {
	    .file = import_file_name(import, path), .line = entry->line,
	    .kind = kind, .text = text, .statement = -1 };

	finding.name = slice_dup(import->arena, entry->key);
	finding.value = slice_dup(import->arena, entry->value);
	import_find(import, &finding);
}

const char *
import_no_aliases_say(struct import *import)
{
	if (!import->has_no_aliases)
		import_say(import, IMPORT_TABLES, "", "table none-here { }");
	import->has_no_aliases = true;
	return "<none-here>";
}

/* rows.c - the statements of exim4.conf, by their names
 *
 * In     rows that were read
 * Out    values; what came of them
 * Holds  nothing
 * Spec   tools/zmailer/import/exim/exim4.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>
#include <string.h>

#include "tools/zmailer/import/exim/exim4.h"

#include "base/banned.h"

struct exim4_row *
exim4_option(struct exim4 *exim, const struct exim4_driver *driver,
    const char *name)
{
	struct exim4_row *found = NULL;

	for (size_t i = driver->first + 1; i < driver->end; i++)
		if (exim->rows[i].said.kind == EXIM4_OPTION &&
		    exim->rows[i].said.section == driver->section &&
		    slice_is(exim->rows[i].said.name, name)) {
			found = &exim->rows[i];
			found->is_used = true;
		}
	return found;
}

struct slice
exim4_value(struct exim4 *exim, const struct exim4_driver *driver,
    const char *name)
{
	struct exim4_row *row = exim4_option(exim, driver, name);

	return row == NULL ? SLICE("") : row->value;
}

bool
exim4_flag(struct exim4 *exim, const struct exim4_driver *driver,
    const char *name)
{
	struct exim4_row *row = exim4_option(exim, driver, name);

	if (exim4_option(exim, driver, arena_printf(exim->import->arena,
	    "no_%s", name)) != NULL)
		return false;
	return row != NULL && !slice_is(row->value, "false") &&
	    !slice_is(row->value, "no");
}

struct exim4_row *
exim4_main(struct exim4 *exim, const char *name)
{
	struct exim4_row *found = NULL;

	for (size_t i = 0; i < exim->count; i++)
		if (exim->rows[i].said.kind == EXIM4_OPTION &&
		    exim->rows[i].said.section == EXIM4_MAIN &&
		    exim->rows[i].said.wrong == NULL &&
		    slice_is(exim->rows[i].said.name, name))
			found = &exim->rows[i];
	return found;
}

struct exim4_driver *
exim4_driver_of(struct exim4 *exim, enum exim4_section section,
    struct slice name)
{
	for (size_t i = 0; i < exim->driver_count; i++)
		if (exim->drivers[i].section == section &&
		    slice_equal(exim->drivers[i].name, name))
			return &exim->drivers[i];
	return NULL;
}

struct slice
exim4_filled(struct exim4 *exim, struct slice value)
{
	struct exim4_row *origin = exim4_main(exim, "qualify_domain");
	struct slice plain = exim4_plain(exim->import->arena, value);
	const struct { const char *name; struct slice value; } rows[] = {
		{ "$primary_hostname", slice_of(exim->host) },
		{ "$qualify_domain", origin != NULL &&
		    slice_find(origin->value, '$') == origin->value.n &&
		    origin->value.n > 0 && origin->value.p[0] != '/' ?
		    origin->value : slice_of(exim->host) },
	};
	struct str out = STR_INIT;

	while (plain.n > 0) {
		size_t i = 0;

		while (i < 2 && !slice_starts(plain, rows[i].name))
			i++;
		if (i < 2)
			str_add_slice(&out, rows[i].value);
		else
			str_addc(&out, plain.p[0]);
		plain = slice_from(plain, i < 2 ? strlen(rows[i].name) : 1);
	}
	plain = slice_copy(exim->import->arena, str_slice(&out));
	str_release(&out);
	return plain;
}

void
exim4_say(struct exim4 *exim, struct exim4_row *row, enum import_part part,
    const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = import_text(exim->import, format, args);
	va_end(args);
	import_item_taken(exim->import, &row->item, import_say_once(
	    exim->import, part, text));
}

void
exim4_note(struct exim4 *exim, struct exim4_row *row, enum import_kind kind,
    const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = import_text(exim->import, format, args);
	va_end(args);
	import_item_note(exim->import, &row->item, kind, "%s", text);
}

void
exim4_driver_say(struct exim4 *exim, struct exim4_driver *driver,
    enum import_part part, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = import_text(exim->import, format, args);
	va_end(args);
	driver->statement = import_say_once(exim->import, part, text);
}

/* rows.c - the statements of smtpd.conf, word by word
 *
 * In     rows that were read
 * Out    their words; what came of them
 * Holds  nothing
 * Spec   tools/zmailer/import/opensmtpd/opensmtpd.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>

#include "grammar/units.h"
#include "tools/zmailer/import/opensmtpd/opensmtpd.h"

#include "base/banned.h"

/* "KEYWORD NAME" */
static struct slice
row_name(struct opensmtpd *smtpd, const char *keyword, struct slice name)
{
	return slice_of(arena_printf(smtpd->import->arena, "%s " SLICE_FMT,
	    keyword, SLICE_ARG(name)));
}

void
opensmtpd_rows_name(struct opensmtpd *smtpd)
{
	for (size_t i = 0; i < smtpd->count; i++)
		if (smtpd->rows[i].count > 1)
			import_name_put(smtpd->import->arena, &smtpd->named,
			    row_name(smtpd, smtpd->rows[i].item.name,
			    smtpd->rows[i].words[1].text), (uint32_t)i + 1);
}

struct opensmtpd_row *
opensmtpd_row_of(struct opensmtpd *smtpd, const char *keyword,
    struct slice name)
{
	uint32_t number = import_name_number(&smtpd->named, row_name(smtpd,
	    keyword, name));

	return number == 0 ? NULL : &smtpd->rows[number - 1];
}

const struct opensmtpd_word *
opensmtpd_word(struct opensmtpd_row *row)
{
	return row->at < row->count ? &row->words[row->at++] : NULL;
}

bool
opensmtpd_is(struct opensmtpd_row *row, const char *text)
{
	if (row->at >= row->count ||
	    row->words[row->at].kind == OPENSMTPD_STRING ||
	    row->words[row->at].kind == OPENSMTPD_TABLE ||
	    !slice_is(row->words[row->at].text, text))
		return false;
	row->at++;
	return true;
}

struct slice
opensmtpd_text(struct opensmtpd_row *row)
{
	const struct opensmtpd_word *word = opensmtpd_word(row);

	return word == NULL ? SLICE("") : word->text;
}

void
opensmtpd_say(struct opensmtpd *smtpd, struct opensmtpd_row *row,
    enum import_part part, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = import_text(smtpd->import, format, args);
	va_end(args);
	import_item_taken(smtpd->import, &row->item, import_say_once(
	    smtpd->import, part, text));
}

void
opensmtpd_unknown(struct opensmtpd *smtpd, struct opensmtpd_row *row)
{
	struct slice word = opensmtpd_text(row);

	import_item_note(smtpd->import, &row->item, IMPORT_MISSING,
	    "\"" SLICE_FMT "\" is not known to zmailer import: see what it "
	    "does in smtpd.conf(5), and `zmailer help`", SLICE_ARG(word));
}

const char *
opensmtpd_span(struct opensmtpd *smtpd, struct slice text)
{
	int64_t ms;

	return units_span_ms(text, &ms, NULL) == 0 && ms > 0 ?
	    slice_dup(smtpd->import->arena, text) : NULL;
}

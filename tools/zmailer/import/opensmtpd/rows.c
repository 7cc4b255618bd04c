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
#include <string.h>

#include "grammar/units.h"
#include "tools/zmailer/import/opensmtpd/opensmtpd.h"

#include "base/banned.h"

struct opensmtpd_row *
opensmtpd_row_of(struct opensmtpd *smtpd, const char *keyword,
    struct slice name)
{
	for (size_t i = smtpd->count; i-- > 0;)
		if (smtpd->rows[i].count > 1 &&
		    strcmp(smtpd->rows[i].item.name, keyword) == 0 &&
		    slice_equal(smtpd->rows[i].words[1].text, name))
			return &smtpd->rows[i];
	return NULL;
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
	/* what was said before is not said again */
	for (size_t i = 0; i < smtpd->import->statement_count; i++)
		if (strcmp(smtpd->import->statements[i].text, text) == 0) {
			import_item_taken(smtpd->import, &row->item, (int)i);
			return;
		}
	import_item_taken(smtpd->import, &row->item, import_say(smtpd->import,
	    part, "", "%s", text));
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

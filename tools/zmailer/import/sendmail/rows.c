/* rows.c - the calls of sendmail.mc, by their names
 *
 * In     rows that were read
 * Out    their arguments; what came of them
 * Holds  nothing
 * Spec   tools/zmailer/import/sendmail/sendmail.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdarg.h>
#include <string.h>

#include "base/ascii.h"
#include "tools/zmailer/import/sendmail/sendmail.h"

#include "base/banned.h"

enum { FILL_TURNS_MAX = 5, FILL_BYTES_MAX = 4096 };

struct slice
sendmail_argument(const struct sendmail_row *row, size_t n)
{
	return n < row->count ? slice_trim(row->arguments[n]) : SLICE("");
}

struct sendmail_row *
sendmail_row_of(struct sendmail *mail, const char *name, const char *first)
{
	for (size_t i = mail->count; i-- > 0;)
		if (strcmp(mail->rows[i].item.name, name) == 0 &&
		    !mail->rows[i].is_text && slice_is(sendmail_argument(
		    &mail->rows[i], 0), first))
			return &mail->rows[i];
	return NULL;
}

struct slice
sendmail_define(struct sendmail *mail, const char *name)
{
	struct sendmail_row *row = sendmail_row_of(mail, "define", name);

	return row == NULL ? SLICE("") : sendmail_argument(row, 1);
}

/* The value of a name; the name itself if it is not defined. */
static struct slice
name_value(struct sendmail *mail, struct slice name)
{
	struct sendmail_row *row;

	if (slice_is(name, "MAIL_SETTINGS_DIR"))
		return SLICE("/etc/mail/");
	row = sendmail_row_of(mail, "define", slice_dup(mail->import->arena,
	    name));
	if (row == NULL)
		return name;
	if (!row->item.is_told)
		sendmail_note(mail, row, IMPORT_NOT_NEEDED,
		    "it only stands in other definitions");
	return sendmail_argument(row, 1);
}

/* Each name once; quotes fall off. */
static struct slice
names_fill(struct sendmail *mail, struct slice text)
{
	struct str out = STR_INIT;
	struct slice filled;

	while (text.n > 0) {
		size_t n = 0;

		while (n < text.n && (ascii_is_alnum(text.p[n]) ||
		    text.p[n] == '_'))
			n++;
		if (n > 0)
			str_add_slice(&out, name_value(mail, slice_first(text,
			    n)));
		else if (text.p[0] != '`' && text.p[0] != '\'')
			str_addc(&out, text.p[0]);
		text = slice_from(text, n > 0 ? n : 1);
	}
	filled = slice_copy(mail->import->arena, str_slice(&out));
	str_release(&out);
	return filled;
}

struct slice
sendmail_filled(struct sendmail *mail, struct slice text)
{
	for (int turn = 0; turn < FILL_TURNS_MAX; turn++) {
		struct slice filled = names_fill(mail, text);

		if (slice_equal(filled, text) ||
		    filled.n > FILL_BYTES_MAX)
			break;
		text = filled;
	}
	return text;
}

bool
sendmail_has(struct sendmail *mail, const char *feature)
{
	return sendmail_row_of(mail, "FEATURE", feature) != NULL;
}

void
sendmail_say(struct sendmail *mail, struct sendmail_row *row,
    enum import_part part, const char *format, ...)
{
	va_list args;
	const char *text;

	va_start(args, format);
	text = import_text(mail->import, format, args);
	va_end(args);
	import_item_taken(mail->import, &row->item, import_say_once(
	    mail->import, part, text));
}

void
sendmail_note(struct sendmail *mail, struct sendmail_row *row,
    enum import_kind kind, const char *format, ...)
{
	va_list args;
	const char *text;

	va_start(args, format);
	text = import_text(mail->import, format, args);
	va_end(args);
	import_item_note(mail->import, &row->item, kind, "%s", text);
}

bool
sendmail_apply(struct sendmail *mail, struct sendmail_row *row,
    const struct sendmail_rule *rules, struct slice name)
{
	while (rules->name != NULL && !slice_is(name, rules->name))
		rules++;
	if (rules->name == NULL)
		return false;
	if (rules->run != NULL)
		rules->run(mail, row);
	else
		sendmail_note(mail, row, rules->kind, "%s", rules->text);
	return true;
}

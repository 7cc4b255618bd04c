/* bounce_words.c - the part of a report that people read
 *
 * In     recipients and their outcomes; forms
 * Out    text, one language after the other
 * Holds  nothing
 * Spec   RFC 6522 section 3; zmailer-forms(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "scheduler/report/bounce_internal.h"

#include "base/banned.h"

const struct report_form *
bounce_form(const struct bounce *bounce, size_t i)
{
	return i < bounce->form_count ? bounce->forms[i] : form_english();
}

static void
words_add_text(struct str *out, const char *indent,
    const struct report_form *form,
    enum form_key key, const char *name, const char *value)
{
	struct str text = STR_INIT;

	form_add(&text, form, key, name, value);
	bounce_add_wrapped(out, indent, str_slice(&text));
	str_release(&text);
}

static void
words_add_time(struct str *out, const struct report_form *form,
    enum form_key key, int64_t wall_s)
{
	char date[CLOCK_TEXT_BYTES];

	clock_rfc5322(wall_s, date);
	words_add_text(out, "    ", form, key, "date", date);
}

/* What the other side said, in its own words and line. */
static void
words_add_said(const struct report_form *form,
    const struct control_record *last, struct str *out)
{
	if (last == NULL) {
		words_add_text(out, "    ", form, FORM_UNREACHED, NULL, NULL);
		return;
	}
	if (last->verdict.who[0] != '\0')
		words_add_text(out, "    ", form, FORM_SAID, "who",
		    last->verdict.who);
	str_adds(out, "    ");
	bounce_add_value(out, slice_of(last->verdict.text));
	str_addc(out, '\n');
}

static void
words_add_person(const struct bounce *bounce, const struct report_form *form,
    const struct bounce_rcpt *entry, struct str *out)
{
	const struct control_record *last = entry->rcpt->last;
	const struct terms *terms = &bounce->control->terms;
	const char *action = bounce_action(entry);

	str_adds(out, "  <");
	bounce_add_value(out, entry->rcpt->user);
	str_adds(out, ">\n");
	words_add_said(form, last, out);
	if (bounce_rcpt_kind(entry) == BOUNCE_FAILED)
		bounce_add_wrapped(out, "    ", slice_of(form_advice(form,
		    last->verdict.status)));
	else if (strcmp(action, "relayed") == 0)
		words_add_text(out, "    ", form, FORM_RELAYED, NULL, NULL);
	else if (strcmp(action, "expanded") == 0)
		words_add_text(out, "    ", form, FORM_EXPANDED, NULL, NULL);
	else if (bounce_rcpt_kind(entry) == BOUNCE_DELAYED)
		words_add_time(out, form, FORM_UNTIL, entry->until_s);
	if (terms->by_s > 0 && bounce_rcpt_kind(entry) != BOUNCE_DELIVERED)
		words_add_time(out, form, FORM_BY, terms->by_s);
	str_addc(out, '\n');
}

static void
words_add_language(const struct bounce *bounce, const struct report_form *form,
    struct str *out)
{
	enum bounce_kind gravest = bounce_kind(bounce);

	words_add_text(out, "", form, FORM_OPENING, "host", bounce->host);
	for (int kind = BOUNCE_FAILED; kind <= BOUNCE_DELIVERED; kind++) {
		bool is_opened = false;

		for (size_t i = 0; i < bounce->rcpt_count; i++) {
			if ((int)bounce_rcpt_kind(&bounce->rcpts[i]) != kind)
				continue;
			if (!is_opened) {
				str_addc(out, '\n');
				words_add_text(out, "", form,
				    (enum form_key)(kind +
				    (kind == (int)gravest ? FORM_FAILED :
				    FORM_ALSO_FAILED)), NULL, NULL);
				str_addc(out, '\n');
			}
			is_opened = true;
			words_add_person(bounce, form, &bounce->rcpts[i], out);
		}
	}
	words_add_text(out, "", form, FORM_CLOSING, "id", bounce->control->id);
}

void
bounce_add_people(const struct bounce *bounce, struct str *out)
{
	words_add_language(bounce, bounce_form(bounce, 0), out);
	for (size_t i = 1; i < bounce->form_count; i++) {
		str_addf(out, "\n---- %s ----\n\n",
		    bounce->forms[i]->texts[FORM_NAME]);
		words_add_language(bounce, bounce->forms[i], out);
	}
}

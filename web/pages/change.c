/* change.c - orders about destinations, and changes of the configuration
 *
 * In     a form: which change, of what
 * Out    a verb of zmailer(8).  First what it would do: its dry run, or, of
 *        destinations, those that it means; when that was confirmed the verb
 *        itself, which is in the journal with the name of who runs us
 * Spec   pages.h; zmailer-queue(8), zmailer-block(8), zmailer-limit(8),
 *        zmailer-config(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "base/json.h"
#include "web/pages/pages.h"
#include "web/page/html.h"

#include "base/banned.h"

enum { WORDS_FIXED = 5, FIELDS = 3, FIELD_BYTES_MAX = 300 };

/* What can be changed: a row each. */
static const struct change_row {
	const char	*name;
	const char	*words[WORDS_FIXED];	/* the verb, before "--" */
	const char	*fields[FIELDS];	/* after "--"; "?": may be
						 * empty */
	const char	*option;	/* of a field of the same name */
	bool		 has_for, has_reason;
	bool		 is_of_destinations;	/* no dry run */
	const char	*button, *asks;
	const char	*back;		/* the change that takes it back, of
					 * the same fields */
} change_rows[] = {
	{ "block", { "block" }, { "whom" }, NULL, true, true, false, "Block",
	    "Refuse this from now on?", "unblock" },
	{ "unblock", { "unblock" }, { "whom" }, NULL, false, true, false,
	    "Take the block back", "Take this block back?", NULL },
	{ "limit-sender", { "limit", "sender" }, { "whom", "rate" }, NULL,
	    true, true, false, "Limit", "Limit this sender?",
	    "unlimit-sender" },
	{ "unlimit-sender", { "limit", "remove", "sender" }, { "whom" }, NULL,
	    false, true, false, "Take the limit back", "Take this limit back?",
	    NULL },
	{ "limit-dest", { "limit", "dest" }, { "whom", "?sessions", "?rate" },
	    NULL, true, true, false, "Limit", "Limit this destination?",
	    "unlimit-dest" },
	{ "unlimit-dest", { "limit", "remove", "dest" }, { "whom" }, NULL,
	    false, true, false, "Take the limit back", "Take this limit back?",
	    NULL },
	{ "undo", { "config", "undo" }, { "version" }, NULL, false, true,
	    false, "Go back", "Make the configuration what it was?", NULL },
	{ "suspend", { "suspend" }, { "whom" }, NULL, true, true, true,
	    "Suspend", "Begin no deliveries there?", "resume" },
	{ "resume", { "resume" }, { "whom" }, NULL, false, false, true,
	    "Resume", "Deliver there again?", NULL },
	{ "pin", { "pin" }, { "whom" }, "limit", true, true, true, "Pin",
	    "Have so many agents at a time there, whatever is learned?",
	    "unpin" },
	{ "unpin", { "pin", "--limit", "0" }, { "whom" }, NULL, false, true,
	    true, "Unpin", "Let what is learned say how many agents?", NULL },
	{ "drain", { "drain", "--timeout", "1s" }, { NULL }, NULL, false, true,
	    true, "Drain", "Begin no deliveries anywhere, until it is taken "
	    "back?", "undrain" },
	{ "undrain", { "undrain" }, { NULL }, NULL, false, false, true,
	    "Deliver again", "Deliver again?", "drain" },
};

static const struct change_row *
change_find(struct slice name)
{
	for (size_t i = 0; i < sizeof(change_rows) / sizeof(change_rows[0]);
	    i++)
		if (slice_is(name, change_rows[i].name))
			return &change_rows[i];
	return NULL;
}

static bool
change_is_confirmed(const struct visit *visit)
{
	return slice_is(form_get(&visit->form, "step"), "do");
}

static struct slice
change_field(const struct visit *visit, const char *name)
{
	return slice_trim(form_get(&visit->form, name[0] == '?' ? name + 1 :
	    name));
}

/* Words of ours choose a form of a verb; what was typed is never one. */
static int
change_look(struct visit *visit, const struct change_row *row)
{
	static const char *const others[] = { "for", "reason", "limit" };

	for (size_t i = 0; i < FIELDS && row->fields[i] != NULL; i++) {
		struct slice value = change_field(visit, row->fields[i]);

		if (value.n == 0 && row->fields[i][0] != '?')
			return visit_refuse(visit, "A field is empty.");
		if (value.n > FIELD_BYTES_MAX || slice_is(value, "list"))
			return visit_refuse(visit, "A field is not what it is "
			    "for.");
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (change_field(visit, others[i]).n > REASON_BYTES_MAX)
			return visit_refuse(visit, "The reason is longer than "
			    "200 bytes.");
	if (row->option != NULL && change_field(visit, row->option).n == 0)
		return visit_refuse(visit, "A field is empty.");
	return 0;
}

static void
change_add_option(struct visit *visit, const char *field, const char **words,
    size_t *n)
{
	struct slice value = change_field(visit, field);

	if (value.n == 0)
		return;
	words[(*n)++] = arena_printf(visit->arena, "--%s", field);
	words[(*n)++] = slice_dup(visit->arena, value);
}

static void
change_ask_verb(struct visit *visit, const struct change_row *row)
{
	const char *words[QUESTION_WORDS_MAX] = { NULL };
	size_t n = 0;

	while (n < WORDS_FIXED && row->words[n] != NULL) {
		words[n] = row->words[n];
		n++;
	}
	words[n++] = change_is_confirmed(visit) ? "--yes" : "--dry-run";
	if (row->has_for)
		change_add_option(visit, "for", words, &n);
	if (row->option != NULL)
		change_add_option(visit, row->option, words, &n);
	if (row->has_reason && change_is_confirmed(visit))
		change_add_option(visit, "reason", words, &n);
	words[n++] = "--";
	for (size_t i = 0; i < FIELDS && row->fields[i] != NULL; i++)
		if (change_field(visit, row->fields[i]).n > 0)
			words[n++] = slice_dup(visit->arena, change_field(
			    visit, row->fields[i]));
	visit_ask_verb(visit, "change", words);
}

/* Which destinations are meant: "channel/host" or a host, globs; all. */
static void
change_ask_destinations(struct visit *visit, const struct change_row *row)
{
	struct question *question = visit_ask_socket(visit, "change",
	    "destinations");
	struct slice whom = row->fields[0] != NULL ? change_field(visit,
	    row->fields[0]) : SLICE("");
	size_t slash = slice_find(whom, '/');

	if (whom.n == 0 || slice_is(whom, "all"))
		return;
	if (slash < whom.n)
		json_text(&question->request, "channel", slice_first(whom,
		    slash));
	json_text(&question->request, "host", slash < whom.n ?
	    slice_from(whom, slash + 1) : whom);
}

static int
change_page_begin(struct visit *visit)
{
	const struct change_row *row = change_find(form_get(&visit->form,
	    "do"));

	if (row == NULL)
		return visit_refuse(visit, "There is no such change.");
	if (change_look(visit, row) < 0)
		return -1;
	if (row->is_of_destinations && !change_is_confirmed(visit))
		change_ask_destinations(visit, row);
	else
		change_ask_verb(visit, row);
	return 0;
}

/* ---- what is shown ------------------------------------------------------ */

/* What resume does nothing about is not shown. */
static bool
change_line_is_suspended(struct slice line)
{
	return json_is(line, "suspended", "true");
}

static void
change_add_destinations(struct visit *visit, const struct change_row *row)
{
	static const struct line_column columns[] = {
		{ "Channel", "channel", LINE_TEXT, NULL },
		{ "Host", "host", LINE_TEXT, NULL },
		{ "State", "state", LINE_TEXT, NULL },
		{ "Ready", "ready", LINE_NUMBER, NULL },
		{ "Waiting", "waiting", LINE_NUMBER, NULL },
		{ "Active", "active", LINE_NUMBER, NULL },
	};
	bool is_resume = strcmp(row->name, "resume") == 0;
	const struct lines lines = { .answer = "change",
	    .caption = is_resume ? "Destinations that are suspended, and are "
	    "meant" : "Destinations that have mail and are meant",
	    .fits = is_resume ? change_line_is_suspended : NULL,
	    .none = is_resume ? "No destination that is known now is "
	    "suspended; orders about those that come later end, too." :
	    "No destination that is known now is meant; those that come later "
	    "are.", .columns = columns, .count = 6 };
	struct slice rest = str_slice(&visit_answer(visit, "change")->text);
	struct slice line;
	size_t count = 0;

	while (answer_line(&rest, &line))
		count += lines.fits == NULL || lines.fits(line);
	str_addf(&visit->out, "<p>%zu destination%s</p>\n", count,
	    count == 1 ? "" : "s");
	page_add_lines(visit, &lines);
}

static void
change_add_hidden(struct visit *visit, const struct change_row *row)
{
	struct str *out = &visit->out;

	html_hidden(out, "csrf", slice_of(visit->csrf));
	html_hidden(out, "step", SLICE("do"));
	html_hidden(out, "do", slice_of(row->name));
	for (size_t i = 0; i < FIELDS && row->fields[i] != NULL; i++)
		html_hidden(out, row->fields[i][0] == '?' ?
		    row->fields[i] + 1 : row->fields[i], change_field(visit,
		    row->fields[i]));
	if (row->has_for)
		html_hidden(out, "for", change_field(visit, "for"));
	if (row->option != NULL)
		html_hidden(out, row->option, change_field(visit,
		    row->option));
}

static void
change_confirm(struct visit *visit, const struct change_row *row)
{
	struct slice span = change_field(visit, "for");
	struct str *out = &visit->out;

	str_adds(out, "<form class=\"orders\" method=\"post\" "
	    "action=\"/change\">");
	change_add_hidden(visit, row);
	str_adds(out, "<p><strong>");
	html_words(out, row->asks);
	str_adds(out, "</strong>");
	for (size_t i = 0; i < FIELDS && row->fields[i] != NULL; i++) {
		str_addc(out, ' ');
		html_element(out, "code", change_field(visit,
		    row->fields[i]));
	}
	if (row->option != NULL)
		html_element(out, "code", change_field(visit, row->option));
	if (row->has_for && span.n > 0) {
		str_adds(out, " for ");
		html_element(out, "code", span);
	}
	str_adds(out, "</p>");
	if (row->has_reason)
		str_addf(out, "<p><label for=\"reason\">Reason, for the "
		    "journal</label> <input id=\"reason\" name=\"reason\" "
		    "maxlength=\"%d\"></p>", REASON_BYTES_MAX);
	str_addf(out, "<p class=\"buttons\"><button>%s</button> "
	    "<a href=\"/\">No</a></p></form>\n", row->button);
}

static void
change_add_back(struct visit *visit, const struct change_row *row)
{
	const struct change_row *back = row->back == NULL ? NULL :
	    change_find(slice_of(row->back));

	if (back == NULL || visit_answer(visit, "change")->kind !=
	    ANSWER_GOOD)
		return;
	str_addf(&visit->back, "to=/change&do=%s&button=%s", back->name,
	    back->button);
	for (size_t i = 0; i < FIELDS && back->fields[i] != NULL; i++) {
		str_addf(&visit->back, "&%s=", back->fields[i]);
		html_url(&visit->back, change_field(visit, back->fields[i]));
	}
}

static void
change_page_show(struct visit *visit)
{
	const struct change_row *row = change_find(form_get(&visit->form,
	    "do"));
	const struct question_answer *answer = visit_answer(visit, "change");

	if (change_is_confirmed(visit)) {
		change_add_back(visit, row);
		str_add_slice(&visit->out, str_slice(&answer->text));
		str_add_slice(&visit->out, str_slice(&answer->trouble));
		visit->goes_to = "/done";
		return;
	}
	if (row->is_of_destinations) {
		change_add_destinations(visit, row);
	} else {
		page_add_trouble(&visit->out, answer);
		if (answer->text.len > 0)
			html_block(&visit->out, slice_trim(str_slice(
			    &answer->text)));
	}
	if (answer->kind == ANSWER_GOOD)
		change_confirm(visit, row);
}

const struct page_row page_change = {
	.path = "/change", .title = "Change", .none_status = 404,
	.is_order = true, .begin = change_page_begin, .show = change_page_show,
};

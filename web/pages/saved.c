/* saved.c - searches that a user saved under a name
 *
 * In     zmailer search list; a form: save these words as, remove
 * Out    links, forms; the verb that the scheduler keeps it by
 * Trusts nothing of a saved name or selector: they are text as any other
 * Spec   pages.h; doc/protocol/control.md section 6, save-search
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/json.h"
#include "grammar/selector.h"
#include "web/pages/pages.h"
#include "web/page/html.h"

#include "base/banned.h"

enum { SAVED_NAME_BYTES_MAX = 64, SAVED_SELECTOR_BYTES_MAX = 512 };

void
saved_ask(struct visit *visit)
{
	static const char *const words[] = { "search", "list", "--json",
	    NULL };

	visit_ask_verb(visit, "saved", words);
}

/* The fields of a form about a search of that name, on the page of typed. */
static void
saved_begin_form(struct visit *visit, const char *class, struct slice typed)
{
	str_addf(&visit->out, "<form class=\"%s\" method=\"post\" "
	    "action=\"/saved\">", class);
	html_hidden(&visit->out, "csrf", slice_of(visit->csrf));
	html_hidden(&visit->out, "q", typed);
}

static void
saved_add_one(struct visit *visit, struct slice line, struct slice typed)
{
	struct slice name = page_member(visit->arena, line, "name");
	struct slice words = page_member(visit->arena, line, "select");
	struct str *out = &visit->out;

	str_adds(out, "<li><a");
	html_link(out, "/queue", SLICE(""), "q", words);
	html_attribute(out, "title", words);
	if (slice_equal(words, typed))
		str_adds(out, " aria-current=\"true\"");
	str_addc(out, '>');
	html_text(out, name);
	str_adds(out, "</a> ");
	saved_begin_form(visit, "change", typed);
	html_hidden(out, "do", SLICE("remove"));
	html_hidden(out, "name", name);
	str_adds(out, "<button");
	html_attribute(out, "aria-label", slice_of(arena_printf(visit->arena,
	    "Remove " SLICE_FMT, SLICE_ARG(name))));
	str_adds(out, ">Remove</button></form></li>\n");
}

static void
saved_add_form(struct visit *visit, struct slice typed)
{
	if (typed.n == 0 || typed.n > SAVED_SELECTOR_BYTES_MAX)
		return;
	saved_begin_form(visit, "save", typed);
	str_addf(&visit->out, "<label for=\"name\">Save this search as</label>"
	    "<input id=\"name\" name=\"name\" maxlength=\"%d\" required> "
	    "<button name=\"do\" value=\"save\">Save</button></form>\n",
	    SAVED_NAME_BYTES_MAX);
}

/* Who may not ask the scheduler has none: that is no trouble of the page. */
void
saved_show(struct visit *visit, struct slice typed)
{
	const struct question_answer *answer = visit_answer(visit, "saved");
	struct slice rest = str_slice(&answer->text), line;
	struct str *out = &visit->out;
	bool is_first = true;

	if (answer->kind == ANSWER_DENIED)
		return;
	str_adds(out, "<section class=\"saved\" aria-labelledby=\"saved\">"
	    "<h2 id=\"saved\">Saved searches</h2>\n");
	page_add_trouble(out, answer);
	while (answer_line(&rest, &line)) {
		if (page_member(visit->arena, line, "name").n == 0)
			continue;
		str_adds(out, is_first ? "<ul>\n" : "");
		is_first = false;
		saved_add_one(visit, line, typed);
	}
	str_adds(out, is_first ? "<p>None yet: show a search, then save "
	    "it.</p>\n" : "</ul>\n");
	if (answer->kind == ANSWER_GOOD)
		saved_add_form(visit, typed);
	str_adds(out, "</section>\n");
}

/* ---- the form ----------------------------------------------------------- */

static int
saved_begin_save(struct visit *visit, const char *name)
{
	struct slice typed = slice_trim(form_get(&visit->form, "q"));
	const char *words[] = { "search", "save", "--", name,
	    slice_dup(visit->arena, typed), NULL };
	struct selector *parsed;
	size_t column;
	struct err err;

	if (typed.n > SAVED_SELECTOR_BYTES_MAX)
		return visit_refuse(visit, "The search is longer than 512 "
		    "bytes.");
	if (selector_parse(visit->arena, typed, &parsed, &column, &err) < 0)
		return visit_refuse(visit, err.text);
	visit_ask_verb(visit, "change", words);
	return 0;
}

static int
saved_begin(struct visit *visit)
{
	struct slice typed = slice_trim(form_get(&visit->form, "name"));
	const char *name = slice_dup(visit->arena, typed);
	const char *words[] = { "search", "remove", "--", name, NULL };

	if (typed.n == 0 || typed.n > SAVED_NAME_BYTES_MAX)
		return visit_refuse(visit, "A name has 1 to 64 bytes.");
	if (slice_is(form_get(&visit->form, "do"), "save"))
		return saved_begin_save(visit, name);
	if (!slice_is(form_get(&visit->form, "do"), "remove"))
		return visit_refuse(visit, "There is no such form.");
	visit_ask_verb(visit, "change", words);
	return 0;
}

/* Back to the page where the form was. */
static void
saved_end(struct visit *visit)
{
	const struct question_answer *answer = visit_answer(visit, "change");
	struct slice typed = slice_trim(form_get(&visit->form, "q"));
	struct str where = STR_INIT;

	str_adds(&where, "/queue");
	if (typed.n > 0) {
		str_adds(&where, "?q=");
		html_url(&where, typed);
	}
	if (answer->kind == ANSWER_GOOD)
		visit->goes_to = slice_dup(visit->arena, str_slice(&where));
	str_release(&where);
	page_add_trouble(&visit->out, answer);
	str_adds(&visit->out, "<p><a href=\"/queue\">To the queue</a></p>\n");
}

static void
saved_show_end(struct visit *visit)
{
	saved_end(visit);
	if (visit->goes_to != NULL)
		str_reset(&visit->out);
}

const struct page_row page_saved = {
	.path = "/saved", .title = "Saved searches", .none_status = 400,
	.is_order = true, .begin = saved_begin, .show = saved_show_end,
};

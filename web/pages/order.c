/* order.c - orders about mail: shown first, then given
 *
 * In     a form: which order, which messages
 * Out    a verb of zmailer(8): with --dry-run what it would touch; when that
 *        was confirmed the order itself, which is in the journal with the name
 *        of who runs us
 * Spec   pages.h; zmailer-order(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "grammar/selector.h"
#include "web/pages/pages.h"
#include "web/page/html.h"

#include "base/banned.h"

enum { YOUNG_S = 2 };

static const char order_to[] = "--to", order_from[] = "--from";

/* What can be ordered: a row each.  verb is zmailer's, with a flag; needs is
 * an option that it wants (whom, or else why), also of a dry run, for which
 * sample does. */
static const struct order_row {
	const char	*name, *verb, *flag, *needs, *sample;
	const char	*button, *asks;
	const char	*back;		/* the order that takes it back */
	bool		 is_help;	/* who helps some domains may, too */
} order_rows[] = {
	{ "hold", "hold", NULL, NULL, NULL, "Hold", "Keep these from being "
	    "tried, until they are released?", "release", true },
	{ "release", "release", NULL, NULL, NULL, "Release", "Let these go?",
	    NULL, true },
	{ "allow", "release", "--allow", NULL, NULL, "Release and allow",
	    "Let these go, and accept their senders from now on?", NULL,
	    false },
	{ "thaw", "thaw", NULL, NULL, NULL, "Thaw", "Let these, which are "
	    "frozen, be tried again?", NULL, false },
	{ "retry", "retry", NULL, NULL, NULL, "Try now", "Try these now?",
	    NULL, true },
	{ "reroute", "reroute", NULL, NULL, NULL, "Route again", "Route these "
	    "again, as the configuration is now?", NULL, false },
	{ "forward", "forward", NULL, order_to, "postmaster", "Forward", "Send "
	    "these to somebody, each as a part of a new message?", NULL,
	    false },
	{ "note", "note", NULL, "--reason", "-", "Note", "Write a note beside "
	    "these?", NULL, false },
	{ "resubmit", "resubmit", order_from, NULL, NULL, "Route now", "Route "
	    "these now, as the configuration is now?", NULL, false },
	{ "learn-spam", "learn", "spam", NULL, NULL, "Learn as spam", "Hand "
	    "these to the filter, as spam? (They stay where they are.)", NULL,
	    false },
	{ "learn-ham", "learn", "ham", NULL, NULL, "Learn as good", "Hand "
	    "these to the filter, as good mail? (They stay where they are.)",
	    NULL, false },
	{ "bounce", "bounce", NULL, NULL, NULL, "Bounce", "Give these up now, "
	    "with a report to their senders?", NULL, false },
	{ "delete", "delete", NULL, NULL, NULL, "Delete", "Put these into "
	    "trash/, without a report to their senders? (They can be brought "
	    "back for a day.)", "undelete", false },
	{ "undelete", "undelete", NULL, NULL, NULL, "Bring back", "Bring these "
	    "back to where they were?", "delete", false },
};

/* Of what the router put aside, and without a reason. */
static bool
order_is_of_router(const struct order_row *row)
{
	return row->flag == order_from;
}

static const struct order_row *
order_find(struct slice name)
{
	for (size_t i = 0; i < sizeof(order_rows) / sizeof(order_rows[0]); i++)
		if (slice_is(name, order_rows[i].name))
			return &order_rows[i];
	return NULL;
}

void
page_begin_orders(struct visit *visit)
{
	if (!visit->may_order)
		return;
	str_adds(&visit->out, "<form class=\"orders\" method=\"post\" "
	    "action=\"/order\">");
	html_hidden(&visit->out, "csrf", slice_of(visit->csrf));
}

void
page_add_tick(struct visit *visit, struct slice id)
{
	struct str *out = &visit->out;

	if (!visit->may_order)
		return;
	str_adds(out, "<input type=\"checkbox\" name=\"id\"");
	html_attribute(out, "value", id);
	html_attribute(out, "aria-label", id);
	str_adds(out, "> ");
}

void
page_end_orders(struct visit *visit, const char *const *verbs)
{
	struct str *out = &visit->out;

	if (!visit->may_order)
		return;
	if (verbs == NULL) {
		str_adds(out, "</form>\n");
		return;
	}
	str_adds(out, "<p class=\"buttons\">");
	for (; *verbs != NULL; verbs++) {
		const struct order_row *row = order_find(slice_of(*verbs));

		if (visit->is_help && !row->is_help)
			continue;
		str_addf(out, "<button name=\"do\" value=\"%s\">%s</button> ",
		    row->name, row->button);
	}
	str_adds(out, "</p><p>What it would touch is shown before it is "
	    "done.</p>\n</form>\n");
}

void
page_add_order(struct visit *visit, const char *order, struct slice selector,
    const char *about)
{
	const struct order_row *row = order_find(slice_of(order));
	struct str *out = &visit->out;

	if (!visit->may_order || (visit->is_help && !row->is_help))
		return;
	str_adds(out, "<form class=\"change\" method=\"post\" "
	    "action=\"/order\">");
	html_hidden(out, "csrf", slice_of(visit->csrf));
	html_hidden(out, "do", slice_of(order));
	html_hidden(out, "every", SLICE("1"));
	html_hidden(out, "q", selector);
	str_adds(out, "<button");
	html_attribute(out, "aria-label", slice_of(arena_printf(visit->arena,
	    "%s %s", row->button, about)));
	str_addf(out, ">%s</button></form>", row->button);
}

/* ---- which messages ----------------------------------------------------- */

/* "id:A or id:B": these and no others.  0 with how many; -1: one is no id. */
static int
order_add_ids(const struct visit *visit, struct str *selector)
{
	struct slice id;
	size_t at = 0;
	int count = 0;

	while (form_next(&visit->form, "id", &at, &id)) {
		if (!page_is_id(id))
			return -1;
		str_addf(selector, "%sid:" SLICE_FMT, count > 0 ? " or " : "",
		    SLICE_ARG(id));
		count++;
	}
	return count;
}

/* What came after the dry run was not shown, and is not touched.  Ages are
 * whole seconds, and the scheduler's may be one less than that of the files:
 * what is younger than YOUNG_S is not shown either. */
static int
order_add_matching(const struct visit *visit, struct slice typed,
    struct str *selector)
{
	struct slice shown = form_get(&visit->form, "shown");
	uint64_t shown_s = 0, age_s = YOUNG_S;

	if (shown.n > 0 && !slice_number(shown, 1, (uint64_t)visit->now_s,
	    &shown_s))
		return -1;
	if (shown_s > 0)
		age_s = (uint64_t)visit->now_s - shown_s + 1;
	str_addf(selector, "(" SLICE_FMT ") age>=%" PRIu64 "s",
	    SLICE_ARG(typed), age_s);
	return 0;
}

static bool
order_is_of_all(const struct visit *visit)
{
	return slice_is(form_get(&visit->form, "every"), "1");
}

/* What is typed is a selector by itself, so that its brackets end where the
 * ones around it do. */
static int
order_add_typed(struct visit *visit, struct str *selector)
{
	struct slice typed = slice_trim(form_get(&visit->form, "q"));
	struct selector *parsed;
	size_t column;
	struct err err;

	if (typed.n == 0)
		typed = SLICE("all");
	if (selector_parse(visit->arena, typed, &parsed, &column, &err) < 0)
		return visit_refuse(visit, err.text);
	if (order_add_matching(visit, typed, selector) < 0)
		return visit_refuse(visit, "The form is not one of ours.");
	return 0;
}

static int
order_add_selector(struct visit *visit, struct str *selector)
{
	int ids;

	if (order_is_of_all(visit))
		return order_add_typed(visit, selector);
	ids = order_add_ids(visit, selector);
	if (ids > 0)
		return 0;
	return visit_refuse(visit, ids < 0 ? "The form is not one of ours." :
	    "Choose messages, or every message that matches.");
}

static bool
order_is_confirmed(const struct visit *visit)
{
	return slice_is(form_get(&visit->form, "step"), "do");
}

/* The verb and its options, before "--". */
static int
order_add_options(struct visit *visit, const struct order_row *row,
    const char **words, size_t *n)
{
	struct slice reason = slice_trim(form_get(&visit->form, "reason"));
	struct slice to = slice_trim(form_get(&visit->form, "to"));
	bool is_to = row->needs == order_to;
	struct slice needed = is_to ? to : reason;

	if (reason.n > REASON_BYTES_MAX || to.n > REASON_BYTES_MAX)
		return visit_refuse(visit, "The reason, or the address, is "
		    "longer than 200 bytes.");
	if (order_is_confirmed(visit) && row->needs != NULL && needed.n == 0)
		return visit_refuse(visit, is_to ? "Say who shall get it." :
		    "Say what the note is.");
	words[(*n)++] = row->verb;
	if (order_is_of_router(row)) {
		words[(*n)++] = row->flag;
		words[(*n)++] = "deferred";
	}
	words[(*n)++] = order_is_confirmed(visit) ? "--yes" : "--dry-run";
	if (row->flag != NULL && !order_is_of_router(row))
		words[(*n)++] = row->flag;
	if (row->needs != NULL) {
		words[(*n)++] = row->needs;
		words[(*n)++] = order_is_confirmed(visit) ?
		    slice_dup(visit->arena, needed) : row->sample;
	}
	if (order_is_confirmed(visit) && reason.n > 0 &&
	    !order_is_of_router(row) && (row->needs == NULL || is_to)) {
		words[(*n)++] = "--reason";
		words[(*n)++] = slice_dup(visit->arena, reason);
	}
	return 0;
}

static int
order_begin(struct visit *visit)
{
	const struct order_row *row = order_find(form_get(&visit->form,
	    "do"));
	const char *words[QUESTION_WORDS_MAX] = { NULL };
	struct str selector = STR_INIT;
	size_t n = 0;

	if (row == NULL)
		return visit_refuse(visit, "There is no such order.");
	if (visit->is_help && !row->is_help) {
		visit->status = 403;
		str_adds(&visit->out, "Your role may not do that.");
		return -1;
	}
	if (visit_check_where(visit) < 0)
		return -1;
	if (page_where(visit) != WHERE_HERE && (row->needs != NULL ||
	    row->flag != NULL))
		return visit_refuse(visit, "That order is for mail of this "
		    "node alone.");
	if (order_add_options(visit, row, words, &n) < 0)
		return -1;
	visit_add_where(visit, words, &n);
	if (order_add_selector(visit, &selector) < 0) {
		str_release(&selector);
		return -1;
	}
	words[n++] = "--";
	words[n++] = slice_dup(visit->arena, str_slice(&selector));
	visit_ask_verb(visit, "order", words);
	str_release(&selector);
	return 0;
}

/* ---- what is shown ------------------------------------------------------ */

/* The same fields again, with the moment at which it was shown. */
static void
order_add_hidden(struct visit *visit)
{
	static const char *const kept[] = { "do", "q", "every" };
	struct slice id;
	size_t at = 0;

	page_add_where_hidden(visit);
	html_hidden(&visit->out, "csrf", slice_of(visit->csrf));
	html_hidden(&visit->out, "step", SLICE("do"));
	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		html_hidden(&visit->out, kept[i], form_get(&visit->form,
		    kept[i]));
	while (form_next(&visit->form, "id", &at, &id))
		html_hidden(&visit->out, "id", id);
	str_addf(&visit->out, "<input type=\"hidden\" name=\"shown\" value=\""
	    "%" PRId64 "\">", visit->now_s);
}

static void
order_add_field(struct str *out, const char *name, const char *label,
    bool is_needed)
{
	str_addf(out, "<p><label for=\"%s\">%s</label> <input id=\"%s\" "
	    "name=\"%s\" maxlength=\"%d\"%s></p>", name, label, name, name,
	    REASON_BYTES_MAX, is_needed ? " required" : "");
}

static void
order_confirm(struct visit *visit, const struct order_row *row)
{
	bool is_to = row->needs == order_to;
	struct str *out = &visit->out;

	html_block(out, slice_trim(str_slice(&visit_answer(visit,
	    "order")->text)));
	if (order_is_of_all(visit))
		str_adds(out, "<p>What came in the last two seconds, or comes "
		    "from now on, is left alone.</p>\n");
	page_begin_orders(visit);
	order_add_hidden(visit);
	str_adds(out, "<p><strong>");
	html_words(out, row->asks);
	str_adds(out, "</strong></p>");
	if (is_to)
		order_add_field(out, "to", "To which address", true);
	if (!order_is_of_router(row))
		order_add_field(out, "reason", row->needs != NULL && !is_to ?
		    "The note" : "Reason, for the journal",
		    row->needs != NULL && !is_to);
	str_addf(out, "<p class=\"buttons\"><button>%s</button> "
	    "<a href=\"/queue\">No</a></p></form>\n", row->button);
}

/* Which messages it was is known when they were ticked; those that matched
 * may be others now. */
static void
order_add_back(struct visit *visit, const struct order_row *row)
{
	struct slice id;
	size_t at = 0;

	if (row->back == NULL || order_is_of_all(visit) ||
	    visit_answer(visit, "order")->kind != ANSWER_GOOD)
		return;
	str_addf(&visit->back, "to=/order&do=%s&button=%s", row->back,
	    order_find(slice_of(row->back))->button);
	page_add_where_query(visit, "&", &visit->back);
	while (form_next(&visit->form, "id", &at, &id))
		str_addf(&visit->back, "&id=" SLICE_FMT, SLICE_ARG(id));
}

static void
order_show(struct visit *visit)
{
	const struct question_answer *answer = visit_answer(visit, "order");
	const struct order_row *row = order_find(form_get(&visit->form,
	    "do"));

	if (!order_is_confirmed(visit)) {
		page_add_trouble(&visit->out, answer);
		if (answer->text.len > 0)
			order_confirm(visit, row);
		return;
	}
	order_add_back(visit, row);
	str_add_slice(&visit->out, str_slice(&answer->text));
	str_add_slice(&visit->out, str_slice(&answer->trouble));
	visit->goes_to = "/done";
}

const struct page_row page_order = {
	.path = "/order", .title = "Order", .none_status = 404,
	.is_order = true, .begin = order_begin, .show = order_show,
};

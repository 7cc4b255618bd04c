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

/* What can be ordered: a row each.  verb is zmailer's. */
static const struct order_row {
	const char	*verb, *button, *asks;
} order_rows[] = {
	{ "hold", "Hold", "Keep these from being tried, until they are "
	    "released?" },
	{ "release", "Release", "Let these go?" },
	{ "retry", "Try now", "Try these now?" },
	{ "delete", "Delete", "Put these into trash/, without a report to "
	    "their senders? (zmailer undelete brings them back for a day.)" },
};

static const struct order_row *
order_find(struct slice verb)
{
	for (size_t i = 0; i < sizeof(order_rows) / sizeof(order_rows[0]); i++)
		if (slice_is(verb, order_rows[i].verb))
			return &order_rows[i];
	return NULL;
}

void
page_add_buttons(struct str *out, const char *const *verbs)
{
	str_adds(out, "<p class=\"buttons\">");
	for (; *verbs != NULL; verbs++) {
		const struct order_row *row = order_find(slice_of(*verbs));

		str_addf(out, "<button name=\"do\" value=\"%s\">%s</button> ",
		    row->verb, row->button);
	}
	str_adds(out, "</p><p>What it would touch is shown before it is "
	    "done.</p>\n");
}

/* ---- which messages ----------------------------------------------------- */

static int
order_refuse(struct visit *visit, const char *words)
{
	visit->status = 400;
	str_adds(&visit->out, words);
	return -1;
}

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
		return order_refuse(visit, err.text);
	if (order_add_matching(visit, typed, selector) < 0)
		return order_refuse(visit, "The form is not one of ours.");
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
	return order_refuse(visit, ids < 0 ? "The form is not one of ours." :
	    "Choose messages, or every message that matches.");
}

static bool
order_is_confirmed(const struct visit *visit)
{
	return slice_is(form_get(&visit->form, "step"), "do");
}

static int
order_begin(struct visit *visit)
{
	const struct order_row *row = order_find(form_get(&visit->form,
	    "do"));
	struct slice reason = slice_trim(form_get(&visit->form, "reason"));
	const char *words[QUESTION_WORDS_MAX] = { NULL };
	struct str selector = STR_INIT;
	size_t n = 0;

	if (row == NULL)
		return order_refuse(visit, "There is no such order.");
	if (reason.n > REASON_BYTES_MAX)
		return order_refuse(visit, "The reason is longer than 200 "
		    "bytes.");
	if (order_add_selector(visit, &selector) < 0) {
		str_release(&selector);
		return -1;
	}
	words[n++] = row->verb;
	words[n++] = order_is_confirmed(visit) ? "--yes" : "--dry-run";
	if (order_is_confirmed(visit) && reason.n > 0) {
		words[n++] = "--reason";
		words[n++] = slice_dup(visit->arena, reason);
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
order_confirm(struct visit *visit, const struct order_row *row)
{
	struct str *out = &visit->out;

	html_block(out, slice_trim(str_slice(&visit_answer(visit,
	    "order")->text)));
	if (order_is_of_all(visit))
		str_adds(out, "<p>What came in the last two seconds, or comes "
		    "from now on, is left alone.</p>\n");
	str_adds(out, "<form class=\"orders\" method=\"post\" "
	    "action=\"/order\">");
	order_add_hidden(visit);
	str_adds(out, "<p><strong>");
	html_words(out, row->asks);
	str_addf(out, "</strong></p><p><label for=\"reason\">Reason, for the "
	    "journal</label> <input id=\"reason\" name=\"reason\" "
	    "maxlength=\"%d\"></p><p class=\"buttons\"><button>%s</button> "
	    "<a href=\"/queue\">No</a></p></form>\n", REASON_BYTES_MAX,
	    row->button);
}

static void
order_show(struct visit *visit)
{
	const struct answer *answer = visit_answer(visit, "order");
	const struct order_row *row = order_find(form_get(&visit->form,
	    "do"));

	if (!order_is_confirmed(visit)) {
		page_add_trouble(&visit->out, answer);
		if (answer->text.len > 0)
			order_confirm(visit, row);
		return;
	}
	str_add_slice(&visit->out, str_slice(&answer->text));
	str_add_slice(&visit->out, str_slice(&answer->trouble));
	visit->goes_to = "/done";
}

const struct page_row page_order = {
	.path = "/order", .title = "Order", .none_status = 404,
	.begin = order_begin, .show = order_show,
};

/* ---- what was said of it ------------------------------------------------ */

static int
done_begin(struct visit *visit)
{
	return 0;
}

static void
done_show(struct visit *visit)
{
	if (visit->said.n > 0) {
		str_adds(&visit->out, "<div role=\"status\">");
		html_block(&visit->out, slice_trim(visit->said));
		str_adds(&visit->out, "</div>\n");
	}
	str_adds(&visit->out, "<p><a href=\"/queue\">To the queue</a></p>\n");
}

const struct page_row page_done = {
	.path = "/done", .title = "What was done",
	.begin = done_begin, .show = done_show,
};

/* limits.c - who is refused for now, and how much of what is let in
 *
 * In     zmailer block list, limit list
 * Out    tables with a way to take each back; forms for new ones
 * Spec   pages.h; zmailer-block(8), zmailer-limit(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/json.h"
#include "web/pages/pages.h"
#include "web/page/html.h"

#include "base/banned.h"

static int
limits_begin(struct visit *visit)
{
	static const char *const block[] = { "block", "list", "--json", NULL };
	static const char *const limit[] = { "limit", "list", "--json", NULL };

	visit_ask_verb(visit, "blocks", block);
	visit_ask_verb(visit, "limits", limit);
	return 0;
}

/* A text field of a form. */
static void
limits_add_field(struct str *out, const char *form, const char *name,
    const char *label, const char *example, bool is_needed)
{
	str_addf(out, "<p><label for=\"%s-%s\">", form, name);
	html_words(out, label);
	str_addf(out, "</label> <input id=\"%s-%s\" name=\"%s\" "
	    "maxlength=\"300\" autocomplete=\"off\" spellcheck=\"false\" "
	    "placeholder=\"%s\"%s></p>\n", form, name, name, example,
	    is_needed ? " required" : "");
}

static void
limits_form_begin(const struct visit *visit, struct str *out,
    const char *change, const char *heading)
{
	str_addf(out, "<form class=\"new\" method=\"post\" action=\"/change\" "
	    "aria-labelledby=\"%s\"><h3 id=\"%s\">%s</h3>\n", change, change,
	    heading);
	html_hidden(out, "csrf", slice_of(visit->csrf));
	html_hidden(out, "do", slice_of(change));
}

static void
limits_form_end(struct str *out, const char *change)
{
	limits_add_field(out, change, "for", "For how long (empty: until it is "
	    "taken back)", "2h", false);
	str_adds(out, "<p><button>Show what it would change</button></p>"
	    "</form>\n");
}

/* ---- blocks ------------------------------------------------------------- */

static void
block_add_end(struct visit *visit, struct slice line)
{
	page_add_change(visit, &visit->out, "unblock", "whom", page_member(
	    visit->arena, line, "blocked"), "Take back");
}

static void
limits_add_block_form(const struct visit *visit, struct str *out)
{
	limits_form_begin(visit, out, "block", "A new block");
	limits_add_field(out, "block", "whom", "Network, address, "
	    "@domain or user:name", "192.0.2.0/24", true);
	limits_form_end(out, "block");
}

static void
limits_add_blocks(struct visit *visit)
{
	static const struct line_column columns[] = {
		{ "Who is refused", "blocked", LINE_TEXT, NULL },
		{ "Until, by whom, why", "about", LINE_TEXT, NULL },
		{ "Is over", "over", LINE_TEXT, NULL },
		{ "Way back", "blocked", LINE_TEXT, block_add_end },
	};
	static const struct lines lines = { .answer = "blocks",
	    .caption = "Blocks", .none = "Nobody is blocked.",
	    .columns = columns, .count = 4 };

	str_adds(&visit->out, "<section aria-labelledby=\"blocks\"><h2 "
	    "id=\"blocks\">Blocks</h2>\n");
	page_add_lines(visit, &lines);
	if (visit->may_change)
		limits_add_block_form(visit, &visit->out);
	str_adds(&visit->out, "</section>\n");
}

/* ---- limits ------------------------------------------------------------- */

static void
limit_add_place(struct visit *visit, struct slice line)
{
	html_text(&visit->out, slice_of(arena_printf(visit->arena, SLICE_FMT
	    ":" SLICE_FMT, SLICE_ARG(page_member(visit->arena, line, "file")),
	    SLICE_ARG(page_member(visit->arena, line, "line")))));
}

static void
limits_add_limit_forms(const struct visit *visit, struct str *out)
{
	limits_form_begin(visit, out, "limit-sender", "A limit of a sender");
	limits_add_field(out, "limit-sender", "whom", "User, address or "
	    "@domain", "bob", true);
	limits_add_field(out, "limit-sender", "rate", "Recipients in a span",
	    "20/1h", true);
	limits_form_end(out, "limit-sender");
	limits_form_begin(visit, out, "limit-dest", "A limit of a "
	    "destination");
	limits_add_field(out, "limit-dest", "whom", "Host, or channel/host",
	    "gmail.com", true);
	limits_add_field(out, "limit-dest", "sessions", "Sessions at a time",
	    "4", false);
	limits_add_field(out, "limit-dest", "rate", "Messages in a span",
	    "600/1m", false);
	limits_form_end(out, "limit-dest");
}

static void
limits_add_unlimit_forms(const struct visit *visit, struct str *out)
{
	str_adds(out, "<h3>Take a limit back</h3>\n<p>Of a sender or a "
	    "destination, as it was named:</p>\n");
	limits_form_begin(visit, out, "unlimit-sender", "Of a sender");
	limits_add_field(out, "unlimit-sender", "whom", "User, address or "
	    "@domain", "bob", true);
	str_adds(out, "<p><button>Show what it would change</button></p>"
	    "</form>\n");
	limits_form_begin(visit, out, "unlimit-dest", "Of a destination");
	limits_add_field(out, "unlimit-dest", "whom", "Host, or channel/host",
	    "gmail.com", true);
	str_adds(out, "<p><button>Show what it would change</button></p>"
	    "</form>\n");
}

static void
limits_add_limits(struct visit *visit)
{
	static const struct line_column columns[] = {
		{ "Limit", "limit", LINE_TEXT, NULL },
		{ "Written in", "file", LINE_TEXT, limit_add_place },
	};
	static const struct lines lines = { .answer = "limits",
	    .caption = "Rules that count, and clauses of destinations",
	    .none = "There is no limit.", .columns = columns, .count = 2 };

	str_adds(&visit->out, "<section aria-labelledby=\"limits\"><h2 "
	    "id=\"limits\">Limits</h2>\n");
	page_add_lines(visit, &lines);
	if (visit->may_change) {
		limits_add_limit_forms(visit, &visit->out);
		limits_add_unlimit_forms(visit, &visit->out);
	}
	str_adds(&visit->out, "</section>\n");
}

static void
limits_show(struct visit *visit)
{
	limits_add_blocks(visit);
	limits_add_limits(visit);
}

const struct page_row page_limits = {
	.path = "/limits", .title = "Blocks and limits", .none_status = 200,
	.begin = limits_begin, .show = limits_show,
};

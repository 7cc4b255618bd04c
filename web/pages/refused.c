/* refused.c - who was refused, by which rule, how often; and now?
 *
 * In     zmailer events of refusals, with what is typed in the box; of one
 *        session those events and zmailer whynot
 * Out    counts by rule and by client, the last ones; what would let it pass
 * Spec   pages.h; zmailer-events(5), zmailer-whynot(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/json.h"
#include "web/pages/pages.h"
#include "web/page/html.h"
#include "web/page/table.h"

#include "base/banned.h"

enum { KINDS_MAX = 2000, KINDS_SHOWN = 20, SESSION_BYTES_MAX = 64 };

#define REFUSED_EVENTS "state=command.refused or state=message.refused or " \
	"state=session.refused or state=auth.failed"

/* ---- how often ---------------------------------------------------------- */

struct kind {			/* of refusals: by rule, or by client */
	struct slice	 name, last;	/* last: a line */
	int64_t		 count;
};
struct kinds {
	struct kind	*all;
	size_t		 count;
};

/* The address alone ("[2001:db8::1]:51234", "192.0.2.7:51234"): ports differ
 * with each session. */
static struct slice
refusal_client(struct visit *visit, struct slice line)
{
	struct slice client = page_member(visit->arena, line, "client");
	size_t close = slice_find(client, ']');
	size_t colon = slice_find(client, ':');

	if (close < client.n)
		return slice_first(client, close + 1);
	if (slice_find(slice_from(client, colon + 1), ':') + colon + 1 <
	    client.n)
		return client;
	return slice_first(client, colon);
}

/* The place of the rule; else what was said. */
static struct slice
refusal_rule(struct visit *visit, struct slice line)
{
	static const char *const keys[] = { "rule", "reply", "reason", "ev" };
	struct slice value = SLICE("");

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) &&
	    value.n == 0; i++)
		value = page_member(visit->arena, line, keys[i]);
	return value;
}

static void
kinds_add(struct kinds *kinds, struct slice name, struct slice line)
{
	size_t i = 0;

	while (i < kinds->count && !slice_equal(kinds->all[i].name, name))
		i++;
	if (i == KINDS_MAX)
		return;
	if (i == kinds->count)
		kinds->all[kinds->count++] = (struct kind){ .name = name };
	kinds->all[i].count++;
	kinds->all[i].last = line;
}

static int
kind_compare(const void *left, const void *right)
{
	const struct kind *a = left, *b = right;

	return a->count < b->count ? 1 : a->count > b->count ? -1 : 0;
}

static void
refused_add_kinds(struct visit *visit, const char *caption,
    const char *label, struct slice (*name)(struct visit *, struct slice))
{
	const struct table_column columns[] = { { label, false },
	    { "Times", true }, { "The last reply", false } };
	struct slice rest = str_slice(&visit_answer(visit, "refused")->text);
	struct kinds kinds = { .all = arena_alloc(visit->arena, KINDS_MAX *
	    sizeof(*kinds.all)) };
	struct slice line;
	struct table table;

	while (answer_line(&rest, &line))
		kinds_add(&kinds, name(visit, line), line);
	if (kinds.count == 0)
		return;
	qsort(kinds.all, kinds.count, sizeof(kinds.all[0]), kind_compare);
	table_begin(&table, &visit->out, caption, columns, 3);
	for (size_t i = 0; i < kinds.count && i < KINDS_SHOWN; i++) {
		table_row_begin(&table);
		table_text(&table, kinds.all[i].name);
		table_number(&table, kinds.all[i].count);
		table_text(&table, page_member(visit->arena, kinds.all[i].last,
		    "reply"));
	}
	table_end(&table);
	if (kinds.count > KINDS_SHOWN)
		str_addf(&visit->out, "<p>And %zu others.</p>\n",
		    kinds.count - KINDS_SHOWN);
}

/* ---- the list ----------------------------------------------------------- */

static int
refused_begin(struct visit *visit)
{
	const char *words[] = { "events", "--json", "-n", "2000", "--",
	    page_narrow(visit, REFUSED_EVENTS), NULL };

	if (words[5] == NULL)
		return -1;
	visit_ask_verb(visit, "refused", words);
	return 0;
}

static void
refusal_add_session(struct visit *visit, struct slice line)
{
	struct slice session = page_member(visit->arena, line, "session");

	if (!page_is_id(session))
		return;
	str_adds(&visit->out, "<a");
	html_link(&visit->out, "/refused/", session, NULL, SLICE(""));
	str_adds(&visit->out, ">Now?</a>");
}

static const struct line_column refusal_columns[] = {
	{ "When (UTC)", "t", LINE_CLOCK, NULL },
	{ "Client", "client", LINE_TEXT, NULL },
	{ "Sender", "from", LINE_TEXT, NULL },
	{ "Command", "command", LINE_TEXT, NULL },
	{ "Code", "code", LINE_TEXT, NULL },
	{ "Reply", "reply", LINE_TEXT, NULL },
	{ "Rule", "rule", LINE_TEXT, NULL },
	{ "Would it pass", "session", LINE_TEXT, refusal_add_session },
};

static void
refused_show(struct visit *visit)
{
	static const struct lines lines = { .answer = "refused",
	    .caption = "The last refusals, the newest first",
	    .none = "Nobody was refused.", .columns = refusal_columns,
	    .count = 8, .is_newest_first = true };

	page_add_search(visit, "/refused", slice_trim(form_get(
	    &visit->form, "q")));
	refused_add_kinds(visit, "By rule, of the last 2,000", "Rule",
	    refusal_rule);
	refused_add_kinds(visit, "By client, of the last 2,000", "Client",
	    refusal_client);
	page_add_lines(visit, &lines);
	page_add_search_words(&visit->out);
}

const struct page_row page_refused = {
	.path = "/refused", .title = "Refused", .none_status = 200,
	.begin = refused_begin, .show = refused_show,
};

/* ---- one session -------------------------------------------------------- */

static int
refusal_begin(struct visit *visit)
{
	const char *session = slice_dup(visit->arena, visit->rest);
	const char *whynot[] = { "whynot", "--json", "--", session, NULL };

	if (!page_is_id(visit->rest)) {
		visit->status = 404;
		str_adds(&visit->out, "That is no id of a session.");
		return -1;
	}
	visit_ask_verb(visit, "whynot", whynot);
	return 0;
}

static void
refusal_add_now(struct visit *visit, struct slice line)
{
	struct str *out = &visit->out;

	str_adds(out, "<p><strong>No.</strong> The answer would be: ");
	html_text(out, page_member(visit->arena, line, "answer"));
	str_adds(out, "</p>\n<dl><dt>By</dt>");
	html_element(out, "dd", page_member(visit->arena, line, "by"));
	str_adds(out, "<dt>Rule</dt>");
	html_element(out, "dd", page_member(visit->arena, line, "rule"));
	str_adds(out, "<dt>It says</dt>");
	html_element(out, "dd", page_member(visit->arena, line, "says"));
	str_adds(out, "</dl>\n");
}

static void
refusal_add_change(struct visit *visit, struct slice line)
{
	struct slice warning = page_member(visit->arena, line, "warning");
	struct str *out = &visit->out;

	str_adds(out, "<h3>");
	html_text(out, page_member(visit->arena, line, "change"));
	str_adds(out, "</h3>\n");
	if (warning.n > 0) {
		str_adds(out, "<p role=\"alert\"><strong>");
		html_text(out, warning);
		str_adds(out, "</strong></p>\n");
	}
	html_block(out, slice_trim(page_member(visit->arena, line, "diff")));
}

static void
refusal_show(struct visit *visit)
{
	const struct question_answer *answer = visit_answer(visit, "whynot");
	struct slice rest = str_slice(&answer->text), line;

	str_adds(&visit->out, "<p>Session ");
	html_text(&visit->out, visit->rest);
	str_adds(&visit->out, ", decided again by the configuration in force"
	    "</p>\n");
	while (answer_line(&rest, &line))
		if (json_is(line, "kind", "now"))
			refusal_add_now(visit, line);
		else
			refusal_add_change(visit, line);
	/* that it passes is said by words alone */
	page_add_trouble(&visit->out, answer);
	str_adds(&visit->out, "<p><a href=\"/refused\">All refusals</a></p>"
	    "\n");
}

const struct page_row page_refusal = {
	.path = "/refused/", .title = "Would it pass now?",
	.none_status = 200, .begin = refusal_begin, .show = refusal_show,
};

/* orders.c - who did what: every order of every tool
 *
 * In     zmailer events: orders and changes, with what is typed in the box
 * Out    a table, the newest first
 * Spec   pages.h; zmailer-events(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/json.h"
#include "web/pages/pages.h"
#include "web/page/html.h"

#include "base/banned.h"

/* What a person did.  message.ordered stands beside each order about mail, a
 * line a message. */
#define ORDERS_EVENTS "state=order or state=order.refused or " \
	"state=message.resubmitted or state=message.deleted or " \
	"state=message.undeleted or state=message.noted or " \
	"state=message.learned or " \
	"state=message.forwarded or state=message.restored or " \
	"state=config.changed or state=backup"

static int
orders_begin(struct visit *visit)
{
	const char *words[] = { "events", "--json", "-n", "400", "--",
	    page_narrow(visit, ORDERS_EVENTS), NULL };

	if (words[5] == NULL)
		return -1;
	visit_ask_verb(visit, "orders", words);
	return 0;
}

static void
order_add_text(struct visit *visit, struct slice line, const char *label,
    const char *key)
{
	struct slice value = page_member(visit->arena, line, key);

	/* numbers that do not belong to this order */
	if (value.n == 0 || slice_is(value, "0") || slice_is(value, "-1"))
		return;
	str_addf(&visit->out, "%s ", label);
	html_text(&visit->out, value);
	str_addc(&visit->out, ' ');
}

/* Of what was learned: as what, and whether the filter took it. */
static void
order_add_learned(struct visit *visit, struct slice line)
{
	if (!json_is(line, "ev", "message.learned"))
		return;
	str_adds(&visit->out, " as ");
	html_text(&visit->out, page_member(visit->arena, line, "as"));
	if (json_is(line, "ok", "yes"))
		return;
	str_adds(&visit->out, " (failed: ");
	html_text(&visit->out, page_member(visit->arena, line, "text"));
	str_addc(&visit->out, ')');
}

static void
order_add_what(struct visit *visit, struct slice line)
{
	struct slice op = page_member(visit->arena, line, "op");

	html_text(&visit->out, op.n > 0 ? op : page_member(visit->arena, line,
	    "ev"));
	if (json_is(line, "ev", "order.refused")) {
		str_adds(&visit->out, " (refused");
		order_add_text(visit, line, ":", "code");
		str_addc(&visit->out, ')');
	}
	order_add_learned(visit, line);
}

/* Which messages, how many; which file. */
static void
order_add_of(struct visit *visit, struct slice line)
{
	order_add_text(visit, line, "", "select");
	order_add_text(visit, line, "", "file");
	order_add_text(visit, line, "to", "to");
	order_add_text(visit, line, "version", "version");
	order_add_text(visit, line, "messages", "messages");
	order_add_text(visit, line, "recipients", "recipients");
	order_add_text(visit, line, "destinations", "destinations");
	order_add_text(visit, line, "limit", "limit");
}

static void
orders_show(struct visit *visit)
{
	static const struct line_column columns[] = {
		{ "When (UTC)", "t", LINE_CLOCK, NULL },
		{ "Who", "by", LINE_TEXT, NULL },
		{ "Did what", "op", LINE_TEXT, order_add_what },
		{ "Of what", "select", LINE_TEXT, order_add_of },
		{ "Message", "id", LINE_MESSAGE, NULL },
		{ "Why", "reason", LINE_TEXT, NULL },
	};
	static const struct lines lines = { .answer = "orders",
	    .caption = "Orders and changes, the newest first",
	    .none = "Nobody has ordered anything.", .columns = columns,
	    .count = 6, .is_newest_first = true };

	page_add_search(visit, "/orders", slice_trim(form_get(&visit->form,
	    "q")), SLICE(""));
	page_add_lines(visit, &lines);
	page_add_search_words(&visit->out);
}

const struct page_row page_orders = {
	.path = "/orders", .title = "Who did what", .none_status = 200,
	.begin = orders_begin, .show = orders_show,
};

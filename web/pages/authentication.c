/* authentication.c - the keys that sign our mail
 *
 * In     zmailer dkim list; dkim check, when it is asked for
 * Out    tables
 * Spec   pages.h; zmailer-dkim(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/json.h"
#include "web/pages/pages.h"
#include "web/page/html.h"

#include "base/banned.h"

static bool
authentication_is_check(const struct visit *visit)
{
	return slice_is(form_get(&visit->form, "look"), "dns");
}

static int
authentication_begin(struct visit *visit)
{
	static const char *const list[] = { "dkim", "list", "--json", NULL };
	static const char *const check[] = { "dkim", "check", "--json", NULL };

	visit_ask_verb(visit, "keys", list);
	if (authentication_is_check(visit))
		visit_ask_verb(visit, "check", check);
	return 0;
}

static void
authentication_add_keys(struct visit *visit)
{
	static const struct line_column columns[] = {
		{ "Domain", "domain", LINE_TEXT, NULL },
		{ "Selector", "selector", LINE_TEXT, NULL },
		{ "Signs", "signs", LINE_TEXT, NULL },
		{ "File", "file", LINE_TEXT, NULL },
	};
	static const struct lines lines = { .answer = "keys",
	    .caption = "Keys that are here", .none = "No key is here: zmailer "
	    "dkim new DOMAIN makes one.", .columns = columns, .count = 4 };

	str_adds(&visit->out, "<section aria-labelledby=\"keys\"><h2 "
	    "id=\"keys\">DKIM keys</h2>\n");
	page_add_lines(visit, &lines);
	str_adds(&visit->out, "</section>\n");
}

static void
authentication_add_check(struct visit *visit)
{
	static const struct line_column columns[] = {
		{ "Key", "key", LINE_TEXT, NULL },
		{ "Good", "good", LINE_TEXT, NULL },
		{ "Signs", "signs", LINE_TEXT, NULL },
		{ "What", "what", LINE_TEXT, NULL },
		{ "What to do", "advice", LINE_TEXT, NULL },
	};
	static const struct lines lines = { .answer = "check",
	    .caption = "What the DNS has of them", .none = "There is nothing "
	    "to compare.", .columns = columns, .count = 5 };

	str_adds(&visit->out, "<section aria-labelledby=\"dns\"><h2 "
	    "id=\"dns\">In the DNS</h2>\n");
	if (authentication_is_check(visit))
		page_add_lines(visit, &lines);
	else
		str_adds(&visit->out, "<p><a href=\"/authentication?look="
		    "dns\">Compare with what is published</a> (some "
		    "seconds)</p>\n");
	str_adds(&visit->out, "</section>\n");
}

static void
authentication_show(struct visit *visit)
{
	authentication_add_keys(visit);
	authentication_add_check(visit);
}

const struct page_row page_authentication = {
	.path = "/authentication", .title = "Authentication",
	.begin = authentication_begin, .show = authentication_show,
};

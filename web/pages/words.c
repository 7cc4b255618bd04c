/* words.c - what pages share
 *
 * In     answers
 * Out    pieces of pages; the JSON twin of each
 * Spec   pages.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/json.h"
#include "base/err.h"
#include "grammar/selector.h"
#include "web/pages/pages.h"
#include "web/page/html.h"

#include "base/banned.h"

enum { ID_BYTES_MAX = 64 };

/* ---- questions ---------------------------------------------------------- */

static struct question *
visit_question(struct visit *visit)
{
	if (visit->count == VISIT_QUESTIONS_MAX)
		panic("a page has too many questions");
	return &visit->questions[visit->count++];
}

void
visit_ask_verb(struct visit *visit, const char *name,
    const char *const *words)
{
	question_verb(visit_question(visit), name, words);
}

void
visit_ask_text(struct visit *visit, const char *name,
    const char *const *words)
{
	struct question *question = visit_question(visit);

	question_verb(question, name, words);
	question->is_text = true;
}

int
visit_refuse(struct visit *visit, const char *words)
{
	visit->status = 400;
	str_adds(&visit->out, words);
	return -1;
}

struct question *
visit_ask_socket(struct visit *visit, const char *name, const char *op)
{
	struct question *question = visit_question(visit);

	question_socket(question, name, op);
	return question;
}

const struct question_answer *
visit_answer(const struct visit *visit, const char *name)
{
	for (size_t i = 0; i < visit->count; i++)
		if (strcmp(visit->questions[i].name, name) == 0)
			return &visit->questions[i].answer;
	panic("nobody asked for %s", name);
}

void
visit_judge(struct visit *visit)
{
	static const int rows[] = {
		[ANSWER_GOOD] = 200, [ANSWER_WRONG] = 400,
		[ANSWER_DENIED] = 403, [ANSWER_DOWN] = 503,
		[ANSWER_TROUBLE] = 500, [ANSWER_OVER] = 403,
		[ANSWER_ABSENT] = 503
	};
	enum question_answer_kind kind;

	if (visit->status != 0)
		return;
	visit->status = 200;
	if (visit->count == 0 || visit->page->none_status == 0)
		return;
	kind = visit->questions[0].answer.kind;
	visit->status = kind == ANSWER_NONE ? visit->page->none_status :
	    rows[kind];
}

/* Lines as a list; a last line {"next":...} beside it. */
static void
visit_add_lines(struct str *out, const struct question *question)
{
	struct slice rest = str_slice(&question->answer.text), line;
	struct str next = STR_INIT;
	bool is_first = true;

	if (question->is_text) {
		json_text(out, question->name, rest);
		return;
	}
	str_addf(out, ",\"%s\":[", question->name);
	while (answer_line(&rest, &line)) {
		if (slice_starts(line, "{\"v\":1,\"next\":") &&
		    json_get(line, "next", &next))
			continue;
		str_adds(out, is_first ? "\n" : ",\n");
		str_add_slice(out, line);
		is_first = false;
	}
	str_addc(out, ']');
	if (next.len > 0)
		json_text(out, "next", str_slice(&next));
	str_release(&next);
}

void
visit_add_json(struct visit *visit)
{
	struct str *out = &visit->out;

	json_open_answer(out);
	for (size_t i = 0; i < visit->count; i++)
		visit_add_lines(out, &visit->questions[i]);
	json_begin(out, "troubles");
	for (size_t i = 0; i < visit->count; i++) {
		const struct question *question = &visit->questions[i];

		if (question->answer.kind == ANSWER_GOOD ||
		    question->answer.trouble.len == 0)
			continue;
		json_text(out, question->name, slice_trim(str_slice(
		    &question->answer.trouble)));
	}
	json_end(out);
	for (size_t i = 0; i < visit->count; i++)
		if (visit->questions[i].answer.is_cut)
			json_text(out, "cut", slice_of(
			    visit->questions[i].name));
	json_close(out);
}

void
page_add_live(struct str *out)
{
	str_adds(out, "<p id=\"live\" role=\"status\"></p>\n");
}

void
page_add_trouble(struct str *out, const struct question_answer *answer)
{
	struct slice words = slice_trim(str_slice(&answer->trouble));

	if (answer->is_cut)
		str_adds(out, "<p role=\"alert\">There is more than can be "
		    "shown: say more in the box.</p>\n");
	if (answer->kind == ANSWER_GOOD || words.n == 0)
		return;
	str_adds(out, "<div role=\"alert\" class=\"trouble\">");
	html_block(out, words);
	str_adds(out, "</div>\n");
}

/* ---- pieces ------------------------------------------------------------- */

struct slice
page_member(struct arena *arena, struct slice line, const char *key)
{
	struct str value = STR_INIT;
	struct slice out = SLICE("");

	if (json_get(line, key, &value))
		out = slice_copy(arena, str_slice(&value));
	str_release(&value);
	return out;
}

bool
page_is_id(struct slice id)
{
	for (size_t i = 0; i < id.n; i++)
		if (!ascii_is_alnum(id.p[i]))
			return false;
	return id.n > 0 && id.n <= ID_BYTES_MAX;
}

void
page_add_size(struct str *out, int64_t bytes)
{
	static const char units[] = "BKMGT";
	int64_t whole = bytes, rest = 0;
	size_t unit = 0;

	while (whole >= 1024 && unit < sizeof(units) - 2) {
		rest = whole % 1024;
		whole /= 1024;
		unit++;
	}
	str_addf(out, "%" PRId64, whole);
	if (unit > 0 && whole < 100)
		str_addf(out, ".%" PRId64, rest * 10 / 1024);
	str_addc(out, units[unit]);
}

void
page_add_span(struct str *out, int64_t span_s)
{
	char text[CLOCK_TEXT_BYTES];

	clock_span(span_s > 0 ? span_s : 0, text);
	str_adds(out, text);
}

void
page_add_moment(struct str *out, int64_t at_s, int64_t now_s)
{
	char text[CLOCK_TEXT_BYTES];

	clock_local(at_s, text);
	str_adds(out, "<time");
	html_attribute(out, "title", slice_of(text));
	str_adds(out, at_s > now_s ? ">in " : ">");
	page_add_span(out, at_s > now_s ? at_s - now_s : now_s - at_s);
	str_adds(out, at_s > now_s ? "</time>" : " ago</time>");
}

void
page_add_destination(struct str *out, struct slice channel, struct slice host)
{
	struct str name = STR_INIT, selector = STR_INIT;

	str_add_slice(&name, channel);
	str_addc(&name, '/');
	str_add_slice(&name, host);
	str_addf(&selector, "dest:\"%s\"", name.buf);
	str_adds(out, "<a");
	html_link(out, "/queue", SLICE(""), "q", str_slice(&selector));
	str_addc(out, '>');
	html_text(out, str_slice(&name));
	str_adds(out, "</a>");
	str_release(&name);
	str_release(&selector);
}

const char *
page_narrow(struct visit *visit, const char *ours)
{
	struct slice typed = slice_trim(form_get(&visit->form, "q"));
	struct selector *parsed;
	size_t column;
	struct err err;

	if (typed.n == 0)
		return ours;
	if (selector_parse(visit->arena, typed, &parsed, &column, &err) < 0) {
		(void)visit_refuse(visit, err.text);
		return NULL;
	}
	return arena_printf(visit->arena, "(%s) (" SLICE_FMT ")", ours,
	    SLICE_ARG(typed));
}

void
page_add_change(const struct visit *visit, struct str *out,
    const char *change, const char *field, struct slice value,
    const char *button)
{
	if (!visit->may_change)
		return;
	str_adds(out, "<form class=\"change\" method=\"post\" "
	    "action=\"/change\">");
	html_hidden(out, "csrf", slice_of(visit->csrf));
	html_hidden(out, "do", slice_of(change));
	html_hidden(out, field, value);
	str_adds(out, "<button");
	html_attribute(out, "aria-label", slice_of(arena_printf(visit->arena,
	    "%s " SLICE_FMT, button, SLICE_ARG(value))));
	str_addf(out, ">%s</button></form>", button);
}

void
page_add_search(struct visit *visit, const char *path, struct slice typed)
{
	struct str *out = &visit->out;

	str_addf(out, "<form class=\"search\" role=\"search\" method=\"get\" "
	    "action=\"%s\"><label for=\"q\">Which messages (<a "
	    "href=\"#words\">the words</a>)</label><div><input id=\"q\" "
	    "name=\"q\" type=\"search\" autocomplete=\"off\" "
	    "spellcheck=\"false\" maxlength=\"2000\"", path);
	html_attribute(out, "value", typed);
	str_addc(out, '>');
	if (strcmp(path, "/queue") == 0)
		page_add_where_hidden(visit);
	str_adds(out, "<button>Show</button></div></form>\n");
}

void
page_add_search_words(struct str *out)
{
	str_adds(out, "<section aria-labelledby=\"words\"><h2 id=\"words\" "
	    "tabindex=\"-1\">Words of the box</h2><p>Tests stand beside each "
	    "other (and), with <code>or</code>, <code>not</code> and "
	    "brackets: <code>from:@example.org</code>, "
	    "<code>to:bob@example.org</code>, <code>age&gt;1h</code>, "
	    "<code>state=held</code>, <code>dest:smtp/*.example</code>, "
	    "<code>why:*quota*</code>, <code>size&gt;1M</code>, "
	    "<code>area:freezer</code>; or the beginning of an id. "
	    "zmailer-selector(7) has all.</p></section>\n");
}

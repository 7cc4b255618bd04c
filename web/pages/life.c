/* life.c - the life of a message: a line with its moments, a table of them
 *
 * In     zmailer trace of an id
 * Out    a picture whose numbers are the table below it
 * Spec   parts.h; zmailer-trace(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "web/page/html.h"
#include "web/page/picture.h"
#include "web/page/table.h"
#include "web/pages/parts.h"

#include "base/banned.h"

void
message_ask_life(struct visit *visit)
{
	const char *id = slice_dup(visit->arena, visit->rest);
	const char *json[QUESTION_WORDS_MAX] = { "trace", "--json" };
	const char *told[QUESTION_WORDS_MAX] = { "trace" };
	size_t n = 2, m = 1;

	visit_add_where(visit, json, &n);
	json[n++] = "--";
	json[n++] = id;
	visit_add_where(visit, told, &m);
	told[m++] = "--";
	told[m++] = id;
	visit_ask_verb(visit, "trace", json);
	if (!visit->is_json && !visit->is_help)
		visit_ask_text(visit, "told", told);
}

/* "2026-11-26T00:41:04.123Z" as ms since 1970; -1: none. */
int64_t
life_moment_ms(struct slice text)
{
	static const struct { size_t at, n; uint64_t low, high; } rows[] = {
		{ 0, 4, 1970, 9999 }, { 5, 2, 1, 12 }, { 8, 2, 1, 31 },
		{ 11, 2, 0, 23 }, { 14, 2, 0, 59 }, { 17, 2, 0, 60 },
		{ 20, 3, 0, 999 },
	};
	uint64_t parts[sizeof(rows) / sizeof(rows[0])];
	struct tm tm = { .tm_isdst = 0 };

	if (text.n < 24)
		return -1;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (!slice_number(slice_first(slice_from(text, rows[i].at),
		    rows[i].n), rows[i].low, rows[i].high, &parts[i]))
			return -1;
	tm.tm_year = (int)parts[0] - 1900;
	tm.tm_mon = (int)parts[1] - 1;
	tm.tm_mday = (int)parts[2];
	tm.tm_hour = (int)parts[3];
	tm.tm_min = (int)parts[4];
	tm.tm_sec = (int)parts[5];
	return (int64_t)timegm(&tm) * 1000 + (int64_t)parts[6];
}

static enum picture_look
life_look(struct slice ev)
{
	static const struct {
		const char	*ev;
		enum picture_look look;
	} rows[] = {
		{ "rcpt.ok", PICTURE_GOOD }, { "message.done", PICTURE_GOOD },
		{ "rcpt.defer", PICTURE_WAIT }, { "rcpt.fail", PICTURE_BAD },
		{ "message.frozen", PICTURE_BAD },
		{ "message.postman", PICTURE_BAD },
		{ "message.deferred", PICTURE_WAIT },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (slice_is(ev, rows[i].ev))
			return rows[i].look;
	return PICTURE_PLAIN;
}

static size_t
life_collect(struct visit *visit, struct picture_moment *moments)
{
	struct slice rest = str_slice(&visit_answer(visit, "trace")->text);
	struct slice line;
	size_t count = 0;

	while (count < PICTURE_MOMENTS_MAX && answer_line(&rest, &line)) {
		int64_t at_ms = life_moment_ms(page_member(visit->arena, line,
		    "t"));
		struct slice ev = page_member(visit->arena, line, "ev");

		if (at_ms >= 0)
			moments[count++] = (struct picture_moment){
				.label = ev, .at_ms = at_ms,
				.look = life_look(ev) };
	}
	return count;
}

/* What the line tells beside its moment and name: the first of these that
 * it has, and to whom. */
static void
life_add_words(struct visit *visit, struct slice line)
{
	static const char *const keys[] = { "reply", "reason", "text", "op",
		"rule", "code" };
	struct slice value = SLICE("");

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) &&
	    value.n == 0; i++)
		value = page_member(visit->arena, line, keys[i]);
	html_text(&visit->out, value);
}

static void
life_add_where(struct visit *visit, struct slice line)
{
	struct slice host = page_member(visit->arena, line, "host");

	html_text(&visit->out, page_member(visit->arena, line, "to"));
	if (host.n == 0)
		return;
	str_adds(&visit->out, " at ");
	html_text(&visit->out, host);
}

void
message_add_life(struct visit *visit)
{
	static const struct line_column columns[] = {
		{ "When (UTC)", "t", LINE_CLOCK_MS, NULL },
		{ "What", "ev", LINE_TEXT, NULL },
		{ "To", "to", LINE_TEXT, life_add_where },
		{ "Words", "reply", LINE_TEXT, life_add_words },
	};
	static const struct lines lines = { .answer = "trace",
	    .caption = "Its life", .none = "The journal does not know it.",
	    .columns = columns, .count = 4 };
	struct picture_moment moments[PICTURE_MOMENTS_MAX];
	const struct question_answer *told = visit->is_help ? NULL :
	    visit_answer(visit, "told");
	size_t count = life_collect(visit, moments);

	str_adds(&visit->out, "<section aria-labelledby=\"life\"><h2 "
	    "id=\"life\">Its life</h2>\n");
	if (count > 0)
		picture_life(&visit->out, "life-line", "Its life", moments,
		    count);
	page_add_lines(visit, &lines);
	if (told != NULL && told->text.len > 0) {
		str_adds(&visit->out, "<details><summary>As zmailer trace "
		    "tells it</summary>\n");
		html_block(&visit->out, slice_trim(str_slice(&told->text)));
		str_adds(&visit->out, "</details>\n");
	}
	str_adds(&visit->out, "</section>\n");
}

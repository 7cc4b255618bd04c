/* delay.c - what would have let a message go that waits in the queue
 *
 * In     what the scheduler says about it (operation why); the files of the
 *        configuration
 * Out    a change of one statement under which the planner lets it go now or
 *        earlier; an order that would; or that it depends on others
 * Holds  a copy of one file at a time
 * Trusts our own programs; nothing of another host's words is put into a file
 * Spec   zmailer-whynot(8); scheduler/control/suppose.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "mail/cause.h"
#include "tools/change/change.h"
#include "tools/queue/control.h"
#include "tools/queue/words.h"
#include "tools/zmailer/replay/partner.h"
#include "tools/zmailer/whynot/whynot.h"

#include "base/banned.h"

struct expected {		/* of `scheduler suppose` */
	const char	*code, *class, *by, *after;
	int64_t		 at_s;
};

struct delay {
	struct whynot	*whynot;
	const char	*id, *line;	/* of why; NULL: none waits */
	const struct cause_row *cause;
	const char	*dest;		/* "smtp/example.net" */
	const char	*setting;	/* that binds; "" */
	unsigned	 others;	/* recipients that wait, too */
	int64_t		 now_s;
	struct expected	 now, earlier;	/* as it is; at best so far */
	const char	*earlier_diff, *earlier_what;
};

static const char *
delay_member(const struct delay *delay, const char *key)
{
	struct str value = STR_INIT;
	const char *result = "";

	if (json_get(slice_of(delay->line), key, &value))
		result = slice_dup(delay->whynot->arena, str_slice(&value));
	str_release(&value);
	return result;
}

static int64_t
delay_number(const struct delay *delay, const char *key)
{
	return json_get_number(slice_of(delay->line), key);
}

/* ---- what waits -------------------------------------------------------- */

static bool
delay_take_line(void *context, struct slice line)
{
	struct delay *delay = context;

	if (json_is(line, "code", "active") || json_is(line, "code", "reread"))
		return true;
	if (delay->line == NULL)
		delay->line = slice_dup(delay->whynot->arena, line);
	else
		delay->others++;
	return true;
}

/* false: the scheduler does not know it, or is not there. */
static bool
delay_find(struct delay *delay)
{
	struct str request = STR_INIT, last = STR_INIT, code = STR_INIT;
	struct control control;
	struct err err;

	if (control_connect(delay->whynot->conf->run_dir, &control, &err) ==
	    CONTROL_REACHED) {
		control_begin(&request, "why");
		json_text(&request, "id", slice_of(delay->id));
		if (control_ask(&control, &request, delay_take_line, delay,
		    &last, &err) < 0)
			delay->line = NULL;
		control_hang_up(&control);
	}
	if (delay->line != NULL &&
	    json_get(slice_of(delay->line), "code", &code))
		delay->cause = cause_find(str_slice(&code));
	str_release(&request);
	str_release(&last);
	str_release(&code);
	return delay->cause != NULL;
}

/* ---- proving ----------------------------------------------------------- */

struct supposing {
	struct delay	*delay;
	const char	*line;
	struct expected	*out;
};

static const char *
expected_text(struct arena *arena, struct slice answer, const char *key)
{
	struct str value = STR_INIT;
	const char *result = "";

	if (json_get(answer, key, &value))
		result = slice_dup(arena, str_slice(&value));
	str_release(&value);
	return result;
}

static int
supposing_ask(void *context, const char *path, struct err *err)
{
	static const char *const words[] = { "suppose", NULL };
	const struct supposing *supposing = context;
	struct arena *arena = supposing->delay->whynot->arena;
	struct expected *out = supposing->out;
	struct partner partner = { .pid = 0 };
	struct slice answer;
	int result = partner_start(&partner, "scheduler", words, path, err);

	if (result == 0)
		result = partner_ask(&partner, slice_of(supposing->line),
		    &answer, err);
	if (result == 0) {
		out->code = expected_text(arena, answer, "code");
		out->class = expected_text(arena, answer, "class");
		out->by = expected_text(arena, answer, "by");
		out->after = expected_text(arena, answer, "after");
		out->at_s = json_get_number(answer, "at");
	}
	partner_end(&partner);
	return result;
}

/* The planner's answer under these files; code NULL: as the scheduler says,
 * else as if that kept it.  false: there is none. */
static bool
delay_suppose(struct delay *delay, const struct conf_draft *files,
    const char *code, struct expected *out)
{
	struct supposing supposing = { delay, delay->line, out };
	struct err err;

	if (code != NULL)	/* the first of a name counts */
		supposing.line = arena_printf(delay->whynot->arena,
		    "{\"code\":\"%s\",%s", code, delay->line + 1);
	return whynot_under(delay->whynot, files, supposing_ask, &supposing,
	    &err) == 0 && strcmp(out->code, "none") != 0 &&
	    out->code[0] != '\0';
}

static bool
expected_is_now(const struct expected *expected)
{
	return strcmp(expected->code, "line") == 0;
}

static bool
expected_is_earlier(const struct expected *a, const struct expected *b)
{
	return expected_is_now(a) || (a->at_s > 0 && a->at_s < b->at_s);
}

/* ---- telling ----------------------------------------------------------- */

static void
delay_tell(struct delay *delay, const char *what,
    const struct expected *expected, const char *diff)
{
	struct str text = STR_INIT;

	str_adds(&text, what);
	if (!expected_is_now(expected)) {
		str_adds(&text, ": it would go ");
		words_add_moment(&text, expected->at_s, delay->now_s);
	} else if (strcmp(expected->after, "success") == 0) {
		str_adds(&text, ": it would go after the next message that "
		    "the destination takes");
	} else {
		str_adds(&text, ": it would go now");
	}
	whynot_tell(delay->whynot, *diff != '\0' ? "edit" : "order",
	    text.buf, diff, "");
	str_release(&text);
}

static void
delay_say_now(const struct delay *delay)
{
	const struct whynot *whynot = delay->whynot;
	struct str out = STR_INIT;

	if (whynot->is_json) {
		json_open_answer(&out);
		json_text(&out, "kind", SLICE("now"));
		json_text(&out, "answer", slice_of(delay->cause->text));
		json_text(&out, "by", slice_of(delay->cause->code));
		json_text(&out, "rule", slice_of(whynot->said.rule));
		json_text(&out, "says", slice_of(delay->setting));
		json_close(&out);
	} else {
		str_add_escaped(&out, slice_of(delay_member(delay, "to")));
		str_addf(&out, " waits: %s\n", delay->cause->text);
		if (*delay->setting != '\0') {
			str_adds(&out, "  by ");
			str_add_escaped(&out, slice_of(whynot->said.rule));
			str_adds(&out, " (");
			str_add_escaped(&out, slice_of(delay->setting));
			str_adds(&out, ")\n");
		}
		if (delay->others > 0)
			str_addf(&out, "  %u other recipient%s of it wait%s, "
			    "too: zmailer why %s\n", delay->others,
			    delay->others == 1 ? "" : "s",
			    delay->others == 1 ? "s" : "", delay->id);
	}
	fputs(out.buf, stdout);
	str_release(&out);
}

/* ---- edits ------------------------------------------------------------- */

/* One file with another text.  true: it would go now, and that was told. */
static bool
delay_try(struct delay *delay, size_t file, const struct str *text,
    const char *what)
{
	struct whynot *whynot = delay->whynot;
	struct conf_draft *files = arena_alloc(whynot->arena,
	    whynot->file_count * sizeof(*files));
	struct str diff = STR_INIT;
	struct expected expected;

	memcpy(files, whynot->files, whynot->file_count * sizeof(*files));
	files[file].text = slice_of(slice_dup(whynot->arena,
	    str_slice(text)));
	if (!delay_suppose(delay, files, NULL, &expected) ||
	    !expected_is_earlier(&expected, delay->earlier_what != NULL ?
	    &delay->earlier : &delay->now))
		return false;
	diff_add(&diff, files[file].path, whynot->files[file].text,
	    files[file].text);
	if (expected_is_now(&expected)) {
		delay_tell(delay, what, &expected, diff.buf);
	} else if (delay->earlier_what == NULL) {
		delay->earlier = expected;
		delay->earlier_what = what;
		delay->earlier_diff = slice_dup(whynot->arena,
		    str_slice(&diff));
	}
	str_release(&diff);
	return expected_is_now(&expected);
}

/* "retry 1h" and "retry on greylist 1h" are two items. */
static bool
item_is(const struct conf_piece *item, const char *name, const char *value)
{
	bool is_rule = strncmp(value, "on ", 3) == 0;

	return conf_piece_is(item, 0, name) && item->word_count > 1 &&
	    conf_piece_is(item, 1, "on") == is_rule;
}

/* Of the block of a statement: this item with this value. */
static void
block_put(struct delay *delay, struct str *text,
    const struct conf_piece *piece, const char *name, const char *value)
{
	size_t begin = piece->words[piece->word_count - 1].end;
	struct conf_piece *items;
	struct slice inner;
	size_t count;

	begin += slice_find(slice_from(str_slice(text), begin), '{') + 1;
	inner = slice_first(slice_from(str_slice(text), begin), piece->end -
	    begin - 1);
	count = conf_pieces(delay->whynot->arena, inner, &items);
	for (size_t i = 0; i < count; i++) {
		struct conf_word all;

		if (!item_is(&items[i], name, value))
			continue;
		all = items[i].words[1];
		all.begin += begin;
		all.end = begin + items[i].words[items[i].word_count - 1].end;
		whynot_word_replace(text, &all, value);
		return;
	}
	whynot_word_replace(text, &(struct conf_word){ .begin = begin,
	    .end = begin }, arena_printf(delay->whynot->arena, " %s %s;",
	    name, value));
}

/* The statement of these two words that has a block. */
static const struct conf_piece *
piece_with_block(const struct conf_piece *pieces, size_t count,
    const char *word, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (conf_piece_is(&pieces[i], 0, word) &&
		    pieces[i].word_count == 2 && pieces[i].has_block &&
		    conf_piece_is(&pieces[i], 1, name))
			return &pieces[i];
	return NULL;
}

/* Edit the block of this statement, whichever file has it.  false: none has;
 * else *out_is_now says whether it would go now. */
static bool
block_try(struct delay *delay, const char *word, const char *name,
    const char *item, const char *value, bool *out_is_now)
{
	struct whynot *whynot = delay->whynot;
	const char *what = arena_printf(whynot->arena, "%s %s { %s %s }",
	    word, name, item, value);

	for (size_t i = 0; i < whynot->file_count; i++) {
		struct conf_piece *pieces;
		size_t count = conf_pieces(whynot->arena,
		    whynot->files[i].text, &pieces);
		const struct conf_piece *piece = piece_with_block(pieces, count,
		    word, name);
		struct str text = STR_INIT;

		if (piece == NULL)
			continue;
		str_add_slice(&text, whynot->files[i].text);
		block_put(delay, &text, piece, item, value);
		*out_is_now = delay_try(delay, i, &text, what);
		str_release(&text);
		return true;
	}
	return false;
}

/* Put a line before the first of these statements, or at the end. */
static bool
line_try(struct delay *delay, const char *const *before, const char *line)
{
	struct whynot *whynot = delay->whynot;
	struct str text = STR_INIT;
	bool result;

	str_add_slice(&text, whynot->files[0].text);
	conf_put_before_first(whynot->arena, &text, before,
	    arena_printf(whynot->arena, "%s\n", line));
	result = delay_try(delay, 0, &text, line);
	str_release(&text);
	return result;
}

/* In the destination's own clause, or in one made for it. */
static bool
clause_try(struct delay *delay, const char *item, const char *value)
{
	static const char *const clauses[] = { "schedule", "include",
		"include-legacy", NULL };
	bool is_now = false;

	if (block_try(delay, "schedule", delay->dest, item, value, &is_now))
		return is_now;
	return line_try(delay, clauses, arena_printf(delay->whynot->arena,
	    "schedule %s { %s %s }", delay->dest, item, value));
}

/* ---- by cause ---------------------------------------------------------- */

/* The longest wait under which it would go now. */
static void
delay_try_retry(struct delay *delay)
{
	static const struct { const char *text; int64_t s; } spans[] = {
		{ "12h", 43200 }, { "8h", 28800 }, { "4h", 14400 },
		{ "2h", 7200 }, { "1h", 3600 }, { "30m", 1800 },
		{ "15m", 900 }, { "10m", 600 }, { "5m", 300 }, { "2m", 120 },
		{ "1m", 60 }, { "30s", 30 }, { "10s", 10 }, { "1s", 1 },
	};
	struct whynot *whynot = delay->whynot;
	int64_t last_s = delay_number(delay, "last");
	const char *class = strcmp(delay->now.by, "rule") == 0 ?
	    delay->now.class : "";

	for (size_t i = 0; i < sizeof(spans) / sizeof(spans[0]); i++) {
		if (last_s > 0 && last_s + spans[i].s >= delay->now.at_s)
			continue;
		if (clause_try(delay, "retry", *class == '\0' ?
		    spans[i].text : arena_printf(whynot->arena, "on %s %s",
		    class, spans[i].text)))
			return;
	}
}

/* "schedule smtp/x { rate 2/1m }" */
static void
delay_try_rate(struct delay *delay)
{
	const char *at = strstr(delay->setting, "{ rate ");
	struct slice rest, number;
	uint64_t count;

	if (at == NULL)
		return;
	rest = slice_of(at + strlen("{ rate "));
	rest = slice_first(rest, slice_find(rest, ' '));
	if (!slice_cut(&rest, '/', &number) ||
	    !slice_number(number, 1, INT32_MAX, &count))
		return;
	for (unsigned factor = 2; factor <= 1000; factor *= factor == 2 ? 5 :
	    10)
		if (clause_try(delay, "rate", arena_printf(
		    delay->whynot->arena, "%" PRIu64 "/" SLICE_FMT, count *
		    factor, SLICE_ARG(rest))))
			return;
}

static void
delay_try_agents(struct delay *delay, const char *one_more)
{
	static const char *const limits[] = { "limit", "schedule", NULL };
	struct whynot *whynot = delay->whynot;
	struct conf_piece *pieces;
	size_t count;

	if (strncmp(delay->setting, "limit agents", 12) != 0) {
		(void)clause_try(delay, strstr(delay->setting,
		    "{ channel-agents") != NULL ? "channel-agents" : "agents",
		    one_more);
		return;
	}
	for (size_t i = 0; i < whynot->file_count; i++) {
		count = conf_pieces(whynot->arena, whynot->files[i].text,
		    &pieces);
		for (size_t p = 0; p < count; p++) {
			struct str text = STR_INIT;

			if (!conf_piece_is(&pieces[p], 0, "limit") ||
			    !conf_piece_is(&pieces[p], 1, "agents") ||
			    pieces[p].word_count != 3)
				continue;
			str_add_slice(&text, whynot->files[i].text);
			whynot_word_replace(&text, &pieces[p].words[2],
			    one_more);
			(void)delay_try(delay, i, &text, arena_printf(
			    whynot->arena, "limit agents %s", one_more));
			str_release(&text);
			return;
		}
	}
	(void)line_try(delay, limits, arena_printf(whynot->arena,
	    "limit agents %s", one_more));
}

static void
delay_try_edits(struct delay *delay)
{
	const char *code = delay->now.code, *one_more = arena_printf(
	    delay->whynot->arena, "%" PRId64, delay_number(delay, "used") +
	    1);
	bool is_now;

	if (strcmp(code, "queue-only") == 0)
		(void)clause_try(delay, "queue-only", "no");
	else if (strcmp(code, "timer") == 0 || strcmp(code, "rule") == 0)
		delay_try_retry(delay);
	else if (strcmp(code, "rate") == 0)
		delay_try_rate(delay);
	else if (strcmp(code, "limit") == 0)
		(void)clause_try(delay, "parallel", one_more);
	else if (strcmp(code, "provider") == 0)
		(void)clause_try(delay, "provider", one_more);
	else if (strcmp(code, "zone") == 0)
		(void)block_try(delay, "zone", delay_member(delay, "zone"),
		    "agents", one_more, &is_now);
	else if (strcmp(code, "agents") == 0)
		delay_try_agents(delay, one_more);
}

/* An order keeps it: without it, what does the planner say? */
static bool
delay_try_order(struct delay *delay)
{
	static const char *const orders[] = { "held", "frozen", "scheduled",
		"future", "drain", "suspended", "zone-suspended" };
	struct str what = STR_INIT;
	struct expected expected;
	bool is_order = false;

	for (size_t i = 0; i < sizeof(orders) / sizeof(orders[0]); i++)
		is_order |= strcmp(delay->cause->code, orders[i]) == 0;
	if (!is_order || !delay_suppose(delay, delay->whynot->files, "line",
	    &expected) || !expected_is_now(&expected))
		return false;
	str_adds(&what, "no edit: ");
	cause_add_help(delay->cause, slice_of(delay->id),
	    slice_of(delay_member(delay, "channel")),
	    slice_of(delay_member(delay, "host")), &what);
	delay_tell(delay, what.buf, &expected, "");
	str_release(&what);
	return true;
}

/* What it waits for. */
static struct waits_for
delay_waits_for(const struct delay *delay)
{
	const char *to = delay_member(delay, "to"), *at = strrchr(to, '@');

	return (struct waits_for){ .id = delay->id, .from = "", .to = to,
		.domain = at != NULL ? at + 1 : "", .dest = delay->dest,
		.code = delay->cause->code, .by = delay->now.by,
		.words = delay_member(delay, "text"),
		.has_limit = delay_number(delay, "limit") > 0,
		.now_s = delay->now_s };
}

static void
delay_try_all(struct delay *delay)
{
	struct whynot *whynot = delay->whynot;

	if (whynot->file_count == 0 || delay_try_order(delay) ||
	    !delay_suppose(delay, whynot->files, NULL, &delay->now) ||
	    expected_is_now(&delay->now) ||
	    strcmp(delay->now.by, "wish") == 0)
		return;
	delay_try_edits(delay);
	if (whynot->told == 0 && delay->earlier_what != NULL)
		delay_tell(delay, delay->earlier_what, &delay->earlier,
		    delay->earlier_diff);
}

/* Can the name be written in a statement as it is? */
static bool
dest_is_plain(const char *dest)
{
	return *dest != '\0' && strcspn(dest, " \t\"\\{};#<>*?") ==
	    strlen(dest) && strlen(dest) < 300;
}

int
whynot_delay(struct whynot *whynot, const char *id)
{
	struct delay delay = { .whynot = whynot, .id = id,
	    .now_s = clock_wall_s(), .now = { "", "", "", "", 0 } };
	struct waits_for waits;

	if (!delay_find(&delay))
		return -1;
	delay.setting = delay_member(&delay, "setting");
	delay.dest = arena_printf(whynot->arena, "%s/%s",
	    delay_member(&delay, "channel"), delay_member(&delay, "host"));
	whynot->said.rule = delay_member(&delay, "place");
	delay_say_now(&delay);
	if (dest_is_plain(delay.dest))
		delay_try_all(&delay);
	waits = delay_waits_for(&delay);
	if (whynot->told == 0)
		whynot_try_ways(whynot, &waits);
	if (whynot->told == 0) {
		whynot_say_waits(&waits);
		return 1;
	}
	if (!whynot->is_json)
		fputs("\nWhat the next hop answers then nobody can prove.\n",
		    stdout);
	return EX_OK;
}

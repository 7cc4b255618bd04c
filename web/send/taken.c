/* taken.c - was a message taken that nobody saw the end of?
 *
 * In     a Message-ID, a sender, a moment
 * Out    yes and its id, no, or that it cannot be said
 * Trusts lines of the journal to be objects, and no value in them
 * Spec   taken.h; zmailer-events(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/json.h"
#include "grammar/message/date.h"
#include "web/send/dialogue.h"
#include "web/send/taken.h"

#include "base/banned.h"

enum {
	EARLY_S = 2,		/* clocks in whole seconds */
	WINDOW_S = DIALOGUE_S + 30,	/* the listener may still be at it */
	MESSAGES_MAX = 900	/* a trace shows the newest 1000 */
};

/* One word for the verb, and none of a selector. */
static bool
taken_is_word(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] <= ' ' || text.p[i] > '~' ||
		    ascii_is_among(text.p[i], "\"'()\\*?,|&!"))
			return false;
	return text.n > 2;
}

static void
taken_ask(struct taken_question *taken, const char *prefix, struct slice what,
    ask_fn *fn)
{
	const char *words[] = { "trace", taken->since, taken->until, NULL,
	    NULL };
	struct str text = STR_INIT;

	str_addf(&text, "%s" SLICE_FMT, prefix, SLICE_ARG(what));
	mem_free(&taken->what);
	taken->what = mem_strdup(text.buf);
	str_release(&text);
	words[3] = taken->what;
	question_release(&taken->question);
	question_door(&taken->question, words);
	ask_begin(&taken->question, fn, taken);
}

static void
taken_end(struct taken_question *taken)
{
	question_release(&taken->question);
	mem_free(&taken->what);
	taken->fn(taken->context);
}

static bool
taken_is_answered(const struct taken_question *taken)
{
	enum question_answer_kind kind = taken->question.answer.kind;

	return (kind == ANSWER_GOOD || kind == ANSWER_NONE) &&
	    !taken->question.answer.is_cut;
}

/* ---- the sender's ------------------------------------------------------- */

/* The id of a line of this event within the window, else "". */
static void
taken_line_id(const struct taken_question *taken, struct slice line,
    const char *event, struct str *out)
{
	struct str moment = STR_INIT;
	int64_t at_s;

	str_reset(out);
	if (json_is(line, "ev", event) && json_get(line, "t", &moment) &&
	    date_parse(str_slice(&moment), &at_s, NULL) == 0 &&
	    at_s >= taken->at_s - EARLY_S &&
	    (strcmp(event, "message.routed") == 0 ||
	    at_s <= taken->at_s + WINDOW_S))
		(void)json_get(line, "id", out);
	str_release(&moment);
}

static bool
taken_has_routed(const struct taken_question *taken, struct slice lines,
    struct slice id)
{
	struct str other = STR_INIT;
	struct slice line;
	bool has = false;

	while (!has && answer_line(&lines, &line)) {
		taken_line_id(taken, line, "message.routed", &other);
		has = slice_equal(str_slice(&other), id);
	}
	str_release(&other);
	return has;
}

void
taken_read_sender(struct taken_question *taken, struct slice lines)
{
	struct slice rest = lines, line;
	struct str id = STR_INIT;
	size_t count = 0;

	taken->answer = TAKEN_NO;
	while (taken->answer == TAKEN_NO &&
	    answer_line(&rest, &line)) {
		taken_line_id(taken, line, "message.accepted", &id);
		if (id.len == 0)
			continue;
		if (++count > MESSAGES_MAX)
			taken->answer = TAKEN_OPEN;
		else if (!taken_has_routed(taken, lines, str_slice(&id)))
			taken->answer = TAKEN_LATER;
	}
	str_release(&id);
}

static void
taken_on_sender(void *context)
{
	struct taken_question *taken = context;

	taken->answer = TAKEN_OPEN;
	if (taken_is_answered(taken))
		taken_read_sender(taken,
		    str_slice(&taken->question.answer.text));
	taken_end(taken);
}

/* ---- its Message-ID ----------------------------------------------------- */

void
taken_read_ids(struct taken_question *taken, struct slice lines)
{
	struct slice line;
	struct str id = STR_INIT;

	while (taken->answer != TAKEN_YES && answer_line(&lines, &line)) {
		taken_line_id(taken, line, "message.routed", &id);
		if (!spool_id_is(str_slice(&id)))
			continue;
		taken->answer = TAKEN_YES;
		strlcpy(taken->id, id.buf, sizeof(taken->id));
	}
	str_release(&id);
}

static void
taken_on_ids(void *context)
{
	struct taken_question *taken = context;

	taken->answer = TAKEN_OPEN;
	if (taken_is_answered(taken)) {
		taken_read_ids(taken,
		    str_slice(&taken->question.answer.text));
		if (taken->answer == TAKEN_OPEN && clock_wall_s() <
		    taken->at_s + WINDOW_S)
			taken->answer = TAKEN_LATER;
		else if (taken->answer == TAKEN_OPEN &&
		    taken_is_word(taken->from)) {
			taken_ask(taken, "from:", taken->from,
			    taken_on_sender);
			return;
		}
	}
	taken_end(taken);
}

static void
taken_moment(int64_t wall_s, char *out, size_t size)
{
	struct str text = STR_INIT;

	date_add(&text, wall_s);
	strlcpy(out, text.buf, size);
	str_release(&text);
}

bool
taken_can(struct slice message_id)
{
	return taken_is_word(message_id) && message_id.p[0] == '<';
}

void
taken_begin(struct taken_question *taken, ask_fn *fn, void *context)
{
	struct slice bare = slice_from(slice_first(taken->message_id,
	    taken->message_id.n - 1), 1);

	taken->fn = fn;
	taken->context = context;
	taken->id[0] = '\0';
	taken->what = NULL;
	question_door(&taken->question, (const char *const[]){ "trace",
	    NULL });
	taken_moment(taken->at_s - EARLY_S, taken->since,
	    sizeof(taken->since));
	taken_moment(clock_wall_s() + 1, taken->until,
	    sizeof(taken->until));
	taken_ask(taken, "msgid:", bare, taken_on_ids);
}

/* lookup.c - was a message taken that nobody saw the end of?
 *
 * In     a Message-ID, a sender, a moment
 * Out    yes and its id, no, or that it cannot be said
 * Trusts lines of the journal to be objects, and no value in them
 * Spec   lookup.h; zmailer-events(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/json.h"
#include "grammar/message/date.h"
#include "web/send/dialogue.h"
#include "web/send/lookup.h"

#include "base/banned.h"

enum {
	EARLY_S = 2,		/* clocks in whole seconds */
	WINDOW_S = DIALOGUE_S + 30,	/* the listener may still be at it */
	MESSAGES_MAX = 900	/* a trace shows the newest 1000 */
};

/* One word for the verb, and none of a selector. */
static bool
lookup_is_word(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] <= ' ' || text.p[i] > '~' ||
		    ascii_is_among(text.p[i], "\"'()\\*?,|&!"))
			return false;
	return text.n > 2;
}

static void
lookup_ask(struct lookup *lookup, const char *prefix, struct slice what,
    ask_fn *fn)
{
	const char *words[] = { "trace", "--json", "--since", lookup->since,
	    "--until", lookup->until, "--", NULL, NULL };
	struct str text = STR_INIT;

	str_addf(&text, "%s" SLICE_FMT, prefix, SLICE_ARG(what));
	mem_free(&lookup->what);
	lookup->what = mem_strdup(text.buf);
	str_release(&text);
	words[7] = lookup->what;
	question_release(&lookup->question);
	question_verb(&lookup->question, "trace", words);
	ask_begin(lookup->asker, &lookup->question, fn, lookup);
}

static void
lookup_end(struct lookup *lookup)
{
	question_release(&lookup->question);
	mem_free(&lookup->what);
	lookup->fn(lookup->context);
}

static bool
lookup_is_answered(const struct lookup *lookup)
{
	enum question_answer_kind kind = lookup->question.answer.kind;

	return (kind == ANSWER_GOOD || kind == ANSWER_NONE) &&
	    !lookup->question.answer.is_cut;
}

/* ---- the sender's ------------------------------------------------------- */

/* The id of a line of this event within the window, else "". */
static void
lookup_line_id(const struct lookup *lookup, struct slice line,
    const char *event, struct str *out)
{
	struct str moment = STR_INIT;
	int64_t at_s;

	str_reset(out);
	if (json_is(line, "ev", event) && json_get(line, "t", &moment) &&
	    date_parse(str_slice(&moment), &at_s, NULL) == 0 &&
	    at_s >= lookup->at_s - EARLY_S &&
	    (strcmp(event, "message.routed") == 0 ||
	    at_s <= lookup->at_s + WINDOW_S))
		(void)json_get(line, "id", out);
	str_release(&moment);
}

static bool
lookup_has_routed(const struct lookup *lookup, struct slice lines,
    struct slice id)
{
	struct str other = STR_INIT;
	struct slice line;
	bool has = false;

	while (!has && answer_line(&lines, &line)) {
		lookup_line_id(lookup, line, "message.routed", &other);
		has = slice_equal(str_slice(&other), id);
	}
	str_release(&other);
	return has;
}

void
lookup_read_sender(struct lookup *lookup, struct slice lines)
{
	struct slice rest = lines, line;
	struct str id = STR_INIT;
	size_t count = 0;

	lookup->answer = LOOKUP_NOT_TAKEN;
	while (lookup->answer == LOOKUP_NOT_TAKEN &&
	    answer_line(&rest, &line)) {
		lookup_line_id(lookup, line, "message.accepted", &id);
		if (id.len == 0)
			continue;
		if (++count > MESSAGES_MAX)
			lookup->answer = LOOKUP_OPEN;
		else if (!lookup_has_routed(lookup, lines, str_slice(&id)))
			lookup->answer = LOOKUP_LATER;
	}
	str_release(&id);
}

static void
lookup_on_sender(void *context)
{
	struct lookup *lookup = context;

	lookup->answer = LOOKUP_OPEN;
	if (lookup_is_answered(lookup))
		lookup_read_sender(lookup,
		    str_slice(&lookup->question.answer.text));
	lookup_end(lookup);
}

/* ---- its Message-ID ----------------------------------------------------- */

void
lookup_read_ids(struct lookup *lookup, struct slice lines)
{
	struct slice line;
	struct str id = STR_INIT;

	while (lookup->answer != LOOKUP_TAKEN && answer_line(&lines, &line)) {
		lookup_line_id(lookup, line, "message.routed", &id);
		if (!spool_id_is(str_slice(&id)))
			continue;
		lookup->answer = LOOKUP_TAKEN;
		strlcpy(lookup->id, id.buf, sizeof(lookup->id));
	}
	str_release(&id);
}

static void
lookup_on_ids(void *context)
{
	struct lookup *lookup = context;

	lookup->answer = LOOKUP_OPEN;
	if (lookup_is_answered(lookup)) {
		lookup_read_ids(lookup,
		    str_slice(&lookup->question.answer.text));
		if (lookup->answer == LOOKUP_OPEN && clock_wall_s() <
		    lookup->at_s + WINDOW_S)
			lookup->answer = LOOKUP_LATER;
		else if (lookup->answer == LOOKUP_OPEN &&
		    lookup_is_word(lookup->from)) {
			lookup_ask(lookup, "from:", lookup->from,
			    lookup_on_sender);
			return;
		}
	}
	lookup_end(lookup);
}

static void
lookup_moment(int64_t wall_s, char *out, size_t size)
{
	struct str text = STR_INIT;

	date_add(&text, wall_s);
	strlcpy(out, text.buf, size);
	str_release(&text);
}

bool
lookup_can(struct slice message_id)
{
	return lookup_is_word(message_id) && message_id.p[0] == '<';
}

void
lookup_begin(struct lookup *lookup, ask_fn *fn, void *context)
{
	struct slice bare = slice_from(slice_first(lookup->message_id,
	    lookup->message_id.n - 1), 1);

	lookup->fn = fn;
	lookup->context = context;
	lookup->id[0] = '\0';
	lookup->what = NULL;
	question_verb(&lookup->question, "trace", (const char *const[]){
	    "trace", NULL });
	lookup_moment(lookup->at_s - EARLY_S, lookup->since,
	    sizeof(lookup->since));
	lookup_moment(clock_wall_s() + 1, lookup->until,
	    sizeof(lookup->until));
	lookup_ask(lookup, "msgid:", bare, lookup_on_ids);
}

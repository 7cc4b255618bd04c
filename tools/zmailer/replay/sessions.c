/* sessions.c - recorded sessions, decided again
 *
 * In     lines of the record; smtpserver's own code under the new
 *        configuration
 * Out    a row for each answer that differs
 * Holds  one line; counts
 * Trusts nothing in a line
 * Spec   zmailer-replay(8); smtpserver/session/records/record.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/json.h"
#include "tools/journal/record_files.h"
#include "tools/zmailer/replay/partner.h"
#include "tools/zmailer/replay/replay.h"

#include "base/banned.h"

enum answered_text {
	SAID_CODE, SAID_STATUS, SAID_WORDS, SAID_RULE, SAID_SAYS, SAID_BY,
	SAID_NEED, SAID_BAD, SAID_AT, SAID_COUNT
};

struct answered {		/* a line of the record, or of an answer */
	struct str	texts[SAID_COUNT];
	bool		is_aside, is_discarded;
};

static struct slice
answered_text(const struct answered *answered, enum answered_text which)
{
	return str_slice(&answered->texts[which]);
}

static bool
answered_has(const struct answered *answered, enum answered_text which)
{
	return answered->texts[which].len > 0;
}

static bool
answered_is_taken(const struct answered *answered)
{
	return slice_starts(answered_text(answered, SAID_CODE), "2");
}

static void
answered_release(struct answered *answered)
{
	for (int i = 0; i < SAID_COUNT; i++)
		str_release(&answered->texts[i]);
}

static void
answered_read(struct slice line, struct answered *out)
{
	static const char *const keys[SAID_COUNT] = {
		[SAID_CODE] = "code", [SAID_STATUS] = "status",
		[SAID_WORDS] = "words", [SAID_RULE] = "rule",
		[SAID_SAYS] = "says", [SAID_BY] = "by",
		[SAID_NEED] = "need", [SAID_BAD] = "bad", [SAID_AT] = "at"
	};

	for (int i = 0; i < SAID_COUNT; i++) {
		str_init(&out->texts[i]);
		(void)json_get(line, keys[i], &out->texts[i]);
	}
	if (!answered_has(out, SAID_WORDS))
		(void)json_get(line, "reply", &out->texts[SAID_WORDS]);
	out->is_aside = json_is(line, "aside", "true") ||
	    json_is(line, "aside", "yes");
	out->is_discarded = json_is(line, "discarded", "true") ||
	    json_is(line, "discarded", "yes");
}

/* The words without what names the session: "refused (ref 4fe2)". */
static struct slice
answered_words(const struct answered *answered)
{
	struct slice words = answered_text(answered, SAID_WORDS);
	const char *ref = memmem(words.p, words.n, " (ref ", 6);

	return ref != NULL && slice_ends(words, ")") ?
	    slice_first(words, (size_t)(ref - words.p)) : words;
}

/* What the disk or our own grammar said is not decided again: they would have
 * been asked next.  The words about logins tell what TLS there
 * was, and names. */
static bool
answers_agree(const struct answered *before, const struct answered *after)
{
	struct slice by = answered_text(before, SAID_BY);

	if (slice_is(by, "filter"))
		return answered_is_taken(after);
	if (!slice_equal(answered_text(before, SAID_CODE),
	    answered_text(after, SAID_CODE)) ||
	    before->is_aside != after->is_aside ||
	    before->is_discarded != after->is_discarded)
		return false;
	if (answered_is_taken(after) || slice_is(by, "login") ||
	    slice_is(by, "owner"))
		return true;
	return slice_equal(answered_text(before, SAID_STATUS),
	    answered_text(after, SAID_STATUS)) &&
	    slice_equal(answered_words(before), answered_words(after));
}

static void
answered_add(struct str *out, const struct answered *answered)
{
	str_add_slice(out, answered_text(answered, SAID_CODE));
	if (answered_is_taken(answered)) {
		str_adds(out, answered->is_discarded ? " discarded" :
		    answered->is_aside ? " set aside" : " accepted");
		return;
	}
	str_addc(out, ' ');
	str_add_slice(out, answered_text(answered, SAID_STATUS));
	str_addc(out, ' ');
	str_add_slice(out, answered_words(answered));
}

/* What made the difference: the rule that decides now, else the one that
 * does not any more. */
static void
rule_text_add(struct str *out, const struct answered *before,
    const struct answered *after)
{
	if (answered_has(after, SAID_RULE))
		str_addf(out, "%s (%s)", after->texts[SAID_RULE].buf,
		    after->texts[SAID_SAYS].buf);
	else if (answered_has(before, SAID_RULE))
		str_addf(out, "%s as it was then decides no more; no rule "
		    "does", before->texts[SAID_RULE].buf);
	else if (answered_is_taken(after))
		str_addf(out, "no rule; %s %s it%s then",
		    before->texts[SAID_BY].buf, before->is_discarded ?
		    "discarded" : before->is_aside ? "set" : "refused",
		    before->is_aside ? " aside" : "");
	else if (answered_has(after, SAID_BY))
		str_addf(out, "no rule; %s", after->texts[SAID_BY].buf);
	else
		str_adds(out, "no rule decides it");
}

enum { ROW_WHEN, ROW_FROM, ROW_TO, ROW_BEFORE, ROW_AFTER, ROW_RULE,
	ROW_COUNT };

static void
session_tell(struct replay *replay, struct slice line,
    const struct answered *before, const struct answered *after)
{
	struct str texts[ROW_COUNT];
	struct difference difference = { .kind = "session" };

	for (int i = 0; i < ROW_COUNT; i++)
		str_init(&texts[i]);
	(void)json_get(line, "t", &texts[ROW_WHEN]);
	(void)json_get(line, "from", &texts[ROW_FROM]);
	if (!json_get(line, "to", &texts[ROW_TO]))
		(void)json_get(line, "at", &texts[ROW_TO]);
	answered_add(&texts[ROW_BEFORE], before);
	if (answered_has(after, SAID_NEED))
		str_addf(&texts[ROW_AFTER], "unknown: nobody asked then: %s",
		    after->texts[SAID_NEED].buf);
	else
		answered_add(&texts[ROW_AFTER], after);
	rule_text_add(&texts[ROW_RULE], before, after);
	difference.when = str_slice(&texts[ROW_WHEN]);
	difference.from = str_slice(&texts[ROW_FROM]);
	difference.to = str_slice(&texts[ROW_TO]);
	difference.before = str_slice(&texts[ROW_BEFORE]);
	difference.after = str_slice(&texts[ROW_AFTER]);
	difference.rule = str_slice(&texts[ROW_RULE]);
	if (answered_has(after, SAID_NEED))
		replay_tell_unknown(replay, &difference);
	else
		replay_tell(replay, &difference);
	for (int i = 0; i < ROW_COUNT; i++)
		str_release(&texts[i]);
}

/* The end of a message that, by an earlier line about RCPT, would not have come
 * this far. */
static bool
is_told_already(const struct answered *before, const struct answered *after)
{
	return slice_is(answered_text(before, SAID_AT), "data") &&
	    !slice_is(answered_text(after, SAID_AT), "data") &&
	    !answered_has(after, SAID_BAD);
}

static int
session_line(struct replay *replay, struct partner *partner,
    struct slice line, struct err *err)
{
	struct answered before, after;
	struct slice said;

	if (partner_ask(partner, line, &said, err) < 0)
		return -1;
	answered_read(line, &before);
	answered_read(said, &after);
	replay->seen++;
	replay->as_then += answered_is_taken(&after) &&
	    slice_is(answered_text(&before, SAID_BY), "filter");
	replay->by_filters += slice_is(answered_text(&after, SAID_BY),
	    "milter");
	if (answered_has(&after, SAID_BAD))
		replay->left_out++;
	else if (!is_told_already(&before, &after) &&
	    (answered_has(&after, SAID_NEED) ||
	    !answers_agree(&before, &after)))
		session_tell(replay, line, &before, &after);
	answered_release(&before);
	answered_release(&after);
	return 0;
}

static int
sessions_read(struct replay *replay, struct record_reader *reader,
    struct err *err)
{
	static const char *const words[] = { "replay", NULL },
		*const words_dns[] = { "replay", "--ask-dns", NULL };
	struct partner partner = { .pid = 0 };
	uint64_t all, done;
	struct slice line;
	int result = partner_start(&partner, "smtpserver", replay->asks_dns ?
	    words_dns : words, replay->fresh_path, err);

	while (result == 0 && record_reader_next(reader, &line)) {
		result = session_line(replay, &partner, line, err);
		record_reader_progress(reader, &all, &done);
		replay_progress(replay, all, done);
	}
	partner_end(&partner);
	return result;
}

int
replay_sessions(struct replay *replay, bool is_asked, struct err *err)
{
	struct record_reader *reader;
	uint64_t all, done;
	int result;

	if (record_reader_open(replay->old->log_dir, &replay->span, &reader,
	    err) < 0)
		return -1;
	record_reader_progress(reader, &all, &done);
	result = all == 0 ? 0 : sessions_read(replay, reader, err);
	record_reader_close(&reader);
	if (result == 0 && replay->seen == 0 && is_asked)
		return err_set(err, "no session was recorded then%s",
		    replay->old->record_ms > 0 ? "" :
		    ": write `record for 7d`, and wait");
	if (result == 0 && replay->seen == 0)
		fprintf(stderr, "zmailer: replay: no session was recorded "
		    "then (statement record); routes and schedule alone are "
		    "replayed\n");
	return result;
}

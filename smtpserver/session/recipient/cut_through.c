/* cut_through.c - the client waits for the next hop's word
 * (route ... cut-through)
 *
 * In     a message all of whose recipients have such a route; what the
 *        scheduler says of it
 * Out    what the client hears at the end of data; `told` when that is a
 *        refusal
 * Holds  nothing
 * Trusts the scheduler; not the words of next hops, which go to a client
 * Spec   cut_through.h; doc/INTERNALS.md rows W1 to W3; RFC 5321 section 6.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "smtpserver/session/copy.h"
#include "smtpserver/session/recipient/cut_through.h"
#include "smtpserver/session/records/journal.h"
#include "smtpserver/session/step.h"

#include "base/banned.h"

enum {
	EXPECT_FOR_MS = 5000,
	VERDICT_MORE_MS = 5000,		/* than the scheduler takes */
	WORDS_BYTES_MAX = 380		/* a reply's line is no longer */
};

const char cut_through_kind[] = "verdict";

void
cut_through_note_rcpt(struct session *session, const struct path *rcpt)
{
	struct transaction *t = session->transaction;

	if (!t->rcpt_is_ours && conf_cuts_through(session->settings->conf,
	    slice_lower(t->arena, rcpt->domain)))
		t->cut_through_count++;
}

static void
cut_through_ask(struct session *session, const char *word, int64_t for_ms)
{
	struct str question = STR_INIT;

	str_addf(&question, "%s %s", word, session->transaction->draft.id);
	session->ask = ask_new(cut_through_kind, str_slice(&question), for_ms,
	    NULL);
	session_wait_for(session, for_ms);
	str_release(&question);
}

static void
cut_through_tell(struct session *session, const char *word)
{
	str_addf(&session->tells, "%s %s %s\n", cut_through_kind, word,
	    session->transaction->draft.id);
}

enum step
cut_through_begin(struct session *session, enum step next)
{
	const struct transaction *t = session->transaction;

	if (next != STEP_STORE)
		return next;
	if (t->rcpt_count == 0 || t->cut_through_count < t->rcpt_count ||
	    transaction_is_frozen(t) || session_is_lmtp(session) ||
	    session_is_on_stdin(session))
		return copy_begin(session);
	cut_through_ask(session, "expect", EXPECT_FOR_MS);
	return STEP_EXPECT;
}

enum step
step_expect(struct session *session)
{
	const struct ask *ask = session->ask;

	if (ask->state == ASK_WAITING)
		return STEP_WAIT;
	session->transaction->is_expected = ask->state == ASK_ANSWERED &&
	    slice_is(str_slice(&ask->answer), "yes");
	ask_free(&session->ask);
	return copy_begin(session);
}

enum step
cut_through_stored(struct session *session)
{
	if (!session->transaction->is_expected)
		return STEP_STORED;
	if (session->store != STORE_DONE) {
		cut_through_tell(session, "gone");
		return STEP_STORED;
	}
	note_message_accepted(session);
	cut_through_ask(session, "wait",
	    session->settings->conf->timeouts.cut_through_ms +
	    VERDICT_MORE_MS);
	return STEP_VERDICT;
}

/* ---- what the next hop said ------------------------------------------- */

/* "550 5.1.1 words": its code, when it is one of them; the words alone. */
static int
cut_through_words_code(struct slice *words, struct slice status)
{
	struct slice rest = *words, word;
	uint64_t code = 550;

	if (slice_word(&rest, &word) && word.n == 3 &&
	    slice_number(word, 200, 599, &code)) {
		*words = slice_trim(rest);
		rest = *words;
		if (slice_word(&rest, &word) && slice_equal(word, status))
			*words = slice_trim(rest);
	}
	return code >= 500 ? (int)code : 550;
}

/* Printable, and no longer than a reply. */
static void
cut_through_words_clean(struct slice words, char out[WORDS_BYTES_MAX + 1])
{
	size_t n = words.n < WORDS_BYTES_MAX ? words.n : WORDS_BYTES_MAX;

	for (size_t i = 0; i < n; i++)
		out[i] = ascii_is_print(words.p[i]) ? words.p[i] : '?';
	out[n] = '\0';
}

/* "N.N.N", as RFC 3463 section 2 has it. */
static bool
cut_through_status_is_good(struct slice status, char class)
{
	if (status.n < 5 || status.n > 9 || status.p[0] != class ||
	    status.p[1] != '.')
		return false;
	for (size_t i = 2; i < status.n; i++)
		if (status.p[i] != '.' && !ascii_is_digit(status.p[i]))
			return false;
	return true;
}

/* The client hears it: from now on it is the client's to tell. */
static void
cut_through_refuse(struct session *session, struct slice status,
    struct slice words)
{
	struct transaction *t = session->transaction;
	char clean[WORDS_BYTES_MAX + 1];
	int code = cut_through_words_code(&words, status);

	cut_through_words_clean(words, clean);
	snprintf(t->refusal_status, sizeof(t->refusal_status), SLICE_FMT,
	    SLICE_ARG(cut_through_status_is_good(status, '5') ? status :
	    SLICE("5.0.0")));
	t->next_hop = arena_alloc(t->arena, sizeof(*t->next_hop));
	answer_set(t->next_hop, code, t->refusal_status,
	    "the next hop refused it: %s", clean);
	cut_through_tell(session, "told");
}

static void
cut_through_accept(struct session *session, struct slice words)
{
	struct transaction *t = session->transaction;
	char clean[WORDS_BYTES_MAX + 1];

	cut_through_words_clean(words, clean);
	t->next_hop = arena_alloc(t->arena, sizeof(*t->next_hop));
	answer_set(t->next_hop, 250, "2.0.0", "%s delivered, the next hop "
	    "said: %s", t->draft.id, clean);
}

/* "refused STATUS WORDS" and so on; what cannot be read is "queued". */
static void
cut_through_judge(struct session *session, const struct ask *ask)
{
	struct slice rest = str_slice(&ask->answer), word = SLICE("queued"),
	    status = SLICE("");
	const char *verdict = "queued";

	if (ask->state == ASK_ANSWERED && slice_word(&rest, &word) &&
	    !slice_is(word, "queued"))
		(void)slice_word(&rest, &status);
	rest = slice_trim(rest);
	if (stream_peer_has_left(session->stream)) {
		cut_through_tell(session, "gone");
		verdict = "gone";
	} else if (ask->state == ASK_ANSWERED && slice_is(word, "refused")) {
		cut_through_refuse(session, status, rest);
		verdict = "refused";
	} else if (ask->state == ASK_ANSWERED &&
	    slice_is(word, "delivered")) {
		cut_through_accept(session, rest);
		verdict = "delivered";
	} else if (ask->state != ASK_ANSWERED) {
		cut_through_tell(session, "gone");
	}
	note_message_waited(session, verdict, status, rest);
}

enum step
step_verdict(struct session *session)
{
	if (session->ask->state == ASK_WAITING)
		return STEP_WAIT;
	cut_through_judge(session, session->ask);
	ask_free(&session->ask);
	return STEP_STORED;
}

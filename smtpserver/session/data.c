/* data.c - the steps of a session that has a message under way
 *
 * In     bytes of a message; "stored"
 * Out    a draft to be made durable; the reply to the end of the message
 * Trusts nothing: content.c judges the bytes
 * Spec   RFC 5321 sections 4.1.1.4, 4.2.5 and 6.1; RFC 3030 section 2
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "smtpserver/session/copy.h"
#include "smtpserver/session/publish.h"
#include "smtpserver/session/records/journal.h"
#include "smtpserver/session/records/record.h"
#include "smtpserver/session/recipient/cut_through.h"
#include "smtpserver/session/step.h"

#include "base/banned.h"

static enum step
content_is_whole(struct session *session)
{
	session->asked_at_us = clock_steady_us();
	if (session->transaction->content.fault != CONTENT_GOOD)
		return STEP_STORED;
	record_body(session);
	return session_judge(session, session_filter_message(session));
}

enum step
step_data(struct session *session)
{
	const struct conf *conf = session->settings->conf;
	struct transaction *t = session->transaction;
	struct slice in = stream_input(session->stream);
	bool is_end;
	size_t used;

	if (in.n == 0) {
		if (!session->is_eof)
			return STEP_WAIT;
		session->end_reason = "lost in data";
		return STEP_LAST;
	}
	session_wait_for(session, conf->timeouts.data_ms);
	is_end = content_read(&t->content, &conf->limits, in, &t->draft,
	    &used);
	stream_consume(session->stream, used);
	if (!is_end)
		return STEP_DATA;
	session->store = STORE_NOT_YET;
	return content_is_whole(session);
}

/* The chunk is over and was not taken. */
static enum step
chunk_refused(struct session *session)
{
	const struct refusal *refusal = &session->chunk.refusal;
	enum step next;
	struct session_answer answer;

	answer_set(&answer, refusal->code, refusal->status, "%s",
	    refusal->text);
	note_command_refused(session, SLICE("BDAT"), &answer);
	next = session_say(session, &answer, STEP_COMMAND);
	return next == STEP_COMMAND ? session_count_idle(session) : next;
}

/* The chunk is over and was taken. */
static enum step
chunk_end(struct session *session)
{
	const struct conf *conf = session->settings->conf;
	struct transaction *t = session->transaction;
	struct session_answer answer;

	if (session->chunk.is_last) {
		content_end(&t->content, &conf->limits, &t->draft);
		session->store = STORE_NOT_YET;
		return content_is_whole(session);
	}
	session_wait_for(session, session_command_ms(session));
	if (t->content.fault == CONTENT_GOOD) {
		answer_set(&answer, 250, "2.0.0", "%llu bytes taken",
		    (unsigned long long)session->chunk.bytes);
	} else {
		answer_fault(&answer, t->content.fault);
		note_message_refused(session, &answer);
		record_end(session, &answer);
	}
	if (session->chunk.bytes > 0)
		return session_say(session, &answer, STEP_COMMAND);
	session_write(session, &answer);
	return session_count_idle(session);
}

enum step
step_chunk(struct session *session)
{
	const struct conf *conf = session->settings->conf;
	struct transaction *t = session->transaction;
	struct chunk *chunk = &session->chunk;
	struct slice in = slice_first(stream_input(session->stream),
	    chunk->left_bytes < SIZE_MAX ? (size_t)chunk->left_bytes :
	    SIZE_MAX);

	if (in.n == 0 && chunk->left_bytes > 0) {
		if (!session->is_eof)
			return STEP_WAIT;
		session->end_reason = "lost in data";
		return STEP_LAST;
	}
	session_wait_for(session, conf->timeouts.data_ms);
	if (chunk->refusal.code == 0)
		content_take(&t->content, &conf->limits, in, &t->draft);
	stream_consume(session->stream, in.n);
	chunk->left_bytes -= in.n;
	if (chunk->left_bytes > 0)
		return STEP_CHUNK;
	return chunk->refusal.code != 0 ? chunk_refused(session) :
	    chunk_end(session);
}

enum step
step_store(struct session *session)
{
	if (session->store == STORE_NOT_YET)
		return STEP_WAIT;
	return session->store == STORE_FAILED ? publish_failed(session) :
	    copy_await(session);
}

/* RFC 6710 section 5.1: the new priority stands first in the text. */
static void
answer_accepted(const struct transaction *t, struct session_answer *out)
{
	if (t->envelope.terms.priority != t->priority_asked)
		answer_set(out, 250, "2.3.6", "%d %s accepted, its priority "
		    "was changed", t->envelope.terms.priority, t->draft.id);
	else
		answer_set(out, 250, "2.0.0", "%s accepted", t->draft.id);
}

enum step
step_stored(struct session *session)
{
	struct transaction *t = session->transaction;
	unsigned replies = session_is_lmtp(session) ? t->rcpt_count : 1;
	/* Who sent it may not mean what follows to be commands. */
	bool is_out_of_step = t->content.fault == CONTENT_BARE &&
	    !t->is_chunked;
	char status[sizeof(t->refusal_status)];
	struct session_answer answer;

	copy_drop(session);
	if (t->is_refused) {
		answer = t->refusal;
		memcpy(status, t->refusal_status, sizeof(status));
		answer.status = status;
		note_message_refused(session, &answer);
	} else if (t->content.fault == CONTENT_GOOD) {
		if (t->next_hop != NULL) {
			answer = *t->next_hop;
			memcpy(status, t->refusal_status, sizeof(status));
			if (answer.code >= 500)
				answer.status = status;
		} else {
			answer_accepted(t, &answer);
		}
		if (t->is_discarded)
			note_message_discarded(session);
		else if (!t->is_expected)	/* else it was noted */
			note_message_accepted(session);
	} else {
		answer_fault(&answer, t->content.fault);
		note_message_refused(session, &answer);
	}
	record_end(session, &answer);
	if (!t->is_refused && t->content.fault == CONTENT_GOOD) {
		session->messages++;
		session->idle_commands = 0;
	}
	while (--replies > 0)		/* RFC 2033 section 4.2 */
		session_write(session, &answer);
	note_answered(session);
	transaction_free(&session->transaction);
	str_reset(&session->forward);
	session_wait_for(session, session_command_ms(session));
	if (!is_out_of_step)
		return session_say(session, &answer, STEP_COMMAND);
	session_write(session, &answer);
	return session_say_end(session, "4.7.0", "bare CR or LF",
	    "cannot tell commands from content");
}

/* run.c - takes one session from step to step
 *
 * In     "bytes came", "durable", "answered", "time is up"
 * Out    what the session wants next (->want)
 * Holds  nothing: the session has its step
 * Trusts no step: what must hold between two of them is looked at
 * Spec   session/steps.h; RFC 5321 section 4.5.3.2
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "smtpserver/session/step.h"
#include "smtpserver/worker/run.h"

#include "base/banned.h"

enum { DATA_READS_MAX = 8 };

static const struct step_row {
	const char	*name;
	step_fn		*fn;
} steps[STEP_COUNT] = {
#define STEP(symbol, name, next, text) { #name, step_##name },
#include "smtpserver/session/steps.h"
#undef STEP
};

static bool
session_is_asking(const struct session *session)
{
	return session->step == STEP_ASK || session->step == STEP_FILTER ||
	    session->step == STEP_ORIGIN || session->step == STEP_COPY ||
	    session->step == STEP_KNOCK || session->step == STEP_EXPECT ||
	    session->step == STEP_VERDICT;
}

static void
session_check_invariants(const struct session *session)
{
	const struct transaction *t = session->transaction;
	bool is_in_data = session->step == STEP_DATA ||
	    (session->step >= STEP_FILTER && session->step <= STEP_STORED);
	bool is_asking = session_is_asking(session);

	if (session->magic != SESSION_MAGIC)
		panic("session: not a session");
	if (is_asking && session->ask == NULL)
		panic("session in step ask without a question");
	if (is_in_data && (t == NULL || !t->is_receiving))
		panic("session in step %s without a message",
		    steps[session->step].name);
	if (!is_in_data && session->step < STEP_LAST && t != NULL &&
	    t->is_receiving && !t->is_chunked)
		panic("session in step %s with an open message",
		    steps[session->step].name);
}

static bool
session_is_receiving(const struct session *session)
{
	return session->step == STEP_DATA || session->step == STEP_CHUNK;
}

void
session_run(struct session *session)
{
	for (;;) {
		enum step next;

		session_check_invariants(session);
		next = steps[session->step].fn(session);
		if (next == STEP_WAIT)
			break;
		session->step = next;
	}
	switch (session->step) {
	case STEP_ASK:
	case STEP_FILTER:
	case STEP_ORIGIN:
	case STEP_COPY:
	case STEP_KNOCK:
	case STEP_EXPECT:
	case STEP_VERDICT:
		session->want = WANT_ANSWER;
		break;
	case STEP_HOLD:
		session->want = WANT_HOLD;
		break;
	case STEP_STORE:
		session->want = WANT_STORE;
		break;
	case STEP_END:
		session->want = WANT_END;
		break;
	default:
		session->want = session->is_eof || session->is_blocked ||
		    session->step == STEP_LAST ||
		    session->step == STEP_PAUSE ? WANT_OUTPUT : WANT_INPUT;
	}
}

void
session_read(struct session *session)
{
	int left = DATA_READS_MAX;

	if (stream_unsent_bytes(session->stream) > 0 &&
	    stream_flush(session->stream) == STREAM_FLUSH_BROKEN) {
		session_broken(session);
		return;
	}
	do {
		switch (session->is_eof ? STREAM_NOTHING :
		    stream_fill(session->stream)) {
		case STREAM_EOF:
			session->is_eof = true;
			break;
		case STREAM_BROKEN:
			session_broken(session);
			return;
		case STREAM_GOT:
		case STREAM_NOTHING:
			break;
		}
		session_run(session);
	} while (session_is_receiving(session) && --left > 0 &&
	    stream_was_full(session->stream));
}

void
session_broken(struct session *session)
{
	if (session->step == STEP_TLS && session->end_reason == NULL)
		session_tls_failed(session,
		    stream_tls(session->stream) == STREAM_TLS_FAILED ?
		    stream_tls_trouble(session->stream) : "lost");
	if (session->end_reason == NULL)
		session->end_reason = session_is_receiving(session) ?
		    "lost in data" : "lost";
	session->step = STEP_END;
	session->want = WANT_END;
}

int64_t
session_deadline(const struct session *session)
{
	return session->deadline_at_ms < session->end_at_ms ||
	    session_is_asking(session) || session->step == STEP_LAST ||
	    session->step == STEP_LINGER ?
	    session->deadline_at_ms : session->end_at_ms;
}

void
session_expire(struct session *session)
{
	if (session->step == STEP_STORE)
		return;		/* its turn is about to end */
	if (session_is_asking(session)) {
		session_answered(session, ASK_TROUBLE,
		    SLICE("no answer in time"));
		return;
	}
	if ((session->step == STEP_PAUSE || session->step == STEP_HOLD ||
	    session->step == STEP_GREET) &&
	    clock_steady_ms() < session->end_at_ms) {
		session_run(session);
		return;
	}
	if (session->step == STEP_TLS)
		session_tls_failed(session, "it took too long");
	if (session->step == STEP_TLS || session->step >= STEP_LAST) {
		session_broken(session);
		return;
	}
	session->step = clock_steady_ms() >= session->end_at_ms ?
	    session_say_end(session, "4.4.2", "session timeout",
	    "the session took too long") :
	    session_say_end(session, "4.4.2", "timeout", "waited too long");
	session_wait_for(session, LINGER_FOR_MS);
	session_run(session);
}

void
session_stop(struct session *session, bool is_final)
{
	if (session->step >= STEP_LAST)
		return;
	if (session->step == STEP_TLS) {	/* nothing can be said */
		session_tls_failed(session, "we stop");
		session_broken(session);
		return;
	}
	/* it is the queue's: no answer would have it sent again */
	if (session->step == STEP_VERDICT && is_final) {
		session_answered(session, ASK_TROUBLE, SLICE("we stop"));
		if (session->step >= STEP_LAST)
			return;
	}
	/* step_command will say it after the message. */
	if (session->step == STEP_STORE ||
	    ((session_is_receiving(session) || session_is_asking(session)) &&
	    !is_final))
		return;
	session->step = session_say_end(session, "4.3.2", "stopping",
	    "is stopping");
	session_wait_for(session, LINGER_FOR_MS);
	session_run(session);
}

bool
session_is_watched(const struct session *session)
{
	return session->user.len > 0 && session->step < STEP_LAST &&
	    policy_may_bar(session->service->settings->policy);
}

void
session_watch(struct session *session)
{
	enum step next;

	if (session->step >= STEP_LAST || session->step == STEP_STORE ||
	    session->step == STEP_TLS || session_is_asking(session) ||
	    !session_is_barred(session, &next))
		return;
	session->step = next;
	session_wait_for(session, LINGER_FOR_MS);
	session_run(session);
}

void
session_answered(struct session *session, enum ask_state state,
    struct slice answer)
{
	/* an answer about a copy may come before the disk's */
	if (!session_is_asking(session) &&
	    (session->step != STEP_STORE || session->ask == NULL))
		return;
	session->ask->state = state;
	str_reset(&session->ask->answer);
	str_add_slice(&session->ask->answer, answer);
	session_run(session);
}

void
session_durable(struct session *session, bool is_durable)
{
	session->store = is_durable ? STORE_DURABLE : STORE_FAILED;
	session_run(session);
}

/* questions.c - what the other process asks for somebody
 *
 * In     a session's secret, words of a verb or a request
 * Out    an answer; of mail of others nothing, for who helps some domains
 * Holds  at most CALLS_MAX questions
 * Trusts nobody: words are of a row, the session is there, and may
 * Spec   calls.h, rows.h, help.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "web/orders/calls.h"
#include "web/orders/help.h"
#include "web/orders/match.h"

#include "base/banned.h"

struct call {
	struct order_desk	*orders;
	unsigned	 serial;
	struct arena	*arena;
	struct question	 question;
	enum match_help	 help;
	const char	*domains;	/* NULL: of all mail */
	char		 who[sizeof(((struct web_session *)0)->user) + 8];
	struct question	 before;	/* is the message one of theirs? */
	const char	*id;		/* it, then */
};

static void
call_free(struct call *call)
{
	call->orders->calls--;
	question_release(&call->question);
	question_release(&call->before);
	arena_free(&call->arena);
	mem_free(&call);
}

/* What the answer says of others is not for who helps these domains. */
static void
call_sift(struct call *call)
{
	struct question_answer *answer = &call->question.answer;

	if (call->help == MATCH_SIFT) {
		if (help_sift(call->domains, &answer->text))
			return;
		answer->kind = ANSWER_NONE;
		str_reset(&answer->trouble);
	} else if (call->question.is_socket) {
		help_sift_recipients(call->domains, help_is_from(
		    call->domains, str_slice(&call->before.answer.text)),
		    &answer->text);
	} else if (strcmp(call->question.words[0], "list") == 0) {
		help_sift_recipients(call->domains, false, &answer->text);
	}
}

static void
call_on_answer(void *context)
{
	struct call *call = context;

	if (call->domains != NULL)
		call_sift(call);
	orders_answer(call->orders, call->serial, &call->question.answer);
	call_free(call);
}

static void
call_start(struct call *call)
{
	errand_begin(&call->orders->asker, &call->question, call->who,
	    call_on_answer, call);
}

/* What is not there and what is of others is told by the same words. */
static void
call_on_before(void *context)
{
	struct call *call = context;
	struct question_answer *answer = &call->before.answer;

	if (help_has_message(str_slice(&answer->text), slice_of(call->id))) {
		call_start(call);
		return;
	}
	if (answer->kind == ANSWER_GOOD)
		answer->kind = ANSWER_NONE;
	str_reset(&answer->text);
	orders_answer(call->orders, call->serial, answer);
	call_free(call);
}

/* Is the message there, for who helps these domains? */
static void
call_look_first(struct call *call)
{
	const char *words[] = { "list", "--json", "--limit", "50", "--",
	    help_narrow(call->arena, call->domains, slice_of(arena_printf(
	    call->arena, "id:%s", call->id))), NULL };

	question_verb(&call->before, "", words);
	errand_begin(&call->orders->asker, &call->before, call->who,
	    call_on_before, call);
}

/* A selector that is one, joined with theirs; a verb without one gets it.
 * -1: it is none. */
static int
call_narrow(struct call *call, const struct match *match)
{
	const char **words = call->question.words;
	struct slice typed = SLICE("all");
	size_t n = 0;

	while (words[n] != NULL)
		n++;
	if (match->selector_at >= 0) {
		n = (size_t)match->selector_at;
		typed = slice_of(words[n]);
	} else if (n + 2 < QUESTION_WORDS_MAX) {
		words[n++] = "--";
		words[n + 1] = NULL;
	} else {
		return -1;
	}
	words[n] = help_narrow(call->arena, call->domains, typed);
	return words[n] == NULL ? -1 : 0;
}

/* Words of a verb, or a request, as the rows have them.  False: they are of no
 * row. */
static bool
call_take(struct call *call, bool is_socket, const char *const *words,
    struct match *out)
{
	const char *kept[QUESTION_WORDS_MAX] = { NULL };
	size_t n = 0;

	if (is_socket) {
		question_socket(&call->question, "", "");
		str_reset(&call->question.request);
		return words[0] != NULL && match_socket(slice_of(words[0]),
		    &call->question.request, out);
	}
	while (words[n] != NULL && n < QUESTION_WORDS_MAX - 1) {
		kept[n] = slice_dup(call->arena, slice_of(words[n]));
		n++;
	}
	question_verb(&call->question, "", kept);
	return words[n] == NULL && match_verb(call->question.words, out);
}

/* NULL: this session may ask that; else why not. */
static const char *
call_refusal(const struct web_session *session, const struct match *match)
{
	if (!role_may(session->role, match->role, match->help !=
	    MATCH_ALONE))
		return "Your role may not do that.";
	if (match->role > ROLE_LOOK &&
	    !session_may_act(session, clock_steady_ms()))
		return "Orders want your password again.";
	return NULL;
}

/* The id stands in the words, or in the request. */
static const char *
call_message(struct call *call, const struct match *match)
{
	struct str id = STR_INIT;
	const char *out = "";

	if (!call->question.is_socket)
		return call->question.words[match->id_at];
	str_addc(&call->question.request, '}');
	if (json_get(str_slice(&call->question.request), "id", &id) &&
	    match_is_id(str_slice(&id)))
		out = slice_dup(call->arena, str_slice(&id));
	str_truncate(&call->question.request,
	    call->question.request.len - 1);
	str_release(&id);
	return out;
}

/* NULL: it is on its way; else why not. */
static const char *
call_go(struct call *call, const struct web_session *session,
    const struct match *match)
{
	if (session->user[0] != '\0')
		snprintf(call->who, sizeof(call->who), "%s(web)",
		    session->user);
	call->help = match->help;
	if (session->role == ROLE_HELP)
		call->domains = slice_dup(call->arena, slice_of(
		    orders_domains(call->orders, session)));
	if (call->domains != NULL && match->help == MATCH_NARROW &&
	    call_narrow(call, match) < 0)
		return "The box has no selector.";
	if (call->domains == NULL || match->help != MATCH_FIRST) {
		call_start(call);
		return NULL;
	}
	call->id = call_message(call, match);
	if (call->id[0] == '\0')
		return "That is no id of a message.";
	call_look_first(call);
	return NULL;
}

/* SECRET page|live verb|socket WORD... */
void
questions_carry(struct order_desk *orders, unsigned serial,
    const char *const *words)
{
	struct web_session *session = session_of(orders->all,
	    slice_of(words[0]), strcmp(words[1], "live") != 0,
	    clock_steady_ms());
	bool is_socket = strcmp(words[2], "socket") == 0;
	const char *why = NULL;
	struct match match;
	struct call *call;

	if (session == NULL || !orders_role_holds(orders, session)) {
		orders_say(orders, serial, ANSWER_OVER, "", "The session is "
		    "over.");
		return;
	}
	if (orders->calls == CALLS_MAX) {
		orders_say(orders, serial, ANSWER_TROUBLE, "", "The desk asks "
		    "too much at a time.");
		return;
	}
	call = mem_alloc(1, sizeof(*call));
	*call = (struct call){ .orders = orders, .serial = serial,
	    .arena = arena_new() };
	question_socket(&call->before, "", "");
	orders->calls++;
	why = call_take(call, is_socket, words + 3, &match) ?
	    call_refusal(session, &match) : "The desk has no such order.";
	if (why == NULL)
		why = call_go(call, session, &match);
	if (why == NULL)
		return;
	orders_say(orders, serial, ANSWER_DENIED, "", why);
	call_free(call);
}

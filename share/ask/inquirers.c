/* inquirers.c - who asks share, over RUN/share.sock
 *
 * In     connections and questions of our own daemons and tools
 * Out    answers, each with the token of its question
 * Holds  what each waits for
 * Trusts no question; who may connect is said by the socket's group and mode
 * Spec   inquirers.h, doc/protocol/share.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "share/ask/inquirers.h"
#include "share/count/words.h"

#include "base/banned.h"

enum {
	INQUIRERS_MAX = 256,
	INQUIRERS_LEAVE_MS = 2000,
	INQUIRERS_WAITS_MAX = 16384,
	INQUIRERS_LINE_BYTES_MAX = 4096
};

struct inquirer_wait {
	struct inquirer		*inquirer;
	struct ledger_wait	*wait;		/* of take */
	struct holding_wait	*slot;		/* of hold */
	struct greeting		*greeting;	/* of greet */
	bool			 is_late;	/* it is answered later */
	char			 token[WORDS_TOKEN_BYTES];
	LIST_ENTRY(inquirer_wait) entry;
};

struct inquirer {
	struct caller		 caller;
	LIST_HEAD(, inquirer_wait) waits;
};

static void
inquirer_gone(struct caller *caller)
{
	struct inquirer *inquirer = (struct inquirer *)caller;
	struct inquirer_wait *wait;

	while ((wait = LIST_FIRST(&inquirer->waits)) != NULL) {
		LIST_REMOVE(wait, entry);
		ledger_forget(&wait->wait);
		holdings_forget(&wait->slot);
		greetings_forget(&wait->greeting);
		mem_free(&wait);
	}
}

/* Its answer is in the link's out; a late one is nobody else's to send. */
static void
inquirer_wait_end(struct inquirer_wait *wait)
{
	struct caller *caller = &wait->inquirer->caller;

	LIST_REMOVE(wait, entry);
	caller->wait_count--;
	if (wait->is_late)
		ipc_link_resume(caller->link);
	mem_free(&wait);
}

/* ledger_answer_fn */
static void
inquirer_on_answer(void *context, int64_t wait_s)
{
	struct inquirer_wait *wait = context;
	struct str *out = ipc_link_out(wait->inquirer->caller.link);

	if (wait_s == 0)
		str_addf(out, "%s ok ok\n", wait->token);
	else
		str_addf(out, "%s ok over %" PRId64 "\n", wait->token,
		    wait_s);
	inquirer_wait_end(wait);
}

/* holdings_answer_fn */
static void
inquirer_on_slot(void *context, const char *name)
{
	struct inquirer_wait *wait = context;
	struct str *out = ipc_link_out(wait->inquirer->caller.link);

	if (name != NULL)
		str_addf(out, "%s ok ok %s\n", wait->token, name);
	else
		str_addf(out, "%s ok over\n", wait->token);
	inquirer_wait_end(wait);
}

/* greetings_answer_fn */
static void
inquirer_on_greeting(void *context, int64_t wait_s)
{
	struct inquirer_wait *wait = context;
	struct str *out = ipc_link_out(wait->inquirer->caller.link);

	if (wait_s == GREETING_AWAY)
		str_addf(out, "%s ok away\n", wait->token);
	else if (wait_s == 0)
		str_addf(out, "%s ok pass\n", wait->token);
	else
		str_addf(out, "%s ok wait %" PRId64 "\n", wait->token,
		    wait_s);
	inquirer_wait_end(wait);
}

static struct inquirer_wait *
inquirer_wait_new(struct inquirer *inquirer, struct slice token)
{
	struct inquirer_wait *wait = mem_alloc(1, sizeof(*wait));

	wait->inquirer = inquirer;
	memcpy(wait->token, token.p, token.n);
	LIST_INSERT_HEAD(&inquirer->waits, wait, entry);
	inquirer->caller.wait_count++;
	return wait;
}

static void
inquirer_take_rate(struct inquirer *inquirer,
    const struct words_question *question)
{
	struct inquirer_wait *wait = inquirer_wait_new(inquirer,
	    question->token);
	struct ledger_wait *asked = ledger_take(inquirer->caller.context,
	    question->key, question->count, question->span_ms,
	    inquirer_on_answer, wait);

	if (asked == NULL)
		return;		/* wait is freed */
	wait->wait = asked;
	wait->is_late = true;
}

static void
inquirer_take_slot(struct inquirer *inquirer,
    const struct words_question *question)
{
	struct holdings *holdings = ledger_holdings(inquirer->caller.context);
	struct inquirer_wait *wait;
	struct holding_wait *asked;

	if (!holdings_have_room(holdings)) {
		str_addf(ipc_link_out(inquirer->caller.link), SLICE_FMT
		    " trouble too many places are held\n",
		    SLICE_ARG(question->token));
		return;
	}
	wait = inquirer_wait_new(inquirer, question->token);
	asked = holdings_take(holdings, question->key, question->count,
	    inquirer_on_slot, wait);
	if (asked == NULL)
		return;		/* wait is freed */
	wait->slot = asked;
	wait->is_late = true;
}

static void
inquirer_greet(struct inquirer *inquirer,
    const struct words_question *question)
{
	struct inquirer_wait *wait = inquirer_wait_new(inquirer,
	    question->token);
	struct greeting *asked = greetings_ask(ledger_greetings(
	    inquirer->caller.context), question, inquirer_on_greeting, wait);

	if (asked == NULL)
		return;		/* wait is freed */
	wait->greeting = asked;
	wait->is_late = true;
}

static void
inquirer_note_slot(struct inquirer *inquirer,
    const struct words_question *question)
{
	struct holdings *holdings = ledger_holdings(inquirer->caller.context);

	if (question->verb == WORDS_KEEP)
		holdings_keep(holdings, question->name, question->key,
		    question->count);
	else
		holdings_drop(holdings, question->name, question->key,
		    question->count);
	str_addf(ipc_link_out(inquirer->caller.link), SLICE_FMT " ok ok\n",
	    SLICE_ARG(question->token));
}

static enum ipc_link_taken
inquirer_take(struct caller *caller, struct slice line)
{
	struct inquirer *inquirer = (struct inquirer *)caller;
	struct words_question question;

	if (caller->wait_count >= INQUIRERS_WAITS_MAX ||
	    !words_question_read(line, &question))
		return IPC_LINK_NONSENSE;
	switch (question.verb) {
	case WORDS_TAKE:
		inquirer_take_rate(inquirer, &question);
		break;
	case WORDS_HOLD:
		inquirer_take_slot(inquirer, &question);
		break;
	case WORDS_KEEP:
	case WORDS_DROP:
		inquirer_note_slot(inquirer, &question);
		break;
	case WORDS_GREET:
		inquirer_greet(inquirer, &question);
		break;
	case WORDS_STATUS:
		ledger_add_status(caller->context, question.token,
		    ipc_link_out(caller->link));
		break;
	}
	return IPC_LINK_NEXT;
}

const struct callers_kind inquirers_kind = {
	.take = inquirer_take, .gone = inquirer_gone,
	.caller_bytes = sizeof(struct inquirer),
	.line_bytes_max = INQUIRERS_LINE_BYTES_MAX,
	.callers_max = INQUIRERS_MAX, .leave_ms = INQUIRERS_LEAVE_MS,
};

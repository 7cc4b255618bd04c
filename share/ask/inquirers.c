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
	struct ledger_wait	*wait;
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
		mem_free(&wait);
	}
}

/* ledger_answer_fn */
static void
inquirer_on_answer(void *context, int64_t wait_s)
{
	struct inquirer_wait *wait = context;
	struct caller *caller = &wait->inquirer->caller;
	struct str *out = ipc_link_out(caller->link);

	if (wait_s == 0)
		str_addf(out, "%s ok ok\n", wait->token);
	else
		str_addf(out, "%s ok over %" PRId64 "\n", wait->token,
		    wait_s);
	LIST_REMOVE(wait, entry);
	caller->wait_count--;
	if (wait->wait != NULL)		/* it came later: nobody sends it */
		ipc_link_resume(caller->link);
	mem_free(&wait);
}

static void
inquirer_ask(struct inquirer *inquirer, const struct words_question *question)
{
	struct inquirer_wait *wait = mem_alloc(1, sizeof(*wait));
	struct ledger_wait *asked;

	wait->inquirer = inquirer;
	memcpy(wait->token, question->token.p, question->token.n);
	LIST_INSERT_HEAD(&inquirer->waits, wait, entry);
	inquirer->caller.wait_count++;
	asked = ledger_take(inquirer->caller.context, question->key,
	    question->count, question->span_ms, inquirer_on_answer, wait);
	if (asked != NULL)	/* else wait is freed */
		wait->wait = asked;
}

static enum ipc_link_taken
inquirer_take(struct caller *caller, struct slice line)
{
	struct words_question question;

	if (caller->wait_count >= INQUIRERS_WAITS_MAX ||
	    !words_question_read(line, &question))
		return IPC_LINK_NONSENSE;
	if (question.verb == WORDS_STATUS)
		ledger_add_status(caller->context, question.token,
		    ipc_link_out(caller->link));
	else
		inquirer_ask((struct inquirer *)caller, &question);
	return IPC_LINK_NEXT;
}

const struct callers_kind inquirers_kind = {
	.take = inquirer_take, .gone = inquirer_gone,
	.caller_bytes = sizeof(struct inquirer),
	.line_bytes_max = INQUIRERS_LINE_BYTES_MAX,
	.callers_max = INQUIRERS_MAX, .leave_ms = INQUIRERS_LEAVE_MS,
};

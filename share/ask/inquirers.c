/* inquirers.c - who asks share, over RUN/share.sock
 *
 * In     connections and questions of our own daemons and tools
 * Out    answers, each with the token of its question
 * Holds  who asks, and what each waits for
 * Trusts no question; who may connect is said by the socket's group and mode
 * Spec   inquirers.h, doc/protocol/share.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/ipc_link.h"
#include "share/ask/inquirers.h"
#include "share/count/words.h"

#include "base/banned.h"

struct inquirer_wait {
	struct inquirer		*inquirer;
	struct ledger_wait	*wait;
	char			 token[WORDS_TOKEN_BYTES];
	LIST_ENTRY(inquirer_wait) entry;
};

struct inquirer {
	struct inquirers	*inquirers;
	struct ipc_link		*link;
	LIST_HEAD(, inquirer_wait) waits;
	size_t			 wait_count;
	TAILQ_ENTRY(inquirer)	 entry;
};

struct inquirers {
	struct process		*process;
	struct ledger		*ledger;
	int			 socket;
	struct watch		*listener, *lifeline_watch;
	TAILQ_HEAD(, inquirer)	 all;
	size_t			 count;
	bool			 is_leaving;
	struct timer		 leave_timer;
};

/* ---- one of them ------------------------------------------------------ */

static void
inquirer_gone(void *context)
{
	struct inquirer *inquirer = context;
	struct inquirers *inquirers = inquirer->inquirers;
	struct inquirer_wait *wait;

	while ((wait = LIST_FIRST(&inquirer->waits)) != NULL) {
		LIST_REMOVE(wait, entry);
		ledger_forget(&wait->wait);
		mem_free(&wait);
	}
	TAILQ_REMOVE(&inquirers->all, inquirer, entry);
	inquirers->count--;
	ipc_link_free(&inquirer->link);
	mem_free(&inquirer);
	if (inquirers->is_leaving && TAILQ_EMPTY(&inquirers->all))
		loop_stop(inquirers->process->loop);
}

/* Who leaves ends when all is said. */
static void
inquirer_on_idle(void *context)
{
	struct inquirer *inquirer = context;

	if (inquirer->inquirers->is_leaving && inquirer->wait_count == 0 &&
	    ipc_link_out(inquirer->link)->len == 0)
		inquirer_gone(inquirer);
}

/* ledger_answer_fn */
static void
inquirer_on_answer(void *context, int64_t wait_s)
{
	struct inquirer_wait *wait = context;
	struct inquirer *inquirer = wait->inquirer;
	struct str *out = ipc_link_out(inquirer->link);

	if (wait_s == 0)
		str_addf(out, "%s ok ok\n", wait->token);
	else
		str_addf(out, "%s ok over %" PRId64 "\n", wait->token,
		    wait_s);
	LIST_REMOVE(wait, entry);
	inquirer->wait_count--;
	if (wait->wait != NULL)		/* it came later: nobody sends it */
		ipc_link_resume(inquirer->link);
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
	inquirer->wait_count++;
	asked = ledger_take(inquirer->inquirers->ledger, question->key,
	    question->count, question->span_ms, inquirer_on_answer, wait);
	if (asked != NULL)	/* else wait is freed */
		wait->wait = asked;
}

static enum ipc_link_taken
inquirer_take(void *context, struct slice line)
{
	struct inquirer *inquirer = context;
	struct words_question question;

	if (inquirer->wait_count >= INQUIRERS_WAITS_MAX ||
	    !words_question_read(line, &question))
		return IPC_LINK_NONSENSE;
	if (question.verb == WORDS_STATUS)
		ledger_add_status(inquirer->inquirers->ledger, question.token,
		    ipc_link_out(inquirer->link));
	else
		inquirer_ask(inquirer, &question);
	return IPC_LINK_NEXT;
}

static const struct ipc_link_kind inquirer_kind = {
	.take = inquirer_take, .ended = inquirer_gone, .idle = inquirer_on_idle,
	.line_bytes_max = INQUIRERS_LINE_BYTES_MAX,
};

static void
inquirers_on_listener(void *context, unsigned ready)
{
	struct inquirers *inquirers = context;
	struct inquirer *inquirer;
	int fd = accept4(inquirers->socket, NULL, NULL,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (inquirers->count >= INQUIRERS_MAX) {
		close(fd);
		return;
	}
	inquirer = mem_alloc(1, sizeof(*inquirer));
	inquirer->inquirers = inquirers;
	LIST_INIT(&inquirer->waits);
	inquirer->link = ipc_link_new(inquirers->process->loop, fd,
	    &inquirer_kind, inquirer);
	TAILQ_INSERT_TAIL(&inquirers->all, inquirer, entry);
	inquirers->count++;
}

/* ---- the end ---------------------------------------------------------- */

static void
inquirers_on_leave_time(void *context)
{
	struct inquirers *inquirers = context;

	loop_stop(inquirers->process->loop);
}

static void
inquirers_on_lifeline(void *context, unsigned ready)
{
	struct inquirers *inquirers = context;
	struct inquirer *inquirer, *next;

	inquirers->is_leaving = true;
	watch_free(&inquirers->lifeline_watch);
	watch_free(&inquirers->listener);
	timer_set(inquirers->process->loop, &inquirers->leave_timer,
	    clock_steady_ms() + INQUIRERS_LEAVE_MS, inquirers_on_leave_time,
	    inquirers);
	if (TAILQ_EMPTY(&inquirers->all))
		loop_stop(inquirers->process->loop);
	TAILQ_FOREACH_SAFE(inquirer, &inquirers->all, entry, next)
		inquirer_on_idle(inquirer);
}

struct inquirers *
inquirers_new(struct process *process, struct ledger *ledger, int socket,
    int lifeline)
{
	struct inquirers *inquirers = mem_alloc(1, sizeof(*inquirers));

	inquirers->process = process;
	inquirers->ledger = ledger;
	inquirers->socket = socket;
	TAILQ_INIT(&inquirers->all);
	inquirers->listener = loop_watch(process->loop, socket, LOOP_READ,
	    inquirers_on_listener, inquirers);
	inquirers->lifeline_watch = loop_watch(process->loop, lifeline,
	    LOOP_READ, inquirers_on_lifeline, inquirers);
	return inquirers;
}

void
inquirers_free(struct inquirers **pinquirers)
{
	struct inquirers *inquirers = *pinquirers;
	struct inquirer *inquirer;

	if (inquirers == NULL)
		return;
	while ((inquirer = TAILQ_FIRST(&inquirers->all)) != NULL)
		inquirer_gone(inquirer);
	timer_clear(&inquirers->leave_timer);
	watch_free(&inquirers->listener);
	watch_free(&inquirers->lifeline_watch);
	mem_free(pinquirers);
}

/* inquirers.c - who asks share, over RUN/share.sock
 *
 * In     connections and questions of our own daemons and tools
 * Out    answers, each with the token of its question
 * Holds  what each waits for
 * Trusts no question; who may connect is said by the socket's group and mode,
 *        and who is root by the kernel
 * Spec   inquirers.h, doc/protocol/share.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/mem.h"
#include "share/ask/inquirers.h"
#include "share/count/words.h"

#include "base/banned.h"

enum {
	INQUIRERS_MAX = 256,
	INQUIRERS_LEAVE_MS = 2000,
	INQUIRERS_WAITS_MAX = 16384,
	INQUIRERS_LINE_BYTES_MAX = 4096,
	INQUIRERS_FDS = 2
};

struct inquirer_wait {
	struct inquirer		*inquirer;
	struct ledger_wait	*wait;		/* of take */
	struct holding_wait	*slot;		/* of hold */
	struct greeting		*greeting;	/* of greet */
	struct warmup		*warmup;	/* of warm */
	struct copies_wait	*copy;		/* of what is about copies */
	struct bulletin_wait	*news;		/* of news, or about blocks */
	bool			 is_status;	/* lines of it follow */
	bool			 is_late;	/* it is answered later */
	bool			 is_hearing;	/* of news: without an end */
	char			 token[WORDS_TOKEN_BYTES];
	LIST_ENTRY(inquirer_wait) entry;
};

struct inquirer {
	struct caller		 caller;
	LIST_HEAD(, inquirer_wait) waits;
};

static struct ledger *
inquirer_ledger(const struct inquirer *inquirer)
{
	const struct inquired *inquired = inquirer->caller.context;

	return inquired->ledger;
}

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
		warmups_forget(&wait->warmup);
		copies_forget(&wait->copy);
		bulletin_forget(&wait->news);
		mem_free(&wait);
	}
}

/* Its answer is in the link's out; a late one is nobody else's to send. */
static void
inquirer_wait_end(struct inquirer_wait *wait)
{
	struct caller *caller = &wait->inquirer->caller;

	LIST_REMOVE(wait, entry);
	caller->wait_count -= !wait->is_hearing;
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

/* warmups_answer_fn */
static void
inquirer_on_warmup(void *context, struct slice answer)
{
	struct inquirer_wait *wait = context;

	str_addf(ipc_link_out(wait->inquirer->caller.link), "%s ok " SLICE_FMT
	    "\n", wait->token, SLICE_ARG(answer));
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
	struct ledger_wait *asked = ledger_take(inquirer_ledger(inquirer),
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
	struct holdings *holdings = ledger_holdings(inquirer_ledger(inquirer));
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
	    inquirer_ledger(inquirer)), question, inquirer_on_greeting, wait);

	if (asked == NULL)
		return;		/* wait is freed */
	wait->greeting = asked;
	wait->is_late = true;
}

static void
inquirer_warm(struct inquirer *inquirer, const struct words_question *question)
{
	struct inquirer_wait *wait = inquirer_wait_new(inquirer,
	    question->token);
	struct warmup *asked = warmups_ask(ledger_warmups(
	    inquirer_ledger(inquirer)), question, inquirer_on_warmup, wait);

	if (asked == NULL)
		return;		/* wait is freed */
	wait->warmup = asked;
	wait->is_late = true;
}

static void
inquirer_note_slot(struct inquirer *inquirer,
    const struct words_question *question)
{
	struct holdings *holdings = ledger_holdings(inquirer_ledger(inquirer));

	if (question->verb == WORDS_KEEP)
		holdings_keep(holdings, question->name, question->key,
		    question->count);
	else
		holdings_drop(holdings, question->name, question->key,
		    question->count);
	str_addf(ipc_link_out(inquirer->caller.link), SLICE_FMT " ok ok\n",
	    SLICE_ARG(question->token));
}

/* ---- status ------------------------------------------------------------ */

/* What is known of Redis, and the end. */
static void
inquirer_end_status(struct inquirer *inquirer, struct slice token)
{
	const struct ledger *ledger = inquirer_ledger(inquirer);
	struct str *out = ipc_link_out(inquirer->caller.link);

	if (ledger != NULL)
		ledger_add_status(ledger, token, out);
	else
		str_addf(out, SLICE_FMT " ok\n", SLICE_ARG(token));
}

/* copies_answer_fn: each line with the token; the end of a status is said with
 * what else there is. */
static void
inquirer_on_lines(void *context, struct slice lines)
{
	struct inquirer_wait *wait = context;
	struct str *out = ipc_link_out(wait->inquirer->caller.link);
	struct slice line;

	while (slice_cut(&lines, '\n', &line) && line.n > 0)
		if (!wait->is_status || !slice_is(line, "ok"))
			str_addf(out, "%s " SLICE_FMT "\n", wait->token,
			    SLICE_ARG(line));
	if (wait->is_status)
		inquirer_end_status(wait->inquirer, slice_of(wait->token));
	inquirer_wait_end(wait);
}

static void
inquirer_ask_status(struct inquirer *inquirer, struct slice token)
{
	const struct inquired *inquired = inquirer->caller.context;
	struct inquirer_wait *wait;
	struct copies_wait *asked;

	if (inquired->copies == NULL) {
		inquirer_end_status(inquirer, token);
		return;
	}
	wait = inquirer_wait_new(inquirer, token);
	wait->is_status = true;
	asked = copies_ask_status(inquired->copies, inquirer_on_lines, wait);
	if (asked == NULL)
		return;		/* wait is freed */
	wait->copy = asked;
	wait->is_late = true;
}

/* ---- copies ------------------------------------------------------------ */

/* A tool that root runs; in a private instance its user. */
static bool
inquirer_is_root(const struct inquirer *inquirer)
{
	return inquirer->caller.uid == 0 ||
	    inquirer->caller.uid == geteuid();
}

static bool
inquirer_is_scheduler(const struct inquirer *inquirer)
{
	const struct inquired *inquired = inquirer->caller.context;

	return inquirer_is_root(inquirer) ||
	    inquirer->caller.uid == inquired->scheduler;
}

/* A control file says as whom mail is delivered: another node goes by the one
 * that it gets, so none comes from a session. */
static bool
inquirer_may_ask(const struct inquirer *inquirer,
    const struct copying *question)
{
	if (copying_is_of_root(question->verb))
		return inquirer_is_root(inquirer);
	return !copying_is_of_scheduler(question) ||
	    inquirer_is_scheduler(inquirer);
}

/* Those of its line.  false: there are fewer. */
static bool
inquirer_take_fds(struct inquirer *inquirer, size_t count, int *fds)
{
	for (size_t i = 0; i < count; i++) {
		fds[i] = ipc_link_take_fd(inquirer->caller.link);
		if (fds[i] < 0) {
			while (i > 0)
				close(fds[--i]);
			return false;
		}
	}
	return true;
}

static enum ipc_link_taken
inquirer_ask_copies(struct inquirer *inquirer, struct slice line)
{
	const struct inquired *inquired = inquirer->caller.context;
	struct inquirer_wait *wait;
	struct copies_wait *asked;
	struct copying question;
	int fds[INQUIRERS_FDS];

	if (!copying_read(line, &question) ||
	    !inquirer_may_ask(inquirer, &question) ||
	    !inquirer_take_fds(inquirer, copying_descriptors(question.verb),
	    fds))
		return IPC_LINK_NONSENSE;
	if (inquired->copies == NULL) {
		for (size_t i = copying_descriptors(question.verb); i > 0;
		    i--)
			close(fds[i - 1]);
		str_addf(ipc_link_out(inquirer->caller.link), SLICE_FMT
		    " trouble no copies are kept\n",
		    SLICE_ARG(question.token));
		return IPC_LINK_NEXT;
	}
	wait = inquirer_wait_new(inquirer, question.token);
	asked = copies_ask(inquired->copies, &question, fds,
	    inquirer_on_lines, wait);
	if (asked == NULL)
		return IPC_LINK_NEXT;	/* wait is freed */
	wait->copy = asked;
	wait->is_late = true;
	return IPC_LINK_NEXT;
}

/* ---- news -------------------------------------------------------------- */

static bool
inquirer_is_hearing(const struct inquirer *inquirer)
{
	const struct inquirer_wait *wait;

	LIST_FOREACH(wait, &inquirer->waits, entry)
		if (wait->is_hearing)
			return true;
	return false;
}

/* Who waits for news does not keep this process from its end. */
static void
inquirer_wait_for_news(struct inquirer *inquirer,
    const struct news_question *question)
{
	struct inquirer_wait *wait = inquirer_wait_new(inquirer,
	    question->token);
	struct bulletin_wait *asked;

	if (question->verb == NEWS_HEAR) {
		wait->is_hearing = true;
		inquirer->caller.wait_count--;
	}
	asked = bulletin_ask(ledger_bulletin(inquirer_ledger(inquirer)),
	    question, inquirer_on_lines, wait);
	if (asked == NULL)
		return;		/* wait is freed */
	wait->news = asked;
	wait->is_late = true;
}

/* Whom all nodes refuse is root's to say; each connection hears once. */
static enum ipc_link_taken
inquirer_ask_news(struct inquirer *inquirer,
    const struct news_question *question)
{
	const bool is_told = question->verb == NEWS_FAILED ||
	    question->verb == NEWS_CLEARED;
	const struct ledger *ledger = inquirer_ledger(inquirer);

	if (((question->verb == NEWS_BLOCK || question->verb ==
	    NEWS_UNBLOCK) && !inquirer_is_root(inquirer)) ||
	    (question->verb == NEWS_HEAR && inquirer_is_hearing(inquirer)))
		return IPC_LINK_NONSENSE;
	if (ledger != NULL && !is_told) {
		inquirer_wait_for_news(inquirer, question);
		return IPC_LINK_NEXT;
	}
	if (is_told && ledger != NULL)
		bulletin_tell(ledger_bulletin(ledger), question);
	str_addf(ipc_link_out(inquirer->caller.link), SLICE_FMT " %s\n",
	    SLICE_ARG(question->token), is_told ? "ok ok" : question->verb ==
	    NEWS_BLOCKS ? "ok" : "trouble no cluster has a redis");
	return IPC_LINK_NEXT;
}

/* Nothing is shared where there is no Redis: who asks counts alone. */
static void
inquirer_say_alone(struct inquirer *inquirer,
    const struct words_question *question)
{
	str_addf(ipc_link_out(inquirer->caller.link), SLICE_FMT " %s\n",
	    SLICE_ARG(question->token), question->verb == WORDS_GREET ?
	    "ok away" : question->verb == WORDS_KEEP ||
	    question->verb == WORDS_DROP ? "ok ok" :
	    "trouble no cluster has a redis");
}

static enum ipc_link_taken
inquirer_take(struct caller *caller, struct slice line)
{
	struct inquirer *inquirer = (struct inquirer *)caller;
	struct words_question question;
	struct news_question news;

	if (caller->wait_count >= INQUIRERS_WAITS_MAX)
		return IPC_LINK_NONSENSE;
	if (news_question_read(line, &news))
		return inquirer_ask_news(inquirer, &news);
	if (!words_question_read(line, &question))
		return inquirer_ask_copies(inquirer, line);
	if (question.verb == WORDS_STATUS) {
		inquirer_ask_status(inquirer, question.token);
		return IPC_LINK_NEXT;
	}
	if (inquirer_ledger(inquirer) == NULL) {
		inquirer_say_alone(inquirer, &question);
		return IPC_LINK_NEXT;
	}
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
	case WORDS_WARM:
		if (!inquirer_is_scheduler(inquirer))
			return IPC_LINK_NONSENSE;
		inquirer_warm(inquirer, &question);
		break;
	case WORDS_STATUS:
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

/* questions.c - every question comes here, and leaves with its answer
 *
 * In     packets of processes of this host
 * Out    answers; resolver.bogus, resolver.counted
 * Holds  the questions under way
 * Trusts nobody who asks: packets are wire/query.c's, their number is bounded
 * Spec   questions.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/dns/dns.h"
#include "journal/event.h"
#include "resolver/serve/questions.h"

#include "base/banned.h"

enum {
	QUESTIONS_TELL_MS = 60000,
	QUESTIONS_BOGUS_MAX = 30,	/* events between two of these */
	TXT_STRING_BYTES_MAX = 255
};

struct unanswered {
	struct questions		*questions;
	struct dns_query		 query;
	struct lookup		*lookup;	/* NULL: it is over */
	size_t			 room;
	questions_answer_fn		*fn;		/* NULL: nobody waits */
	void			*context;
	struct timer		 timer;
	bool			 is_late;	/* and was told so */
	bool			 is_done;	/* answered before questions_ask
						 * returned */
	bool			 is_new;	/* it has not returned yet */
	LIST_ENTRY(unanswered)	 entry;
};

struct questions {
	struct loop		*loop;
	struct lookups		*lookups;
	LIST_HEAD(, unanswered)	 waits;
	size_t			 waiting;	/* of waits, those who have an
						 * fn */
	struct tally		 tally, told;
	unsigned		 bogus_told;
	struct timer		 timer;
	loop_fn			*empty_fn;
	void			*empty_context;
};

static void
questions_on_tell(void *context)
{
	struct questions *questions = context;

	tally_tell(&questions->tally, &questions->told);
	questions->bogus_told = 0;
	timer_set(questions->loop, &questions->timer, clock_steady_ms() +
	    QUESTIONS_TELL_MS, questions_on_tell, questions);
}

struct questions *
questions_new(struct loop *loop, struct lookups *lookups)
{
	struct questions *questions = mem_alloc(1, sizeof(*questions));

	questions->loop = loop;
	questions->lookups = lookups;
	LIST_INIT(&questions->waits);
	questions_on_tell(questions);
	return questions;
}

/* ---- answers ------------------------------------------------------------ */

static void
questions_tell_bogus(struct questions *questions, const struct dns_query *query,
    const struct finding *finding)
{
	char type[16];

	if (finding->trouble != DNS_TROUBLE_BOGUS ||
	    questions->bogus_told >= QUESTIONS_BOGUS_MAX)
		return;
	questions->bogus_told++;
	snprintf(type, sizeof(type), "%u", query->type);
	event(EV_RESOLVER_BOGUS, NULL, "name", slice_of(query->name), "type",
	    slice_of(type), "reason", slice_of(finding->why), NULL);
}

static void
wait_answer(struct unanswered *wait, const struct finding *finding)
{
	struct str out = STR_INIT;

	if (wait->fn == NULL)
		return;
	response_make(&out, &wait->query, finding, wait->room);
	wait->fn(wait->context, str_slice(&out));
	str_release(&out);
}

/* Of one under way: nobody waits for it any more. */
static void
wait_settle(struct unanswered *wait)
{
	struct questions *questions = wait->questions;

	if (wait->fn == NULL)
		return;
	wait->fn = NULL;
	timer_clear(&wait->timer);
	questions->waiting--;
	if (questions->empty_fn != NULL && questions->waiting == 0)
		questions->empty_fn(questions->empty_context);
}

static void
wait_end(struct unanswered *wait)
{
	LIST_REMOVE(wait, entry);
	wait->questions->tally.flights--;
	mem_free(&wait);
}

/* Who asks does not wait for ever; what is found later is there when he asks
 * again. */
static void
wait_on_late(void *context)
{
	static const struct finding late = { .code = DNS_CODE_FAILED,
	    .trouble = DNS_TROUBLE_UNREACHABLE,
	    .why = "no name server of the domain answers in time" };
	struct unanswered *wait = context;

	wait->is_late = true;
	tally_answer(&wait->questions->tally, &late);
	wait_answer(wait, &late);
	wait_settle(wait);
}

/* lookup_fn */
static void
wait_on_found(void *context, const struct finding *finding)
{
	struct unanswered *wait = context;

	if (!wait->is_late)
		tally_answer(&wait->questions->tally, finding);
	questions_tell_bogus(wait->questions, &wait->query, finding);
	wait_answer(wait, finding);
	wait_settle(wait);
	wait->is_done = true;
	if (!wait->is_new)
		wait_end(wait);
}

/* ---- questions ---------------------------------------------------------- */

/* The numbers, as one TXT record of the name that was asked for. */
static void
questions_answer_status(struct questions *questions, struct unanswered *wait)
{
	static const unsigned char owner[] = { 0xc0, DNS_HEADER_BYTES, 0,
	    DNS_TYPE_TXT, 0, 1, 0, 0, 0, 0 };
	unsigned char header[DNS_HEADER_BYTES] = { [5] = 1, [7] = 1 };
	struct finding finding = { .code = DNS_CODE_GOOD,
	    .trouble = DNS_TROUBLE_NONE };
	struct str packet = STR_INIT, text = STR_INIT;

	tally_add_text(&text, &questions->tally);
	if (text.len > TXT_STRING_BYTES_MAX)
		str_truncate(&text, TXT_STRING_BYTES_MAX);
	str_add(&packet, header, sizeof(header));
	str_add(&packet, wait->query.question, wait->query.question_bytes);
	str_add(&packet, owner, sizeof(owner));
	str_addc(&packet, (char)((text.len + 1) >> 8));
	str_addc(&packet, (char)((text.len + 1) & 0xff));
	str_addc(&packet, (char)text.len);
	str_add(&packet, text.buf, text.len);
	finding.packet = (const unsigned char *)packet.buf;
	finding.packet_bytes = packet.len;
	wait_answer(wait, &finding);
	str_release(&packet);
	str_release(&text);
}

static void
questions_answer_full(struct questions *questions, struct unanswered *wait)
{
	static const struct finding full = { .code = DNS_CODE_FAILED,
	    .trouble = DNS_TROUBLE_NOT_READY,
	    .why = "too many questions are under way" };

	questions->tally.refused++;
	wait_answer(wait, &full);
}

/* A place: the one for whose answer nobody waits, for longest.  false: all of
 * them are waited for. */
static bool
questions_make_room(struct questions *questions)
{
	struct unanswered *wait, *oldest = NULL;

	if (questions->tally.flights < QUESTIONS_FLIGHTS_MAX)
		return true;
	LIST_FOREACH(wait, &questions->waits, entry)
		if (wait->fn == NULL && wait->lookup != NULL)
			oldest = wait;
	if (oldest == NULL)
		return false;
	lookup_cancel(questions->lookups, &oldest->lookup);
	wait_end(oldest);
	return true;
}

static struct unanswered *
questions_ask_world(struct questions *questions,
    const struct unanswered *question)
{
	struct unanswered *wait = mem_alloc(1, sizeof(*wait));

	*wait = *question;
	wait->questions = questions;
	wait->is_new = true;
	LIST_INSERT_HEAD(&questions->waits, wait, entry);
	questions->tally.flights++;
	questions->waiting++;
	timer_set(questions->loop, &wait->timer, clock_steady_ms() +
	    QUESTIONS_PATIENCE_MS, wait_on_late, wait);
	wait->lookup = lookup_ask(questions->lookups, wait->query.name,
	    wait->query.type, wait_on_found, wait);
	wait->is_new = false;
	if (!wait->is_done)
		return wait;
	wait_end(wait);
	return NULL;
}

static void
questions_refuse(struct questions *questions,
    const struct unanswered *question, enum dns_code code)
{
	struct str out = STR_INIT;

	questions->tally.refused++;
	response_refuse(&out, &question->query, code);
	question->fn(question->context, str_slice(&out));
	str_release(&out);
}

struct unanswered *
questions_ask(struct questions *questions, struct slice packet, size_t room,
    questions_answer_fn *fn, void *context, bool *out_is_taken)
{
	struct unanswered question = { .questions = questions, .fn = fn,
	    .context = context };
	enum dns_code code;
	enum query_read read = query_read((const unsigned char *)packet.p,
	    packet.n, &question.query, &code);

	if (out_is_taken != NULL)
		*out_is_taken = read != QUERY_DROPPED;
	if (read == QUERY_DROPPED)
		return NULL;
	questions->tally.questions++;
	question.room = room > 0 ? room : question.query.room;
	if (read == QUERY_REFUSED)
		questions_refuse(questions, &question, code);
	else if (question.query.type == DNS_TYPE_TXT &&
	    strcasecmp(question.query.name, RESOLVER_STATUS_NAME ".") == 0)
		questions_answer_status(questions, &question);
	else if (!questions_make_room(questions))
		questions_answer_full(questions, &question);
	else
		return questions_ask_world(questions, &question);
	return NULL;
}

void
questions_forget(struct unanswered **wait)
{
	if (*wait != NULL)
		wait_settle(*wait);
	*wait = NULL;
}

void
questions_when_empty(struct questions *questions, loop_fn *fn, void *context)
{
	questions->empty_fn = fn;
	questions->empty_context = context;
	if (questions->waiting == 0)
		fn(context);
}

void
questions_free(struct questions **pquestions)
{
	struct questions *questions = *pquestions;
	struct unanswered *wait;

	if (questions == NULL)
		return;
	timer_clear(&questions->timer);
	tally_tell(&questions->tally, &questions->told);
	while ((wait = LIST_FIRST(&questions->waits)) != NULL) {
		LIST_REMOVE(wait, entry);
		timer_clear(&wait->timer);
		mem_free(&wait);
	}
	mem_free(pquestions);
}

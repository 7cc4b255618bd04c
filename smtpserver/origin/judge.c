/* judge.c - the helper that judges whose mail a message is
 *
 * In     questions of sessions, about a message or SPF alone; answers of the
 *        DNS
 * Out    what was judged; drafts with it in their header (row S0)
 * Holds  what is being judged; answers of the DNS and public keys, which many
 *        messages ask for (io/dns/kept.h, tls/verify.h)
 * Trusts no message and no answer: both are bounded, and what takes too long
 *        is a temperror; no session: it names a draft, and no other file; not
 *        itself: locked in, it has drafts, the journal and the DNS
 * Spec   judge.h; doc/AUTH.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>

#include "base/clock.h"
#include "daemon/sandbox.h"
#include "io/dns/ask.h"
#include "io/ipc_link.h"
#include "journal/event.h"
#include "mail/envelope.h"
#include "smtpserver/helper/helper.h"
#include "origin/authres/authres.h"
#include "origin/dkim2/bounce.h"
#include "smtpserver/origin/judge_mark.h"
#include "tls/verify.h"

#include "base/banned.h"

enum { HEAP_KEPT_BYTES = 4 << 20 };

struct judge {
	struct process		*process;
	struct ipc_link		*listener;
	struct dns_asker	*asker;
	struct dns_kept		*kept;
	struct spool		*spool;
};

struct judge_case {		/* one question; all of it in its arena */
	struct judge		*judge;
	struct arena		*arena;
	struct slice		 token;
	struct judge_question	 question;
	struct judge_mail	 mail;
	struct answers		*answers;
	unsigned		 out, asked, rounds, kept;
	size_t			 cursor;	/* questions before it were
						 * asked */
	int64_t			 asks_until_ms;
	int64_t			 received_s;
	bool			 has_spf, has_dkim, has_dmarc, has_arc;
	struct spf		 spf;
	struct dkim		 dkims[DKIM_SIGNATURES_MAX];
	size_t			 dkim_count, dkim_found;
	enum origin		 dkim;
	struct slice		 author;	/* empty: none can be read */
	struct dmarc		 dmarc;
	struct arc		 arc;	/* where trust arc asks for it */
	bool			 has_dkim2;
	struct dkim2_mail	 dkim2_mail;
	struct dkim2		 dkim2;	/* where verify-origin asks for it */
};

struct judge_ticket {		/* a question to the DNS */
	struct judge_case	*one;
	struct slice		 name;
	enum dns_type		 type;
};

/* ---- the end of a case ------------------------------------------------ */

static void
judge_case_end(struct judge_case *one, bool is_ok, const char *text)
{
	struct arena *arena = one->arena;

	helper_add_answer(ipc_link_out(one->judge->listener), one->token,
	    is_ok, slice_of(text));
	judge_mail_close(&one->mail);
	arena_free(&arena);
}

/* A signature of a part of the body, or of a domain that tries it out, speaks
 * for nobody. */
static void
judge_case_add_signers(const struct judge_case *one,
    struct judge_answer *answer)
{
	for (size_t i = 0; i < one->dkim_count; i++) {
		const struct dkim *dkim = &one->dkims[i];

		if (dkim->origin == ORIGIN_PASS && dkim->unsigned_bytes == 0 &&
		    !dkim->is_testing)
			judge_answer_add_signer(answer, dkim->domain);
	}
}

/* What its author's domain may hear of it, where such reports are sent. */
static void
judge_case_set_report(const struct judge_case *one,
    struct judge_answer *answer)
{
	const char *from = one->judge->process->conf->dmarc_reports;
	struct dmarc_note note;

	if (from != NULL && *from != '\0' && dmarc_note_of(&one->dmarc,
	    &one->spf, one->dkims, one->dkim_count, &note))
		judge_answer_set_report(answer, &note);
}

/* Who saw DMARC pass before it failed here, and is believed; or NULL. */
static const struct arc_set *
judge_case_sealer(const struct judge_case *one)
{
	const struct conf *conf = one->judge->process->conf;
	const struct arc_trust trust = {
		(const char *const *)conf->arc_domains,
		conf->arc_domain_count };

	return one->author.n > 0 && one->dmarc.origin == ORIGIN_FAIL ?
	    arc_vouches(&one->arc, &trust, one->dmarc.domain, one->arena) :
	    NULL;
}

/* Where the record is that SPF followed, or the domain that has none. */
static struct slice
judge_case_spf_at(const struct judge_case *one)
{
	return one->spf.record_at.n > 0 ? one->spf.record_at :
	    one->spf.domain;
}

/* Of the first signature that has the result. */
static void
judge_case_name_key(const struct judge_case *one, char *out)
{
	for (size_t i = 0; i < one->dkim_count; i++) {
		const struct dkim *dkim = &one->dkims[i];

		if ((dkim->origin != one->dkim &&
		    (one->dkim != ORIGIN_FAIL ||
		    dkim->origin != ORIGIN_PERMERROR)) ||
		    dkim->selector.n == 0 || dkim->domain.n == 0)
			continue;
		judge_name_set(slice_of(arena_printf(one->arena,
		    SLICE_FMT "._domainkey." SLICE_FMT,
		    SLICE_ARG(dkim->selector), SLICE_ARG(dkim->domain))), out);
		return;
	}
}

static void
judge_case_name(const struct judge_case *one, struct judge_names *names)
{
	struct slice policy_at = one->dmarc.record_at.n > 0 ?
	    one->dmarc.record_at : one->dmarc.trouble_at;

	judge_name_set(judge_case_spf_at(one), names->spf);
	judge_case_name_key(one, names->dkim);
	if (policy_at.n > 0)
		judge_name_set(slice_of(arena_printf(one->arena,
		    "_dmarc." SLICE_FMT, SLICE_ARG(policy_at))), names->dmarc);
	if (dkim2_bars_reports(one->dkim2.origin))
		judge_why_set(slice_of(one->dkim2.reason), names->dkim2);
}

static void
judge_case_conclude_spf(struct judge_case *one)
{
	struct str text = STR_INIT;

	judge_spf_add(&text, one->spf.origin, judge_case_spf_at(one));
	judge_case_end(one, true, text.buf);
	str_release(&text);
}

static void
judge_case_conclude(struct judge_case *one)
{
	const char *host = slice_dup(one->arena, one->question.host);
	struct judge_answer answer = { .spf = one->spf.origin,
	    .dkim = one->dkim, .dmarc = one->dmarc.origin,
	    .policy = one->dmarc.policy, .arc = one->arc.origin,
	    .dkim2 = one->dkim2.origin };
	const struct arc_set *sealer = judge_case_sealer(one);
	struct origins origins = { .spf = &one->spf, .dkims = one->dkims,
	    .dkim_count = one->dkim_count,
	    .dmarc = one->author.n > 0 || one->dmarc.origin != ORIGIN_NONE ?
	    &one->dmarc : NULL,
	    .arc = one->arc.origin != ORIGIN_NONE ? &one->arc : NULL,
	    .dkim2 = one->dkim2.origin != ORIGIN_NONE ? &one->dkim2 : NULL,
	    .sealer = sealer != NULL ? sealer->domain : SLICE(""),
	    .sender = one->question.sender, .helo = one->question.helo };
	struct str field = STR_INIT, text = STR_INIT;
	struct err err;

	judge_case_add_signers(one, &answer);
	judge_case_set_report(one, &answer);
	judge_case_name(one, &answer.names);
	judge_answer_set_sealer(&answer, origins.sealer);
	authres_add(&field, host, &origins);
	if ((one->question.is_edit &&
	    judge_answer_set_field(&answer, str_slice(&field)) == 0) ||
	    judge_mark(&one->mail, one->judge->spool, str_slice(&field), host,
	    &answer, &err) == 0) {
		judge_answer_add(&text, &answer);
		judge_case_end(one, true, text.buf);
	} else {
		judge_case_end(one, false, err.text);
	}
	str_release(&field);
	str_release(&text);
}

/* ---- judging ---------------------------------------------------------- */

static enum origin
judge_case_spf(struct judge_case *one)
{
	const struct judge_question *question = &one->question;
	const struct spf_ask ask = { .client = question->client,
	    .helo = question->helo, .sender = question->sender,
	    .receiver = question->is_spf_alone ?
	    slice_of(one->judge->process->conf->host) : question->host,
	    .now_s = one->received_s };

	return spf_judge(one->answers, &ask, one->arena, &one->spf);
}

/* What DMARC asks about the author is asked for first, whatever the rest
 * comes to: no name server of who sent it can keep it from being known. */
static void
judge_case_look_ahead(struct judge_case *one)
{
	struct dmarc ahead;

	if (one->author.n > 0)
		(void)dmarc_judge(one->answers, one->author, NULL, NULL, 0,
		    one->arena, &ahead);
}

/* Who sent it, and does the author's domain stand by it?  returns whether
 * questions are open. */
static bool
judge_case_try_author(struct judge_case *one)
{
	judge_case_look_ahead(one);
	if (!one->has_spf)
		one->has_spf = judge_case_spf(one) != ORIGIN_ASKS;
	if (!one->has_dkim) {
		one->dkim = dkim_judge(one->answers, &(struct dkim_ask){
		    one->mail.message, one->received_s, one->author },
		    one->arena, one->dkims, &one->dkim_count,
		    &one->dkim_found);
		one->has_dkim = one->dkim != ORIGIN_ASKS;
	}
	if (!one->has_spf || !one->has_dkim)
		return true;
	one->has_dmarc = one->author.n == 0 || dmarc_judge(one->answers,
	    one->author, &one->spf, one->dkims, one->dkim_count, one->arena,
	    &one->dmarc) != ORIGIN_ASKS;
	return !one->has_dmarc;
}

/* Who passed it on?  Chains can be long, so they have what time and questions
 * are left. */
static bool
judge_case_try_chains(struct judge_case *one)
{
	if (!one->has_arc)
		one->has_arc = one->judge->process->conf->arc_domain_count ==
		    0 || arc_judge(one->answers, one->mail.message,
		    one->received_s, one->arena, &one->arc) != ORIGIN_ASKS;
	if (!one->has_dkim2)
		one->has_dkim2 = dkim2_judge(one->answers, &one->dkim2_mail,
		    one->arena, &one->dkim2) != ORIGIN_ASKS &&
		    dkim2_bounce_judge(one->answers, &one->dkim2_mail,
		    one->arena, &one->dkim2) != ORIGIN_ASKS;
	return !one->has_arc || !one->has_dkim2;
}

/* Judge what can be judged now.  returns whether questions are open. */
static bool
judge_case_try(struct judge_case *one)
{
	if (one->question.is_spf_alone)
		return judge_case_spf(one) == ORIGIN_ASKS;
	return (!one->has_dmarc && judge_case_try_author(one)) ||
	    judge_case_try_chains(one);
}

static void judge_on_answer(void *context, enum dns_result result,
    const unsigned char *answer, size_t n);

/* No answer of the DNS matters any more. */
static bool
judge_case_is_late(const struct judge_case *one)
{
	return one->asked >= JUDGE_ASKS_MAX ||
	    one->rounds > JUDGE_ROUNDS_MAX ||
	    clock_steady_ms() >= one->asks_until_ms;
}

/* Ask what was not asked yet, some at a time; when it is too late, that is
 * the answer. */
static void
judge_case_ask(struct judge_case *one)
{
	const struct origin_answer *question;

	while (one->out < JUDGE_OUT_MAX && (question = answers_next_question(
	    one->answers, &one->cursor)) != NULL) {
		struct judge_ticket *ticket;

		if (judge_case_is_late(one)) {
			answers_put_wire(one->answers, question->type,
			    question->name, DNS_TRY_AGAIN, SLICE(""));
			continue;
		}
		ticket = arena_alloc(one->arena, sizeof(*ticket));
		*ticket = (struct judge_ticket){ one,
		    slice_copy(one->arena, question->name), question->type };
		one->asked++;
		one->out++;
		dns_ask(one->judge->asker, slice_dup(one->arena, ticket->name),
		    ticket->type, judge_on_answer, ticket);
	}
}

/* On with it, as far as it goes without an answer. */
static void
judge_case_go(struct judge_case *one)
{
	while (judge_case_try(one)) {
		one->rounds++;
		judge_case_ask(one);
		if (one->out > 0)
			return;
	}
	if (one->question.is_spf_alone)
		judge_case_conclude_spf(one);
	else
		judge_case_conclude(one);
}

static void
judge_on_answer(void *context, enum dns_result result,
    const unsigned char *answer, size_t n)
{
	struct judge_ticket *ticket = context;
	struct judge_case *one = ticket->one;

	struct slice bytes = { (const char *)answer, n };

	answers_put_wire(one->answers, ticket->type, ticket->name, result,
	    bytes);
	if (one->kept++ < JUDGE_KEPT_MAX)
		dns_kept_add(one->judge->kept, ticket->type, ticket->name,
		    clock_steady_ms(), result, bytes);
	one->out--;
	judge_case_ask(one);
	if (one->out == 0)
		judge_case_go(one);
}

/* The envelope as it came, of the draft. */
static void
judge_case_take_dkim2(struct judge_case *one)
{
	struct dkim2_mail *mail = &one->dkim2_mail;
	struct str address = STR_INIT;
	struct envelope envelope;
	struct slice *rcpts;
	struct err err;

	one->has_dkim2 = one->judge->process->conf->verifies_origin !=
	    JUDGES_DKIM2;
	if (one->has_dkim2 || envelope_parse(one->arena, slice_from(
	    one->mail.file, DRAFT_FIRST_LINE_BYTES), &envelope, &err) != 0)
		return;		/* the latter was read once: it can be */
	rcpts = arena_alloc(one->arena, (envelope.rcpt_count + 1) *
	    sizeof(*rcpts));
	for (size_t i = 0; i < envelope.rcpt_count; i++) {
		str_reset(&address);
		path_add(&address, &envelope.rcpts[i].path);
		rcpts[i] = slice_copy(one->arena, str_slice(&address));
	}
	*mail = (struct dkim2_mail){ .message = one->mail.message,
	    .has_sender = true, .sender = one->question.sender,
	    .rcpts = rcpts, .rcpt_count = envelope.rcpt_count,
	    .received_s = one->received_s };
	str_release(&address);
}

/* ---- questions in, answers out ---------------------------------------- */

static enum ipc_link_taken
judge_question_take(void *context, struct slice line)
{
	struct judge *judge = context;
	struct arena *arena = arena_new();
	struct judge_case *one = arena_alloc(arena, sizeof(*one));
	struct slice token;
	struct err err;

	if (!slice_word(&line, &token)) {
		arena_free(&arena);
		return IPC_LINK_NEXT;
	}
	one->judge = judge;
	one->arena = arena;
	one->token = slice_copy(arena, token);
	if (judge_question_parse(arena, slice_trim(line), &one->question,
	    &err) != 0 || (!one->question.is_spf_alone &&
	    judge_mail_open(&one->mail, judge->spool,
	    slice_dup(arena, one->question.file), &err) != 0)) {
		judge_case_end(one, false, err.text);
		return IPC_LINK_NEXT;
	}
	one->answers = answers_new(arena);
	answers_use_kept(one->answers, judge->kept, clock_steady_ms());
	one->received_s = clock_wall_s();
	one->asks_until_ms = clock_steady_ms() + JUDGE_ASK_MS;
	if (!one->question.is_spf_alone) {
		(void)dmarc_author(one->mail.message, arena, &one->author,
		    &one->dmarc);
		judge_case_take_dkim2(one);
	}
	judge_case_go(one);
	return IPC_LINK_NEXT;
}

static void
judge_on_listener_gone(void *context)
{
	struct judge *judge = context;

	loop_stop(judge->process->loop);
}

static void
judge_say_answers(void *context)
{
	struct judge *judge = context;

	ipc_link_send(judge->listener);
}

static const struct ipc_link_kind judge_listener_kind = {
	.take = judge_question_take, .ended = judge_on_listener_gone,
	.reads_on = true,
};

/* It reads what strangers wrote: nothing is left to it but drafts, the
 * journal, and servers of the DNS. */
static void
judge_confine(const struct judge *judge)
{
	const struct conf *conf = judge->process->conf;
	struct arena *arena = arena_new();
	struct sandbox rules = {
		.appended = { conf->log_dir }, .appended_count = 1,
		.worked = { arena_printf(arena, "%s/public",
		    conf->spool_dir) }, .worked_count = 1,
		.sockets = SOCKETS_ALL };
	struct err err;

	(void)clock_steady_ms();
	if (sandbox_enter(&rules, &err) < 0)
		fatal("origin: %s", err.text);	/* the machine's error */
	arena_free(&arena);
}

void
judge_serve(struct process *process, int socket)
{
	struct judge judge = { .process = process };
	struct err err;

	signal(SIGHUP, SIG_IGN);	/* the listener makes a new one */
	/* else the heap shrinks at the end of each message, and the next one
	 * faults its pages in again */
	mem_keep_heap(HEAP_KEPT_BYTES);
	if (conf_spool_open(process->conf, 0, &judge.spool, &err) < 0)
		fatal("%s", err.text);	/* the machine's error */
	if (dns_use(process->conf->dns_server, &err) != 0)
		warning("%s", err.text);
	judge.asker = dns_asker_new(process->loop);
	judge.kept = dns_kept_new();
	verify_keep_keys(true);
	judge_confine(&judge);
	judge.listener = ipc_link_new(process->loop, socket,
	    &judge_listener_kind, &judge);
	loop_at_turn_end(process->loop, judge_say_answers, &judge);
	loop_run(process->loop);
	verify_keep_keys(false);
	dns_kept_free(&judge.kept);
	spool_close(&judge.spool);
}

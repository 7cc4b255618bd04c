/* mail.c - a job: transactions until every recipient has a verdict
 *
 * In     a job and, if need be, a connection
 * Out    one verdict a recipient
 * Holds  where each recipient of the job stands
 * Trusts nothing in the addresses: controls never reach a command line
 * Spec   RFC 5321 section 3.3; RFC 2920; RFC 1870 section 5; RFC 6531
 *        section 3.2; RFC 2033 section 4.2 (a reply for each recipient)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "transports/smtp/transaction/mail.h"

#include "base/banned.h"

/* ---- the message and what came of it ----------------------------------- */

/* The host took its leave with its last answer: for those who still wait
 * for theirs it is the answer, too. */
static enum mail_progress
mail_closed(struct mail *mail, const struct verdict *verdict)
{
	mail_settle_picked(mail, verdict);
	client_quit(mail->client);
	return BROKEN;
}

static enum mail_progress
mail_send_smtp(struct mail *mail)
{
	struct verdict verdict;
	enum mail_progress progress = mail_hear_end(mail, &verdict);

	if (progress != GO_ON)
		return progress;
	for (size_t i = 0; i < mail->picked_count; i++)
		if (mail->states[mail->picked[i]] == RCPT_ACCEPTED)
			mail_settle(mail, mail->picked[i], &verdict);
	return mail->is_closing ? mail_closed(mail, &verdict) : OVER;
}

static enum mail_progress
mail_send_lmtp(struct mail *mail)
{
	struct verdict verdict;

	for (size_t i = 0; i < mail->picked_count; i++) {
		size_t index = mail->picked[i];
		enum mail_progress progress;

		if (mail->states[index] != RCPT_ACCEPTED)
			continue;
		progress = mail_hear_end(mail, &verdict);
		if (progress != GO_ON)
			return progress;
		mail_settle(mail, index, &verdict);
		if (mail->is_closing)
			return mail_closed(mail, &verdict);
	}
	return OVER;
}

/* The content is out: the answer is awaited. */
static enum mail_progress
mail_send_end(struct mail *mail)
{
	mail->client->messages++;
	client_shrink(mail->client);
	return mail->client->is_lmtp ? mail_send_lmtp(mail) :
	    mail_send_smtp(mail);
}

static enum mail_progress
mail_send(struct mail *mail)
{
	enum mail_progress progress = mail_content(mail);

	return progress == GO_ON ? mail_send_end(mail) : progress;
}

/* ---- a transaction ----------------------------------------------------- */

/* What stands after the last "@" of an address. */
static struct slice
mail_domain(struct slice address)
{
	size_t at = address.n;

	while (at > 0 && address.p[at - 1] != '@')
		at--;
	return slice_from(address, at);
}

/* Whether the domain is one of those picked, or one more is allowed
 * (RFC 9422 section 4.3). */
static bool
mail_is_domain_allowed(const struct mail *mail, size_t index, size_t *domains)
{
	const struct control_rcpt *rcpts = mail->job->rcpts;
	struct slice domain = mail_domain(rcpts[index].user);

	if (mail->client->offer.domains == 0)
		return true;
	for (size_t i = mail->picked_count; i-- > 0;)
		if (slice_equal_nocase(domain,
		    mail_domain(rcpts[mail->picked[i]].user)))
			return true;
	if (*domains >= mail->client->offer.domains)
		return false;
	++*domains;
	return true;
}

static void
mail_pick(struct mail *mail)
{
	size_t most = mail->client->offer.rcpts, domains = 0;

	if (most == 0 || most > CLIENT_RCPTS_MAX)
		most = CLIENT_RCPTS_MAX;
	mail->picked_count = mail->accepted_count = 0;
	mail->is_mail_ok = mail->is_closing = false;
	for (size_t i = 0; i < mail->job->rcpt_count &&
	    mail->picked_count < most; i++) {
		if (mail->states[i] != RCPT_WAITING ||
		    !mail_is_domain_allowed(mail, i, &domains))
			continue;
		mail->states[i] = RCPT_PICKED;
		mail->picked[mail->picked_count++] = i;
	}
}

/* Without DATA there is no reply that would say "no valid recipients". */
static enum mail_progress
mail_is_enough(struct mail *mail)
{
	if (mail->is_mail_ok && mail->accepted_count > 0)
		return GO_ON;
	mail->client->needs_reset = true;
	return OVER;
}

/* MAIL and all RCPT in one write, and what follows them: DATA, or the whole
 * message as one chunk. */
static enum mail_progress
mail_pipelined_envelope(struct mail *mail)
{
	enum mail_progress progress, first = GO_ON;
	bool is_reset = mail->client->needs_reset;

	if (is_reset)
		mail_say_reset(mail);
	mail_say_mail(mail);
	for (size_t i = 0; i < mail->picked_count; i++)
		mail_say_rcpt(mail, mail->picked[i]);
	if (mail->is_in_one && mail_content_in_one(mail) != GO_ON)
		return BROKEN;
	if (!mail->is_chunked)
		mail_say_data(mail);
	if (is_reset)
		first = mail_hear_reset(mail);
	if (first == GO_ON)
		first = mail_hear_mail(mail);
	if (first == BROKEN || first == STALE)
		return first;
	for (size_t i = 0; i < mail->picked_count; i++) {
		progress = mail_hear_rcpt(mail, mail->picked[i]);
		if (progress != GO_ON)
			return progress;
	}
	if (mail->is_in_one)
		return mail->accepted_count > 0 ? GO_ON :
		    mail_hear_nobody(mail);
	return mail->is_chunked ? mail_is_enough(mail) : mail_hear_data(mail);
}

static enum mail_progress
mail_stepwise_envelope(struct mail *mail)
{
	enum mail_progress progress = GO_ON;

	if (mail->client->needs_reset) {
		mail_say_reset(mail);
		progress = mail_hear_reset(mail);
	}
	if (progress == GO_ON) {
		mail_say_mail(mail);
		progress = mail_hear_mail(mail);
	}
	for (size_t i = 0; progress == GO_ON && i < mail->picked_count; i++) {
		mail_say_rcpt(mail, mail->picked[i]);
		progress = mail_hear_rcpt(mail, mail->picked[i]);
	}
	if (progress != GO_ON)
		return progress;
	progress = mail_is_enough(mail);
	if (progress != GO_ON || mail->is_chunked)
		return progress;
	mail_say_data(mail);
	return mail_hear_data(mail);
}

/* A host that goes silent or away when it hears several commands at once
 * gets them one by one the next time. */
static void
mail_judge_pipelining(struct mail *mail)
{
	struct smtp_client *client = mail->client;

	if (client->is_used || mail->is_mail_ok ||
	    strcmp(mail->verdicts[mail->picked[0]].status, "4.4.2") != 0)
		return;
	client_note(client, &client->address, TROUBLE_PIPELINING);
}

static enum mail_progress
mail_one_transaction(struct mail *mail)
{
	struct smtp_client *client = mail->client;
	bool is_pipelined = client->offer.extensions & CLIENT_PIPELINING &&
	    !client->no_pipelining;
	enum mail_progress progress;

	mail_pick(mail);
	mail->is_in_one = is_pipelined && mail_form_is_small(mail);
	progress = is_pipelined ? mail_pipelined_envelope(mail) :
	    mail_stepwise_envelope(mail);
	if (is_pipelined && progress == BROKEN)
		mail_judge_pipelining(mail);
	if (progress == GO_ON)
		progress = mail->is_in_one ? mail_send_end(mail) :
		    mail_send(mail);
	client->used_at_ms = clock_steady_ms();
	client->is_used = true;
	return progress;
}

/* ---- a job ------------------------------------------------------------- */

/* No control character can get into a command line. */
static bool
mail_is_sayable(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if ((unsigned char)text.p[i] < ' ' || text.p[i] == 127)
			return false;
	return true;
}

static void
mail_check_controls(struct mail *mail)
{
	const struct control_job *job = mail->job;
	bool is_good = mail_is_sayable(job->sender) &&
	    mail_is_sayable(job->envid) &&
	    mail_is_sayable(job->bodytype);
	struct verdict verdict;

	verdict_set(&verdict, VERDICT_FAILED, "5.1.3",
	    mail->client->is_lmtp ? "lmtp" : "smtp",
	    "there is a control character in an address");
	for (size_t i = 0; i < job->rcpt_count; i++)
		if (!is_good || !mail_is_sayable(job->rcpts[i].user) ||
		    !mail_is_sayable(job->rcpts[i].orcpt))
			mail_settle(mail, i, &verdict);
}

static bool
mail_has_waiting(const struct mail *mail)
{
	for (size_t i = 0; i < mail->job->rcpt_count; i++)
		if (mail->states[i] == RCPT_WAITING)
			return true;
	return false;
}

/* RFC 9422 section 4.1: MAILMAX. */
static bool
mail_is_used_up(const struct smtp_client *client)
{
	return client->offer.mails > 0 &&
	    client->messages >= client->offer.mails;
}

/* Transactions over one connection until nobody waits or it is gone. */
static enum mail_progress
mail_transactions(struct mail *mail)
{
	enum mail_progress progress = OVER;

	mail_form_choose(mail);
	while (progress == OVER && mail_has_waiting(mail))
		progress = mail_is_used_up(mail->client) ? STALE :
		    mail_one_transaction(mail);
	mail_form_release(mail);
	return progress;
}

static enum client_wish
mail_wish(const struct mail *mail)
{
	const struct terms *terms = &mail->job->terms;

	if (terms->needs_tls)
		return mail->client->is_lmtp ? WISH_NONE : WISH_TLS;
	return terms->is_tls_optional ? WISH_TLS_OPTIONAL : WISH_NONE;
}

void
client_deliver(struct smtp_client *client, struct arena *arena,
    const struct control_job *job, int body_fd, struct verdict verdicts[])
{
	struct mail mail = { .client = client, .job = job,
	    .body_fd = body_fd, .verdicts = verdicts };
	char *host = slice_dup(arena, job->host);
	enum mail_progress progress = STALE;
	struct verdict trouble;

	strlcpy(client->id, job->id, sizeof(client->id));
	mail.states = arena_alloc(arena, job->rcpt_count);
	mail.picked = arena_alloc(arena, (job->rcpt_count < CLIENT_RCPTS_MAX ?
	    job->rcpt_count : CLIENT_RCPTS_MAX) * sizeof(*mail.picked));
	mail_check_controls(&mail);
	while (progress == STALE && mail_has_waiting(&mail)) {
		if (!client_open(client, host, mail_wish(&mail), &trouble) ||
		    !client_xclient(client, body_fd, &trouble)) {
			mail_settle_all(&mail, &trouble);
			return;
		}
		progress = mail_transactions(&mail);
	}
	if (progress != BROKEN)
		return;
	/* who was not reached shares the trouble of who was */
	trouble = verdicts[mail.picked[mail.picked_count - 1]];
	for (size_t i = 0; i < job->rcpt_count; i++)
		if (mail.states[i] == RCPT_WAITING) {
			verdict_set(&verdicts[i], VERDICT_DEFERRED, "4.4.2",
			    client->who, "the connection ended before");
			verdicts[i].host_trouble = trouble.host_trouble;
		}
}

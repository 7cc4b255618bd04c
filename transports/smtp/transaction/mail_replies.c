/* mail_replies.c - the replies of a transaction and whom they are about
 *
 * In     replies in the order of the commands
 * Out    verdicts in the peer's words; whether the transaction goes on
 * Trusts no reply to fit its command: one that does not ends the connection
 * Spec   RFC 5321 sections 4.2, 4.3.2 and 4.5.3.1.10; RFC 2920 section 3.1
 *
 * SPDX-License-Identifier: ISC
 */
#include "transports/smtp/transaction/mail.h"

#include "base/banned.h"

void
mail_settle(struct mail *mail, size_t index, const struct verdict *verdict)
{
	mail->verdicts[index] = *verdict;
	mail->states[index] = RCPT_SETTLED;
}

void
mail_settle_picked(struct mail *mail, const struct verdict *verdict)
{
	for (size_t i = 0; i < mail->picked_count; i++)
		if (mail->states[mail->picked[i]] != RCPT_SETTLED)
			mail_settle(mail, mail->picked[i], verdict);
}

void
mail_settle_all(struct mail *mail, const struct verdict *verdict)
{
	for (size_t i = 0; i < mail->job->rcpt_count; i++)
		if (mail->states[i] != RCPT_SETTLED)
			mail_settle(mail, i, verdict);
}

static enum mail_progress
mail_broken(struct mail *mail, enum peer_result result, const struct err *err,
    const char *step, bool is_host_trouble)
{
	struct verdict verdict;

	client_broken(mail->client, result, err, step, &verdict);
	verdict.host_trouble = is_host_trouble;
	mail_settle_picked(mail, &verdict);
	return BROKEN;
}

/* A reply that makes no sense here: hang up before the two sides disagree
 * about what is data and what is a command. */
static enum mail_progress
mail_nonsense(struct mail *mail, const struct reply *reply, const char *command)
{
	struct verdict verdict;
	struct str text = STR_INIT;

	reply_add_text(&text, reply);
	verdict_set(&verdict, VERDICT_DEFERRED, "4.5.0", mail->client->who,
	    "unexpected reply to %s: %s", command, text.buf);
	str_release(&text);
	mail_settle_picked(mail, &verdict);
	client_drop(mail->client);
	return BROKEN;
}

/* The peer ends the session in the middle. */
static enum mail_progress
mail_closing(struct mail *mail, const struct reply *reply)
{
	struct verdict verdict;

	client_verdict(mail->client, reply, VERDICT_DEFERRED, &verdict);
	mail_settle_picked(mail, &verdict);
	client_quit(mail->client);
	return BROKEN;
}

/* Send what is queued, wait for the next reply. */
static enum peer_result
mail_hear(struct mail *mail, int64_t timeout_ms, struct reply *out,
    struct err *err)
{
	struct smtp_client *client = mail->client;
	enum peer_result result = PEER_OK;

	if (client->peer.out.len > 0)
		result = client_flush(client, timeout_ms, err);
	if (result == PEER_OK)
		result = client_reply(client, timeout_ms, out, err);
	return result;
}

/* A kept connection that ends before it answered MAIL did so because it
 * was old, not because of this message. */
static bool
mail_is_stale(const struct mail *mail, enum peer_result result)
{
	return mail->client->is_used &&
	    (result == PEER_EOF || result == PEER_ERROR);
}

static enum mail_progress
mail_stale(struct mail *mail)
{
	for (size_t i = 0; i < mail->picked_count; i++)
		mail->states[mail->picked[i]] = RCPT_WAITING;
	client_quit(mail->client);
	return STALE;
}

enum mail_progress
mail_hear_reset(struct mail *mail)
{
	struct reply reply;
	struct err err;
	enum peer_result result = mail_hear(mail,
	    mail->client->conf->timeouts.mail_ms, &reply, &err);

	mail->client->needs_reset = false;
	if (result != PEER_OK && mail_is_stale(mail, result))
		return mail_stale(mail);
	if (result != PEER_OK)
		return mail_broken(mail, result, &err,
		    "waiting for the reply to RSET", true);
	if (reply.code == 421)
		return mail_stale(mail);
	return reply.code / 100 == 2 ? GO_ON : mail_nonsense(mail, &reply,
	    "RSET");
}

enum mail_progress
mail_hear_mail(struct mail *mail)
{
	struct smtp_client *client = mail->client;
	enum peer_result result;
	struct verdict verdict;
	struct reply reply;
	struct err err;

	result = mail_hear(mail, client->conf->timeouts.mail_ms, &reply, &err);
	if (result != PEER_OK && mail_is_stale(mail, result))
		return mail_stale(mail);
	if (result != PEER_OK)
		return mail_broken(mail, result, &err,
		    "waiting for the reply to MAIL", true);
	if (reply.code / 100 == 3)
		return mail_nonsense(mail, &reply, "MAIL");
	if (reply.code == 421)
		return client->is_used ? mail_stale(mail) :
		    mail_closing(mail, &reply);
	mail->is_mail_ok = reply.code / 100 == 2;
	if (mail->is_mail_ok)
		return GO_ON;
	client_verdict(client, &reply, VERDICT_DEFERRED, &verdict);
	mail_settle_picked(mail, &verdict);
	return OVER;
}

/* RFC 5321 section 4.5.3.1.10: 452 (or, wrongly, 552) for the recipients
 * that are too many; they go into the next transaction. */
static bool
mail_is_one_too_many(const struct mail *mail, const struct reply *reply)
{
	return mail->accepted_count > 0 && (reply->code == 452 ||
	    (reply->code == 552 && reply->status[0] == '\0'));
}

/* So many at a time, then; few, and it was about something else. */
static void
mail_learn_limit(struct smtp_client *client, size_t accepted)
{
	if (accepted >= CLIENT_LIMIT_MIN)
		client->offer.rcpts = (unsigned)accepted;
}

enum mail_progress
mail_hear_rcpt(struct mail *mail, size_t index)
{
	struct smtp_client *client = mail->client;
	enum peer_result result;
	struct verdict verdict;
	struct reply reply;
	struct err err;

	result = mail_hear(mail, client->conf->timeouts.rcpt_ms, &reply, &err);
	if (result != PEER_OK)
		return mail_broken(mail, result, &err,
		    "waiting for the reply to RCPT", true);
	if (!mail->is_mail_ok)
		return GO_ON;		/* 503: settled by the reply to MAIL */
	if (reply.code / 100 == 3)
		return mail_nonsense(mail, &reply, "RCPT");
	if (reply.code == 421)
		return mail_closing(mail, &reply);
	if (reply.code / 100 == 2) {
		mail->states[index] = RCPT_ACCEPTED;
		mail->accepted_count++;
	} else if (mail_is_one_too_many(mail, &reply)) {
		mail->states[index] = RCPT_WAITING;
		mail_learn_limit(client, mail->accepted_count);
	} else {
		client_verdict(client, &reply, VERDICT_DEFERRED, &verdict);
		mail_settle(mail, index, &verdict);
	}
	return GO_ON;
}

static void
mail_settle_accepted(struct mail *mail, const struct verdict *verdict)
{
	for (size_t i = 0; i < mail->picked_count; i++)
		if (mail->states[mail->picked[i]] == RCPT_ACCEPTED)
			mail_settle(mail, mail->picked[i], verdict);
}

/* The message is taken for nobody: a no to DATA, or to a chunk. */
static enum mail_progress
mail_refused(struct mail *mail, const struct reply *reply)
{
	struct verdict verdict;

	if (reply->code == 421)
		return mail_closing(mail, reply);
	mail->client->needs_reset = true;
	client_verdict(mail->client, reply, VERDICT_DEFERRED, &verdict);
	mail_settle_accepted(mail, &verdict);
	return OVER;
}

/* 354 although nobody is to get it (RFC 2920 section 3.1): an empty
 * message, whose reply tells nothing. */
static enum mail_progress
mail_end_empty(struct mail *mail)
{
	enum peer_result result;
	struct reply reply;
	struct err err;

	str_adds(&mail->client->peer.out, ".\r\n");
	result = mail_hear(mail, mail->client->conf->timeouts.data_end_ms,
	    &reply,
	    &err);
	if (result != PEER_OK)
		return mail_broken(mail, result, &err,
		    "ending a message without recipients", false);
	mail->client->needs_reset = reply.code / 100 != 2;
	return OVER;
}

enum mail_progress
mail_hear_data(struct mail *mail)
{
	struct smtp_client *client = mail->client;
	enum peer_result result;
	struct reply reply;
	struct err err;

	result = mail_hear(mail, client->conf->timeouts.data_start_ms, &reply,
	    &err);
	if (result != PEER_OK)
		return mail_broken(mail, result, &err,
		    "waiting for the reply to DATA", false);
	if (reply.code == 354 && !client_is_level(client))
		return mail_nonsense(mail, &reply, "a message not yet sent");
	if (reply.code == 354)
		return mail->accepted_count > 0 ? GO_ON : mail_end_empty(mail);
	if (reply.code / 100 < 4)
		return mail_nonsense(mail, &reply, "DATA");
	return mail_refused(mail, &reply);
}

enum mail_progress
mail_hear_nobody(struct mail *mail)
{
	enum peer_result result;
	struct reply reply;
	struct err err;

	result = mail_hear(mail, mail->client->conf->timeouts.data_end_ms,
	    &reply,
	    &err);
	if (result != PEER_OK)
		return mail_broken(mail, result, &err,
		    "waiting for the reply to BDAT", false);
	if (reply.code == 421)
		return mail_closing(mail, &reply);
	mail->client->needs_reset = reply.code / 100 != 2;
	return OVER;
}

enum mail_progress
mail_hear_chunk(struct mail *mail)
{
	struct smtp_client *client = mail->client;
	enum peer_result result;
	struct reply reply;
	struct err err;

	result = mail_hear(mail, client->conf->timeouts.data_block_ms, &reply,
	    &err);
	if (result != PEER_OK)
		return mail_broken(mail, result, &err,
		    "waiting for the reply to BDAT", false);
	if (reply.code / 100 == 2)
		return GO_ON;
	if (reply.code / 100 == 3)
		return mail_nonsense(mail, &reply, "BDAT");
	return mail_refused(mail, &reply);
}

/* A host that took the DSN parameters took the duty to report, too (RFC
 * 3461 section 5.2.2); for one that does not know them we report. */
static enum verdict_kind
mail_taken_kind(const struct smtp_client *client)
{
	return client->offer.extensions & CLIENT_DSN ? VERDICT_RELAYED :
	    VERDICT_DELIVERED;
}

enum mail_progress
mail_hear_end(struct mail *mail, struct verdict *out)
{
	struct smtp_client *client = mail->client;
	enum peer_result result;
	struct reply reply;
	struct err err;

	result = mail_hear(mail, client->conf->timeouts.data_end_ms, &reply,
	    &err);
	if (result == PEER_OK && reply.code / 100 == 3)
		return mail_nonsense(mail, &reply, "the end of data");
	if (result == PEER_OK) {
		client_verdict(client, &reply, mail_taken_kind(client), out);
		mail->is_closing = reply.code == 421;
		out->host_trouble = false;
		return GO_ON;
	}
	client_broken(client, result, &err,
	    "waiting for the reply to the end of data", out);
	verdict_set(out, VERDICT_DEFERRED, "4.4.2", client->who, "%s",
	    result == PEER_TIMEOUT ?
	    "timed out after end of data (message may be sent twice)" :
	    "connection lost after end of data (message may be sent twice)");
	mail_settle_picked(mail, out);
	return BROKEN;
}

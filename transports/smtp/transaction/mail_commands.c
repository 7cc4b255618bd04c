/* mail_commands.c - the commands of a transaction
 *
 * In     a job, what the peer announced
 * Out    command lines in the connection's output, not yet sent
 * Trusts mail.c to have refused controls in addresses
 * Spec   RFC 5321 section 4.1.1; RFC 1870 section 6 (SIZE); RFC 6152
 *        (BODY); RFC 3461 section 4 (RET, ENVID, NOTIFY, ORCPT); RFC 6531;
 *        RFC 2852 section 4 (BY), RFC 6710 section 4 (MT-PRIORITY), RFC
 *        4954 section 5 (AUTH), RFC 8689 section 3 (REQUIRETLS)
 *
 *   mail = "MAIL FROM:<" reverse-path ">" [ SP "SIZE=" n ] [ SP "BODY=" t ]
 *          [ SP "SMTPUTF8" ] [ SP "RET=" r ] [ SP "ENVID=" x ] CRLF
 *   rcpt = "RCPT TO:<" forward-path ">" [ SP "NOTIFY=" l ]
 *          [ SP "ORCPT=" o ] CRLF
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "grammar/smtp/dsn.h"
#include "transports/smtp/transaction/mail.h"

#include "base/banned.h"

enum { BY_SPAN_MAX = 999999999 };	/* RFC 2852 section 4 */

void
mail_say_reset(struct mail *mail)
{
	str_adds(&mail->client->peer.out, "RSET\r\n");
}

/* What the sender asked for, where the host can obey. */
static void
mail_say_terms(struct mail *mail)
{
	const struct terms *terms = &mail->job->terms;
	unsigned extensions = mail->client->offer.extensions;
	struct str *out = &mail->client->peer.out;
	int64_t left_s = terms->by_s - clock_wall_s();

	if (terms->by_s != 0 && (extensions & CLIENT_DELIVERBY))
		str_addf(out, " BY=%lld;%s%s", (long long)
		    (left_s < -BY_SPAN_MAX ? -BY_SPAN_MAX : left_s),
		    terms->by_returns ? "R" : "N",
		    terms->by_traces ? "T" : "");
	if (terms->priority != 0 && (extensions & CLIENT_PRIORITY))
		str_addf(out, " MT-PRIORITY=%d", terms->priority);
	if (terms->auth.n > 0 && mail->client->secret != NULL) {
		str_adds(out, " AUTH=");
		str_add_slice(out, terms->auth);
	}
}

void
mail_say_mail(struct mail *mail)
{
	const struct control_job *job = mail->job;
	struct smtp_client *client = mail->client;
	struct str *out = &client->peer.out;

	str_adds(out, "MAIL FROM:<");
	str_add_slice(out, job->sender);
	str_addc(out, '>');
	if ((client->offer.extensions & CLIENT_SIZE) && mail->down == NULL)
		str_addf(out, " SIZE=%llu",
		    (unsigned long long)job->size_bytes);
	if (mail->body != NULL)
		str_addf(out, " BODY=%s", mail->body);
	if (mail->is_utf8)
		str_adds(out, " SMTPUTF8");
	if (client->is_required)
		str_adds(out, " REQUIRETLS");
	mail_say_terms(mail);
	if (client->offer.extensions & CLIENT_DSN) {
		if (job->ret != DSN_RET_DEFAULT)
			str_addf(out, " RET=%s", dsn_ret_name(job->ret));
		if (job->envid.n > 0) {
			str_adds(out, " ENVID=");
			str_add_slice(out, job->envid);
		}
	}
	str_adds(out, "\r\n");
}

void
mail_say_rcpt(struct mail *mail, size_t index)
{
	const struct control_rcpt *rcpt = &mail->job->rcpts[index];
	struct str *out = &mail->client->peer.out;

	str_adds(out, "RCPT TO:<");
	str_add_slice(out, rcpt->user);
	str_addc(out, '>');
	if (mail->client->offer.extensions & CLIENT_DSN) {
		if (rcpt->notify != DSN_NOTIFY_DEFAULT) {
			str_adds(out, " NOTIFY=");
			dsn_notify_add(out, rcpt->notify);
		}
		if (rcpt->orcpt.n > 0) {
			str_adds(out, " ORCPT=");
			str_add_slice(out, rcpt->orcpt);
		}
	}
	str_adds(out, "\r\n");
}

void
mail_say_data(struct mail *mail)
{
	str_adds(&mail->client->peer.out, "DATA\r\n");
}

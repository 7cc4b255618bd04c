/* mail_say.c - the commands of a transaction
 *
 * In     a job, what the peer announced
 * Out    command lines in the connection's output, not yet sent
 * Trusts client_mail.c to have refused controls in addresses
 * Spec   RFC 5321 section 4.1.1; RFC 1870 section 6 (SIZE); RFC 6152
 *        (BODY); RFC 3461 section 4 (RET, ENVID, NOTIFY, ORCPT); RFC 6531
 *
 *   mail = "MAIL FROM:<" reverse-path ">" [ SP "SIZE=" n ] [ SP "BODY=" t ]
 *          [ SP "SMTPUTF8" ] [ SP "RET=" r ] [ SP "ENVID=" x ] CRLF
 *   rcpt = "RCPT TO:<" forward-path ">" [ SP "NOTIFY=" l ]
 *          [ SP "ORCPT=" o ] CRLF
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "grammar/dsn.h"
#include "transports/smtp/mail.h"

#include "base/banned.h"

void
say_reset(struct mail *mail)
{
	str_adds(&mail->client->peer.out, "RSET\r\n");
}

void
say_mail(struct mail *mail)
{
	const struct work_job *job = mail->job;
	struct client *client = mail->client;
	struct str *out = &client->peer.out;

	str_adds(out, "MAIL FROM:<");
	str_add_slice(out, job->sender);
	str_addc(out, '>');
	if (client->offer.extensions & CLIENT_SIZE)
		str_addf(out, " SIZE=%llu",
		    (unsigned long long)job->size_bytes);
	if ((client->offer.extensions & CLIENT_8BITMIME) &&
	    job->bodytype.n > 0) {
		str_adds(out, " BODY=");
		str_add_slice(out, job->bodytype);
	}
	if (mail->is_utf8)
		str_adds(out, " SMTPUTF8");
	if (client->is_required)
		str_adds(out, " REQUIRETLS");
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
say_rcpt(struct mail *mail, size_t index)
{
	const struct work_rcpt *rcpt = &mail->job->rcpts[index];
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
say_data(struct mail *mail)
{
	str_adds(&mail->client->peer.out, "DATA\r\n");
}

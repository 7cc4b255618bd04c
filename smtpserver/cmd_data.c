/* cmd_data.c - DATA
 *
 *	data = "DATA" CRLF
 *
 * RFC 5321 section 4.1.1.4.  Opens the draft (row S0): a transaction that
 * ends earlier costs no file.
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>

#include "base/event.h"
#include "smtpserver/commands.h"

#include "base/banned.h"

static void
say_trouble(struct answer *out, const struct err *err, int error)
{
	event(EV_SPOOL_TROUBLE, NULL, "call", SLICE("open"), "reason",
	    slice_of(err->text), NULL);
	if (error == ENOSPC || error == EDQUOT)
		answer_set(out, 452, "4.3.1",
		    "no space to store it now, try later");
	else
		answer_set(out, 451, "4.3.0",
		    "it cannot be stored now, try later");
}

void
cmd_data(struct session *session, struct slice args, struct answer *out)
{
	const struct conf *conf = session->settings->conf;
	struct str from = STR_INIT;
	struct err err;

	if (args.n > 0) {
		answer_set(out, 501, "5.5.4", "DATA takes no argument");
		return;
	}
	if (session->transaction->rcpt_count == 0) {
		answer_set(out, 554, "5.5.1", "there is no recipient");
		return;
	}
	if (service_reserve(session->service, session->transaction->size_bytes))
		session->transaction->reserved_bytes =
		    &session->service->reserved_bytes;
	str_addf(&from, "%s (%s)", session->helo.buf,
	    session->client.literal);
	if (transaction_open(session->transaction, session->service->spool,
	    str_slice(&from), session->is_esmtp ? "ESMTP" : "SMTP",
	    conf->bare_lf_ok, &err) != 0)
		say_trouble(out, &err, errno);
	else
		answer_set(out, 354, NULL,
		    "send the message, end it with a dot alone on a line");
	str_release(&from);
}

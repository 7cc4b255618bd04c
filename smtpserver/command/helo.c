/* helo.c - HELO
 *
 *	helo = "HELO" SP Domain CRLF
 *
 * RFC 5321 section 4.1.1.1.  An address literal is taken as well; trailing
 * blanks are.  It resets the transaction, and no extension is in force.
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/command/commands.h"
#include "smtpserver/session/filter/filter.h"
#include "smtpserver/session/recipient/permit.h"
#include "smtpserver/session/records/record.h"

#include "base/banned.h"

bool
hello_take(struct session *session, struct slice args, enum hello hello,
    answered_fn *fn, struct session_answer *out)
{
	const struct filter_extra extra = { .text = args };
	const struct permit_early early = { .stage = POLICY_AT_HELO,
	    .helo = args };
	struct decided decided = { .stage = "helo", .helo = args };
	static const char *const verbs[] = { "HELO", "EHLO", "LHLO" };
	struct err err;

	/* RFC 2033 section 4.1 */
	if ((hello == HELLO_LHLO) != session_is_lmtp(session)) {
		answer_set(out, 500, "5.5.1", session_is_lmtp(session) ?
		    "LMTP is spoken here: say LHLO" :
		    "SMTP is spoken here: say EHLO");
		return false;
	}
	if (args.n == 0) {
		answer_set(out, 501, "5.5.4",
		    "say who you are: %s your.host.name", verbs[hello]);
		return false;
	}
	if (domain_parse(args, &err) != 0) {
		answer_set(out, 501, "5.5.4", "%s", err.text);
		return false;
	}
	if (!permit_early(session, &early, fn, out))
		return false;
	if (!session_filter_permit(session, TALK_HELO, &extra, fn, out)) {
		record_filtered(session, &decided, out);
		return false;
	}
	transaction_free(&session->transaction);
	str_reset(&session->helo);
	str_add_slice(&session->helo, args);
	session->is_esmtp = hello != HELLO_HELO;
	return true;
}

static void
helo_answered(struct session *session, struct slice args,
    const struct ask *ask, struct session_answer *out)
{
	permit_learn(session, ask);
	cmd_helo(session, args, out);
}

void
cmd_helo(struct session *session, struct slice args, struct session_answer *out)
{
	if (hello_take(session, args, HELLO_HELO, helo_answered, out))
		answer_set(out, 250, NULL, "%s",
		    session->settings->conf->host);
}

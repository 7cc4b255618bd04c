/* vrfy.c - VRFY
 *
 *	vrfy = "VRFY" SP String [ SP "SMTPUTF8" ] CRLF
 *
 * RFC 5321 sections 3.5, 4.1.1.6 and 7.3: 252, whoever is asked for.  To
 * clients that `trust ... vrfy` lists the router says whether it would be
 * served, as at RCPT.
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/helper/ask.h"
#include "smtpserver/command/commands.h"
#include "smtpserver/session/recipient/recipient.h"
#include "smtpserver/command/verify_arg.h"

#include "base/banned.h"

static void
vrfy_answered(struct session *session, struct slice args,
    const struct ask *ask, struct session_answer *out)
{
	struct slice text = slice_from(str_slice(&ask->question), 5);

	if (ask->state != ASK_ANSWERED)
		answer_trouble(out);
	else if (slice_starts(str_slice(&ask->answer), "served"))
		answer_set(out, 250, "2.1.5", "<" SLICE_FMT ">",
		    SLICE_ARG(text));
	else
		answer_set(out, 550, "5.1.1", "no such user here");
}

void
cmd_vrfy(struct session *session, struct slice args, struct session_answer *out)
{
	struct str text = STR_INIT, question = STR_INIT;
	struct path path;

	if (verify_arg_take(session, args, &text, &path, out)) {
		str_addf(&question, "rcpt %s", text.buf);
		if ((session->trust & 1u << TRUST_VRFY) != 0 &&
		    verify_arg_is_ours(session, &path))
			session_ask(session, recipient_kind,
			    str_slice(&question), 0, vrfy_answered);
		else
			answer_set(out, 252, "2.5.0",
			    "send the message and we shall see");
	}
	str_release(&text);
	str_release(&question);
}

/* data.c - DATA
 *
 *	data = "DATA" CRLF
 *
 * RFC 5321 section 4.1.1.4.  Not for BODY=BINARYMIME (RFC 3030 section 3).
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/command/commands.h"
#include "smtpserver/session/filter/filter.h"
#include "smtpserver/session/recipient/permit.h"
#include "smtpserver/session/receive.h"
#include "smtpserver/session/records/record.h"

#include "base/banned.h"

static void
data_answered(struct session *session, struct slice args,
    const struct ask *ask, struct session_answer *out)
{
	permit_learn(session, ask);
	cmd_data(session, args, out);
}

void
cmd_data(struct session *session, struct slice args, struct session_answer *out)
{
	const struct transaction *t = session->transaction;
	const struct filter_extra none = { .path = NULL };
	enum content_fault fault;

	if (args.n > 0) {
		answer_set(out, 501, "5.5.4", "DATA takes no argument");
		return;
	}
	if (slice_is(t->envelope.bodytype, "BINARYMIME")) {
		answer_set(out, 503, "5.5.1", "BINARYMIME needs BDAT");
		return;
	}
	if (t->rcpt_count == 0) {
		/* RFC 2033 section 4.2 */
		answer_set(out, session_is_lmtp(session) ? 503 : 554, "5.5.1",
		    "there is no recipient");
		return;
	}
	if (!session_filter_permit(session, TALK_DATA, &none, data_answered,
	    out)) {
		record_refused_data(session, out);
		return;
	}
	fault = receive_begin(session, CONTENT_DOTTED);
	if (fault != CONTENT_GOOD)
		answer_fault(out, fault);
	else
		answer_set(out, 354, NULL,
		    "send the message, end it with a dot alone on a line");
}

/* expn.c - EXPN
 *
 *	expn = "EXPN" SP String [ SP "SMTPUTF8" ] CRLF
 *
 * RFC 5321 sections 3.5, 4.1.1.7 and 7.3.  For clients that `trust ... expn`
 * lists, else 502.  The router says who gets mail for a list of ours;
 * programs and files are left out.
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/helper/ask.h"
#include "smtpserver/command/commands.h"
#include "smtpserver/session/recipient/recipient.h"
#include "smtpserver/command/verify_arg.h"

#include "base/banned.h"

/* "members COUNT a@b c@d ...", of which some may have been left out. */
static void
say_members(struct slice answer, struct session_answer *out)
{
	struct str lines = STR_INIT;
	struct slice word;
	uint64_t left;

	(void)slice_word(&answer, &word);
	if (!slice_word(&answer, &word) ||
	    !slice_number(word, 0, UINT32_MAX, &left)) {
		answer_trouble(out);
		return;
	}
	while (slice_word(&answer, &word) &&
	    lines.len + word.n < ANSWER_TEXT_BYTES - 80) {
		str_addf(&lines, "%s<" SLICE_FMT ">", lines.len ? "\n" : "",
		    SLICE_ARG(word));
		left -= left > 0;
	}
	if (left > 0)
		str_addf(&lines, "%sand %u that are not shown",
		    lines.len ? "\n" : "", (unsigned)left);
	answer_set(out, 250, "2.1.5", "%s", lines.len ? lines.buf :
	    "nobody");
	str_release(&lines);
}

static void
expn_answered(struct session *session, struct slice args,
    const struct ask *ask, struct session_answer *out)
{
	if (ask->state != ASK_ANSWERED)
		answer_trouble(out);
	else if (slice_starts(str_slice(&ask->answer), "members"))
		say_members(str_slice(&ask->answer), out);
	else
		answer_set(out, 550, "5.1.1", "no such list here");
}

void
cmd_expn(struct session *session, struct slice args, struct session_answer *out)
{
	struct str text = STR_INIT, question = STR_INIT;
	struct path path;

	if ((session->trust & 1u << TRUST_EXPN) == 0) {
		answer_set(out, 502, "5.5.1", "EXPN is not offered here");
		return;
	}
	if (verify_arg_take(session, args, &text, &path, out)) {
		str_addf(&question, "list %s", text.buf);
		if (verify_arg_is_ours(session, &path))
			session_ask(session, recipient_kind,
			    str_slice(&question), 0, expn_answered);
		else
			answer_set(out, 550, "5.1.1", "no such list here");
	}
	str_release(&text);
	str_release(&question);
}

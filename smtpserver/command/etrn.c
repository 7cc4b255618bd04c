/* etrn.c - ETRN
 *
 *	etrn = "ETRN" SP [ "@" ] Domain CRLF
 *
 * RFC 1985 sections 5.2 and 5.3.  For clients that `trust ... etrn` lists,
 * else 502: whoever asks learns for whom mail waits.  "@" means all below
 * the domain, too.  "#" (a queue by name) is not known here: 458.
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/smtp/path.h"
#include "smtpserver/helper/ask.h"
#include "smtpserver/command/commands.h"
#include "smtpserver/helper/etrn.h"

#include "base/banned.h"

/* "none", "started COUNT" */
static void
etrn_answered(struct session *session, struct slice args,
    const struct ask *ask, struct answer *out)
{
	struct slice answer = str_slice(&ask->answer), word, node = args;
	uint64_t messages;

	if (ask->state != ASK_ANSWERED || !slice_word(&answer, &word))
		answer_set(out, 458, "4.3.0",
		    "the queue cannot be started now, try later");
	else if (slice_is(word, "none"))
		answer_set(out, 251, "2.0.0", "no mail waits for node "
		    SLICE_FMT, SLICE_ARG(node));
	else if (slice_word(&answer, &word) &&
	    slice_number(word, 1, UINT32_MAX, &messages))
		answer_set(out, 253, "2.0.0", "%u messages for node "
		    SLICE_FMT " are started", (unsigned)messages,
		    SLICE_ARG(node));
	else
		answer_set(out, 250, "2.0.0", "the queue for node "
		    SLICE_FMT " is started", SLICE_ARG(node));
}

void
cmd_etrn(struct session *session, struct slice args, struct answer *out)
{
	struct slice domain = slice_from(args, slice_starts(args, "@"));
	struct err err;

	if ((session->trust & 1u << TRUST_ETRN) == 0)
		answer_set(out, 502, "5.5.1", "ETRN is not offered here");
	else if (slice_starts(args, "#"))
		answer_set(out, 458, "4.3.0", "queues have no names here");
	else if (domain_parse(domain, &err) != 0)
		answer_set(out, 501, "5.5.4", "%s", err.text);
	else
		session_ask(session, etrn_kind, args, 0, etrn_answered);
}

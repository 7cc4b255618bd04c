/* etrn.c - ETRN
 *
 *	etrn = "ETRN" SP ( [ "@" ] node / "#" queue ) CRLF
 *	node = ( Domain / address-literal ) [ ":" port ]
 *
 * RFC 1985 sections 5.2 and 5.3.  For clients that `trust ... etrn` lists,
 * else 502: whoever asks learns for whom mail waits.  A node is a domain of
 * recipients or a next hop; "@" means all below it, too.  A queue is named
 * as `zmailer queue` names destinations.
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "grammar/smtp/path.h"
#include "smtpserver/helper/ask.h"
#include "smtpserver/command/commands.h"
#include "smtpserver/helper/etrn.h"

#include "base/banned.h"

/* "[192.0.2.1]:2525" without its port. */
static struct slice
etrn_without_port(struct slice node)
{
	size_t n = node.n;
	uint64_t port;

	while (n > 0 && node.p[n - 1] != ':' && node.p[n - 1] != ']')
		n--;
	if (n > 1 && node.p[n - 1] == ':' && slice_number(slice_from(node, n),
	    1, 65535, &port))
		return slice_first(node, n - 1);
	return node;
}

/* Printable, without globs: a client names one queue. */
static int
etrn_queue_check(struct slice name, struct err *err)
{
	if (name.n == 0)
		return err_set(err, "the queue has no name");
	for (size_t i = 0; i < name.n; i++)
		if (name.p[i] <= ' ' || name.p[i] > '~' ||
		    ascii_is_among(name.p[i], "*?\\"))
			return err_set(err, "a queue is named CHANNEL/HOST");
	return 0;
}

static int
etrn_check(struct slice args, struct err *err)
{
	if (slice_starts(args, "#"))
		return etrn_queue_check(slice_from(args, 1), err);
	return domain_parse(etrn_without_port(slice_from(args,
	    slice_starts(args, "@"))), err);
}

/* "none", "suspended", "started COUNT" */
static void
etrn_answered(struct session *session, struct slice args,
    const struct ask *ask, struct session_answer *out)
{
	struct slice answer = str_slice(&ask->answer), word, node = args;
	uint64_t messages;

	if (ask->state != ASK_ANSWERED || !slice_word(&answer, &word))
		answer_set(out, 458, "4.3.0",
		    "the queue cannot be started now, try later");
	else if (slice_is(word, "none"))
		answer_set(out, 251, "2.0.0", "no mail waits for node "
		    SLICE_FMT, SLICE_ARG(node));
	else if (slice_is(word, "suspended"))
		answer_set(out, 459, "4.3.2", "node " SLICE_FMT
		    " is not allowed now: its mail is suspended here",
		    SLICE_ARG(node));
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
cmd_etrn(struct session *session, struct slice args, struct session_answer *out)
{
	struct err err;

	if ((session->trust & 1u << TRUST_ETRN) == 0)
		answer_set(out, 502, "5.5.1", "ETRN is not offered here");
	else if (etrn_check(args, &err) != 0)
		answer_set(out, 501, "5.5.4", "%s", err.text);
	else
		session_ask(session, etrn_kind, args, 0, etrn_answered);
}

/* transcript.c - the dialogue in the journal, where log-level says debug
 *
 * In     lines of a client and of ours
 * Out    events session.said, SAID_LINES_MAX a session at most
 * Holds  how many more there may be (session->transcript_left; 0: say nothing)
 * Trusts no line: after AUTH, and after an AUTH that was refused, may
 *        stand a password; it is never noted
 * Spec   zmailer-log(8); RFC 4954 section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include "journal/event.h"
#include "smtpserver/session/records/transcript.h"

#include "base/banned.h"

void
transcript_begin(struct session *session)
{
	session->transcript_left = conf_debugs_client(session->settings->conf,
	    &session->client.net) ? SAID_LINES_MAX : 0;
	session->is_after_auth = false;
}

static void
transcript_line(struct session *session, struct slice by, struct slice line)
{
	session->transcript_left--;
	event(EV_SESSION_SAID, NULL,
	    "client", slice_of(session->client.text),
	    "session", slice_of(session->id), "by", by,
	    "line", slice_first(line, SAID_LINE_BYTES_MAX), NULL);
}

/* Who was refused with AUTH may say the rest of it all the same: a line that
 * is no command then is not shown. */
void
transcript_command(struct session *session, struct slice line,
    struct slice verb)
{
	if (session->transcript_left == 0)
		return;
	if (verb.n == 0) {
		transcript_line(session, SLICE("client"),
		    session->is_after_auth ?
		    SLICE("***") : line);
		return;
	}
	session->is_after_auth = slice_is_nocase(verb, "AUTH");
	transcript_line(session, SLICE("client"), session->is_after_auth ?
	    SLICE("AUTH ***") : line);
}

void
transcript_secret(struct session *session)
{
	if (session->transcript_left > 0)
		transcript_line(session, SLICE("client"), SLICE("***"));
}

void
transcript_reply(struct session *session, struct slice line)
{
	if (session->transcript_left > 0)
		transcript_line(session, SLICE("us"), slice_trim(line));
}

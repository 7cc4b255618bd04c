/* permit.h - the policy's verdict on a recipient, as an answer
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_PERMIT_H
#define ZM_SMTPSERVER_SESSION_PERMIT_H

#include "smtpserver/policy/policy.h"
#include "smtpserver/session/session.h"

/* May the sender of the transaction send to this recipient?  A freeze rule is
 * kept with the transaction.
 * returns true: yes; out has the rule that says so, or NULL, and whether it
 * sets the message aside.  false: out has the refusal, which names the session
 * so that its cause can be found in the journal; or a question was asked
 * (session->ask) whose answer calls fn. */
bool permit_rcpt(struct session *session, const struct path *rcpt,
    answered_fn *fn, struct session_answer *out);

/* If the listener decides early: may this client continue?  As permit_rcpt; fn
 * may be NULL before the greeting. */
struct permit_early {
	enum policy_stage	 stage;
	struct slice		 helo;		/* just said; or empty */
	const struct path	*sender;	/* of MAIL; or NULL */
	uint64_t		 size_bytes;
};
bool permit_early(struct session *session, const struct permit_early *early,
    answered_fn *fn, struct session_answer *out);

/* May this user be logged in?  false: *out_words are of the rule that bars the
 * user. */
bool permit_user(struct session *session, struct slice user,
    const char **out_words);
/* May the user who logged in use this sender?  false: out has the refusal, or a
 * question was asked, as permit_rcpt. */
bool permit_sender(struct session *session, const struct path *sender,
    answered_fn *fn, struct session_answer *out);

/* Is the client a stranger: nobody logged in, it is not on loopback, and no
 * rule about clients lets it relay?  A rule that would have to ask first does
 * not count. */
bool permit_is_stranger(struct session *session);

/* To be called before a message begins and after it has ended: append what was
 * counted for it to session->holds, "NUMBER ...", which the rate helper
 * releases, and what all machines share to session->tells. */
void permit_end_message(struct session *session);
/* The session ends, or is another client's from now on: forget all facts, and
 * release what was counted for the session as well. */
void permit_end_client(struct session *session);

/* Append "share keep NAME COUNT KEY\n" for each place that the session holds of
 * a limit that all machines share: to be told every SHARE_KEEP_EVERY_MS. */
void permit_keep(const struct session *session, struct str *out);

/* Keep an answer where permit_rcpt, called again, finds it. */
void permit_learn(struct session *session, const struct ask *ask);

#endif

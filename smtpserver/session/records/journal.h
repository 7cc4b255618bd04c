/* journal.h - what a session writes to the journal
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_JOURNAL_H
#define ZM_SMTPSERVER_SESSION_JOURNAL_H

#include "smtpserver/session/session.h"

/* A command, or the end of a message, was answered: note how long it took. */
void note_answered(const struct session *session);
/* session.open and session.close. */
void note_open(const struct session *session);
void note_close(const struct session *session);

/* tls.open; tls.failed and why; tls.injected: bytes in the clear came after
 * STARTTLS. */
void note_tls_open(const struct session *session);
void note_tls_failed(const struct session *session, const char *reason);
void note_tls_injected(const struct session *session, size_t bytes);

/* auth.ok; auth.failed and why. */
void note_auth_ok(const struct session *session);
void note_auth_failed(const struct session *session, const char *reason);

/* command.refused: line was answered with 4xx or 5xx. */
void note_command_refused(const struct session *session, struct slice line,
    const struct session_answer *answer);

/* client.early: it sent something before the greeting. */
void note_early(const struct session *session);
/* A shadow rule fits this recipient. */
void note_shadow(const struct session *session, const struct conf_rule *rule,
    const struct path *rcpt);
/* A rule could not be tried; or (NULL) a helper could not answer. */
void note_policy_trouble(const struct session *session,
    const struct conf_rule *rule, const struct err *err);
/* A policy service wants this text in the journal. */
void note_policy_warning(const struct session *session, const char *text);
void note_helper_trouble(const struct session *session,
    const struct ask *ask);
/* The message id, or a sender at RCPT (id NULL), could not be
 * authenticated. */
void note_origin_failed(const struct session *session, const char *id,
    struct slice reason);
/* spool.trouble: call failed on its draft. */
void note_spool_trouble(const struct draft *draft, const char *call,
    const struct err *err);
/* copy.missing: the message has no copy on another machine. */
void note_copy_missing(const struct session *session, const char *id,
    struct slice reason);
/* message.accepted, and message.frozen if a rule said so.  The transaction
 * still exists. */
void note_message_accepted(const struct session *session);

/* message.waited: the client waited for the next hop's answer; with the
 * verdict. */
void note_message_waited(const struct session *session, const char *verdict,
    struct slice status, struct slice words);

/* message.refused: the end of data was answered with 4xx or 5xx. */
void note_message_discarded(const struct session *session);
void note_message_refused(const struct session *session,
    const struct session_answer *answer);

#endif

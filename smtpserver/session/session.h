/* session.h - one SMTP session, as steps over a stream
 *
 * worker/run.c moves it from step to step, and is the only file that assigns
 * ->step; reply.c writes replies.  Commands (command/) also use this struct:
 * they change helo and transaction and fill in an answer.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_SESSION_SESSION_H
#define ZM_SMTPSERVER_SESSION_SESSION_H

#include "tls/link.h"
#include "smtpserver/transaction/answer.h"
#include "smtpserver/helper/ask.h"
#include "smtpserver/session/client.h"
#include "smtpserver/auth/failures.h"
#include "smtpserver/auth/login.h"
#include "smtpserver/policy/facts.h"
#include "smtpserver/session/service.h"
#include "smtpserver/transaction/transaction.h"

enum step {
#define STEP(symbol, name, next, text) STEP_##symbol,
#include "smtpserver/session/steps.h"
#undef STEP
	STEP_COUNT,
	STEP_WAIT = STEP_COUNT		/* not a step: no more to do now */
};

enum phase {			/* what RFC 5321 section 4.1.4 orders */
	PHASE_START = 1,	/* no HELO or EHLO yet */
	PHASE_READY = 2,	/* no transaction */
	PHASE_MAIL = 4,		/* a sender, no recipient */
	PHASE_RCPT = 8,		/* a sender and recipients */
	PHASE_CHUNKS = 16,	/* between BDATs */
	PHASE_ANY = 31
};

enum session_store {
	STORE_NOT_YET,		/* row S0 of doc/INTERNALS */
	STORE_DURABLE,		/* S1; a copy may be waited for */
	STORE_DONE,		/* S2, or D1 in freezer/ */
	STORE_FAILED
};

enum session_want {
	WANT_INPUT,		/* input (or room for output) */
	WANT_OUTPUT,		/* only room for output */
	WANT_ANSWER,		/* to its ask: session_answered */
	WANT_HOLD,		/* only time: input waits, too */
	WANT_STORE,		/* its draft made durable: session_durable; a
				 * question may be out meanwhile */
	WANT_END		/* to be freed */
};

enum {
	OUTPUT_BYTES_MAX = 65536,	/* if more is unsent, stop reading */
	IDLE_COMMANDS_MAX = 1000,	/* since the last accepted message */
	LINGER_FOR_MS = 2000
};

struct refusal {		/* an answer whose words are static */
	int		 code;		/* 0: none */
	const char	*status, *text;
};

struct chunk {			/* what follows a BDAT */
	uint64_t	 bytes, left_bytes;
	bool		 is_last;
	struct refusal	 refusal;	/* sent after it */
};

struct filter_state;

struct session {
	unsigned		 magic;
	struct service		*service;
	struct settings		*settings;
	struct stream		*stream;	/* the worker's */
	struct client		 client;
	const struct conf_listen *listen;	/* NULL: removed from the
						 * configuration */
	unsigned		 trust;		/* 1 << enum conf_trust_word */
	unsigned		 withheld;	/* 1 << enum ehlo_keyword */
	struct tls_info		*tls;	/* how it is encrypted; or NULL */
	char			 id[SPOOL_ID_BYTES];
	enum step		 step;
	enum session_want	 want;
	struct str		 helo;		/* empty: not said yet */
	struct str		 name;		/* as XCLIENT said; or empty */
	struct str		 user;		/* who logged in (or XCLIENT) */
	char			 mechanism[24];	/* of the login; "" */
	struct str		 forward;	/* XFORWARD, for the journal */
	bool			 is_esmtp;
	bool			 is_eof;
	bool			 is_blocked;	/* continues when its output
						 * is sent */
	bool			 is_over;	/* its last reply was made */
	enum session_store store;	/* of its message */
	struct transaction	*transaction;
	struct facts		 facts[FACT_SCOPES];
	struct str		 holds;	/* to be released: permit.h */
	struct str		 tells;	/* "KIND QUESTION\n" whose answers are
					 * not waited for */
	struct filter_state	*filter;	/* filter.h; NULL: no milters */
	struct chunk		 chunk;
	bool			 is_out_of_step;	/* take no command: the
						 * input may be content */
	struct login		*login;	/* an AUTH under way; or NULL */
	void			*login_place;	/* command/auth.c's */
	struct ask		*ask;	/* what a command waits for; or NULL */
	unsigned		 transcript_left;	/* lines; 0: none */
	bool			 is_after_auth;
	unsigned		 errors, commands, idle_commands, messages;
	unsigned		 refusals;
	int64_t			 asked_at_us;	/* when the command came */
	int64_t			 greet_at_ms;	/* 0: not decided yet */
	int64_t			 hold_until_ms;		/* STEP_HOLD */
	enum step		 hold_next;
	int64_t			 deadline_at_ms;	/* of this step */
	int64_t			 end_at_ms;		/* of the session */
	const char		*end_reason;
};

/* The listener of a client on stdin (standalone.h). */
#define SESSION_ON_STDIN "stdin"
bool session_is_on_stdin(const struct session *session);

/* Make a session for a client; it sends nothing before session_run. */
struct session *session_new(struct service *service, struct stream *stream,
    const struct client *client);
/* Free it; an unfinished transaction is dropped; notes session.close. */
void session_free(struct session **session);

/* The session is another client's from now on, and treated as the configuration
 * says about that one; a peer that may send XCLIENT may send it again. */
void session_set_client(struct session *session,
    const struct client *client);

/* Ask a helper (helper/ask.h).  To be called by a command handler, which
 * then returns without filling its answer; fn fills it.  for_ms 0:
 * ASK_FOR_MS. */
void session_ask(struct session *session, const char *kind,
    struct slice question, int64_t for_ms, answered_fn *fn);

/* There are many sessions: wait a shorter time for the next command. */
void session_hurry(struct session *session);

/* Is it LMTP (RFC 2033): LHLO, and a reply for each recipient at the end? */
bool session_is_lmtp(const struct session *session);
enum phase session_phase(const struct session *session);

#endif

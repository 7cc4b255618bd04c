/* login.h - one AUTH exchange: what to say next
 *
 * Pure: a response or a helper's answer goes in, what to do next comes out.
 * session/auth.c does it.
 *
 * 	login_new -> login_begin (or login_take with the initial response)
 * 	  LOGIN_CHALLENGE  say it after 334; login_take with the response
 * 	  LOGIN_ASK        ask a helper of login->kind; login_answered
 * 	  anything else    over
 *
 * Questions to helpers of kind "auth" (auth/check.h), each word base64:
 * 	plain USER PASSWORD ADDRESS		ok USER | no
 * 	scram-first USER			SALT ROUNDS (in digits)
 * 	scram-final USER MESSAGE PROOF		ok SIGNATURE [USER] | no
 * to those of kind "dovecot" (auth/dovecot.h):
 * 	start MECHANISM SERVER CLIENT tls|clear	RESPONSE|-
 * 	go-on TOKEN RESPONSE			ok USER | no [USER] | later |
 * 						more TOKEN CHALLENGE
 * 	give-up TOKEN				(nobody waits for an answer)
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_AUTH_LOGIN_H
#define ZM_SMTPSERVER_AUTH_LOGIN_H

#include "grammar/smtp/scram.h"
#include "smtpserver/helper/ask.h"

enum {
	LOGIN_USER_BYTES_MAX = 255,
	LOGIN_PASSWORD_BYTES_MAX = 1024,
	LOGIN_ROUNDS_MAX = 16		/* challenges of one exchange */
};

enum login_next {
	LOGIN_CHALLENGE,	/* out: what to say, not yet base64 */
	LOGIN_ASK,		/* out: the question */
	LOGIN_GOOD,		/* login->user is who it is */
	LOGIN_BAD,		/* out: why, for the journal */
	LOGIN_MALFORMED,	/* out: words for the client */
	LOGIN_TROUBLE		/* out: why, for the journal */
};

/* What a mechanism needs to know of the connection; borrowed. */
struct login_place {
	const char	*server, *client;	/* endpoints */
	bool		 is_encrypted;
	bool		 offers_binding;	/* a -PLUS was announced */
	struct slice	 exporter, end_point;	/* channel bindings */
};

struct login {
	const struct login_row	*row;
	const char		*kind;		/* of helpers, static */
	const struct login_place *place;
	char			 mechanism[24];
	unsigned		 round;
	bool			 is_begun, has_initial;	/* session/auth.c's */
	bool			 is_given_up;		/* session/auth.c's */
	/* The challenge is what was wrong (RFC 7628 section 3.2.2): however
	 * the client takes it, this has failed. */
	bool			 is_refused;
	struct str		 initial;	/* base64 after AUTH */
	struct str		 user;		/* as claimed, then as found */
	/* SCRAM */
	struct str		 gs2, first, server_first, binding;
	/* Dovecot */
	struct str		 token;
};

/* Begin an exchange by this mechanism, with a back end that has passwords
 * (is_relay false), or one that does everything (true).  offers: the names that
 * are offered, with blanks between.  NULL: not offered. */
struct login *login_new(struct slice mechanism, struct slice offers,
    bool is_relay, const struct login_place *place);
/* Wipe its secrets and free it. */
void login_free(struct login **login);

/* LOGIN_MALFORMED with these words. */
enum login_next login_say_malformed(struct str *out, const char *words);

/* Begin without an initial response. */
enum login_next login_begin(struct login *login, struct str *out);
/* Take the client's response (decoded). */
enum login_next login_take(struct login *login, struct slice response,
    struct str *out);
/* The client is gone, or gave up.  Appends what to tell a helper of its kind;
 * nothing if none waits for more. */
void login_give_up(const struct login *login, struct str *out);
/* Take the helper's answer. */
enum login_next login_answered(struct login *login, enum ask_state state,
    struct slice answer, struct str *out);

#endif

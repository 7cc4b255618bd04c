/* terms.h - what a sender asked for besides the addresses
 *
 * The envelope ("terms ...") and the control file ("T ...") have a line with
 * the same words: flags and key=value pairs separated by blanks, each at most
 * once; there is no line if nothing was asked.  The server sets terms, the
 * router copies them, scheduler and agents obey them.
 *
 *	utf8			SMTPUTF8 (RFC 6531)
 *	requiretls		REQUIRETLS (RFC 8689)
 *	tls-optional		the header says TLS-Required: No (RFC 8689
 *				section 5)
 *	priority=N		MT-PRIORITY, -9 to 9 (RFC 6710)
 *	hold-until=SECONDS	FUTURERELEASE as a wall moment (RFC 4865)
 *	by=SECONDS,R|N[,T]	DELIVERBY as a wall moment (RFC 2852)
 *	auth=XTEXT		AUTH= of MAIL (RFC 4954 section 5)
 *	zone=NAME		the sending zone that a rule chose
 *	never-report		nobody is sent a report about it (its DKIM2
 *				chain did not hold)
 *	tried=N			another mailer tried it N times before, and its
 *				retries go on from there (zmailer import)
 *	rerouted		its retries were exhausted once already
 *	steered=N,XTEXT,XTEXT	the site's script chose another way N times;
 *				where the last leads (empty: by the routes),
 *				and the script's words
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_TERMS_H
#define ZM_MAIL_TERMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum {
	TERMS_PRIORITY_MAX = 9,		/* RFC 6710 section 4.1 */
	TERMS_WORD_BYTES_MAX = 512,	/* an auth or zone value */
	TERMS_STEERED_MAX = 99,
	TERMS_TRIED_MAX = UINT16_MAX,
	TERMS_STEERED_BYTES_MAX = 2048	/* target and words, as xtext */
};

struct terms {
	bool		is_utf8;
	bool		needs_tls;
	bool		is_tls_optional; /* policies of the recipient's
					 * domain are not enforced */
	bool		is_rerouted;	/* by on-exhaust reroute */
	bool		is_queue_only;	/* no try on arrival */
	bool		is_verp;	/* a sender of its own for each
					 * recipient */
	bool		is_never_reported; /* whatever NOTIFY says */
	int		priority;	/* 0: none asked */
	int64_t		hold_until_s;	/* wall; 0: at once */
	int64_t		by_s;		/* wall; 0: no limit */
	bool		by_returns;	/* mode R: return when late; else N:
					 * notify */
	bool		by_traces;	/* "T": tell of relays */
	struct slice	auth;		/* empty: not given */
	struct slice	zone;
	unsigned	tried;		/* by another mailer; 0: not known */
	unsigned	steered;	/* by before_attempt; 0: never */
	struct slice	via;		/* xtext of a target, as in a route
					 * statement; empty: by the routes */
	struct slice	via_words;	/* xtext: who said so, and why */
};

/* Was anything asked for? */
bool terms_any(const struct terms *terms);

/* What the sender asked about TLS, for programs: "required" or "optional";
 * NULL: nothing. */
const char *terms_tls(const struct terms *terms);
/* The same for people; NULL: not one of the two. */
const char *terms_tls_text(struct slice tls);

/* Append the words, without keyword and end of line; nothing if !terms_any.
 * returns 0; -1: a value cannot be written in a line. */
int terms_add(struct str *out, const struct terms *terms, struct err *err);

/* Read what terms_add writes.  Slices borrow from words.
 * returns 0; -1 (err: "unknown word 'x'"). */
int terms_parse(struct slice words, struct terms *out, struct err *err);

#endif

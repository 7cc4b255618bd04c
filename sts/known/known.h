/* known.h - what is known of the policies of domains, and how it is had
 *
 * A domain is asked for; its policy is answered from memory, or looked up
 * first, by a process of its own (fetch/fetch.h) which knows nothing else.
 * Equal questions wait for one look-up.
 *
 * Rules
 *   a policy counts until its max_age is over, whatever look-ups find, but
 *   for a newer one (RFC 8461 sections 5.1 and 3.1);
 *   the record is looked at when a question comes and the last look was
 *   KNOWN_AGAIN_MS ago; the answer waits for that only when nothing is known;
 *   the file is had when the id is another, and when half of max_age or a
 *   day is over, so that who can block one look-up cannot end a policy;
 *   `mode: none` is forgotten with the policy it replaces (section 2.3).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_STS_KNOWN_KNOWN_H
#define ZM_STS_KNOWN_KNOWN_H

#include "daemon/skeleton.h"
#include "grammar/sts.h"
#include "tls/client.h"

enum {
	KNOWN_DOMAINS_MAX = 10000,
	KNOWN_LOOKS_MAX = 16,		/* at a time */
	KNOWN_AGAIN_MS = 300000,	/* the next look, good or bad */
	KNOWN_FRESH_S = 86400,		/* the file is had again after that */
	KNOWN_SWEEP_MS = 600000,	/* who is due without a question */
	KNOWN_IDLE_S = 30 * 86400	/* not asked for that long: not had
					 * again unasked */
};

struct known;
struct known_wait;

/* The answer: words without line end ("policy ...", "none", "trouble ..."),
 * gone after the call. */
typedef void known_answer_fn(void *context, struct slice answer);

/* Read what is kept below shelf (taken; -1: nothing is kept).  tls: for web
 * servers; stays the caller's. */
struct known *known_new(struct process *process, int shelf,
    struct tls_client *tls);
/* Nobody waits any more.  *known is not NULL; becomes so. */
void known_free(struct known **known);

/* Ask for a domain (as sts_domain writes it).
 * is_refresh  look it up now, have the file, and answer then
 * returns  NULL: fn was called; else what waits, for known_forget */
struct known_wait *known_ask(struct known *known, const char *domain,
    bool is_refresh, known_answer_fn *fn, void *context);
/* Who asked is gone. */
void known_forget(struct known_wait **wait);

/* Append all policies: "DOMAIN MODE LEFT ID MX...", a line each. */
void known_list(struct known *known, struct str *out);

#endif

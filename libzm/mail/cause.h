/* cause.h - what keeps a recipient from being tried now, a row each
 *
 * CAUSE(NAME, code, text, help)
 *   code  in the operation `why` of doc/protocol/control.md
 *   text  for people
 *   help  what would help: verbs of zmailer, where ID and DEST stand for the
 *         message and its destination; NULL: only time
 *
 * A new row needs a row in tests/unit/scheduler/test_cause.c, which makes it
 * happen, and its code in control.md.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_CAUSE_H
#define ZM_MAIL_CAUSE_H

#include "base/str.h"

#define CAUSE_ROWS(CAUSE) \
	CAUSE(DELETED, "deleted", "deleted: it goes to trash/", \
	    "zmailer undelete ID") \
	CAUSE(HELD, "held", "held by an operator", "zmailer release ID") \
	CAUSE(FROZEN, "frozen", "its retries are exhausted, or an operator " \
	    "froze it", "zmailer thaw ID, zmailer bounce ID") \
	CAUSE(FAILED, "failed", "it failed, and its sender was not told " \
	    "yet", "zmailer retry --failed ID, zmailer reroute ID, " \
	    "zmailer bounce ID") \
	CAUSE(ACTIVE, "active", "at a transport agent now", NULL) \
	CAUSE(MOVING, "moving", "it was offered to another node of the " \
	    "cluster", "zmailer move --undo ID") \
	CAUSE(REREAD, "reread", "it was changed, and is read again when no " \
	    "agent has it any more", NULL) \
	CAUSE(FUTURE, "future", "the sender asked for delivery later", \
	    "zmailer schedule --next +0s ID") \
	CAUSE(SCHEDULED, "scheduled", "somebody said when it is tried", \
	    "zmailer retry ID") \
	CAUSE(QUEUE_ONLY, "queue-only", "its destination gets mail when it " \
	    "asks for it", "zmailer retry ID") \
	CAUSE(ASKED, "asked", "the site's script (before_attempt) is asked " \
	    "about its next try", NULL) \
	CAUSE(TIMER, "timer", "it waits for its own next try", \
	    "zmailer retry ID") \
	CAUSE(DRAIN, "drain", "the whole queue is drained: no deliveries " \
	    "begin", "zmailer undrain") \
	CAUSE(LEASE, "lease", "the cluster's database does not say that " \
	    "this node may deliver", "zmailer cluster status") \
	CAUSE(SUSPENDED, "suspended", "an operator suspended the " \
	    "destination", "zmailer resume DEST") \
	CAUSE(ZONE_SUSPENDED, "zone-suspended", "an operator suspended its " \
	    "sending zone", "zmailer zones, zmailer resume zone/NAME") \
	CAUSE(WARM_UP, "warm-up", "its sending zone has sent what it may " \
	    "today", "zone ... { overflow ZONE }") \
	CAUSE(RULE, "rule", "a rule (retry on ...) suspended the " \
	    "destination", "zmailer retry ID") \
	CAUSE(HOST_DOWN, "host-down", "nobody at the destination could be " \
	    "served", "zmailer retry ID") \
	CAUSE(RATE, "rate", "the destination's rate is used up", \
	    "schedule ... { rate N/SPAN }") \
	CAUSE(PROVIDER, "provider", "the hosts that take its mail have all " \
	    "the sessions that they may", "schedule ... { provider N }") \
	CAUSE(LIMIT, "limit", "the destination has all the agents that it " \
	    "may", "zmailer pin --limit N DEST, schedule ... { parallel N }") \
	CAUSE(FILES, "files", "all the files that may be open at a time " \
	    "are at agents", "a higher limit of open files (RLIMIT_NOFILE)") \
	CAUSE(START, "start", "its transport agent does not start", \
	    "zmailer log, schedule ... { command ... }") \
	CAUSE(ZONE, "zone", "its sending zone has all the agents that it " \
	    "may", "zone ... { agents N }") \
	CAUSE(AGENTS, "agents", "all agents that its clause, its channel or " \
	    "the system may have are busy", \
	    "schedule ... { agents N }, limit agents N") \
	CAUSE(LINE, "line", "nothing: others are before it", NULL)

enum cause {
#define CAUSE(name, code, text, help) CAUSE_##name,
	CAUSE_ROWS(CAUSE)
#undef CAUSE
	CAUSE_COUNT
};

struct cause_row {
	const char	*code, *text, *help;
};
extern const struct cause_row cause_rows[CAUSE_COUNT];

/* The row of a code; NULL: there is none (the scheduler is newer). */
const struct cause_row *cause_find(struct slice code);
/* Append what would help, with the message (or messages) and the destination
 * filled in, escaped; nothing if only time helps. */
void cause_add_help(const struct cause_row *row, struct slice mail,
    struct slice channel, struct slice host, struct str *out);

#endif

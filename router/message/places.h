/* places.h - where one message goes: each place once
 *
 * The list grows while recipients are routed; two recipients that lead to the
 * same place make one.  Up to PLACES_HELD_MAX places are held (and looked at:
 * journal, tests).  When more come and the plan has a sink, all of them go
 * into the plan and are gone from here: only their fingerprints stay.  Where
 * there is no plan at all (a question), those above are only counted.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_PLACES_H
#define ZM_ROUTER_PLACES_H

#include "mail/envelope.h"
#include "router/message/memo.h"
#include "router/message/plan.h"
#include "router/message/fingerprints.h"

enum { PLACES_HELD_MAX = 4096 };

struct places {
	struct arena	*arena;
	struct plan	*plan;		/* NULL: a question, no message */
	struct place	*list;		/* unless is_streaming */
	size_t		 held;		/* of count, in list */
	size_t		 count;		/* all of them */
	size_t		 capacity;
	bool		 is_streaming;
	struct fingerprints known;	/* same numbers as list */
	struct str	 key;
	struct memo	 expanded;	/* alias names that were opened */
	struct memo	 sender_keys;
	struct plan_sender **senders;	/* same numbers; 0: as it came */
	size_t		 sender_room;
	bool		 is_check;	/* lists need not be opened: one place
					 * is enough (router/ask/check.h) */
	bool		 is_from_null;	/* then all senders are 0 */
	/* What a script (router/message/hooks.h) is told, and what it did. */
	const struct envelope *envelope;	/* NULL: a question */
	struct place_asker {		/* whose question */
		struct slice	client, user;
	}		 asker;
	struct slice	 deferral;	/* it said: not now, and why */
	bool		 is_released;	/* by a person: not frozen again */
	bool		 is_frozen;	/* a person shall look */
	bool		 met_death;	/* its process died of this message */
	struct {
		size_t		 count, expanded;
	}		 mark;		/* the plan has one of its own */
	char		 id[SPOOL_ID_BYTES];	/* for the journal, or "" */
	struct str	*notes;		/* what was asked and answered, for
					 * people (explain.h); NULL: nobody
					 * wants to know */
	struct {
		unsigned from, header, to;
	}		 generic;	/* sender of the last one (rewrite.h) */
	struct slice	 user;		/* who submitted it, or logged in */
	bool		*copies;	/* of conf->copies: a recipient asked
					 * for it; NULL: none did */
	bool		 was_redirected;	/* redirect is known */
	unsigned	 redirect;	/* sender of what is sent on */
	unsigned	 bad_lines;	/* of list files, in the journal */
	/* When a routing function returned -1: what the file in deferred/ is
	 * to be called, [a-z0-9-]+. */
	char		 trouble[64];
};

/* The arena may be reset between two messages, with places_reset behind it. */
void places_init(struct places *places, struct arena *arena);
void places_release(struct places *places);
/* A new message.  expected: number of recipients; plan: NULL or what takes
 * places over; sender: on the wire, empty for null. */
void places_reset(struct places *places, size_t expected, struct plan *plan,
    struct slice sender);

/* Give each recipient a sender of its own, "from+user=domain@host" (VERP),
 * behind places_reset.  delimiters: the configuration's. */
void places_verp(struct places *places, const char *delimiters);

/* Number of a sender, added when it is new (its slices are kept). */
unsigned places_sender(struct places *places,
    const struct plan_sender *sender);

/* Add a place, its slices are copied (orcpt and to are kept).  False when it
 * is there already. */
bool places_add(struct places *places, const struct place *place);

/* Remember how many places and expanded names there are / go back to it. */
void places_mark(struct places *places);
void places_back(struct places *places);

/* Put all that are still held into the plan, grouped by sender. */
void places_finish(struct places *places);

/* "alias aliases:12", "default". */
void place_rule_add(struct str *out, const struct place_rule *rule);

#endif

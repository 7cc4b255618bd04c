/* places.h - where one message goes: each place once
 *
 * A place is what ZMailer calls a quad: channel, host, user, privilege.  The
 * list grows while recipients are routed; two recipients that lead to the
 * same place make one.  Everything lives in the message's arena.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_PLACES_H
#define ZM_ROUTER_PLACES_H

#include "base/err.h"
#include "router/memo.h"

enum { PLACE_UID_NOBODY = -2 };

/* The rule that led there, for the journal and for `zmailer route`. */
struct place_rule {
	const char	*kind;	/* "domain" "alias" "route" "default" ... */
	const char	*where;	/* file or table; NULL: built in */
	unsigned	 line;	/* 0: none */
};

struct place {
	struct slice	  channel, host, user;
	int64_t		  uid;
	unsigned	  notify;	/* enum dsn_notify bits */
	struct slice	  orcpt;	/* xtext, or empty */
	unsigned	  sender;	/* index into senders; 0: as it came */
	struct slice	  to;		/* the recipient as it came */
	struct place_rule rule;
};

struct places {
	struct arena	*arena;
	struct place	*list;
	size_t		 count, capacity;
	struct memo	 known;		/* place keys; same numbers as list */
	struct memo	 expanded;	/* alias names that were opened */
	struct memo	 senders;	/* number 0 is the empty key: as it
					 * came; others: owner addresses */
	bool		 is_check;	/* lists need not be opened: one place
					 * is enough (router/check.h) */
	/* When a routing function returned -1: what the file in deferred/ is
	 * to be called, [a-z0-9-]+. */
	char		 trouble[64];
};

/* expected: number of recipients. */
void places_init(struct places *places, struct arena *arena, size_t expected);

/* Add a place, its slices are copied (orcpt and to are kept).  False when it
 * is there already. */
bool places_add(struct places *places, const struct place *place);

/* Go back to an earlier count of places and of expanded names. */
void places_truncate(struct places *places, size_t count, size_t expanded);

/* "alias aliases:12", "default". */
void place_rule_add(struct str *out, const struct place_rule *rule);

#endif

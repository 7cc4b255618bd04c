/* selector.h - which messages are meant: one language for every verb
 *
 *	from:bob@example.org to:@gmail.com age>1h
 *	state=held or (class=quota and not dest:smtp/slow.example)
 *	361g9eyp5bafph4
 *
 * A selector is tests joined by `and` (which may be left out), `or`, `not`
 * and brackets; `not` binds closest, then `and`, then `or`.  A bare word is
 * a spool id or the beginning of one; `all` is everything.  An empty text is
 * an error, so that an unset shell variable does not delete a queue.
 *
 * Tests: KEY:GLOB and KEY=GLOB are the same (without case; * and ?), != is
 * their opposite; KEY>N, >=, <, <= compare.  Quotes keep blanks.  The keys
 * are the rows of selector_keys.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_SELECTOR_H
#define ZM_GRAMMAR_SELECTOR_H

#include "base/err.h"
#include "base/str.h"

enum {
	SELECTOR_BYTES_MAX = 8192,
	SELECTOR_DEPTH_MAX = 32,	/* brackets and nots in each other */
	SELECTOR_TESTS_MAX = 512
};

/* One recipient of one message, as far as it is known.  An empty slice or a
 * negative number is unknown; of those, only != is true. */
struct selector_subject {
	struct slice	id;		/* spool id */
	struct slice	from, to;	/* addresses; "" is the null sender
					 * when from.p is not NULL */
	struct slice	orcpt, given;	/* what `to` was before it was routed:
					 * "rfc822;xtext", xtext; `to` in a
					 * selector means each of the three */
	struct slice	routed;		/* what `to` became; or empty */
	struct slice	host;		/* the domain of `to` and `routed`
					 * where they have none; or empty */
	struct slice	dest;		/* "smtp/gmail.com" */
	struct slice	state;		/* "held" "waiting" "frozen" ... */
	struct slice	dest_state;	/* "suspended" "throttled" ... */
	struct slice	area;		/* "queue" "deferred" "freezer" ... */
	struct slice	class;		/* of the last failure: "quota" */
	struct slice	zone, user, source, msgid;
	struct slice	why;		/* last words, cause, keyword */
	int64_t		age_s, size_bytes, tries, priority;
};

struct selector;

enum selector_key_row {		/* rows of selector_keys */
	SELECTOR_KEY_ID, SELECTOR_KEY_FROM, SELECTOR_KEY_TO,
	SELECTOR_KEY_DEST, SELECTOR_KEY_DEST_STATE, SELECTOR_KEY_STATE,
	SELECTOR_KEY_AREA, SELECTOR_KEY_CLASS, SELECTOR_KEY_ZONE,
	SELECTOR_KEY_USER, SELECTOR_KEY_SOURCE, SELECTOR_KEY_MSGID,
	SELECTOR_KEY_WHY,
	SELECTOR_KEY_AGE, SELECTOR_KEY_SIZE, SELECTOR_KEY_TRIES,
	SELECTOR_KEY_PRIORITY, SELECTOR_KEY_COUNT
};

/* The names of the keys and what they mean, for help and completion; the last
 * row has name NULL. */
struct selector_key {
	const char	*name;
	enum { SELECTOR_TEXT, SELECTOR_ADDRESS, SELECTOR_SPAN,
		SELECTOR_BYTES, SELECTOR_NUMBER } type;
	const char	*text;
};
extern const struct selector_key selector_keys[];

/* Parse a selector into the arena.  returns 0; -1: err says what is wrong, and
 * *out_column where in text (from 0). */
int selector_parse(struct arena *arena, struct slice text,
    struct selector **out, size_t *out_column, struct err *err);

/* Does the selector select this recipient?  The time is linear in the
 * selector's length. */
bool selector_match(const struct selector *selector,
    const struct selector_subject *subject);

/* Which keys do its tests name?  1 << row of selector_keys for each (a bare id
 * is SELECTOR_KEY_ID).  Callers need not fill in the others. */
uint32_t selector_keys_used(const struct selector *selector);

/* The first pattern for this key that matches none of the words; empty: every
 * pattern matches one. */
struct slice selector_misfit(const struct selector *selector,
    enum selector_key_row key, const char *const *words, size_t count);

/* Is it just `all`? */
bool selector_is_all(const struct selector *selector);

/* Append it as text, with every `and` written out; the text parses to the same
 * meaning. */
void selector_add(struct str *out, const struct selector *selector);

#endif

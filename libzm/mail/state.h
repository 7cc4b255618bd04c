/* state.h - the states of mail and of destinations, a row each
 *
 * MAIL_STATE(NAME, name, text)
 *   name  its name in verbs, JSON and selectors (state=NAME)
 *   text  for people
 *
 * This is the only list: the scheduler, the verbs that read files and the
 * manual take their words from here; doc/GLOSSARY.md and zmailer-selector(7)
 * have each of them (a test checks).  Outcomes are verdicts (verdict.h).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_STATE_H
#define ZM_MAIL_STATE_H

#include "base/str.h"

#define MAIL_STATE_ROWS(MAIL_STATE) \
	MAIL_STATE(ARRIVING, "arriving", "being written, nobody was promised " \
	    "anything yet") \
	MAIL_STATE(ROUTING, "routing", "accepted; the router has it") \
	MAIL_STATE(READY, "ready", "tried as soon as its destination takes " \
	    "it") \
	MAIL_STATE(ACTIVE, "active", "at a transport agent now") \
	MAIL_STATE(WAITING, "waiting", "waits for its own next try") \
	MAIL_STATE(ASKED, "asked", "the site's script is asked before its " \
	    "next try") \
	MAIL_STATE(DOWN, "down", "its destination is in trouble; it waits " \
	    "with all others for it") \
	MAIL_STATE(SUSPENDED, "suspended", "an operator suspended its " \
	    "destination") \
	MAIL_STATE(HELD, "held", "an operator holds it") \
	MAIL_STATE(FROZEN, "frozen", "a person is to look: its retries are " \
	    "exhausted, an operator or a rule froze it") \
	MAIL_STATE(FAILED, "failed", "it failed, and its sender was not told " \
	    "yet: keep failed") \
	MAIL_STATE(DEFERRED, "deferred", "the router had trouble with it") \
	MAIL_STATE(POSTMAN, "postman", "the router cannot read it; for the " \
	    "postmaster") \
	MAIL_STATE(TRASH, "trash", "deleted, kept for undelete") \
	MAIL_STATE(DELETED, "deleted", "deleted; it goes to trash/") \
	MAIL_STATE(DONE, "done", "every outcome is known")

/* The same for a destination, a provider and a zone, of which the first that
 * fits counts: what it does, and the mail that waits for it. */
#define DESTINATION_STATE_ROWS(DESTINATION_STATE) \
	DESTINATION_STATE(SUSPENDED, "suspended", "an operator or a rule " \
	    "suspended it") \
	DESTINATION_STATE(DOWN, "down", "it is in trouble; its mail waits " \
	    "for it together") \
	DESTINATION_STATE(THROTTLED, "throttled", "it said that we are too " \
	    "many or too fast, and gets less for a while") \
	DESTINATION_STATE(ACTIVE, "active", "mail is at transport agents " \
	    "now") \
	DESTINATION_STATE(READY, "ready", "mail for it is tried as soon as " \
	    "there is room") \
	DESTINATION_STATE(WAITING, "waiting", "all its mail waits for its " \
	    "own next try") \
	DESTINATION_STATE(HELD, "held", "an operator holds, or a person is " \
	    "to look at, all its mail") \
	DESTINATION_STATE(IDLE, "idle", "it has no mail now")

enum mail_state {
#define MAIL_STATE(name, text, help) MAIL_STATE_##name,
	MAIL_STATE_ROWS(MAIL_STATE)
#undef MAIL_STATE
	MAIL_STATE_COUNT
};

struct mail_state_row {
	const char	*name, *text;
};
extern const struct mail_state_row mail_states[MAIL_STATE_COUNT];
enum destination_state {
#define DESTINATION_STATE(name, text, help) DESTINATION_STATE_##name,
	DESTINATION_STATE_ROWS(DESTINATION_STATE)
#undef DESTINATION_STATE
	DESTINATION_STATE_COUNT
};
extern const struct mail_state_row
    destination_states[DESTINATION_STATE_COUNT];

/* What is known about one. */
struct destination_look {
	bool	is_suspended, is_down, is_throttled;
	int64_t	ready, waiting, active, held;	/* recipients; held: frozen
						 * ones, too */
};
enum destination_state destination_state_of(
    const struct destination_look *look);
/* The state of that name; DESTINATION_STATE_COUNT: there is none. */
enum destination_state destination_state_parse(struct slice name);

#define DESTINATION_STATE_WORD(row) \
	(destination_states[DESTINATION_STATE_##row].name)
#define MAIL_STATE_WORD(row) (mail_states[MAIL_STATE_##row].name)

#endif

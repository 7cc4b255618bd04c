/* state.h - in which states mail can be, for people: a row each
 *
 * MAIL_STATE(NAME, name, text)
 *   name  what verbs, JSON and selectors (state=NAME) call it
 *   text  for people
 *
 * The one list: the scheduler, the verbs that read files and the manual take
 * their words from here; doc/GLOSSARY.md and zmailer-selector(7) have each
 * (a test looks).  Outcomes are verdicts, with the words of verdict.h.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_STATE_H
#define ZM_MAIL_STATE_H

#define MAIL_STATE_ROWS(MAIL_STATE) \
	MAIL_STATE(ARRIVING, "arriving", "being written, nobody was promised " \
	    "anything yet") \
	MAIL_STATE(ROUTING, "routing", "accepted; the router has it") \
	MAIL_STATE(READY, "ready", "tried as soon as its destination takes " \
	    "it") \
	MAIL_STATE(ACTIVE, "active", "at a transport agent now") \
	MAIL_STATE(WAITING, "waiting", "waits for its own next try") \
	MAIL_STATE(DOWN, "down", "its destination is in trouble; it waits " \
	    "with all others for it") \
	MAIL_STATE(SUSPENDED, "suspended", "an operator suspended its " \
	    "destination") \
	MAIL_STATE(HELD, "held", "an operator holds it") \
	MAIL_STATE(FROZEN, "frozen", "a person is to look: its retries are " \
	    "exhausted, an operator or a rule froze it") \
	MAIL_STATE(DEFERRED, "deferred", "the router had trouble with it") \
	MAIL_STATE(POSTMAN, "postman", "the router cannot read it; for the " \
	    "postmaster") \
	MAIL_STATE(TRASH, "trash", "deleted, kept for undelete") \
	MAIL_STATE(DELETED, "deleted", "deleted; it goes to trash/") \
	MAIL_STATE(DONE, "done", "every outcome is known")

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
#define MAIL_STATE_WORD(row) (mail_states[MAIL_STATE_##row].name)

#endif

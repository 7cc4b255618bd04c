/* whynot.h - the smallest change that would have altered a refusal
 *
 * A mail, as a line of the record (smtpserver/session/records/record.h), is
 * decided under the configuration in force; then changes of one statement are
 * made to a copy of it in memory, the smallest first, and the mail is decided
 * again under each.  Only changes that were seen to work are shown.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_ZMAILER_WHYNOT_H
#define ZM_TOOLS_ZMAILER_WHYNOT_H

#include "conf/conf.h"
#include "conf/edit.h"

enum { WHYNOT_FILES_MAX = 201 };

struct whynot_mail {		/* what is decided; texts in the arena */
	const char	*t, *client, *listener, *session, *helo, *from, *to,
			*user, *mech, *facts;
	uint64_t	 size_bytes;
	bool		 is_esmtp, is_encrypted;
	const char	*line;		/* of the record, unchanged; or NULL */
};

struct said {			/* by smtpserver and the router */
	bool		 is_good;	/* accepted, and goes somewhere */
	int64_t		 code;
	const char	*words;		/* "550 5.7.1 listed" */
	const char	*by, *rule, *says, *need;	/* "": none */
};

struct whynot {
	struct arena	*arena;
	const struct conf *conf;	/* in force */
	struct conf_draft files[WHYNOT_FILES_MAX];
	size_t		 file_count;
	struct whynot_mail	 mail;
	struct said	 said;		/* as it is */
	bool		 is_json, asks_dns;
	unsigned	 told;
};

/* Find the mail of a session's or message's id in the record and the journal.
 * 0; -1 with err: there is none that was refused or set aside. */
int whynot_find(struct whynot *whynot, const char *id, struct err *err);

/* Write these files as a snapshot that only we can read, and call ask() with
 * its path.  0; -1 with err: they are not a configuration, or ask() returned
 * -1. */
typedef int whynot_under_fn(void *context, const char *path, struct err *err);
int whynot_under(struct whynot *whynot, const struct conf_draft *files,
    whynot_under_fn *ask, void *context, struct err *err);

/* Decide a mail with these files instead of those in force; if more is not
 * NULL, then a second one, with the same counters.  0; -1 with err: the files
 * are not a configuration, or no program decides. */
int whynot_decide(struct whynot *whynot, const struct conf_draft *files,
    const struct whynot_mail *mail, struct said *out,
    const struct whynot_mail *more, struct said *out_more, struct err *err);

/* Try the changes; show the first two that work. */
void whynot_try(struct whynot *whynot);

/* For a message that waits in the queue: show what keeps it, and which change
 * would have let it go now or earlier, as the planner says under it.
 * returns an exit status; -1: it does not wait there, and nothing was shown */
int whynot_delay(struct whynot *whynot, const char *id);

/* ---- way.c, for delay.c ---- */

struct waits_for {		/* mail that waits, and for what */
	const char	*id, *from, *to, *domain;
	const char	*dest;		/* "smtp/example.net" */
	const char	*code;		/* what keeps it: of mail/cause.h */
	const char	*by;		/* what its time comes from; "" */
	const char	*words;		/* the last of its destination; "" */
	bool		 has_limit;
	int64_t		 now_s;
};
/* Try another route: a target in this configuration that the router takes for
 * this mail with one statement more, and that took other mail within a day.
 * Shows the first that works. */
void whynot_try_ways(struct whynot *whynot, const struct waits_for *waits);
/* Say that no change helps, and why. */
void whynot_say_waits(const struct waits_for *waits);

/* ---- try.c, for delay.c ---- */

enum { WHYNOT_TOLD_MAX = 2 };
/* Show a change that works; diff: of the edit, or "" if it is not one. */
void whynot_tell(struct whynot *whynot, const char *kind, const char *what,
    const char *diff, const char *warning);
/* Does it need no quotes, and is it no pattern? */
bool whynot_is_plain(const char *text);
/* Replace a word by fresh. */
void whynot_word_replace(struct str *text, const struct conf_word *word,
    const char *fresh);

#endif

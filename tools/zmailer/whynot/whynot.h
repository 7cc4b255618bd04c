/* whynot.h - the smallest change that would have altered a refusal
 *
 * A mail, as a line of the record (smtpserver/session/records/record.h), is
 * decided under the configuration in force; then changes of one statement are
 * made to a copy of it in memory, the nearest first, and the mail is decided
 * again under each.  Only what was seen to work is told.
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
	const char	*line;		/* of the record, as it stands; or
					 * NULL */
};

struct said {			/* of smtpserver and the router */
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

/* Which mail an ID of a session or of a message means, by the record and the
 * journal.  0; -1 with err: there is none that was refused or set aside. */
int whynot_find(struct whynot *whynot, const char *id, struct err *err);

/* Write these files, as daemons read what is in force, where only we read
 * them; ask() goes on under the path.  0; -1 with err: they are no
 * configuration, or ask() said -1. */
typedef int whynot_under_fn(void *context, const char *path, struct err *err);
int whynot_under(struct whynot *whynot, const struct conf_draft *files,
    whynot_under_fn *ask, void *context, struct err *err);

/* Decide a mail with these files in place of those in force; when more is
 * not NULL, a second one after it, by the same counters.  0; -1 with err:
 * the files are no configuration, or no program decides. */
int whynot_decide(struct whynot *whynot, const struct conf_draft *files,
    const struct whynot_mail *mail, struct said *out,
    const struct whynot_mail *more, struct said *out_more, struct err *err);

/* Try the changes; tell the first two that work. */
void whynot_try(struct whynot *whynot);

/* A message that waits in the queue: what keeps it, and which change would
 * have let it go now or earlier, as the planner says under it.  When it does
 * not wait there nothing is said.
 * returns an exit status; -1: it does not wait there */
int whynot_delay(struct whynot *whynot, const char *id);

/* ---- way.c, for delay.c ---- */

struct waits_for {		/* mail that waits, and for whom */
	const char	*id, *from, *to, *domain;
	const char	*dest;		/* "smtp/example.net" */
	const char	*code;		/* what keeps it: of mail/cause.h */
	const char	*by;		/* what its time comes from; "" */
	const char	*words;		/* the last of its destination; "" */
	bool		 has_limit;
	int64_t		 now_s;
};
/* Another route: a target that stands in this configuration, that the router
 * takes for this mail under one statement more, and that took other mail
 * within a day.  Tells the first that there is. */
void whynot_try_ways(struct whynot *whynot, const struct waits_for *waits);
/* There is no change; why not. */
void whynot_say_waits(const struct waits_for *waits);

/* ---- try.c, for delay.c ---- */

enum { WHYNOT_TOLD_MAX = 2 };
/* One change that works: an edit, "diff" of it, or "" when it is none. */
void whynot_tell(struct whynot *whynot, const char *kind, const char *what,
    const char *diff, const char *warning);
/* Letters that need no quotes and are no pattern. */
bool whynot_is_plain(const char *text);
/* Put fresh in the place of a word. */
void whynot_word_replace(struct str *text, const struct conf_word *word,
    const char *fresh);

#endif

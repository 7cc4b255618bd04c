/* books.h - what became of every recipient of the mail that was accepted
 *
 * There are two witnesses: the journal, and the files in the spool.  A message
 * belongs to the books if its id (mail/spool_id.h) was made in their window.
 * Each of its recipients has one of the fates below; the last one means that
 * the journal knows the message, but not its end, and there is no file of it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_ZMAILER_AUDIT_BOOKS_H
#define ZM_TOOLS_ZMAILER_AUDIT_BOOKS_H

#include "base/err.h"
#include "conf/conf.h"
#include "tools/journal/journal.h"

/* AUDIT_FATE(NAME, name, text): one recipient, one fate. */
#define AUDIT_FATES(AUDIT_FATE) \
	AUDIT_FATE(DELIVERED, "delivered", "the next host or the mailbox has " \
	    "it") \
	AUDIT_FATE(FAILED, "failed", "will never have it") \
	AUDIT_FATE(EXPANDED, "expanded", "a list or alias: its members are " \
	    "counted instead") \
	AUDIT_FATE(REROUTED, "rerouted", "goes on as part of another message") \
	AUDIT_FATE(DELETED, "deleted", "an operator deleted it") \
	AUDIT_FATE(DISCARDED, "discarded", "a milter threw it away") \
	AUDIT_FATE(ASIDE, "aside", "freezer/, postman/: a person is to look") \
	AUDIT_FATE(WAITING, "waiting", "router/, deferred/, transport/") \
	AUDIT_FATE(UNTOLD, "untold", "the message has ended; the line that " \
	    "says how for this recipient is lost") \
	AUDIT_FATE(UNACCOUNTED, "unaccounted", "no end, and no file")

enum audit_fate {
#define AUDIT_FATE(symbol, name, text) AUDIT_##symbol,
	AUDIT_FATES(AUDIT_FATE)
#undef AUDIT_FATE
	AUDIT_FATE_COUNT
};
struct audit_fate_row {
	const char	*name, *text;
};
extern const struct audit_fate_row audit_fates[AUDIT_FATE_COUNT];

enum { AUDIT_FINDINGS_MAX = 1000 };	/* named one by one */

/* The files of a message in the spool: recipients by outcome, and the fate of
 * those that have none. */
struct audit_file {
	uint64_t	delivered, failed, expanded, open;
	enum audit_fate	fate;
};

struct audit_sums {
	uint64_t	messages, finished;	/* accepted; ended ones */
	uint64_t	recipients;		/* of all of them */
	uint64_t	fates[AUDIT_FATE_COUNT];
	uint64_t	reported;	/* of the failed, to the sender */
	uint64_t	twice;		/* delivered more than once */
	uint64_t	before;		/* messages in the spool that are older
					 * than the window */
};

/* A message whose recipients do not add up. */
struct audit_finding {
	char		 id[40];
	int64_t		 last_ms;	/* of the last line about it; -1 */
	char		 last[32];	/* which event that was */
	uint64_t	 recipients, missing;
};

struct books;

/* Books of all mail that was accepted in a window. */
struct books *books_new(const struct journal_span *window);
void books_free(struct books **books);

/* To be called first for the spool, then for the journal, which has lines about
 * all that moved meanwhile. */
void books_see_file(struct books *books, const char *id,
    const struct audit_file *file);
/* The same for a file that cannot be read: it is of the message without an end
 * and without another file whose files have this inode, the number in the
 * file's name, of several the last one.  That number is what the last line says
 * that names it (message.routed, message.encoded, message.restored, recovered),
 * or where there is none, what its id says.  Its recipients without an end have
 * that fate. */
void books_see_damaged(struct books *books, ino_t inode, enum audit_fate fate);
void books_read_line(struct books *books, struct slice line);

/* Add up.  findings has room for AUDIT_FINDINGS_MAX; *out_count are filled in,
 * the oldest first. */
void books_close(struct books *books, struct audit_sums *out,
    struct audit_finding *findings, size_t *out_count);

/* Call books_see_file for every message file of the spool.  0 or -1. */
int books_see_spool(struct books *books, const struct conf *conf,
    struct err *err);

#endif

/* greylist.h - who was seen before
 *
 * A triplet (network, sender, recipient) is identified by a hash of its text.
 * All entries are in memory and, line by line as they change, in a file that is
 * read at the start; after a crash senders of lost entries try once more.  The
 * file is rewritten when most lines are out of date.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_POLICY_GREYLIST_H
#define ZM_SMTPSERVER_POLICY_GREYLIST_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum {
	GREYLIST_ENTRIES_MAX = 1 << 19,
	GREYLIST_TRUSTED_FROM = 5	/* pairs that passed from a network */
};

struct greylist;

struct greylist_terms {
	int64_t	after_s, within_s, keep_s;
};

/* path: the file, made if it does not exist; NULL: none.  If the file cannot be
 * used, err says why, and nothing outlives the process. */
struct greylist *greylist_open(const char *path, int64_t now_s,
    struct err *err);
void greylist_close(struct greylist **greylist);

/* Ask about mail from net for "SENDER RECIPIENT".  returns 0: take it; else
 * the seconds it has to wait. */
int64_t greylist_ask(struct greylist *greylist, struct slice net,
    struct slice pair, const struct greylist_terms *terms, int64_t now_s);

/* It has passed elsewhere: it passes from now on. */
void greylist_learn(struct greylist *greylist, struct slice net,
    struct slice pair, const struct greylist_terms *terms, int64_t now_s);

/* Write what has not been written yet.  0 or -1. */
int greylist_flush(struct greylist *greylist, struct err *err);

/* For tests: entries now, and lines in the file. */
size_t greylist_count(const struct greylist *greylist);
size_t greylist_lines(const struct greylist *greylist);

#endif

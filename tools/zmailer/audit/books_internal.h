/* books_internal.h - an account for each message; internal to
 * tools/zmailer/audit
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_ZMAILER_AUDIT_BOOKS_INTERNAL_H
#define ZM_TOOLS_ZMAILER_AUDIT_BOOKS_INTERNAL_H

#include "journal/event.h"
#include "mail/spool_id.h"
#include "tools/zmailer/audit/books.h"

struct number_set {		/* open addressing; 0 is no member */
	uint64_t	*slots;
	size_t		 size, count;
};

struct books_account;
struct books_damaged {		/* a file that does not say whose it is */
	ino_t		 inode;
	enum audit_fate	 fate;
	struct books_account	*owner;	/* while closing; NULL: none yet */
};

struct books_account {
	struct books_account	*next;
	uint64_t	 number;	/* of its id */
	char		 id[SPOOL_ID_BYTES];
	uint64_t	 accepted, routed, done;	/* rcpts of events */
	uint64_t	 delivered, failed, rerouted, deleted, expanded;
	uint64_t	 expanding;	/* until message.routed is read */
	struct number_set ends;		/* outcomes that were counted */
	struct number_set reopened;	/* those of ends that were reopened */
	bool		 is_ended, is_deleted, is_discarded, is_there;
	struct audit_file there;
	bool		 is_damaged;	/* it has a file that cannot be read */
	enum audit_fate	 damaged;	/* fate of who has no end, then */
	int64_t		 last_ms;
	enum event_kind	 last;
	ino_t		 inode;		/* as a line says that it is called; 0:
					 * none, then as its id says */
	int64_t		 named_ms;	/* of that line */
};

struct books {
	struct journal_span window;
	struct books_account	**buckets;
	size_t		 bucket_count, account_count;
	struct number_set ended;
	struct books_damaged *damaged;
	size_t		 damaged_count, damaged_room;
	struct audit_sums sums;
	struct audit_finding *findings;	/* the caller's, while closing */
	size_t		 finding_count;
	struct str	 value, other;
};

/* How many recipients have an end in the journal. */
uint64_t account_ends(const struct books_account *account);

/* Add its recipients to the sums, and a finding if some are unaccounted for. */
void account_add_up(struct books *books, const struct books_account *account);

#endif

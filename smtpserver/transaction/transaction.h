/* transaction.h - one mail transaction: MAIL, RCPTs, DATA
 *
 * Life cycle: made by MAIL, freed by RSET, EHLO, the end of data, or the
 * end of the session, with all that it has, including an unfinished draft.
 * Recipients are kept only as the lines that the message file will have.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_TRANSACTION_TRANSACTION_H
#define ZM_SMTPSERVER_TRANSACTION_TRANSACTION_H

#include "base/err.h"
#include "mail/envelope.h"
#include "smtpserver/origin/judge.h"
#include "smtpserver/policy/late.h"
#include "smtpserver/transaction/answer.h"
#include "smtpserver/transaction/content.h"
#include "smtpserver/transaction/space.h"

struct transaction {
	struct arena		*arena;
	struct envelope		 envelope;	/* without recipients */
	struct str		 rcpt_lines;
	struct slice		 rcpt_first;	/* as it was given, in the
						 * arena; for the record */
	unsigned		 rcpt_count;
	unsigned		 cut_through_count;	/* of them, for which
							 * the client waits */
	bool			 rcpt_is_ours;	/* the domain of the last one,
						 * says the policy */
	unsigned		 domains_max;	/* different ones; 0: any */
	struct slice		*domains;	/* kept when they are bounded */
	unsigned		 domain_count;
	int			 priority_asked;	/* MT-PRIORITY */
	uint64_t		 size_bytes;	/* announced; 0: not */
	struct promise		 promise;	/* of room for size_bytes */
	struct str		 fields;	/* put before the header */
	const struct conf_rule	*freeze;	/* NULL: goes to router/ */
	struct late_rules	 late;	/* tried when it is judged */
	struct session_answer	*late_refusal;	/* NULL; or the answer if none
						 * of them takes it */
	/* what filters and late rules said about it */
	bool			 is_refused, is_discarded;
	const char		*refused_by;	/* as in session/records/
						 * record.h, static */
	struct str		 said;		/* session/filter/said.h; also
						 * at MAIL and RCPT */
	struct str		 rcpt_facts;	/* of the first recipient, for
						 * the record */
	const struct conf_rule	*late_freeze;	/* of those that waited; or
						 * NULL */
	struct session_answer	 refusal;
	char			 refusal_status[12];
	char			 rcpt_status[12];	/* of the last one that
							 * the router refused */
	char			 milter_cause[32];	/* "" none */
	bool			 is_expected;	/* the scheduler was told that
						 * the client waits */
	struct session_answer	*next_hop;	/* NULL; or its answer for the
						 * client, in the arena */
	bool			 is_copied;	/* it may have a copy on
						 * another machine, and was not
						 * accepted */
	bool			 is_looked_at;	/* by the content filter */
	bool			 is_judged;	/* it was authenticated, */
	struct judge_answer	 judged;	/* with this result */
	bool			 is_receiving;	/* draft and content are live */
	bool			 is_kept;	/* its bytes, for the record */
	bool			 is_chunked;	/* BDAT came: no more RCPT */
	struct draft		 draft;
	uint64_t		 envelope_bytes; /* of its text */
	struct content		 content;
};

/* Begin with a sender (copied); null path: <>. */
struct transaction *transaction_new(const struct path *sender);
void transaction_free(struct transaction **transaction);

/* Add a recipient.  0; -1: it cannot be written as a line. */
int transaction_add_rcpt(struct transaction *transaction,
    const struct envelope_rcpt *rcpt, struct err *err);

/* Add a field before the header, unless it is there already or there would be
 * more than TRANSACTION_FIELDS_BYTES_MAX. */
void transaction_prepend(struct transaction *transaction, const char *field);

enum { TRANSACTION_FIELDS_BYTES_MAX = 4096 };

/* Does domains_max allow this recipient? */
bool transaction_has_domain_room(const struct transaction *transaction,
    const struct path *rcpt);

/* Open the draft and write the envelope into it.  rcvdfrom and with are
 * borrowed for the call.  If the announced size was promised, space for it is
 * reserved on the disk.
 * returns 0; -1 with errno (nothing is left) */
int transaction_open(struct transaction *transaction, struct spool *spool,
    struct slice rcvdfrom, struct slice with, struct err *err);

enum {
	FREEZE_CAUSE_BYTES = 32,
	FREEZE_RULE_BYTES_MAX = 1000	/* of its text, in the envelope */
};

/* A filter freezes it: cause is for the file's name; because says who does so
 * and why (copied).  If a rule froze it before, that stays. */
void transaction_freeze(struct transaction *transaction, const char *cause,
    const char *because);
/* Write to its file why it is set aside; to be called before it is synced. */
void transaction_keep_reason(struct transaction *transaction);

/* Does it go into freezer/, because a rule or a filter said so? */
bool transaction_is_frozen(const struct transaction *transaction);

/* What follows the dot of its name in freezer/: "policy-17", 17 being the line
 * of the rule; or "milter". */
void transaction_freeze_cause(const struct transaction *transaction,
    char out_cause[FREEZE_CAUSE_BYTES]);

/* "alice@example.org", or "<>": for events. */
void transaction_add_sender(const struct transaction *transaction,
    struct str *out);

#endif

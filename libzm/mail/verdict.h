/* verdict.h - the outcome of one recipient, in the words of its source
 *
 * Made where it happens (transport, router, scheduler), carried unchanged
 * to record, log and report.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_VERDICT_H
#define ZM_MAIL_VERDICT_H

#include "base/str.h"

enum verdict_kind {
	VERDICT_DELIVERED,	/* in a mailbox, a file, a program */
	VERDICT_RELAYED,	/* the next host has it and cares for DSNs */
	VERDICT_EXPANDED,	/* became other recipients */
	VERDICT_DEFERRED,	/* try again */
	VERDICT_FAILED,		/* never */
	VERDICT_KINDS
};

extern const char *const verdict_names[VERDICT_KINDS];
	/* "delivered" "relayed" "expanded" "deferred" "failed": the action
	 * words of RFC 3464 section 2.3.3, except deferred ("delayed") */

enum {
	VERDICT_TEXT_BYTES = 600,
	VERDICT_WHO_BYTES = 300
};

struct verdict {
	enum verdict_kind	kind;
	char			status[12];	/* RFC 3463 "5.1.1" */
	char			who[VERDICT_WHO_BYTES];
					/* "mx1.example.net[192.0.2.1]:25",
					 * "mailbox", "scheduler" */
	char			text[VERDICT_TEXT_BYTES];
					/* "550 5.1.1 no such user": one
					 * line, escaped, else unchanged */
	bool			host_trouble;	/* nobody at that host could
						 * be served (deferall) */
};

/* Fill one.  status NULL: "2.0.0", "4.0.0" or "5.0.0" by kind. */
void verdict_set(struct verdict *verdict, enum verdict_kind kind,
    const char *status, const char *who, const char *format, ...)
	__attribute__((format(printf, 5, 6)));

/* The kind of that name; -1: there is none. */
int verdict_kind_parse(struct slice name);

/* Will no other attempt follow?  True of all kinds except deferred. */
bool verdict_is_final(enum verdict_kind kind);

#endif

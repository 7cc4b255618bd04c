/* authors.h - accepted mail of a day, counted by author's domain
 *
 * In     lines of the journal (message.accepted with report=, report.sent)
 * Out    a row for each domain that publishes a policy, and below it a row for
 *        all messages that are alike in everything that a report says
 *
 * Bounded: AUTHORS_DOMAINS_MAX domains, AUTHORS_ROWS_MAX rows of each, and
 * AUTHORS_ROWS_ALL_MAX of all, each of at most AUTHORS_ROW_BYTES; messages
 * beyond that are counted as left out.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_REPORT_AUTHORS_H
#define ZM_TOOLS_REPORT_AUTHORS_H

#include "origin/dmarc/note.h"

enum {
	AUTHORS_DOMAINS_MAX = 2048,
	AUTHORS_ROWS_MAX = 4096,
	AUTHORS_ROWS_ALL_MAX = 32768,
	AUTHORS_ROW_BYTES = 3072
};

/* What was done with a message because of DMARC (RFC 9990 section 3.1.1.9). */
enum authors_done { AUTHORS_NONE, AUTHORS_PASSED, AUTHORS_QUARANTINED };

/* Why that is not what the domain asks for (RFC 9990 section 3.1.6). */
enum authors_reason {
	AUTHORS_AS_ASKED,
	AUTHORS_LOCAL,		/* no rule of ours does it */
	AUTHORS_TESTING,	/* t=y */
	AUTHORS_FORWARDED,	/* a trusted seal says that it had passed */
	AUTHORS_UNKNOWN		/* the DNS was in trouble */
};

/* What one message adds to its row; slices are borrowed. */
struct authors_message {
	struct slice	client;		/* "192.0.2.1", "2001:db8::1" */
	bool		has_from;
	struct slice	from;		/* domain of MAIL FROM */
	struct slice	sealer;		/* of AUTHORS_FORWARDED */
	enum origin	spf;
	enum authors_done done;
	enum authors_reason reason;
	bool		is_passed;	/* DMARC's result */
	struct dmarc_note note;
};

struct authors_row {
	struct slice	 key;		/* authors_key_read reads it */
	uint32_t	 hash;
	uint32_t	 domain;	/* its index */
	uint32_t	 next;		/* of the domain: index + 1; 0: none */
	uint64_t	 count;
};

struct authors_domain {
	const char	*name;
	enum dmarc_policy p, sp, np;	/* by the last message */
	bool		 is_dkim_strict, is_spf_strict, is_testing;
	bool		 is_told;	/* an earlier run reported this day */
	uint64_t	 messages, failed;	/* without those left out */
	uint64_t	 left_out;
	size_t		 row_count;
	uint32_t	 first, last;	/* rows: index + 1; 0: none */
};

struct authors {
	struct arena	*arena;
	const char	*day;		/* "2026-11-20", UTC */
	struct authors_domain *domains;
	size_t		 domain_count;
	struct authors_row *rows;
	size_t		 row_count;
	uint64_t	 left_out;	/* messages of domains beyond the
					 * bound */
	uint32_t	*domain_slots, *row_slots;	/* hash: index + 1 */
	struct str	 members[6];	/* of a line; scratch */
	struct str	 key;		/* scratch */
};

/* Begin to count; day is borrowed. */
void authors_init(struct authors *authors, const char *day);
void authors_release(struct authors *authors);

/* Count one line of the journal, of the day or after it; others and damaged
 * ones are skipped. */
void authors_take_line(struct authors *authors, struct slice line);

/* Read what all messages of a row have in common; borrows from the row. */
void authors_key_read(struct slice key, struct authors_message *out);

/* Append the report of one domain as RFC 9990 has it.
 * id  of the report: no blanks */
struct authors_letter {
	const char	*organization, *contact, *id;
	int64_t		 begin_s, end_s;
};
void authors_add_report(struct str *out, const struct authors *authors,
    const struct authors_domain *domain, const struct authors_letter *letter);

#endif

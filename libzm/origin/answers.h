/* answers.h - answers of the DNS, for judgements that do no I/O
 *
 * A judgement (spf.h, dkim.h, dmarc.h) is a function of the mail and of
 * answers.  It looks up the answers that it needs; a missing one is noted as
 * a question, and the judgement ends with ORIGIN_ASKS.  The caller asks, puts
 * the answers in, and calls it again from the beginning: no state is kept
 * between the calls, and test vectors run without a network.
 *
 * Answers come from anywhere: counts, names and bytes are bounded.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_ANSWERS_H
#define ZM_ORIGIN_ANSWERS_H

#include "base/err.h"
#include "base/str.h"
#include "grammar/net.h"
#include "io/dns/kept.h"

enum {
	ANSWERS_MAX = 2000,		/* a message needs at most some 150 */
	ANSWER_RECORDS_MAX = 64,	/* taken of one answer */
	ANSWER_TEXT_MAX = 8192,		/* bytes of a TXT record, joined */
	ANSWER_ALIASES_MAX = 8		/* CNAMEs in a row */
};

enum answer_status {
	ANSWER_MISSING,		/* nobody asked yet */
	ANSWER_SECURE,		/* records, validated (RFC 4035) */
	ANSWER_INSECURE,	/* records */
	ANSWER_NONE,		/* no such name, or no such record there */
	ANSWER_SERVFAIL,	/* no answer, or one that cannot be read */
	ANSWER_BOGUS		/* records that are not what was signed */
};

struct answer_record {
	struct slice	text;		/* TXT: its strings joined; MX, PTR:
					 * the host, lower case, without the
					 * last dot */
	struct net	address;	/* A, AAAA */
	unsigned	preference;	/* MX */
};

struct origin_answer {
	enum dns_type	 type;
	struct slice	 name;		/* as asked: lower case, no last dot */
	enum answer_status status;
	bool		 is_no_name;	/* ANSWER_NONE: NXDOMAIN */
	uint32_t	 ttl_s;
	struct answer_record *records;	/* of the arena */
	size_t		 record_count;
};

struct answers;

/* Make an empty set; everything is in the arena. */
struct answers *answers_new(struct arena *arena);

/* From now on look into kept, too (clock_steady_ms is now_ms), before a
 * question is noted.  It is the caller's, and outlives answers. */
void answers_use_kept(struct answers *answers, struct dns_kept *kept,
    int64_t now_ms);

/* The answer to a question.  NULL: it is missing, and now noted as a question.
 * A name that the DNS cannot have (empty, a label of more than 63 bytes, more
 * than 253) is ANSWER_NONE at once. */
const struct origin_answer *answers_look(struct answers *answers,
    enum dns_type type, struct slice name);

/* Does the answer have records? */
bool answer_has(const struct origin_answer *answer);
/* Is it trouble, so that another answer may come later? */
bool answer_is_trouble(const struct origin_answer *answer);

/* The first question without an answer; NULL: none is open.  It stays the
 * first until answers_put has its answer. */
const struct origin_answer *answers_question(const struct answers *answers);

/* All questions without an answer, one after the other; NULL: no more.
 * *cursor starts at 0; answers may be put in between. */
const struct origin_answer *answers_next_question(const struct answers *answers,
    size_t *cursor);

/* Put an answer in; what it points to is copied.  If it exceeds a bound, it
 * becomes ANSWER_SERVFAIL. */
void answers_put(struct answers *answers, const struct origin_answer *answer);

/* The same for an answer as a server sent it, from dns/ask.h; bytes are read
 * only if the result is DNS_OK.  Nothing of it is validated, so it is never
 * ANSWER_SECURE. */
void answers_put_wire(struct answers *answers, enum dns_type type,
    struct slice name, enum dns_result result, struct slice bytes);

/* From now on a missing answer is ANSWER_NONE, and nothing is asked. */
void answers_close(struct answers *answers);

/* Read answers as lines "NAME TYPE VALUE" (a master file, RFC 1035 section
 * 5.1, in its simplest form; a line that begins with # or ; is a comment).  A
 * TTL and IN may stand before the TYPE, and VALUE in parentheses, then on
 * several lines, too, with comments after ;.
 * TYPE: A AAAA MX ("10 HOST") TXT PTR CNAME.  SERVFAIL and BOGUS are values of
 * each TYPE; as the TYPE they apply to all.  TXT: the bytes to the end of the
 * line, or strings in quotes, which are joined; \" and \\ are that byte, \010
 * a byte by its number.  NAME may also be in quotes.  CNAMEs are followed.
 * Ends with answers_close.  0; -1: err names the line. */
int answers_read_zone(struct answers *answers, struct slice text,
    struct err *err);

#endif

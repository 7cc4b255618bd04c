/* dkim2.h - who handled this message, and what did they change?
 *
 * draft-ietf-dkim-dkim2-spec-04, which is not a standard yet: this folder can
 * be thrown away.
 *
 * In     a message as it came, with its envelope; answers of the DNS
 * Out    a judgement of its chain: who signed, from first to last
 *
 * Every host that sends a message signs it (DKIM2-Signature, i=1, 2 ...) with
 * the envelope that it uses.  If it changed the message, it adds a revision
 * (Message-Instance, m=1, 2 ...): sums, and a recipe that makes the previous
 * revision of this one.  A chain passes when each signature is good, each
 * revision has its sums, each hop is where the one before sent the message
 * to, and the last one sent it here, to these recipients.
 *
 * Algorithms are rsa-sha256 and ed25519-sha256; others are ignored.  Keys under
 * 1024 bits are an error.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_DKIM2_H
#define ZM_ORIGIN_DKIM2_H

#include "origin/answers.h"
#include "origin/origin.h"

enum {
	DKIM2_HOPS_MAX = 50,		/* signatures; also revisions */
	DKIM2_BYTES_MAX = 1 << 20,	/* of all their fields */
	DKIM2_SETS_MAX = 4,		/* keys of a signature */
	DKIM2_PATHS_MAX = 1000,		/* recipients in a signature */
	DKIM2_NONCE_MAX = 64,
	DKIM2_DAYS_MAX = 14,		/* then a signature has ended */
	DKIM2_PIECES_MAX = 100000,	/* of a body that a recipe makes */
	DKIM2_SUMMED_MAX = 512 << 20	/* bytes of the bodies of a message,
					 * without the first */
};

enum dkim2_flags {
	DKIM2_EXPLODED = 1,	/* it was sent to several addresses */
	DKIM2_DONOTEXPLODE = 2,
	DKIM2_DONOTMODIFY = 4,
	DKIM2_FEEDBACK = 8,
	DKIM2_FEEDHERE = 16
};

struct dkim2_mail {		/* what is judged */
	struct slice	message;
	bool		has_sender;	/* false: mf= is not compared */
	struct slice	sender;		/* MAIL FROM without <>; empty: null */
	const struct slice *rcpts;	/* RCPT TO without <> */
	size_t		rcpt_count;	/* 0: rt= is not compared */
	int64_t		received_s;	/* 0: t= is ignored */
	bool		is_header;	/* the body is not there: it is taken
					 * as lost */
	bool		is_lenient;	/* accept addresses without <> in mf=
					 * and rt=, as in early drafts */
};

struct dkim2_hop {		/* one that signed */
	struct slice	domain;		/* d=, lower case */
	struct slice	selector;	/* of its first key that counts */
	struct slice	sender;		/* mf= without <>; empty: null, or it
					 * has nd= */
	const struct slice *to;		/* rt= without <>; none with nd= */
	size_t		to_count;
	unsigned	revision;	/* m= */
	unsigned	flags;		/* enum dkim2_flags */
};

struct dkim2 {
	enum origin	 origin;	/* none, pass, fail, temperror,
					 * permerror */
	size_t		 count;
	struct dkim2_hop *hops;		/* count of them, the oldest first;
					 * NULL: they could not be read */
	unsigned	 revisions;
	unsigned	 body_from;	/* the oldest revision whose body is
					 * known: 1 all; more: a recipe says
					 * that the body before it is lost */
	const char	*reason;	/* a sentence for a postmaster */
};

/* Judge.  All keys are asked for before any sum is made.  A key that cannot be
 * looked up now is a temperror.
 * returns out->origin; ORIGIN_ASKS: out is not filled in yet */
enum origin dkim2_judge(struct answers *answers,
    const struct dkim2_mail *mail, struct arena *arena, struct dkim2 *out);

/* Is nobody to be sent a report about a message that was judged so?  Who sent
 * it is known if the chain passed, and as ever if there is none (section
 * 10.1). */
bool dkim2_bars_reports(enum origin origin);

/* "exploded", "donotmodify" ...; flag is one of them. */
const char *dkim2_flag_text(enum dkim2_flags flag);

#endif

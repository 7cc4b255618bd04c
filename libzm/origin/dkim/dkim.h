/* dkim.h - who signed this message?  (RFC 6376, 8301, 8463)
 *
 * In     a message as it came, answers of the DNS
 * Out    a judgement for each signature, in the order of the header
 *
 * Algorithms are rsa-sha256 and ed25519-sha256; sha1 and keys under 1024 bits
 * fail.  With l=, the unsigned bytes are counted: such a signature passes, and
 * speaks for nobody (dmarc.h).  x= is compared with the time of receipt.
 *
 * What is judged is bounded, by what it costs.  Where that is not all, those
 * come first whose domain has most in common with the author's, from its end:
 * the one that DMARC needs is not kept out by others that were put before it.
 * What fails without a look-up or a check of a key takes no room of others:
 *
 *	read		DKIM_READ_MAX signatures
 *	keys asked for	DKIM_KEYS_MAX names
 *	body summed up	once in each of the two forms, for all lengths
 *	checked		DKIM_VERIFIED_MAX, and DKIM_HEADERS_BYTES of headers
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_DKIM_H
#define ZM_ORIGIN_DKIM_H

#include "origin/answers.h"
#include "origin/origin.h"

enum {
	DKIM_SIGNATURES_MAX = 8,	/* told of; the rest is counted */
	DKIM_READ_MAX = 128,
	DKIM_KEYS_MAX = 32,
	DKIM_VERIFIED_MAX = 32,		/* as many sums of the header */
	DKIM_HEADERS_BYTES = 16 << 20,	/* in all of these; the one that goes
					 * beyond it is the last */
	DKIM_FIELDS_MAX = 500,		/* names in h= */
	DKIM_FIELD_MAX = 16384		/* bytes of a signature field */
};

struct dkim_ask {
	struct slice	 message;	/* header and body, with any line ends:
					 * each is taken as CRLF */
	int64_t		 received_s;	/* 0: x= is ignored */
	struct slice	 author;	/* the domain of From; or empty */
};

struct dkim {
	enum origin	 origin;
	struct slice	 domain;	/* d=, lower case */
	struct slice	 selector;	/* s= */
	struct slice	 identity;	/* i=, or "@" and d= */
	struct slice	 algorithm;	/* a= as written */
	struct slice	 signature;	/* first 8 bytes of b=, for header.b
					 * (RFC 6008) */
	unsigned	 key_bits;	/* 0: no key was read */
	uint64_t	 unsigned_bytes; /* of the body, beyond l= */
	bool		 is_testing;	/* t=y of the key */
	const char	*reason;	/* a sentence for a postmaster */
};

/* Judge the signatures of a message.  out: room for DKIM_SIGNATURES_MAX, those
 * that pass or may pass later first, and among them those nearest the author,
 * then in the order of the header; *out_n: how many; *out_found: how many the
 * message has.
 * returns ORIGIN_ASKS; else ORIGIN_PASS when one passes, ORIGIN_NONE when there
 * is none, ORIGIN_TEMPERROR when one may pass later, ORIGIN_FAIL */
enum origin dkim_judge(struct answers *answers, const struct dkim_ask *ask,
    struct arena *arena, struct dkim *out, size_t *out_n, size_t *out_found);

#endif

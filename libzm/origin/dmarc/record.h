/* record.h - what a domain publishes at _dmarc  (RFC 9989 section 4.7)
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_DMARC_RECORD_H
#define ZM_ORIGIN_DMARC_RECORD_H

#include "origin/dmarc/dmarc.h"

enum dmarc_psd { DMARC_PSD_UNKNOWN, DMARC_PSD_YES, DMARC_PSD_NO };

struct dmarc_record {
	struct slice	  text;		/* as published */
	enum dmarc_policy p, sp, np;	/* the default of sp is p, that of np
					 * is sp */
	enum dmarc_psd	  psd;
	bool		  is_dkim_strict, is_spf_strict, is_testing;
	struct slice	  rua;
};

enum dmarc_read {
	DMARC_READ_OTHER,	/* not a record of DMARC, version 1 */
	DMARC_READ_BAD,		/* one that is unusable */
	DMARC_READ
};

/* Read a TXT record.  Unknown tags are ignored.  A record without a readable p
 * counts as p=none if it has a rua; otherwise it is unusable. */
enum dmarc_read dmarc_read(struct slice text, struct dmarc_record *out);

/* The records from a domain up (section 4.10). */
struct dmarc_walk {
	struct slice	domains[DMARC_QUESTIONS_MAX];
	struct dmarc_record records[DMARC_QUESTIONS_MAX];
	enum dmarc_read	found[DMARC_QUESTIONS_MAX];
	size_t		count;
	size_t		record_count;	/* found DMARC_READ */
};

/* Walk.  ORIGIN_NONE: done; ORIGIN_ASKS; ORIGIN_TEMPERROR: the look-up of the
 * last of out->domains failed. */
enum origin dmarc_walk(struct answers *answers, struct slice domain,
    struct arena *arena, struct dmarc_walk *out);

/* The organizational domain that a walk found (section 4.10.2). */
struct slice dmarc_organization(const struct dmarc_walk *walk);

/* The row of the walk whose policy counts for mail of its first domain
 * (section 4.10.1); walk->count: none. */
size_t dmarc_policy_row(const struct dmarc_walk *walk);

#endif

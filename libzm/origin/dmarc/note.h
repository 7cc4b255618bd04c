/* note.h - a judgement in the journal, for reports to the author's domain
 *
 * A note is one word, in the key report= of message.accepted:
 *
 *	from=DOMAIN;at=DOMAIN;p=POLICY;sp=POLICY;np=POLICY;adkim=r|s;aspf=r|s;
 *	t=y|n;asked=POLICY;aligned=[spf][,dkim];mfrom=DOMAIN;
 *	dkim=DOMAIN/SELECTOR/RESULT;...[;done=quarantine]
 *
 * Strangers choose the names: bytes that would end a value or a word become
 * '?', and each name has at most DMARC_NOTE_NAME_BYTES.  Signatures that do not
 * fit are left out, the good ones last (RFC 9990 section 3.1.3).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_DMARC_NOTE_H
#define ZM_ORIGIN_DMARC_NOTE_H

#include "origin/dmarc/dmarc.h"

enum {
	DMARC_NOTE_BYTES = 960,		/* of a note, without done= */
	DMARC_NOTE_NAME_BYTES = 255
};

struct dmarc_note_dkim {
	struct slice	domain, selector;
	enum origin	origin;
};

struct dmarc_note {
	struct slice	author;		/* the domain of From */
	struct slice	record_at;	/* the name whose policy it is */
	enum dmarc_policy p, sp, np;	/* as published */
	enum dmarc_policy asked;	/* the one that counts, not weakened by
					 * t=y */
	bool		is_dkim_strict, is_spf_strict, is_testing;
	bool		is_spf_aligned, is_dkim_aligned;
	struct slice	spf_domain;	/* judged by SPF */
	struct dmarc_note_dkim dkims[DKIM_SIGNATURES_MAX];
	size_t		dkim_count;
	bool		is_set_aside;	/* by a rule about authentication */
};

/* Make the note of a judgement; it borrows from the arguments.
 * returns false: none is needed, because the domain wants no reports (rua) */
bool dmarc_note_of(const struct dmarc *dmarc, const struct spf *spf,
    const struct dkim dkims[], size_t dkim_count, struct dmarc_note *out);

/* Append a note, without is_set_aside. */
void dmarc_note_add(struct str *out, const struct dmarc_note *note);

/* Parse a note; *out borrows from text.
 * returns false: it is not a note, or is damaged */
bool dmarc_note_read(struct slice text, struct dmarc_note *out);

#endif

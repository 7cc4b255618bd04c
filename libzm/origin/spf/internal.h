/* internal.h - between the files of SPF
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_SPF_INTERNAL_H
#define ZM_ORIGIN_SPF_INTERNAL_H

#include "origin/spf/spf.h"

/* ---- record.c: the terms of a record (RFC 7208 sections 4.6.1, 5) --- */

enum spf_kind {
	SPF_ALL, SPF_INCLUDE, SPF_A, SPF_MX, SPF_PTR, SPF_IP4, SPF_IP6,
	SPF_EXISTS,
	SPF_MECHANISMS,
	SPF_REDIRECT = SPF_MECHANISMS, SPF_EXP, SPF_OTHER
};

struct spf_term {
	struct slice	text;		/* as published */
	enum spf_kind	kind;
	enum origin	result;		/* of its qualifier */
	struct slice	spec;		/* domain-spec; empty: none */
	struct net	address;	/* ip4, ip6 */
	unsigned	bits_v4, bits_v6; /* of 32 and of 128 */
};

/* Is this TXT record one of SPF, version 1?  Section 4.5 */
bool spf_is_record(struct slice text);
/* Read the next term from the front of *rest (which starts as the record).
 * ORIGIN_PASS: a term; ORIGIN_NONE: the end; ORIGIN_PERMERROR: out->text
 * cannot be read. */
enum origin spf_next(struct slice *rest, struct spf_term *out);

/* ---- macro.c: domain-spec and macro-string (section 7) -------------- */

/* Is it a macro-string?  With is_domain it must end as a domain-spec. */
bool spf_macro_fits(struct slice text, bool is_domain);

struct spf_state {		/* of one judgement */
	struct answers	*answers;
	const struct spf_ask *ask;
	struct arena	*arena;
	struct spf	*out;
	struct slice	 local, sender_domain;	/* of the sender judged */
	bool		 is_v4;
};

/* Expand, for a record of domain.  is_exp: the letters of an explanation are
 * allowed as well.  ORIGIN_PASS, ORIGIN_ASKS, ORIGIN_PERMERROR. */
enum origin spf_expand(struct spf_state *state, struct slice text,
    struct slice domain, bool is_exp, struct str *out);
/* The same for a domain, in the arena; labels are removed from the left until
 * it has at most 253 bytes.  ORIGIN_FAIL: it has a local part (or HELO) in
 * UTF-8, which fits no name (RFC 8616 section 4). */
enum origin spf_expand_domain(struct spf_state *state, struct slice text,
    struct slice domain, struct slice *out);

/* ---- match.c: does a mechanism fit the client?  (section 5) --------- */

/* ORIGIN_PASS it does, ORIGIN_FAIL it does not; ORIGIN_ASKS, ORIGIN_TEMPERROR
 * and ORIGIN_PERMERROR with state->out->reason.  Not for the mechanisms all and
 * include. */
enum origin spf_match(struct spf_state *state, const struct spf_term *term,
    struct slice domain);

/* The names of the client that lead back to it (section 5.5).
 * ORIGIN_PASS, ORIGIN_ASKS. */
enum origin spf_names(struct spf_state *state,
    struct slice names[SPF_NAMES_MAX], size_t *out_n);

/* Is name equal to domain, or below it? */
bool spf_is_below(struct slice name, struct slice domain);

/* Append "192.0.2.1" or "2001:db8::1". */
void spf_add_client(struct str *out, const struct spf_state *state);

#endif

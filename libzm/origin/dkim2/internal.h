/* internal.h - between the files of DKIM2
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_DKIM2_INTERNAL_H
#define ZM_ORIGIN_DKIM2_INTERNAL_H

#include "base/err.h"
#include "grammar/message/header.h"
#include "origin/dkim2/dkim2.h"
#include "tls/digest.h"
#include "tls/verify.h"

/* ---- recipe.c: how to make the revision before (section 5) ---------- */

struct dkim2_step {		/* what is emitted next */
	bool		 is_copy;
	uint64_t	 from, to;	/* numbers from 1; of a copy */
	struct slice	*lines;		/* else these */
	size_t		 line_count;
	struct dkim2_step *next;
};

struct dkim2_named {		/* the fields of one name */
	struct slice	 name;
	struct dkim2_step *steps;	/* NULL: there was none */
	struct dkim2_named *next;
};

struct dkim2_recipe {
	struct dkim2_named *header;
	bool		 has_body;	/* the body differs */
	bool		 is_body_lost;	/* it cannot be made */
	struct dkim2_step *body;
};

/* Parse a recipe (JSON).  0; -1: it is malformed (err). */
int dkim2_recipe_read(struct slice json, struct arena *arena,
    struct dkim2_recipe *out, struct err *err);

/* ---- content.c: one revision of a message --------------------------- */

struct dkim2_piece {		/* of a body: whole lines */
	struct slice	text;
};

struct dkim2_content {
	struct header_field *fields;	/* signed ones, the last of the
					 * header first */
	size_t		 count;
	struct dkim2_piece *pieces;
	size_t		 piece_count, piece_room;
};

/* Is a field of this name signed at all (section 4)? */
bool dkim2_is_signed(struct slice name);

/* Read a message as it is.  false: it has more than DKIM_HEADER_FIELDS_MAX
 * fields. */
bool dkim2_content_read(struct slice message, struct arena *arena,
    struct dkim2_content *out);
/* The sum of its header (section 6.2).  0 or -1. */
int dkim2_header_sum(const struct dkim2_content *content, struct arena *arena,
    unsigned char *out);
/* The sum of its body (section 6.1).  0 or -1. */
int dkim2_body_sum(const struct dkim2_content *content, unsigned char *out);
uint64_t dkim2_body_bytes(const struct dkim2_content *content);

/* ---- describe.c: a recipe of ours ----------------------------------- */

/* Append the recipe (JSON) that makes the header of before from that of after,
 * which differs.  0; -1: no recipe can do that (err). */
int dkim2_describe(const struct dkim2_content *before,
    const struct dkim2_content *after, struct arena *arena, struct str *out,
    struct err *err);

/* ---- undo.c: the revision before ------------------------------------ */

/* Turn content into the previous revision; a body that is lost is left as it
 * is.  0; -1: the recipe does not fit the content (err). */
int dkim2_undo(const struct dkim2_recipe *recipe, struct arena *arena,
    struct dkim2_content *content, struct err *err);

/* ---- field.c, read.c: the two fields (sections 7 and 8) ------------- */

struct dkim2_set {		/* a signature by one key */
	struct slice	selector;
	bool		is_known;	/* its algorithm is; else the set is
					 * ignored */
	enum verify_kind kind;
	struct slice	text;		/* the signature in the field */
	struct slice	bytes;
	struct slice	key;		/* as published, once looked up */
};

struct dkim2_signature {
	struct header_field field;	/* .whole.n 0: not there */
	unsigned	number, revision;	/* i=, m= */
	uint64_t	time_s;
	struct slice	domain;		/* lower case */
	struct slice	next;		/* nd=, lower case; empty: there are
					 * paths */
	struct slice	from;		/* without <> */
	struct slice	*to;
	size_t		to_count;
	unsigned	flags;
	struct dkim2_set sets[DKIM2_SETS_MAX];
	size_t		set_count;
};

struct dkim2_instance {
	struct header_field field;	/* .whole.n 0: not there */
	unsigned	number;		/* m= */
	struct slice	header_sum, body_sum;	/* sha256; empty: another kind
						 * of sum */
	bool		has_recipe;
	struct dkim2_recipe recipe;
};

struct dkim2_chain {		/* a message that is being judged */
	struct arena	*arena;
	struct answers	*answers;
	const struct dkim2_mail *mail;
	struct dkim2	*out;
	struct dkim2_signature *signatures;	/* by number - 1 */
	struct dkim2_instance *instances;	/* by number - 1 */
	size_t		 signature_count, instance_count;
	size_t		 bytes;			/* of their fields */
};

/* Read a field into its place; if it is malformed, that ends the judgement. */
void dkim2_take_signature(struct dkim2_chain *chain,
    const struct header_field *field);
void dkim2_take_instance(struct dkim2_chain *chain,
    const struct header_field *field);

/* Read all fields of a header.  ORIGIN_NONE: nobody signed; ORIGIN_PASS:
 * signatures and instances without a gap; else out has result and reason. */
enum origin dkim2_read(struct dkim2_chain *chain);

/* End the judgement with this result and reason.  returns origin. */
enum origin dkim2_end(struct dkim2_chain *chain, enum origin origin,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Is domain equal to above, or below it, in any case? */
bool dkim2_is_at_or_below(struct slice domain, struct slice above);
/* The part after the last @ of an address. */
struct slice dkim2_domain_of(struct slice address);

/* ---- custody.c: who may have sent it where (sections 9.2, 11) ------- */

/* ORIGIN_PASS; else out has result and reason. */
enum origin dkim2_custody(struct dkim2_chain *chain);
/* The same for a hop and the one before it. */
enum origin dkim2_custody_step(struct dkim2_chain *chain,
    const struct dkim2_signature *before, const struct dkim2_signature *one);
/* Did hops do what others before them asked not to do (section 11.8)? */
enum origin dkim2_wishes(struct dkim2_chain *chain);

/* ---- signed.c: what a signature signs (section 9.6) ----------------- */

/* Append a field without any blank, and CRLF; signatures of the sets in holes
 * are left out (NULL: none). */
void dkim2_add_field(struct str *out, const struct header_field *field,
    const struct dkim2_signature *holes);
/* Append all that the signature of this row signs. */
void dkim2_add_signed(struct str *out, const struct dkim2_chain *chain,
    size_t row);

/* ---- key.c: a key as it is published (section 3.6) ------------------ */

/* Look up the key of a set.  ORIGIN_PASS: set->key is it; ORIGIN_ASKS; else out
 * has result and reason. */
enum origin dkim2_key_find(struct dkim2_chain *chain,
    const struct dkim2_signature *signature, struct dkim2_set *set);

#endif

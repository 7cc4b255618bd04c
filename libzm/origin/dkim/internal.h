/* internal.h - between the files of DKIM
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_DKIM_INTERNAL_H
#define ZM_ORIGIN_DKIM_INTERNAL_H

#include "grammar/message/header.h"
#include "origin/dkim/dkim.h"
#include "tls/digest.h"
#include "tls/verify.h"

/* ---- tags.c: "name=value; ..." (RFC 6376 section 3.2) -------------- */

struct dkim_tag {
	struct slice	name, value;	/* without blanks around them */
};

enum { DKIM_TAGS_MAX = 40 };

struct dkim_tags {
	struct dkim_tag	rows[DKIM_TAGS_MAX];
	size_t		count;
};

/* Is it a letter, and letters, digits and _ after it? */
bool dkim_tag_name_fits(struct slice name);
/* Read a list.  false: it is not one, or a name occurs twice. */
bool dkim_tags_read(struct slice text, struct dkim_tags *out);
/* The value of a tag; .p NULL: there is no such tag. */
struct slice dkim_tag(const struct dkim_tags *tags, const char *name);
/* The value without blanks and folds, in the arena. */
struct slice dkim_squeeze(struct arena *arena, struct slice value);
/* Does a list with colons between its words have this one, in any case? */
bool dkim_list_has(struct slice list, const char *word);

/* ---- choose.c: which signatures are read ------------------------------ */

struct dkim_candidate {
	struct header_field written;
	size_t		rank;	/* how much of its end d= shares with the
				 * author's domain */
	size_t		place;	/* in the header */
};

struct dkim_choice {		/* of any number of signatures */
	struct slice	author;	/* or empty */
	struct dkim_candidate rows[DKIM_READ_MAX]; /* the highest rank first,
				 * then as in the header */
	size_t		count, found;
};

/* One more signature of a header; the lowest rank goes when there is no
 * room. */
void dkim_choose(struct dkim_choice *choice, const struct header_field *field);

/* ---- field.c: a signature as written (section 3.5) ----------------- */

struct dkim_field {
	struct header_field field;
	struct slice	b_at;		/* the value of b= within it */
	enum verify_kind kind;
	bool		is_relaxed_header, is_relaxed_body;
	struct slice	names;		/* h= */
	struct slice	signature, body_sum; /* bytes */
	uint64_t	length;		/* l=; UINT64_MAX: not said */
	uint64_t	ends_s;		/* x=; UINT64_MAX: not said */
	struct slice	instance, seen;	/* i= and cv= of ARC; .p NULL: not
					 * said */
};

enum {
	DKIM_HEADER_FIELDS_MAX = 5000,	/* of a message */
	DKIM_KEY_BITS_MIN = 1024	/* RFC 8301 */
};

/* The fields of ARC are similar (RFC 8617 sections 4.1.2, 4.1.3): they have no
 * v=; i= is a number; a seal has no h= and no body. */
enum dkim_dialect { DKIM_SIGNATURE, DKIM_ARC_MESSAGE, DKIM_ARC_SEAL };

/* Read a field, and fill in the members of out that it has.  false: out has
 * result and reason. */
bool dkim_field_read(const struct header_field *field,
    enum dkim_dialect dialect, struct arena *arena, struct dkim_field *into,
    struct dkim *out);

/* ---- key.c: a key as it is published (section 3.6) ----------------- */

struct dkim_key {
	struct slice	bytes;
	bool		is_testing, is_strict;	/* t=y, t=s */
};

/* Look up the key of a signature.  ORIGIN_PASS: *into is it; ORIGIN_ASKS; else
 * out has result and reason. */
enum origin dkim_key_find(struct answers *answers,
    const struct dkim_field *field, struct arena *arena,
    struct dkim_key *into, struct dkim *out);

/* ---- canon.c: what is signed (sections 3.4, 3.7) ------------------- */

/* The sum of the first length bytes of a body. */
struct dkim_body_want {
	uint64_t	length;
	unsigned char	sum[DIGEST_SHA256_BYTES];
};

/* Make the sums of a body in a canonical form, of all lengths in one walk; they
 * ascend.  *out_bytes: how many bytes that form has altogether.  0 or -1. */
int dkim_body_sums(struct slice body, bool is_relaxed,
    struct dkim_body_want wants[], size_t count, uint64_t *out_bytes);

/* The sum of the first length bytes of a body in its canonical form.
 * *out_bytes: how many bytes that form has altogether.  0 or -1. */
int dkim_body_sum(struct slice body, bool is_relaxed, uint64_t length,
    unsigned char *out_sum, uint64_t *out_bytes);

/* Append the header as it is signed: the fields that are named, from below,
 * then the signature without its value. */
void dkim_add_signed_header(struct str *out, struct arena *arena,
    const struct header_field *fields, size_t count,
    const struct dkim_field *signature);

/* Append a field in its canonical form, without its line end and without the
 * bytes of hole (which may be empty). */
void dkim_add_field(struct str *out, const struct header_field *field,
    struct slice hole, bool is_relaxed);

#endif

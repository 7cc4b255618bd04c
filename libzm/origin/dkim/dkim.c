/* dkim.c - who signed this message?
 *
 * In     a message, answers, the time of receipt
 * Out    a judgement for each signature
 * Trusts nobody: signatures, fields and tags are bounded
 * Spec   RFC 6376 section 6.1, RFC 8301, RFC 8463
 *
 * All keys are asked for before the first body is summed up, and bodies that
 * are signed in the same form are summed up once.  A large body with another
 * l= in each signature would cost a sum for each: there are BODY_SUMS_MAX.  By
 * rank, which is how much of its end a domain shares with the author's, it is
 * decided which signatures these limits leave out.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "origin/dkim/internal.h"
#include "tls/digest.h"

#include "base/banned.h"

enum {
	BODY_SUMS_MAX = 3,	/* both forms, and one with l= */
	FIELDS_AT_FIRST = 40,
	DOMAIN_BYTES_MAX = 253
};

struct signature {
	struct header_field written;
	size_t		  rank;
	struct dkim_field field;
	struct dkim_key	  key;
	bool		  is_good;	/* so far */
	unsigned char	  sum[DIGEST_SHA256_BYTES];
	uint64_t	  body_bytes;
	bool		  is_summed;	/* the two above are there */
};

struct judging {
	struct arena	*arena;
	struct answers	*answers;
	int64_t		 received_s;
	struct slice	 author;
	struct header_field *fields;
	size_t		 field_count;	/* of the header, kept or not */
	size_t		 field_room;
	struct slice	 body;
	struct signature signatures[DKIM_SIGNATURES_MAX];
	struct dkim	*out;
	size_t		 count;
	unsigned	 body_sums;	/* made */
};

static void
judging_end(struct judging *judging, size_t row, enum origin origin,
    const char *reason)
{
	judging->out[row].origin = origin;
	judging->out[row].reason = reason;
	judging->signatures[row].is_good = false;
}

/* ---- reading ---------------------------------------------------------- */

/* Keep a field, but no more than DKIM_HEADER_FIELDS_MAX.  Room for all of them
 * at once would cost a message of ten fields more than its body does. */
static void
judging_keep_field(struct judging *judging, const struct header_field *field)
{
	struct header_field *grown;

	if (judging->field_count++ >= DKIM_HEADER_FIELDS_MAX)
		return;
	if (judging->field_count > judging->field_room) {
		judging->field_room = judging->field_room == 0 ?
		    FIELDS_AT_FIRST : judging->field_room * 2;
		grown = arena_alloc(judging->arena,
		    judging->field_room * sizeof(*grown));
		if (judging->field_count > 1)
			memcpy(grown, judging->fields,
			    (judging->field_count - 1) * sizeof(*grown));
		judging->fields = grown;
	}
	judging->fields[judging->field_count - 1] = *field;
}

/* How many bytes of its end a domain shares with the author's, in whole
 * labels; the author's own has one more than any below it. */
static size_t
judging_rank(const struct judging *judging, struct slice domain)
{
	struct slice author = judging->author;
	size_t n = 0, shared = 0;

	while (n < domain.n && n < author.n &&
	    ascii_lower(domain.p[domain.n - n - 1]) ==
	    ascii_lower(author.p[author.n - n - 1])) {
		n++;
		if ((n == domain.n || domain.p[domain.n - n - 1] == '.') &&
		    (n == author.n || author.p[author.n - n - 1] == '.'))
			shared = n;
	}
	return shared > 0 && domain.n == author.n && shared == domain.n ?
	    shared + 1 : shared;
}

/* Of a signature that is not read yet; thousands take no memory. */
static size_t
judging_rank_of_field(const struct judging *judging,
    const struct header_field *field)
{
	char domain[DOMAIN_BYTES_MAX];
	struct dkim_tags tags;
	struct slice d;
	size_t n = 0;

	if (field->whole.n > DKIM_FIELD_MAX ||
	    !dkim_tags_read(field->value, &tags))
		return 0;
	d = dkim_tag(&tags, "d");
	for (size_t i = 0; i < d.n; i++) {
		if (ascii_is_space(d.p[i]))
			continue;
		if (n == sizeof(domain))
			return 0;
		domain[n++] = d.p[i];
	}
	return judging_rank(judging, (struct slice){ domain, n });
}

/* One more than there is room for: the last of the lowest rank goes, which may
 * be this one.  Those that stay are in the order of the header. */
static void
judging_replace(struct judging *judging, const struct header_field *field)
{
	struct signature *all = judging->signatures;
	struct signature next = { .written = *field,
	    .rank = judging_rank_of_field(judging, field) };
	size_t lowest = DKIM_SIGNATURES_MAX - 1;

	for (size_t i = lowest; i-- > 0;)
		if (all[i].rank < all[lowest].rank)
			lowest = i;
	if (all[lowest].rank >= next.rank)
		return;
	memmove(&all[lowest], &all[lowest + 1],
	    (DKIM_SIGNATURES_MAX - 1 - lowest) * sizeof(*all));
	all[DKIM_SIGNATURES_MAX - 1] = next;
}

static void
judging_choose(struct judging *judging, const struct header_field *field,
    size_t found)
{
	if (found <= DKIM_SIGNATURES_MAX) {
		judging->signatures[judging->count++].written = *field;
		return;
	}
	if (judging->author.n == 0 ||
	    judging->field_count > DKIM_HEADER_FIELDS_MAX)
		return;		/* none is better, or can pass */
	for (size_t i = 0; found == DKIM_SIGNATURES_MAX + 1 &&
	    i < judging->count; i++)
		judging->signatures[i].rank = judging_rank_of_field(judging,
		    &judging->signatures[i].written);
	judging_replace(judging, field);
}

static void
judging_read(struct judging *judging, struct slice message, size_t *out_found)
{
	struct header_field field;
	bool is_broken = false;

	*out_found = 0;
	while (header_next(&message, &field, &is_broken)) {
		judging_keep_field(judging, &field);
		if (header_is(&field, "DKIM-Signature"))
			judging_choose(judging, &field, ++*out_found);
	}
	judging->body = message;
	for (size_t i = 0; i < judging->count; i++) {
		struct signature *one = &judging->signatures[i];

		one->is_good = dkim_field_read(&one->written, DKIM_SIGNATURE,
		    judging->arena, &one->field, &judging->out[i]);
		one->rank = judging_rank(judging, judging->out[i].domain);
	}
}

/* ---- judging ------------------------------------------------------------ */

/* Of a header that was not kept whole it is not known which field is the last
 * of its name, nor that there is no other one. */
static void
judging_whole(struct judging *judging, size_t row)
{
	if (judging->field_count > DKIM_HEADER_FIELDS_MAX)
		judging_end(judging, row, ORIGIN_PERMERROR, arena_printf(
		    judging->arena, "the header has more than %d fields",
		    (int)DKIM_HEADER_FIELDS_MAX));
}

static void
judging_time(struct judging *judging, size_t row)
{
	uint64_t ends_s = judging->signatures[row].field.ends_s;

	if (ends_s != UINT64_MAX && judging->received_s > 0 &&
	    ends_s < (uint64_t)judging->received_s)
		judging_end(judging, row, ORIGIN_FAIL,
		    "the signature ended (x=) before the message came");
}

/* returns whether the key must be asked for */
static bool
judging_key(struct judging *judging, size_t row)
{
	struct signature *signature = &judging->signatures[row];
	enum origin origin = dkim_key_find(judging->answers,
	    &signature->field, judging->arena, &signature->key,
	    &judging->out[row]);

	signature->is_good = origin == ORIGIN_PASS;
	return origin == ORIGIN_ASKS;
}

/* Another signature whose body has the same sum; or NULL. */
static const struct signature *
judging_same_body(const struct judging *judging, size_t row)
{
	const struct dkim_field *mine = &judging->signatures[row].field;

	for (size_t i = 0; i < judging->count; i++) {
		const struct dkim_field *one = &judging->signatures[i].field;

		if (judging->signatures[i].is_summed &&
		    one->is_relaxed_body == mine->is_relaxed_body &&
		    one->length == mine->length)
			return &judging->signatures[i];
	}
	return NULL;
}

static void
judging_body(struct judging *judging, size_t row)
{
	struct signature *mine = &judging->signatures[row];
	const struct signature *same = judging_same_body(judging, row);
	uint64_t length = mine->field.length;

	if (same != NULL) {
		memcpy(mine->sum, same->sum, sizeof(mine->sum));
		mine->body_bytes = same->body_bytes;
	} else if (judging->body_sums++ >= BODY_SUMS_MAX) {
		judging_end(judging, row, ORIGIN_PERMERROR, arena_printf(
		    judging->arena, "the signatures want the body summed up "
		    "in more than %d ways (l=, c=)", (int)BODY_SUMS_MAX));
		return;
	} else if (dkim_body_sum(judging->body, mine->field.is_relaxed_body,
	    length, mine->sum, &mine->body_bytes) != 0) {
		judging_end(judging, row, ORIGIN_TEMPERROR,
		    "the body could not be summed up");
		return;
	}
	mine->is_summed = true;
	if (length != UINT64_MAX && length > mine->body_bytes)
		judging_end(judging, row, ORIGIN_FAIL,
		    "the body is shorter than what was signed (l=)");
	else if (mine->field.body_sum.n != sizeof(mine->sum) ||
	    memcmp(mine->field.body_sum.p, mine->sum, sizeof(mine->sum)) != 0)
		judging_end(judging, row, ORIGIN_FAIL,
		    "the body is not as it was signed");
	else if (length != UINT64_MAX)
		judging->out[row].unsigned_bytes = mine->body_bytes - length;
}

static void
judging_signature(struct judging *judging, size_t row)
{
	struct signature *mine = &judging->signatures[row];
	struct dkim *out = &judging->out[row];
	struct str header = STR_INIT;
	enum verify_result result;

	dkim_add_signed_header(&header, judging->arena, judging->fields,
	    judging->field_count, &mine->field);
	result = verify_signature(mine->field.kind, mine->key.bytes,
	    str_slice(&header), mine->field.signature, &out->key_bits);
	str_release(&header);
	if (result == VERIFY_NO_KEY)
		judging_end(judging, row, ORIGIN_PERMERROR, arena_printf(
		    judging->arena, "the key %.*s._domainkey.%.*s cannot be "
		    "read", SLICE_ARG(out->selector), SLICE_ARG(out->domain)));
	else if (mine->field.kind == VERIFY_RSA_SHA256 &&
	    out->key_bits < DKIM_KEY_BITS_MIN)
		judging_end(judging, row, ORIGIN_FAIL, arena_printf(
		    judging->arena, "a key of %u bits proves nothing any more "
		    "(RFC 8301)", out->key_bits));
	else if (result == VERIFY_WRONG)
		judging_end(judging, row, ORIGIN_FAIL, "the header is not as "
		    "it was signed, or another key signed it");
	else
		judging_end(judging, row, ORIGIN_PASS, out->unsigned_bytes >
		    0 ? arena_printf(judging->arena, "signed, but for the "
		    "last %llu bytes of the body (l=)",
		    (unsigned long long)out->unsigned_bytes) : "signed");
}

/* The good one of the highest rank, of several the first; false: none is left.
 * Each that was judged is good no more. */
static bool
judging_next(const struct judging *judging, size_t *out_row)
{
	bool has_one = false;

	for (size_t i = 0; i < judging->count; i++)
		if (judging->signatures[i].is_good && (!has_one ||
		    judging->signatures[i].rank >
		    judging->signatures[*out_row].rank)) {
			*out_row = i;
			has_one = true;
		}
	return has_one;
}

static enum origin
judging_result(const struct judging *judging)
{
	enum origin result = judging->count == 0 ? ORIGIN_NONE : ORIGIN_FAIL;

	for (size_t i = 0; i < judging->count; i++) {
		if (judging->out[i].origin == ORIGIN_PASS)
			return ORIGIN_PASS;
		if (judging->out[i].origin == ORIGIN_TEMPERROR)
			result = ORIGIN_TEMPERROR;
	}
	return result;
}

enum origin
dkim_judge(struct answers *answers, const struct dkim_ask *ask,
    struct arena *arena, struct dkim *out, size_t *out_n, size_t *out_found)
{
	struct judging judging = { .arena = arena, .answers = answers,
	    .received_s = ask->received_s, .author = ask->author,
	    .out = out };
	size_t row = 0;
	bool asks = false;

	judging_read(&judging, ask->message, out_found);
	*out_n = judging.count;
	for (size_t i = 0; i < judging.count; i++) {
		judging_whole(&judging, i);
		if (judging.signatures[i].is_good)
			judging_time(&judging, i);
		if (judging.signatures[i].is_good)
			asks |= judging_key(&judging, i);
	}
	if (asks)
		return ORIGIN_ASKS;
	while (judging_next(&judging, &row)) {
		judging_body(&judging, row);
		if (judging.signatures[row].is_good)
			judging_signature(&judging, row);
	}
	return judging_result(&judging);
}

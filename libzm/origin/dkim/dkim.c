/* dkim.c - who signed this message?
 *
 * In     a message, answers, the time of receipt
 * Out    a judgement for each signature
 * Trusts nobody: signatures, fields and tags are bounded
 * Spec   RFC 6376 section 6.1, RFC 8301, RFC 8463
 *
 * All keys are asked for before the body is summed up, and that is done once in
 * each form.  What costs nothing is done for all signatures that are read, and
 * so leaves the costly steps to those that may pass.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "origin/dkim/internal.h"

#include "base/banned.h"

enum { FIELDS_AT_FIRST = 40 };

struct signature {
	struct dkim_field field;
	struct dkim_key	  key;
	bool		  is_good;	/* so far */
	bool		  has_room;	/* its key may be asked for */
	size_t		  rank, place;	/* dkim_candidate */
	struct dkim	  out;
};

struct judging {
	struct arena	*arena;		/* of this call alone */
	struct answers	*answers;
	int64_t		 received_s;
	struct header_field *fields;
	size_t		 field_count;	/* of the header, kept or not */
	size_t		 field_room;
	struct slice	 body;
	struct signature *signatures;	/* the highest rank first */
	size_t		 count;
	size_t		 header_bytes;	/* summed up */
};

static void
signature_end(struct signature *one, enum origin origin, const char *reason)
{
	one->out.origin = origin;
	one->out.reason = reason;
	one->is_good = false;
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

static void
judging_read(struct judging *judging, struct slice message,
    struct dkim_choice *choice)
{
	struct header_field field;
	bool is_broken = false;

	while (header_next(&message, &field, &is_broken)) {
		judging_keep_field(judging, &field);
		if (!header_is(&field, "DKIM-Signature"))
			continue;
		if (judging->field_count <= DKIM_HEADER_FIELDS_MAX ||
		    choice->count == 0)
			dkim_choose(choice, &field);
		else
			choice->found++;	/* none can pass */
	}
	judging->body = message;
	judging->count = choice->count;
	judging->signatures = arena_alloc(judging->arena, (choice->count + 1) *
	    sizeof(*judging->signatures));
	for (size_t i = 0; i < choice->count; i++) {
		struct signature *one = &judging->signatures[i];

		one->rank = choice->rows[i].rank;
		one->place = choice->rows[i].place;
		one->is_good = dkim_field_read(&choice->rows[i].written,
		    DKIM_SIGNATURE, judging->arena, &one->field, &one->out);
	}
}

/* ---- what costs nothing ------------------------------------------------- */

/* Of a header that was not kept whole it is not known which field is the last
 * of its name, nor that there is no other one. */
static void
judging_whole(struct judging *judging, struct signature *one)
{
	if (judging->field_count > DKIM_HEADER_FIELDS_MAX)
		signature_end(one, ORIGIN_PERMERROR, arena_printf(
		    judging->arena, "the header has more than %d fields",
		    (int)DKIM_HEADER_FIELDS_MAX));
}

static void
judging_time(struct judging *judging, struct signature *one)
{
	uint64_t ends_s = one->field.ends_s;

	if (ends_s != UINT64_MAX && judging->received_s > 0 &&
	    ends_s < (uint64_t)judging->received_s)
		signature_end(one, ORIGIN_FAIL,
		    "the signature ended (x=) before the message came");
}

/* ---- keys --------------------------------------------------------------- */

static bool
signature_has_key_of(const struct signature *a, const struct signature *b)
{
	return slice_equal_nocase(a->out.domain, b->out.domain) &&
	    slice_equal_nocase(a->out.selector, b->out.selector);
}

/* Has this one's key room?  Several by one key are one look-up. */
static void
judging_room(struct judging *judging, size_t row, size_t *names)
{
	struct signature *mine = &judging->signatures[row];

	for (size_t i = 0; i < row && !mine->has_room; i++)
		mine->has_room = judging->signatures[i].has_room &&
		    signature_has_key_of(&judging->signatures[i], mine);
	if (mine->has_room)
		return;
	mine->has_room = *names < DKIM_KEYS_MAX;
	*names += mine->has_room;
	if (!mine->has_room)
		signature_end(mine, ORIGIN_PERMERROR, arena_printf(
		    judging->arena, "the signatures name more than %d keys, "
		    "and those nearest the author are looked up",
		    (int)DKIM_KEYS_MAX));
}

/* Find the keys of all that can be good.  returns whether some must be asked
 * for */
static bool
judging_keys(struct judging *judging)
{
	size_t names = 0;
	bool asks = false;

	for (size_t i = 0; i < judging->count; i++) {
		struct signature *one = &judging->signatures[i];
		enum origin origin;

		if (one->is_good)
			judging_whole(judging, one);
		if (one->is_good)
			judging_time(judging, one);
		if (one->is_good)
			judging_room(judging, i, &names);
		if (!one->is_good)
			continue;
		origin = dkim_key_find(judging->answers, &one->field,
		    judging->arena, &one->key, &one->out);
		one->is_good = origin == ORIGIN_PASS;
		asks |= origin == ORIGIN_ASKS;
	}
	return asks;
}

/* ---- the body ----------------------------------------------------------- */

/* Put a length where it belongs, once. */
static void
wants_add(struct dkim_body_want wants[], size_t *count, uint64_t length)
{
	size_t at = *count;

	while (at > 0 && wants[at - 1].length > length)
		at--;
	if (at > 0 && wants[at - 1].length == length)
		return;
	memmove(&wants[at + 1], &wants[at], (*count - at) * sizeof(*wants));
	wants[at].length = length;
	(*count)++;
}

static void
signature_hold(struct signature *one, const unsigned char *sum,
    uint64_t body_bytes)
{
	uint64_t length = one->field.length;

	if (length != UINT64_MAX && length > body_bytes)
		signature_end(one, ORIGIN_FAIL,
		    "the body is shorter than what was signed (l=)");
	else if (one->field.body_sum.n != DIGEST_SHA256_BYTES ||
	    memcmp(one->field.body_sum.p, sum, DIGEST_SHA256_BYTES) != 0)
		signature_end(one, ORIGIN_FAIL,
		    "the body is not as it was signed");
	else if (length != UINT64_MAX)
		one->out.unsigned_bytes = body_bytes - length;
}

/* Hold the body against all that signed it in a form. */
static void
judging_body(struct judging *judging, bool is_relaxed)
{
	struct dkim_body_want wants[DKIM_READ_MAX];
	size_t count = 0, at;
	uint64_t bytes;
	bool is_broken;

	for (size_t i = 0; i < judging->count; i++)
		if (judging->signatures[i].is_good &&
		    judging->signatures[i].field.is_relaxed_body == is_relaxed)
			wants_add(wants, &count,
			    judging->signatures[i].field.length);
	if (count == 0)
		return;
	is_broken = dkim_body_sums(judging->body, is_relaxed, wants, count,
	    &bytes) != 0;
	for (size_t i = 0; i < judging->count; i++) {
		struct signature *one = &judging->signatures[i];

		if (!one->is_good || one->field.is_relaxed_body != is_relaxed)
			continue;
		for (at = 0; wants[at].length != one->field.length;)
			at++;
		if (is_broken)
			signature_end(one, ORIGIN_TEMPERROR,
			    "the body could not be summed up");
		else
			signature_hold(one, wants[at].sum, bytes);
	}
}

/* ---- the signature itself ----------------------------------------------- */

static void
judging_signature(struct judging *judging, struct signature *mine)
{
	struct dkim *out = &mine->out;
	struct str header = STR_INIT;
	enum verify_result result;

	dkim_add_signed_header(&header, judging->arena, judging->fields,
	    judging->field_count, &mine->field);
	judging->header_bytes += header.len;
	result = verify_signature(mine->field.kind, mine->key.bytes,
	    str_slice(&header), mine->field.signature, &out->key_bits);
	str_release(&header);
	if (result == VERIFY_NO_KEY)
		signature_end(mine, ORIGIN_PERMERROR, arena_printf(
		    judging->arena, "the key %.*s._domainkey.%.*s cannot be "
		    "read", SLICE_ARG(out->selector), SLICE_ARG(out->domain)));
	else if (mine->field.kind == VERIFY_RSA_SHA256 &&
	    out->key_bits < DKIM_KEY_BITS_MIN)
		signature_end(mine, ORIGIN_FAIL, arena_printf(
		    judging->arena, "a key of %u bits proves nothing any more "
		    "(RFC 8301)", out->key_bits));
	else if (result == VERIFY_WRONG)
		signature_end(mine, ORIGIN_FAIL, "the header is not as "
		    "it was signed, or another key signed it");
	else
		signature_end(mine, ORIGIN_PASS, out->unsigned_bytes == 0 ?
		    "signed" : arena_printf(judging->arena, "signed, but for "
		    "the last %llu bytes of the body (l=), which anybody can "
		    "have written", (unsigned long long)out->unsigned_bytes));
}

static void
judging_signatures(struct judging *judging)
{
	size_t checked = 0;

	for (size_t i = 0; i < judging->count; i++) {
		struct signature *one = &judging->signatures[i];

		if (!one->is_good)
			continue;
		if (checked++ < DKIM_VERIFIED_MAX &&
		    judging->header_bytes < DKIM_HEADERS_BYTES)
			judging_signature(judging, one);
		else
			signature_end(one, ORIGIN_PERMERROR, "there are too "
			    "many signatures, or too long headers, and those "
			    "nearest the author are checked");
	}
}

/* ---- what is told -------------------------------------------------------- */

static enum origin
judging_result(const struct judging *judging)
{
	enum origin result = judging->count == 0 ? ORIGIN_NONE : ORIGIN_FAIL;

	for (size_t i = 0; i < judging->count; i++) {
		enum origin one = judging->signatures[i].out.origin;

		if (one == ORIGIN_PASS)
			return ORIGIN_PASS;
		if (one == ORIGIN_TEMPERROR)
			result = ORIGIN_TEMPERROR;
	}
	return result;
}

/* Is a told of before b?  A look-up that failed near the author is worth more
 * than a stranger's good signature: it may speak for the author later. */
static bool
signature_comes_first(const struct signature *a, const struct signature *b)
{
	enum origin mine = a->out.origin, other = b->out.origin;
	bool is_sound = mine == ORIGIN_PASS || mine == ORIGIN_TEMPERROR;

	if (is_sound != (other == ORIGIN_PASS || other == ORIGIN_TEMPERROR))
		return is_sound;
	if (a->rank != b->rank)
		return a->rank > b->rank;
	if (mine != other && is_sound)
		return mine == ORIGIN_PASS;
	return a->place < b->place;
}

static void
judging_tell_one(struct arena *arena, const struct dkim *from, struct dkim *out)
{
	*out = *from;
	out->domain = slice_copy(arena, from->domain);
	out->selector = slice_copy(arena, from->selector);
	out->identity = slice_copy(arena, from->identity);
	out->algorithm = slice_copy(arena, from->algorithm);
	out->signature = slice_copy(arena, from->signature);
	out->reason = slice_dup(arena, slice_of(from->reason));
}

/* Copy what is told of into an arena that lasts. */
static void
judging_tell(const struct judging *judging, struct arena *arena,
    struct dkim *out, size_t *out_n)
{
	const struct signature *told[DKIM_SIGNATURES_MAX + 1];
	size_t n = 0, at;

	for (size_t i = 0; i < judging->count; i++) {
		const struct signature *one = &judging->signatures[i];

		for (at = n; at > 0 && signature_comes_first(one,
		    told[at - 1]); at--)
			told[at] = told[at - 1];
		told[at] = one;
		n += n < DKIM_SIGNATURES_MAX;
	}
	for (size_t i = 1; i < n; i++) {	/* as in the header */
		const struct signature *one = told[i];

		for (at = i; at > 0 && told[at - 1]->place > one->place; at--)
			told[at] = told[at - 1];
		told[at] = one;
	}
	for (size_t i = 0; i < n; i++)
		judging_tell_one(arena, &told[i]->out, &out[i]);
	*out_n = n;
}

enum origin
dkim_judge(struct answers *answers, const struct dkim_ask *ask,
    struct arena *arena, struct dkim *out, size_t *out_n, size_t *out_found)
{
	struct judging judging = { .arena = arena_new(), .answers = answers,
	    .received_s = ask->received_s };
	struct dkim_choice *choice = arena_alloc(judging.arena,
	    sizeof(*choice));
	enum origin result = ORIGIN_ASKS;

	choice->author = ask->author;
	judging_read(&judging, ask->message, choice);
	*out_found = choice->found;
	*out_n = 0;
	if (!judging_keys(&judging)) {
		judging_body(&judging, false);
		judging_body(&judging, true);
		judging_signatures(&judging);
		judging_tell(&judging, arena, out, out_n);
		result = judging_result(&judging);
	}
	arena_free(&judging.arena);
	return result;
}

/* arc.c - who passed this message on?
 *
 * In     a message, answers, the time of receipt
 * Out    a judgement of its chain
 * Trusts nobody: read.c bounds what is judged, and one body is summed up
 * Spec   RFC 8617 section 5.2
 *
 * The last set says all about the message as it is: of it the signature and
 * the seal are verified.  Of those before it the seals are, each over all sets
 * up to its own; their signatures are of a message that was changed since.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "origin/arc/internal.h"
#include "tls/digest.h"

#include "base/banned.h"

static const char *
part_name(enum arc_kind kind)
{
	return kind == ARC_SEAL ? "seal" : "signature";
}

/* Look the key of a field up.  ORIGIN_PASS, ORIGIN_ASKS, else out tells. */
static enum origin
chain_key(struct arc_chain *chain, size_t row, enum arc_kind kind)
{
	struct arc_part *part = &chain->parts[row][kind];
	enum origin origin = dkim_key_find(chain->answers, &part->said,
	    chain->arena, &part->key, &part->out);

	if (origin == ORIGIN_PASS || origin == ORIGIN_ASKS)
		return origin;
	(void)arc_fail(chain, "the %s of set %zu: %s", part_name(kind),
	    row + 1, part->out.reason);
	if (origin == ORIGIN_TEMPERROR)
		chain->out->origin = ORIGIN_TEMPERROR;
	return chain->out->origin;
}

/* Is the text what this field signed? */
static enum origin
chain_verify(struct arc_chain *chain, size_t row, enum arc_kind kind,
    struct slice text)
{
	struct arc_part *part = &chain->parts[row][kind];
	const char *wrong = kind == ARC_SEAL ? "its set, or one before it, is "
	    "not as it was sealed" : "the header is not as it was signed";

	switch (verify_signature(part->said.kind, part->key.bytes, text,
	    part->said.signature, &part->out.key_bits)) {
	case VERIFY_NO_KEY:
		wrong = "its key cannot be read";
		break;
	case VERIFY_WRONG:
		break;
	case VERIFY_RIGHT:
		if (part->said.kind != VERIFY_RSA_SHA256 ||
		    part->out.key_bits >= DKIM_KEY_BITS_MIN)
			return ORIGIN_PASS;
		wrong = "its key is too short to prove anything";
		break;
	}
	return arc_fail(chain, "the %s of set %zu: %s", part_name(kind),
	    row + 1, wrong);
}

/* ---- the last set ----------------------------------------------------- */

static enum origin
chain_time(struct arc_chain *chain, size_t row)
{
	uint64_t ends_s = chain->parts[row][ARC_MESSAGE].said.ends_s;

	if (ends_s != UINT64_MAX && chain->received_s > 0 &&
	    ends_s < (uint64_t)chain->received_s)
		return arc_fail(chain, "the signature of set %zu ended (x=) "
		    "before the message came", row + 1);
	return ORIGIN_PASS;
}

static enum origin
chain_body(struct arc_chain *chain, size_t row)
{
	const struct dkim_field *said = &chain->parts[row][ARC_MESSAGE].said;
	unsigned char sum[DIGEST_SHA256_BYTES];
	uint64_t bytes;

	if (dkim_body_sum(chain->body, said->is_relaxed_body, said->length,
	    sum, &bytes) != 0)
		return arc_fail(chain, "the body could not be summed up");
	if (said->body_sum.n != sizeof(sum) ||
	    memcmp(said->body_sum.p, sum, sizeof(sum)) != 0)
		return arc_fail(chain, "the body is not as set %zu signed it",
		    row + 1);
	if (said->length != UINT64_MAX && said->length != bytes)
		return arc_fail(chain, "set %zu signed a part of the body "
		    "alone (l=)", row + 1);
	return ORIGIN_PASS;
}

/* What the signer saw: neither its signature nor its seal was there. */
static enum origin
chain_header(struct arc_chain *chain, size_t row)
{
	const struct arc_part *set = chain->parts[row];
	const char *mine = set[ARC_MESSAGE].field.whole.p;
	const char *seal = set[ARC_SEAL].field.whole.p;
	struct header_field *fields = arena_alloc(chain->arena,
	    chain->field_count * sizeof(*fields));
	struct str text = STR_INIT;
	enum origin origin;
	size_t n = 0;

	for (size_t i = 0; i < chain->field_count; i++)
		if (chain->fields[i].whole.p != mine &&
		    chain->fields[i].whole.p != seal)
			fields[n++] = chain->fields[i];
	dkim_add_signed_header(&text, chain->arena, fields, n,
	    &set[ARC_MESSAGE].said);
	origin = chain_verify(chain, row, ARC_MESSAGE, str_slice(&text));
	str_release(&text);
	return origin;
}

/* ---- seals ------------------------------------------------------------ */

/* All sets up to this one, in the order in which they were made, the
 * signature of the last seal left out (section 5.1.1). */
static void
chain_add_sealed(const struct arc_chain *chain, size_t row, struct str *out)
{
	static const struct slice none = { NULL, 0 };

	for (size_t i = 0; i <= row; i++)
		for (enum arc_kind kind = 0; kind < ARC_KINDS; kind++) {
			const struct arc_part *part = &chain->parts[i][kind];
			bool is_last = i == row && kind == ARC_SEAL;

			dkim_add_field(out, &part->field, is_last ?
			    part->said.b_at : none, true);
			if (!is_last)
				str_adds(out, "\r\n");
		}
}

static enum origin
chain_seal(struct arc_chain *chain, size_t row)
{
	struct str text = STR_INIT;
	enum origin origin;

	chain_add_sealed(chain, row, &text);
	origin = chain_verify(chain, row, ARC_SEAL, str_slice(&text));
	str_release(&text);
	return origin;
}

static enum origin
chain_last(struct arc_chain *chain)
{
	size_t row = chain->count - 1;
	enum origin message = chain_key(chain, row, ARC_MESSAGE), seal;

	if (message != ORIGIN_PASS && message != ORIGIN_ASKS)
		return message;
	seal = chain_key(chain, row, ARC_SEAL);
	if (seal != ORIGIN_PASS)
		return seal;
	if (message == ORIGIN_ASKS)
		return ORIGIN_ASKS;
	if (chain_time(chain, row) != ORIGIN_PASS ||
	    chain_body(chain, row) != ORIGIN_PASS ||
	    chain_header(chain, row) != ORIGIN_PASS)
		return ORIGIN_FAIL;
	return chain_seal(chain, row);
}

static enum origin
chain_others(struct arc_chain *chain)
{
	bool asks = false;
	enum origin origin;

	for (size_t row = chain->count - 1; row-- > 0;) {
		origin = chain_key(chain, row, ARC_SEAL);
		if (origin != ORIGIN_PASS && origin != ORIGIN_ASKS)
			return origin;
		asks |= origin == ORIGIN_ASKS;
	}
	if (asks)
		return ORIGIN_ASKS;
	for (size_t row = chain->count - 1; row-- > 0;)
		if (chain_seal(chain, row) != ORIGIN_PASS)
			return ORIGIN_FAIL;
	return ORIGIN_PASS;
}

enum origin
arc_judge(struct answers *answers, struct slice message, int64_t received_s,
    struct arena *arena, struct arc *out)
{
	struct arc_chain chain = { .arena = arena, .answers = answers,
	    .received_s = received_s, .out = out };
	enum origin origin = arc_read(&chain, message);

	if (origin != ORIGIN_PASS)
		return origin;
	origin = chain_last(&chain);
	if (origin == ORIGIN_PASS)
		origin = chain_others(&chain);
	out->origin = origin;
	if (origin == ORIGIN_PASS)
		out->reason = arena_printf(arena, "%zu set%s, the last of "
		    "%.*s", out->count, out->count == 1 ? "" : "s",
		    SLICE_ARG(out->sets[out->count - 1].domain));
	return origin;
}

/* dkim2.c - by whose hands came this message?
 *
 * In     a message with its envelope, answers
 * Out    a judgement of its chain
 * Trusts nobody: read.c bounds the chain, undo.c what recipes make, and bodies
 *        are summed up as long as DKIM2_SUMMED_MAX lasts
 * Spec   draft-ietf-dkim-dkim2-spec-04 section 11
 *
 * What costs nothing comes first, then all keys are asked for, then signatures
 * are verified, the last one first, and revisions, from the one that came
 * down to the first.
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "origin/dkim/internal.h"
#include "origin/dkim2/internal.h"

#include "base/banned.h"

/* ---- signatures ------------------------------------------------------- */

/* Of one signature.  Trouble with one key is the end, unless one that is
 * certainly wrong says more. */
static enum origin
chain_keys_of(struct dkim2_chain *chain, struct dkim2_signature *signature,
    bool *asks)
{
	size_t known = 0;

	for (size_t i = 0; i < signature->set_count; i++) {
		enum origin origin;

		if (!signature->sets[i].is_known)
			continue;
		known++;
		origin = dkim2_key_find(chain, signature,
		    &signature->sets[i]);
		*asks |= origin == ORIGIN_ASKS;
		if (origin != ORIGIN_PASS && origin != ORIGIN_ASKS)
			return origin;
	}
	return known > 0 ? ORIGIN_PASS : dkim2_end(chain, ORIGIN_FAIL,
	    "DKIM2-Signature i=%u has no signature of an algorithm that is "
	    "known", signature->number);
}

static enum origin
chain_keys(struct dkim2_chain *chain)
{
	bool asks = false;

	for (size_t i = chain->signature_count; i-- > 0;) {
		enum origin origin = chain_keys_of(chain,
		    &chain->signatures[i], &asks);

		if (origin != ORIGIN_PASS)
			return asks ? ORIGIN_ASKS : origin;
	}
	return asks ? ORIGIN_ASKS : ORIGIN_PASS;
}

static enum origin
chain_verify_set(struct dkim2_chain *chain,
    const struct dkim2_signature *signature, const struct dkim2_set *set,
    struct slice text)
{
	unsigned bits = 0;
	enum verify_result result = verify_signature(set->kind, set->key,
	    text, set->bytes, &bits);

	if (result == VERIFY_NO_KEY || (set->kind == VERIFY_RSA_SHA256 &&
	    bits < DKIM_KEY_BITS_MIN))
		return dkim2_end(chain, ORIGIN_PERMERROR, "DKIM2-Signature "
		    "i=%u public key %.*s._domainkey.%.*s %s",
		    signature->number, SLICE_ARG(set->selector),
		    SLICE_ARG(signature->domain), result == VERIFY_NO_KEY ?
		    "has a syntax error" : "is too short");
	if (result == VERIFY_WRONG)
		return dkim2_end(chain, ORIGIN_FAIL, "DKIM2-Signature i=%u "
		    "public key %.*s._domainkey.%.*s incorrect signature",
		    signature->number, SLICE_ARG(set->selector),
		    SLICE_ARG(signature->domain));
	return ORIGIN_PASS;
}

/* All that can be verified must be right. */
static enum origin
chain_verify_all(struct dkim2_chain *chain)
{
	enum origin origin = ORIGIN_PASS;

	for (size_t row = chain->signature_count; origin == ORIGIN_PASS &&
	    row-- > 0;) {
		const struct dkim2_signature *one = &chain->signatures[row];
		struct str text = STR_INIT;

		dkim2_add_signed(&text, chain, row);
		for (size_t i = 0; origin == ORIGIN_PASS &&
		    i < one->set_count; i++)
			if (one->sets[i].is_known)
				origin = chain_verify_set(chain, one,
				    &one->sets[i], str_slice(&text));
		str_release(&text);
	}
	return origin;
}

/* ---- revisions -------------------------------------------------------- */

struct chain_revision {		/* the one that is looked at */
	struct dkim2_content content;
	bool		 is_body_lost;
	bool		 has_body_sum;
	unsigned char	 body_sum[DIGEST_SHA256_BYTES];
	uint64_t	 summed;	/* bytes of bodies so far */
};

static enum origin
revision_body(struct dkim2_chain *chain, struct chain_revision *revision,
    const struct dkim2_instance *instance)
{
	if (!revision->has_body_sum) {
		uint64_t bytes = dkim2_body_bytes(&revision->content);

		if (revision->summed > 0 &&
		    revision->summed + bytes > DKIM2_SUMMED_MAX)
			return dkim2_end(chain, ORIGIN_PERMERROR, "Message-"
			    "Instance m=%u: its bodies are too much work",
			    instance->number);
		revision->summed += bytes;
		if (dkim2_body_sum(&revision->content, revision->body_sum) !=
		    0)
			return dkim2_end(chain, ORIGIN_TEMPERROR,
			    "the body could not be summed up");
		revision->has_body_sum = true;
	}
	if (memcmp(revision->body_sum, instance->body_sum.p,
	    sizeof(revision->body_sum)) == 0)
		return ORIGIN_PASS;
	return dkim2_end(chain, ORIGIN_FAIL, "Message-Instance m=%u body hash "
	    "sha256 mismatch", instance->number);
}

static enum origin
revision_sums(struct dkim2_chain *chain, struct chain_revision *revision,
    const struct dkim2_instance *instance)
{
	unsigned char sum[DIGEST_SHA256_BYTES];

	if (instance->header_sum.n == 0)
		return dkim2_end(chain, ORIGIN_FAIL, "Message-Instance m=%u "
		    "has no hash of an algorithm that is known",
		    instance->number);
	if (dkim2_header_sum(&revision->content, chain->arena, sum) != 0)
		return dkim2_end(chain, ORIGIN_TEMPERROR,
		    "the header could not be summed up");
	if (memcmp(sum, instance->header_sum.p, sizeof(sum)) != 0)
		return dkim2_end(chain, ORIGIN_FAIL, "Message-Instance m=%u "
		    "header hash sha256 mismatch", instance->number);
	if (revision->is_body_lost)
		return ORIGIN_PASS;
	chain->out->body_from = instance->number;
	return revision_body(chain, revision, instance);
}

/* To the revision before this one. */
static enum origin
revision_undo(struct dkim2_chain *chain, struct chain_revision *revision,
    const struct dkim2_instance *instance)
{
	const struct dkim2_recipe *recipe = &instance->recipe;
	struct err err;

	if (!instance->has_recipe || instance->number == 1)
		return ORIGIN_PASS;
	if (recipe->is_body_lost)
		revision->is_body_lost = true;
	if (recipe->has_body)
		revision->has_body_sum = false;
	if (revision->is_body_lost && recipe->has_body) {
		struct dkim2_recipe header = { .header = recipe->header };

		if (dkim2_undo(&header, chain->arena, &revision->content,
		    &err) == 0)
			return ORIGIN_PASS;
	} else if (dkim2_undo(recipe, chain->arena, &revision->content,
	    &err) == 0) {
		return ORIGIN_PASS;
	}
	return dkim2_end(chain, ORIGIN_PERMERROR, "Message-Instance m=%u "
	    "contains a recipe that does not fit: %s", instance->number,
	    err.text);
}

static enum origin
chain_revisions(struct dkim2_chain *chain)
{
	struct chain_revision revision = {
		.is_body_lost = chain->mail->is_header
	};
	enum origin origin = ORIGIN_PASS;

	if (!dkim2_content_read(chain->mail->message, chain->arena,
	    &revision.content))
		return dkim2_end(chain, ORIGIN_PERMERROR, "the header has "
		    "more than %d fields", (int)DKIM_HEADER_FIELDS_MAX);
	for (size_t i = chain->instance_count; origin == ORIGIN_PASS &&
	    i-- > 0;) {
		origin = revision_sums(chain, &revision,
		    &chain->instances[i]);
		if (origin == ORIGIN_PASS)
			origin = revision_undo(chain, &revision,
			    &chain->instances[i]);
	}
	return origin;
}

/* ---- all of it -------------------------------------------------------- */

static enum origin
chain_judge(struct dkim2_chain *chain)
{
	enum origin origin = dkim2_custody(chain);

	if (origin == ORIGIN_PASS)
		origin = chain_keys(chain);
	if (origin == ORIGIN_PASS)
		origin = chain_verify_all(chain);
	if (origin == ORIGIN_PASS)
		origin = chain_revisions(chain);
	if (origin == ORIGIN_PASS)
		origin = dkim2_wishes(chain);
	return origin;
}

static void
chain_passes(struct dkim2_chain *chain)
{
	const struct dkim2 *out = chain->out;
	const struct dkim2_hop *last = &out->hops[out->count - 1];

	if (chain->mail->is_header)
		(void)dkim2_end(chain, ORIGIN_PASS, "%zu hop%s, the last of "
		    "%.*s; the header alone", out->count,
		    out->count == 1 ? "" : "s", SLICE_ARG(last->domain));
	else if (out->body_from > 1)
		(void)dkim2_end(chain, ORIGIN_PASS, "%zu hop%s, the last of "
		    "%.*s; what the body was before revision %u is not known",
		    out->count, out->count == 1 ? "" : "s",
		    SLICE_ARG(last->domain), out->body_from);
	else
		(void)dkim2_end(chain, ORIGIN_PASS, "%zu hop%s, the last of "
		    "%.*s", out->count, out->count == 1 ? "" : "s",
		    SLICE_ARG(last->domain));
}

enum origin
dkim2_judge(struct answers *answers, const struct dkim2_mail *mail,
    struct arena *arena, struct dkim2 *out)
{
	struct dkim2_chain chain = { .arena = arena, .answers = answers,
	    .mail = mail, .out = out };
	enum origin origin = dkim2_read(&chain);

	if (origin != ORIGIN_PASS)
		return origin;
	origin = chain_judge(&chain);
	if (origin == ORIGIN_PASS)
		chain_passes(&chain);
	else
		out->origin = origin;
	return origin;
}

bool
dkim2_bars_reports(enum origin origin)
{
	return origin != ORIGIN_NONE && origin != ORIGIN_PASS;
}

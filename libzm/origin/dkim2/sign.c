/* sign.c - a signature of ours in a chain of DKIM2, in the making
 *
 * In     a header as it came and as it leaves, the sum of a body, an envelope
 * Out    Message-Instance, DKIM2-Signature, and the sum to be signed
 * Holds  nothing
 * Trusts no chain that is there: what cannot be read is not signed on
 * Spec   draft-ietf-dkim-dkim2-spec-04 section 9
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "grammar/base64.h"
#include "origin/dkim2/internal.h"
#include "origin/dkim2/sign.h"

#include "base/banned.h"

bool
dkim2_sign_is_chain(struct slice header)
{
	struct header_field field;
	bool is_broken;

	while (header_next(&header, &field, &is_broken))
		if (header_is(&field, "DKIM2-Signature") ||
		    header_is(&field, "Message-Instance"))
			return true;
	return false;
}

bool
dkim2_sign_fits(struct slice domain, struct slice sender)
{
	return sender.n == 0 || dkim2_is_at_or_below(dkim2_domain_of(sender),
	    domain);
}

int
dkim2_sign_body(struct slice body, unsigned char *out)
{
	struct dkim2_piece piece = { body };
	struct dkim2_content content = { .pieces = &piece, .piece_count = 1 };

	return dkim2_body_sum(&content, out);
}

/* ---- texts ------------------------------------------------------------ */

static void
sign_add_path(struct str *out, struct slice address)
{
	struct str path = STR_INIT;

	str_addf(&path, "<" SLICE_FMT ">", SLICE_ARG(address));
	base64_add(out, str_slice(&path));
	str_release(&path);
}

static void
sign_add_sum(struct str *out, const unsigned char *sum)
{
	base64_add(out, (struct slice){ (const char *)sum,
	    DIGEST_SHA256_BYTES });
}

static const char *
sign_algorithm(enum verify_kind kind)
{
	return kind == VERIFY_RSA_SHA256 ? "rsa-sha256" : "ed25519-sha256";
}

/* ---- what is there ---------------------------------------------------- */

struct dkim2_making {
	const struct dkim2_sign *sign;
	struct arena	*arena;
	struct dkim2_chain chain;
	struct dkim2	 seen;
	struct dkim2_mail mail;
	struct dkim2_content after;
	unsigned char	 header_sum[DIGEST_SHA256_BYTES];
	unsigned	 number, revision;	/* of ours */
	struct dkim2_signing *out;
	struct err	*err;
};

static bool
sum_is(struct slice said, const unsigned char *sum)
{
	return said.n == DIGEST_SHA256_BYTES &&
	    memcmp(said.p, sum, DIGEST_SHA256_BYTES) == 0;
}

/* Was it sent to who sends it now? */
static int
making_custody(struct dkim2_making *making)
{
	const struct dkim2_signature *last =
	    &making->chain.signatures[making->chain.signature_count - 1];
	struct dkim2_signature mine = { .number = last->number + 1,
	    .domain = making->sign->domain, .from = making->sign->sender };

	if (last->number == DKIM2_HOPS_MAX ||
	    last->revision == DKIM2_HOPS_MAX)
		return err_set(making->err, "its chain is too long");
	if (dkim2_custody_step(&making->chain, last, &mine) != ORIGIN_PASS)
		return err_set(making->err, "%s", making->seen.reason);
	making->number = last->number + 1;
	making->revision = last->revision;
	return 0;
}

static int
making_add_instance(struct dkim2_making *making, struct slice recipe)
{
	struct str text = STR_INIT;

	str_addf(&text, "Message-Instance: m=%u;\n\th=sha256:",
	    ++making->revision);
	sign_add_sum(&text, making->header_sum);
	str_adds(&text, ":\n\t");
	sign_add_sum(&text, making->sign->body_sum);
	str_adds(&text, ";");
	if (recipe.n > 0) {
		str_adds(&text, "\n\tr=");
		base64_add_folded(&text, recipe);
		str_adds(&text, ";");
	}
	str_adds(&text, "\n");
	making->out->instance = slice_copy(making->arena, str_slice(&text));
	str_release(&text);
	return 0;
}

/* The header is another than the last revision's: what was it? */
static int
making_revise(struct dkim2_making *making,
    const struct dkim2_instance *last)
{
	unsigned char sum[DIGEST_SHA256_BYTES];
	struct dkim2_content before;
	struct str recipe = STR_INIT;
	int result;

	if (!dkim2_content_read(making->sign->before, making->arena, &before))
		return err_set(making->err, "its header has too many fields");
	if (dkim2_header_sum(&before, making->arena, sum) != 0 ||
	    !sum_is(last->header_sum, sum))
		return err_set(making->err, "its header was not as it was "
		    "signed when it came");
	result = dkim2_describe(&before, &making->after, making->arena,
	    &recipe, making->err);
	if (result == 0)
		result = making_add_instance(making, str_slice(&recipe));
	str_release(&recipe);
	return result;
}

static int
making_continue(struct dkim2_making *making)
{
	const struct dkim2_instance *last;

	if (making_custody(making) != 0)
		return -1;
	last = &making->chain.instances[making->revision - 1];
	if (!sum_is(last->body_sum, making->sign->body_sum))
		return err_set(making->err, "its body is not as it was "
		    "signed when it came");
	return sum_is(last->header_sum, making->header_sum) ? 0 :
	    making_revise(making, last);
}

/* What there is before us; then our revision, if there is one. */
static int
making_look(struct dkim2_making *making, struct slice header)
{
	making->mail = (struct dkim2_mail){ .message = header };
	making->chain = (struct dkim2_chain){ .arena = making->arena,
	    .mail = &making->mail, .out = &making->seen };
	if (!dkim2_content_read(header, making->arena, &making->after))
		return err_set(making->err, "its header has too many fields");
	if (dkim2_header_sum(&making->after, making->arena,
	    making->header_sum) != 0)
		return err_set(making->err, "its header cannot be summed up");
	switch (dkim2_read(&making->chain)) {
	case ORIGIN_PASS:
		return making_continue(making);
	case ORIGIN_NONE:
		if (dkim2_sign_is_chain(header))
			return err_set(making->err, "it has a "
			    "Message-Instance that nobody signed");
		making->number = 1;
		return making_add_instance(making, SLICE(""));
	default:
		return err_set(making->err, "%s", making->seen.reason);
	}
}

/* ---- what is signed --------------------------------------------------- */

static void
making_add_flags(struct str *out, unsigned flags)
{
	const char *before = " f=";

	for (unsigned flag = 1; flag <= DKIM2_FEEDHERE; flag <<= 1)
		if (flags & flag) {
			str_addf(out, "%s%s", before,
			    dkim2_flag_text((enum dkim2_flags)flag));
			before = ",";
		}
	if (flags != 0)
		str_addc(out, ';');
}

static void
making_add_head(struct dkim2_making *making)
{
	const struct dkim2_sign *sign = making->sign;
	struct str text = STR_INIT;

	str_addf(&text, "DKIM2-Signature: i=%u; m=%u; t=%" PRId64 ";"
	    "\n\td=" SLICE_FMT ";", making->number, making->revision,
	    sign->time_s, SLICE_ARG(sign->domain));
	making_add_flags(&text, sign->flags);
	str_adds(&text, "\n\tmf=");
	sign_add_path(&text, sign->sender);
	str_adds(&text, ";\n\trt=");
	for (size_t i = 0; i < sign->rcpt_count; i++) {
		if (i > 0)
			str_adds(&text, ",\n\t");
		sign_add_path(&text, sign->rcpts[i]);
	}
	str_adds(&text, ";");
	making->out->head = slice_copy(making->arena, str_slice(&text));
	str_release(&text);
}

/* The signature field; NULL: without signatures. */
static void
dkim2_signature_add(const struct dkim2_sign *sign,
    const struct dkim2_signing *signing, const struct slice *signatures,
    struct str *out)
{
	str_add_slice(out, signing->head);
	for (size_t i = 0; i < sign->key_count; i++) {
		const struct dkim2_sign_key *key = &sign->keys[i];

		str_addf(out, "%s" SLICE_FMT ":%s:\n\t", i == 0 ? "\n\ts=" :
		    ",\n\t", SLICE_ARG(key->selector),
		    sign_algorithm(key->kind));
		if (signatures != NULL)
			base64_add_folded(out, signatures[i]);
	}
	str_adds(out, ";\n");
}

static void
making_add_text(struct str *out, struct slice text)
{
	struct header_field field;
	bool is_broken;

	if (header_next(&text, &field, &is_broken))
		dkim2_add_field(out, &field, NULL);
}

static int
making_sum(struct dkim2_making *making)
{
	const struct dkim2_chain *chain = &making->chain;
	struct str text = STR_INIT, mine = STR_INIT;
	int result;

	for (size_t i = 0; i < chain->instance_count; i++)
		dkim2_add_field(&text, &chain->instances[i].field, NULL);
	making_add_text(&text, making->out->instance);
	for (size_t i = 0; i < chain->signature_count; i++)
		dkim2_add_field(&text, &chain->signatures[i].field, NULL);
	dkim2_signature_add(making->sign, making->out, NULL, &mine);
	making_add_text(&text, str_slice(&mine));
	result = digest(DIGEST_SHA256, str_slice(&text), making->out->sum);
	str_release(&text);
	str_release(&mine);
	return result == 0 ? 0 : err_set(making->err,
	    "the chain cannot be summed up");
}

int
dkim2_sign_begin(const struct dkim2_sign *sign, struct slice header,
    struct arena *arena, struct dkim2_signing *out, struct err *err)
{
	struct dkim2_making making = { .sign = sign, .arena = arena,
	    .out = out, .err = err };

	memset(out, 0, sizeof(*out));
	if (making_look(&making, header) != 0)
		return -1;
	making_add_head(&making);
	return making_sum(&making);
}

void
dkim2_sign_end(const struct dkim2_sign *sign,
    const struct dkim2_signing *signing, const struct slice *signatures,
    struct str *out)
{
	str_add_slice(out, signing->instance);
	dkim2_signature_add(sign, signing, signatures, out);
}

/* custody.c - who may have sent it where, and when
 *
 * In     signatures that were read, the envelope
 * Out    whether each hop is where the one before sent the message to, and
 *        the last one sent it here
 * Holds  nothing
 * Spec   draft-ietf-dkim-dkim2-spec-04 sections 9.2 to 9.4, 11.3, 11.4, 11.8
 *
 * SPDX-License-Identifier: ISC
 */
#include "origin/dkim2/internal.h"

#include "base/banned.h"

enum { DAY_S = 24 * 3600 };

/* The local part to the letter, the domain in any case. */
static bool
path_is(struct slice a, struct slice b)
{
	struct slice x = dkim2_domain_of(a), y = dkim2_domain_of(b);

	return slice_equal(slice_first(a, a.n - x.n),
	    slice_first(b, b.n - y.n)) && slice_equal_nocase(x, y);
}

/* ---- when ------------------------------------------------------------- */

static enum origin
custody_time(struct dkim2_chain *chain, const struct dkim2_signature *one)
{
	uint64_t now_s = (uint64_t)chain->mail->received_s;

	if (chain->mail->received_s <= 0)
		return ORIGIN_PASS;
	if (one->time_s + DKIM2_DAYS_MAX * DAY_S < now_s)
		return dkim2_end(chain, ORIGIN_PERMERROR, "DKIM2-Signature "
		    "i=%u signature expired", one->number);
	if (one->time_s > now_s + DAY_S)
		return dkim2_end(chain, ORIGIN_PERMERROR, "DKIM2-Signature "
		    "i=%u is of the future", one->number);
	return ORIGIN_PASS;
}

/* ---- from hop to hop -------------------------------------------------- */

/* Who signs sends for his own domain. */
static enum origin
custody_domain(struct dkim2_chain *chain, const struct dkim2_signature *one)
{
	if (one->next.n > 0 || one->from.n == 0 || dkim2_is_at_or_below(
	    dkim2_domain_of(one->from), one->domain))
		return ORIGIN_PASS;
	return dkim2_end(chain, ORIGIN_PERMERROR, "DKIM2-Signature i=%u MAIL "
	    "FROM and d= do not match", one->number);
}

/* What it was sent from is what the hop before sent it to.  Of who has no
 * address there, or a null one, the domain that signs is held against that. */
enum origin
dkim2_custody_step(struct dkim2_chain *chain,
    const struct dkim2_signature *before, const struct dkim2_signature *one)
{
	struct slice domain = one->next.n > 0 || one->from.n == 0 ?
	    one->domain : dkim2_domain_of(one->from);

	if (before->next.n > 0)
		return slice_equal(before->next, one->domain) ? ORIGIN_PASS :
		    dkim2_end(chain, ORIGIN_PERMERROR, "DKIM2-Signature i=%u "
		    "nd= does not match", before->number);
	for (size_t i = 0; i < before->to_count; i++)
		if (dkim2_is_at_or_below(domain,
		    dkim2_domain_of(before->to[i])))
			return ORIGIN_PASS;
	return dkim2_end(chain, ORIGIN_PERMERROR, "DKIM2-Signature i=%u MAIL "
	    "FROM <%.*s> did not match: i=%u did not send it there",
	    one->number, SLICE_ARG(slice_first(one->from, 256)),
	    before->number);
}

/* ---- here ------------------------------------------------------------- */

static bool
signature_is_to(const struct dkim2_signature *last, struct slice rcpt)
{
	for (size_t i = 0; i < last->to_count; i++)
		if (path_is(last->to[i], rcpt))
			return true;
	return false;
}

static enum origin
custody_here(struct dkim2_chain *chain, const struct dkim2_signature *last)
{
	const struct dkim2_mail *mail = chain->mail;

	if (last->next.n > 0)
		return dkim2_end(chain, ORIGIN_PERMERROR, "DKIM2-Signature "
		    "i=%u unexpected nd= tag", last->number);
	if (mail->has_sender && !path_is(last->from, mail->sender))
		return dkim2_end(chain, ORIGIN_PERMERROR, "DKIM2-Signature "
		    "i=%u MAIL FROM <%.*s> did not match", last->number,
		    SLICE_ARG(slice_first(mail->sender, 256)));
	for (size_t i = 0; i < mail->rcpt_count; i++)
		if (!signature_is_to(last, mail->rcpts[i]))
			return dkim2_end(chain, ORIGIN_PERMERROR,
			    "DKIM2-Signature i=%u RCPT TO <%.*s> did not "
			    "match", last->number,
			    SLICE_ARG(slice_first(mail->rcpts[i], 256)));
	return ORIGIN_PASS;
}

enum origin
dkim2_custody(struct dkim2_chain *chain)
{
	enum origin origin = ORIGIN_PASS;

	for (size_t i = 0; origin == ORIGIN_PASS && i < chain->signature_count;
	    i++) {
		const struct dkim2_signature *one = &chain->signatures[i];

		origin = custody_time(chain, one);
		if (origin == ORIGIN_PASS)
			origin = custody_domain(chain, one);
		if (origin == ORIGIN_PASS && i > 0)
			origin = dkim2_custody_step(chain, one - 1, one);
	}
	return origin == ORIGIN_PASS ? custody_here(chain,
	    &chain->signatures[chain->signature_count - 1]) : origin;
}

/* ---- what was asked not to be done ------------------------------------ */

/* A field that was there is not any more, or is another: it must be written
 * again. */
static bool
recipe_writes_fields(const struct dkim2_recipe *recipe)
{
	const struct dkim2_named *named = recipe->header;

	for (; named != NULL; named = named->next)
		for (const struct dkim2_step *step = named->steps;
		    step != NULL; step = step->next)
			if (!step->is_copy && dkim2_is_signed(named->name))
				return true;
	return false;
}

/* Is a revision after this one changed more than by fields that were added? */
static bool
chain_is_modified_after(const struct dkim2_chain *chain, unsigned revision)
{
	for (size_t i = revision; i < chain->instance_count; i++) {
		const struct dkim2_instance *one = &chain->instances[i];

		if (one->has_recipe && (one->recipe.has_body ||
		    recipe_writes_fields(&one->recipe)))
			return true;
	}
	return false;
}

enum origin
dkim2_wishes(struct dkim2_chain *chain)
{
	bool is_single = false;

	for (size_t i = 0; i < chain->signature_count; i++) {
		const struct dkim2_signature *one = &chain->signatures[i];

		if (is_single && (one->flags & DKIM2_EXPLODED))
			return dkim2_end(chain, ORIGIN_FAIL, "Message has "
			    "been exploded despite a donotexplode request");
		if ((one->flags & DKIM2_DONOTMODIFY) &&
		    chain_is_modified_after(chain, one->revision))
			return dkim2_end(chain, ORIGIN_FAIL, "Message has "
			    "been modified despite a donotmodify request");
		is_single |= (one->flags & DKIM2_DONOTEXPLODE) != 0;
	}
	return ORIGIN_PASS;
}

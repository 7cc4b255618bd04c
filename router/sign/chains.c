/* chains.c - the signatures of DKIM2 that a message gets, one a recipient
 *
 * In     a header as it leaves and as it came, a body, sender and recipient
 * Out    that header with our hop in front
 * Holds  nothing
 * Trusts no chain that came: what is not right is not signed on
 * Spec   zmailer.conf(5), sign; draft-ietf-dkim-dkim2-spec-04 section 9
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/sign/chains.h"

#include "base/clock.h"
#include "origin/dkim2/bounce.h"
#include "origin/dkim2/sign.h"

#include "base/banned.h"

/* ---- whose keys ------------------------------------------------------- */

/* Who has what a report returns signs the report: the row whose domain that
 * was sent to.  NULL: there is none, or it is no report. */
static const char *
chains_returned_domain(const struct chains *chains)
{
	const struct conf *conf = chains->signatures->conf;
	const struct dkim2_hop *hop = &chains->returned;

	for (size_t i = 0; i < conf->sign_count; i++)
		for (size_t k = 0; conf->signs[i].is_dkim2 &&
		    k < hop->to_count; k++)
			if (dkim2_sign_fits(slice_of(conf->signs[i].domain),
			    hop->to[k]))
				return conf->signs[i].domain;
	return NULL;
}

/* The domain of ours that sends: of the rows above the sender the one that is
 * nearest; of a null one that of From.  NULL: none. */
static const char *
chains_domain(const struct chains *chains, struct slice sender,
    struct slice header)
{
	const char *returned = sender.n == 0 ?
	    chains_returned_domain(chains) : NULL;
	const struct conf *conf = chains->signatures->conf;
	struct slice from = sender.n > 0 ? (struct slice){ NULL, 0 } :
	    signatures_domain(header, chains->arena);
	const char *best = NULL;

	if (returned != NULL)
		return returned;
	for (size_t i = 0; i < conf->sign_count; i++) {
		const struct conf_sign *row = &conf->signs[i];
		struct slice domain = slice_of(row->domain);

		if (!row->is_dkim2 || (sender.n > 0 ?
		    !dkim2_sign_fits(domain, sender) :
		    !slice_equal(domain, from)))
			continue;
		if (best == NULL || domain.n > slice_of(best).n)
			best = row->domain;
	}
	return best;
}

struct chain_keys {		/* of one domain, in the order of their rows */
	const struct conf_sign *rows[DKIM2_SETS_MAX];
	struct dkim2_sign_key keys[DKIM2_SETS_MAX];
	size_t		 count;
	bool		 else_send;
};

static int
chains_keys(struct chains *chains, const char *domain,
    struct chain_keys *out, struct err *err)
{
	const struct conf *conf = chains->signatures->conf;

	*out = (struct chain_keys){ .count = 0 };
	for (size_t i = 0; i < conf->sign_count; i++) {
		const struct conf_sign *row = &conf->signs[i];
		struct dkim2_sign_key *key = &out->keys[out->count];

		if (!row->is_dkim2 || out->count == DKIM2_SETS_MAX ||
		    !slice_is(slice_of(domain), row->domain))
			continue;
		out->else_send |= row->else_send;
		key->selector = slice_of(row->selector);
		if (signatures_kind(chains->signatures, row, &key->kind,
		    err) != 0)
			return -1;
		out->rows[out->count++] = row;
	}
	return 0;
}

/* ---- one recipient ---------------------------------------------------- */

static int
chains_sign(struct chains *chains, const struct chain_keys *keys,
    const struct dkim2_sign *sign, const struct dkim2_signing *signing,
    struct str *out, struct err *err)
{
	struct slice signatures[DKIM2_SETS_MAX];

	for (size_t i = 0; i < keys->count; i++) {
		struct str bytes = STR_INIT;
		int result = signatures_sign(chains->signatures,
		    keys->rows[i], keys->keys[i].kind, signing->sum, &bytes,
		    err);

		signatures[i] = slice_copy(chains->arena, str_slice(&bytes));
		str_release(&bytes);
		if (result != 0)
			return -1;
	}
	dkim2_sign_end(sign, signing, signatures, out);
	return 0;
}

static int
chains_add(struct chains *chains, const struct chain_keys *keys,
    struct dkim2_sign *sign, struct slice text, struct slice *out,
    struct err *err)
{
	struct dkim2_signing signing;
	struct str header = STR_INIT;
	int result;
	struct err why;

	sign->keys = keys->keys;
	sign->key_count = keys->count;
	/* a chain that does not hold is no reason to keep mail back */
	if (dkim2_sign_begin(sign, text, chains->arena, &signing, &why) != 0)
		return 0;
	result = chains_sign(chains, keys, sign, &signing, &header, err);
	if (result == 0) {
		str_add_slice(&header, text);
		*out = slice_copy(chains->arena, str_slice(&header));
	}
	str_release(&header);
	return result;
}

static bool
chains_has_sum(struct chains *chains)
{
	if (!chains->has_sum)
		chains->has_sum = dkim2_sign_body(chains->body,
		    chains->sum) == 0;
	return chains->has_sum;
}

static int
chains_find(void *context, const struct draft_rcpt *rcpt,
    struct slice sender, struct slice text, struct slice *out,
    struct err *err)
{
	struct chains *chains = context;
	const char *domain = slice_is(rcpt->channel, "smtp") &&
	    rcpt->done == RCPT_OPEN ? chains_domain(chains, sender, text) :
	    NULL;
	struct dkim2_sign sign = { .domain = slice_of(domain),
	    .time_s = clock_wall_s(), .sender = sender,
	    .rcpts = &rcpt->user, .rcpt_count = 1, .flags = chains->flags,
	    .body_sum = chains->sum, .before = chains->before };
	struct chain_keys keys;
	struct err why;
	int result;

	if (domain == NULL || (!chains->is_ours &&
	    !dkim2_sign_is_chain(text)) || !chains_has_sum(chains))
		return 0;
	result = chains_keys(chains, domain, &keys, &why);
	if (result == 0)
		result = chains_add(chains, &keys, &sign, text, out, &why);
	if (result == 0 || keys.else_send)
		return 0;
	return err_set(err, "cannot sign for %s (DKIM2): %s", domain,
	    why.text);
}

/* ---- one message ------------------------------------------------------ */

static bool
chains_are_wanted(const struct conf *conf)
{
	for (size_t i = 0; i < conf->sign_count; i++)
		if (conf->signs[i].is_dkim2)
			return true;
	return false;
}

static void
chains_look_at_report(struct chains *chains, struct slice report)
{
	struct slice returned;
	bool is_header;

	if (!dkim2_returned(report, &returned, &is_header) ||
	    !dkim2_last_hop(returned, chains->arena, &chains->returned))
		chains->returned.to_count = 0;
}

bool
chains_begin(struct chains *out, struct signatures *signatures,
    const struct envelope *envelope, struct slice file, size_t body_offset,
    const struct rcpts *rcpts)
{
	size_t count = 0;

	if (signatures == NULL || !chains_are_wanted(signatures->conf) ||
	    rcpts->is_streaming)
		return false;
	for (size_t i = 0; i < rcpts->held; i++)
		count += slice_is(rcpts->list[i].channel, "smtp");
	if (count == 0 || count > CHAINS_RCPTS_MAX)
		return false;
	*out = (struct chains){ .signatures = signatures,
	    .arena = rcpts->arena,
	    .before = slice_first(slice_from(file, envelope->header_offset),
		body_offset - envelope->header_offset),
	    .body = slice_from(file, body_offset),
	    .is_ours = signatures_are_for(signatures, envelope),
	    .flags = count > 1 ? DKIM2_EXPLODED : 0,
	    .stamps = { out, chains_find } };
	if (envelope->dsn_of.n > 0)
		chains_look_at_report(out, slice_from(file,
		    envelope->header_offset));
	return true;
}

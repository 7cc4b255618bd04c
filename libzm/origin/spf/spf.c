/* spf.c - may this client send for this domain?
 *
 * In     client, HELO, MAIL FROM, answers
 * Out    a judgement with the record and the term that decided
 * Trusts nobody: at most SPF_TERMS_MAX terms look up, so recursion ends
 * Spec   RFC 7208 sections 2.4, 4, 6; RFC 8616 section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "grammar/message/mime_code.h"
#include "origin/spf/internal.h"

#include "base/banned.h"

struct spf_found {		/* what one record came to */
	enum origin	origin;
	struct slice	record, record_at, term;
	struct slice	exp;		/* domain-spec, of record_at */
};

static enum origin spf_check(struct spf_state *state, struct slice domain,
    struct spf_found *out);

/* A domain that could publish: two labels at least, no address literal, and
 * what the DNS can have. */
static bool
spf_is_domain(struct slice domain)
{
	return slice_find(domain, '.') < domain.n && domain.p[0] != '[' &&
	    mime_is_ascii(domain);
}

/* ---- the record --------------------------------------------------------- */

static enum origin
spf_find_record(struct spf_state *state, struct slice domain,
    struct slice *out)
{
	const struct origin_answer *answer = answers_look(state->answers,
	    DNS_TYPE_TXT, domain);
	size_t found = 0;

	if (answer == NULL)
		return ORIGIN_ASKS;
	if (answer_is_trouble(answer)) {
		state->out->reason = arena_printf(state->arena, "the SPF "
		    "record of %.*s cannot be looked up now",
		    SLICE_ARG(domain));
		return ORIGIN_TEMPERROR;
	}
	for (size_t i = 0; answer_has(answer) && i < answer->record_count;
	    i++)
		if (spf_is_record(answer->records[i].text)) {
			*out = answer->records[i].text;
			found++;
		}
	if (found == 1 && out->n <= SPF_RECORD_MAX)
		return ORIGIN_PASS;
	state->out->reason = arena_printf(state->arena, found == 0 ?
	    "%.*s publishes no SPF record" : found > 1 ?
	    "%.*s publishes more than one SPF record" :
	    "the SPF record of %.*s is too long", SLICE_ARG(domain));
	return found == 0 ? ORIGIN_NONE : ORIGIN_PERMERROR;
}

struct spf_terms {		/* of one record, read through before any of
				 * it counts (section 4.6) */
	struct slice	record;
	struct spf_term	redirect, exp;	/* .text empty: none */
};

static enum origin
spf_complain(struct spf_state *state, const struct spf_term *term,
    const char *text)
{
	state->out->reason = arena_printf(state->arena, "`%.*s' %s",
	    (int)(term->text.n > 100 ? 100 : term->text.n), term->text.p,
	    text);
	return ORIGIN_PERMERROR;
}

static enum origin
spf_read(struct spf_state *state, struct slice record, struct spf_terms *out)
{
	struct slice rest = record;
	struct spf_term term, *once;
	enum origin next;

	*out = (struct spf_terms){ .record = record };
	while ((next = spf_next(&rest, &term)) != ORIGIN_NONE) {
		if (next == ORIGIN_PERMERROR)
			return spf_complain(state, &term, "cannot be read");
		if (term.kind != SPF_REDIRECT && term.kind != SPF_EXP)
			continue;
		once = term.kind == SPF_REDIRECT ? &out->redirect : &out->exp;
		if (once->text.n > 0)
			return spf_complain(state, &term, "comes twice");
		*once = term;
	}
	return ORIGIN_PASS;
}

/* ---- its terms --------------------------------------------------------- */

/* Another term that looks up.  false: too many. */
static bool
spf_count(struct spf_state *state)
{
	if (++state->out->terms <= SPF_TERMS_MAX)
		return true;
	state->out->reason = arena_printf(state->arena, "more than %d terms "
	    "look up (RFC 7208 section 4.6.4)", (int)SPF_TERMS_MAX);
	return false;
}

/* What include: makes of what it led to (section 5.2). */
static enum origin
spf_include(struct spf_state *state, const struct spf_term *term,
    struct slice domain)
{
	struct slice target;
	struct spf_found found;
	enum origin origin = spf_expand_domain(state, term->spec, domain,
	    &target);

	if (origin != ORIGIN_PASS)
		return origin;
	origin = spf_check(state, target, &found);
	switch (origin) {
	case ORIGIN_FAIL:
	case ORIGIN_SOFTFAIL:
	case ORIGIN_NEUTRAL:
		return ORIGIN_FAIL;
	case ORIGIN_NONE:
		return ORIGIN_PERMERROR;
	default:
		return origin;
	}
}

static enum origin
spf_fits(struct spf_state *state, const struct spf_term *term,
    struct slice domain)
{
	if (term->kind == SPF_ALL)
		return ORIGIN_PASS;
	if (term->kind > SPF_EXISTS)
		return ORIGIN_FAIL;
	if (term->kind != SPF_IP4 && term->kind != SPF_IP6 &&
	    !spf_count(state))
		return ORIGIN_PERMERROR;
	return term->kind == SPF_INCLUDE ? spf_include(state, term, domain) :
	    spf_match(state, term, domain);
}

static enum origin
spf_redirect(struct spf_state *state, const struct spf_term *term,
    struct slice domain, struct spf_found *out)
{
	struct slice target;
	enum origin origin;

	if (!spf_count(state))
		return ORIGIN_PERMERROR;
	origin = spf_expand_domain(state, term->spec, domain, &target);
	if (origin == ORIGIN_FAIL)
		return spf_complain(state, term, "leads to no name");
	if (origin == ORIGIN_PASS)
		origin = spf_check(state, target, out);
	return origin == ORIGIN_NONE ? ORIGIN_PERMERROR : origin;
}

/* What a domain says of the client (section 4). */
static enum origin
spf_check(struct spf_state *state, struct slice domain,
    struct spf_found *out)
{
	struct slice record, rest;
	struct spf_terms terms;
	struct spf_term term;
	enum origin origin = spf_find_record(state, domain, &record);

	*out = (struct spf_found){ .record_at = domain };
	if (origin != ORIGIN_PASS)
		return origin;
	rest = out->record = record;
	origin = spf_read(state, record, &terms);
	if (origin != ORIGIN_PASS)
		return origin;
	out->exp = terms.exp.spec;
	while (spf_next(&rest, &term) == ORIGIN_PASS) {
		origin = spf_fits(state, &term, domain);
		out->term = term.text;
		if (origin == ORIGIN_PASS)
			return term.result;
		if (origin != ORIGIN_FAIL)
			return origin;
	}
	out->term = (struct slice){ NULL, 0 };
	if (terms.redirect.text.n == 0)
		return ORIGIN_NEUTRAL;
	return spf_redirect(state, &terms.redirect, domain, out);
}

/* ---- words ------------------------------------------------------------- */

static bool
exp_is_printable(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] < ' ' || text.p[i] > '~')
			return false;
	return text.n > 0;
}

/* What the domain says of a fail; nothing when it cannot be had (section
 * 6.2). */
static enum origin
spf_explain(struct spf_state *state, const struct spf_found *found)
{
	struct str text = STR_INIT;
	const struct origin_answer *answer;
	struct slice target;
	enum origin origin;

	if (found->exp.n == 0)
		return ORIGIN_PASS;
	origin = spf_expand_domain(state, found->exp, found->record_at,
	    &target);
	if (origin != ORIGIN_PASS)
		return origin;
	answer = answers_look(state->answers, DNS_TYPE_TXT, target);
	if (answer == NULL)
		return ORIGIN_ASKS;
	if (!answer_has(answer) || answer->record_count != 1 ||
	    !exp_is_printable(answer->records[0].text))
		return ORIGIN_PASS;
	origin = spf_expand(state, answer->records[0].text, found->record_at,
	    true, &text);
	if (origin == ORIGIN_PASS && exp_is_printable(str_slice(&text)))
		state->out->exp = slice_copy(state->arena, str_slice(&text));
	str_release(&text);
	return origin;
}

static const char *
spf_reason(struct spf_state *state, const struct spf_found *found)
{
	struct str text = STR_INIT;
	const char *result;

	spf_add_client(&text, state);
	switch (found->origin) {
	case ORIGIN_PASS:
		str_adds(&text, " may send for ");
		break;
	case ORIGIN_FAIL:
		str_adds(&text, " may not send for ");
		break;
	case ORIGIN_SOFTFAIL:
		str_adds(&text, " should not send for ");
		break;
	default:
		str_adds(&text, " may send or not: nothing is said of it "
		    "by ");
		break;
	}
	str_add_slice(&text, state->out->domain);
	if (found->term.n > 0)
		str_addf(&text, " (`%.*s' at %.*s)", SLICE_ARG(found->term),
		    SLICE_ARG(found->record_at));
	result = arena_dup(state->arena, text.buf, text.len);
	str_release(&text);
	return result;
}

/* ---- a judgement -------------------------------------------------------- */

/* The domain as it is asked for and as macros have it (RFC 8616 section 4).
 * What cannot be in the DNS stays as it is, and publishes nothing. */
static void
spf_take_domain(struct spf_state *state, struct slice domain)
{
	struct slice name = { NULL, 0 };

	if (slice_ends(domain, "."))
		domain = slice_first(domain, domain.n - 1);
	if (!mime_is_ascii(domain))
		name = origin_name(state->arena, domain);
	state->sender_domain = name.n > 0 ? name : domain;
}

static void
spf_take_sender(struct spf_state *state)
{
	struct slice sender = state->ask->sender, domain;
	size_t at = sender.n;

	for (size_t i = 0; i < sender.n; i++)
		if (sender.p[i] == '@')
			at = i;
	state->local = slice_first(sender, at);
	domain = slice_from(sender, at + 1);
	if (sender.n == 0)
		domain = state->ask->helo;
	else if (at == sender.n)
		domain = sender;
	if (state->local.n == 0 || at == sender.n)
		state->local = SLICE("postmaster");
	spf_take_domain(state, domain);
}

enum origin
spf_judge(struct answers *answers, const struct spf_ask *ask,
    struct arena *arena, struct spf *out)
{
	static const unsigned char v4[12] = { [10] = 0xff, [11] = 0xff };
	struct spf_state state = { .answers = answers, .ask = ask,
	    .arena = arena, .out = out,
	    .is_v4 = memcmp(ask->client.bytes, v4, sizeof(v4)) == 0 };
	struct spf_found found = { .origin = ORIGIN_NONE };

	*out = (struct spf){ .reason = NULL };
	spf_take_sender(&state);
	out->domain = slice_lower(arena, state.sender_domain);
	if (!spf_is_domain(out->domain)) {
		out->reason = arena_printf(arena, "%.*s is no domain that "
		    "could publish a record", SLICE_ARG(out->domain));
		return out->origin = ORIGIN_NONE;
	}
	found.origin = spf_check(&state, out->domain, &found);
	if (found.origin == ORIGIN_ASKS || (found.origin == ORIGIN_FAIL &&
	    spf_explain(&state, &found) == ORIGIN_ASKS))
		return out->origin = ORIGIN_ASKS;
	out->record = found.record;
	out->record_at = found.record_at;
	out->term = found.term;
	if (found.origin <= ORIGIN_NEUTRAL && found.origin != ORIGIN_NONE)
		out->reason = spf_reason(&state, &found);
	else if (out->reason == NULL)
		out->reason = arena_printf(arena, "`%.*s' of %.*s cannot be "
		    "read", SLICE_ARG(found.term), SLICE_ARG(found.record_at));
	return out->origin = found.origin;
}

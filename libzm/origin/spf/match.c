/* match.c - does a mechanism fit the client?
 *
 * In     a term, answers
 * Out    whether it fits
 * Trusts nobody: names and look-ups are bounded (RFC 7208 section 4.6.4)
 * Spec   RFC 7208 section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "origin/spf/internal.h"

#include "base/banned.h"

enum { V4_OFFSET_BITS = 96 };

bool
spf_is_below(struct slice name, struct slice domain)
{
	return name.n > domain.n && name.p[name.n - domain.n - 1] == '.' &&
	    slice_equal_nocase(slice_from(name, name.n - domain.n), domain);
}

void
spf_add_client(struct str *out, const struct spf_state *state)
{
	const unsigned char *bytes = state->ask->client.bytes;
	char text[INET6_ADDRSTRLEN];

	if (inet_ntop(state->is_v4 ? AF_INET : AF_INET6, bytes +
	    (state->is_v4 ? 12 : 0), text, sizeof(text)) != NULL)
		str_adds(out, text);
}

static bool
client_is_in(const struct spf_state *state, const struct net *address,
    const struct spf_term *term)
{
	struct net net = *address;
	unsigned whole;

	net.bits = state->is_v4 ? V4_OFFSET_BITS + term->bits_v4 :
	    term->bits_v6;
	whole = net.bits / 8;
	return memcmp(net.bytes, state->ask->client.bytes, whole) == 0 &&
	    (net.bits % 8 == 0 || ((net.bytes[whole] ^
	    state->ask->client.bytes[whole]) >> (8 - net.bits % 8)) == 0);
}

static enum origin
match_trouble(struct spf_state *state, const char *type, struct slice name)
{
	state->out->reason = arena_printf(state->arena, "the %s record of "
	    "%.*s cannot be looked up now", type, SLICE_ARG(name));
	return ORIGIN_TEMPERROR;
}

/* Count an answer without records.  ORIGIN_FAIL, or too many. */
static enum origin
match_void(struct spf_state *state)
{
	if (++state->out->voids <= SPF_VOIDS_MAX)
		return ORIGIN_FAIL;
	state->out->reason = arena_printf(state->arena, "more than %d of its "
	    "names have no record (RFC 7208 section 4.6.4)",
	    (int)SPF_VOIDS_MAX);
	return ORIGIN_PERMERROR;
}

/* Addresses of a host against the client's. */
static enum origin
match_host(struct spf_state *state, const struct spf_term *term,
    struct slice host, bool counts_voids)
{
	const struct origin_answer *answer = answers_look(state->answers,
	    state->is_v4 ? DNS_TYPE_A : DNS_TYPE_AAAA, host);

	if (answer == NULL)
		return ORIGIN_ASKS;
	if (answer_is_trouble(answer))
		return match_trouble(state, state->is_v4 ? "A" : "AAAA",
		    host);
	if (!answer_has(answer))
		return counts_voids ? match_void(state) : ORIGIN_FAIL;
	for (size_t i = 0; i < answer->record_count; i++)
		if (client_is_in(state, &answer->records[i].address, term))
			return ORIGIN_PASS;
	return ORIGIN_FAIL;
}

static enum origin
match_mx(struct spf_state *state, const struct spf_term *term,
    struct slice name)
{
	const struct origin_answer *answer = answers_look(state->answers,
	    DNS_TYPE_MX, name);
	enum origin result = ORIGIN_FAIL, one;

	if (answer == NULL)
		return ORIGIN_ASKS;
	if (answer_is_trouble(answer))
		return match_trouble(state, "MX", name);
	if (!answer_has(answer))
		return match_void(state);
	if (answer->record_count > SPF_NAMES_MAX) {
		state->out->reason = arena_printf(state->arena, "%.*s has "
		    "more than %d MX hosts (RFC 7208 section 4.6.4)",
		    SLICE_ARG(name), (int)SPF_NAMES_MAX);
		return ORIGIN_PERMERROR;
	}
	/* all of them are asked for before the first is judged */
	for (size_t i = 0; i < answer->record_count; i++) {
		one = match_host(state, term, answer->records[i].text, false);
		if (one == ORIGIN_ASKS)
			result = ORIGIN_ASKS;
		else if (result == ORIGIN_FAIL)
			result = one;
	}
	return result;
}

/* Does the name lead back to the client?  Trouble is as no. */
static enum origin
name_leads_back(struct spf_state *state, struct slice name)
{
	struct spf_term whole = { .bits_v4 = 32, .bits_v6 = 128 };
	const char *reason = state->out->reason;
	enum origin result = match_host(state, &whole, name, false);

	state->out->reason = reason;
	return result;
}

enum origin
spf_names(struct spf_state *state, struct slice names[SPF_NAMES_MAX],
    size_t *out_n)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };
	const unsigned char *bytes = state->ask->client.bytes;
	const struct origin_answer *answer;
	enum origin result = ORIGIN_PASS, one;
	struct dns_name reverse;

	*out_n = 0;
	memcpy(&v4.sin_addr, bytes + 12, 4);
	memcpy(&v6.sin6_addr, bytes, 16);
	dns_reverse_name(state->is_v4 ? (const struct sockaddr *)&v4 :
	    (const struct sockaddr *)&v6, NULL, &reverse);
	answer = answers_look(state->answers, DNS_TYPE_PTR,
	    slice_of(reverse.text));
	if (answer == NULL)
		return ORIGIN_ASKS;
	for (size_t i = 0; answer_has(answer) && i < answer->record_count &&
	    i < SPF_NAMES_MAX; i++) {
		one = name_leads_back(state, answer->records[i].text);
		if (one == ORIGIN_ASKS)
			result = ORIGIN_ASKS;
		else if (one == ORIGIN_PASS)
			names[(*out_n)++] = answer->records[i].text;
	}
	return result;
}

static enum origin
match_ptr(struct spf_state *state, struct slice domain)
{
	struct slice names[SPF_NAMES_MAX];
	size_t n;

	if (spf_names(state, names, &n) == ORIGIN_ASKS)
		return ORIGIN_ASKS;
	for (size_t i = 0; i < n; i++)
		if (slice_equal_nocase(names[i], domain) ||
		    spf_is_below(names[i], domain))
			return ORIGIN_PASS;
	return ORIGIN_FAIL;
}

static enum origin
match_exists(struct spf_state *state, struct slice name)
{
	const struct origin_answer *answer = answers_look(state->answers,
	    DNS_TYPE_A, name);

	if (answer == NULL)
		return ORIGIN_ASKS;
	if (answer_is_trouble(answer))
		return match_trouble(state, "A", name);
	return answer_has(answer) ? ORIGIN_PASS : match_void(state);
}

enum origin
spf_match(struct spf_state *state, const struct spf_term *term,
    struct slice domain)
{
	enum origin expanded;

	if (term->kind == SPF_IP4 || term->kind == SPF_IP6)
		return state->is_v4 == (term->kind == SPF_IP4) &&
		    client_is_in(state, &term->address, term) ? ORIGIN_PASS :
		    ORIGIN_FAIL;
	if (term->spec.n > 0) {
		expanded = spf_expand_domain(state, term->spec, domain,
		    &domain);
		if (expanded != ORIGIN_PASS)
			return expanded;
	}
	switch (term->kind) {
	case SPF_A:
		return match_host(state, term, domain, true);
	case SPF_MX:
		return match_mx(state, term, domain);
	case SPF_PTR:
		return match_ptr(state, domain);
	case SPF_EXISTS:
		return match_exists(state, domain);
	default:
		return ORIGIN_FAIL;
	}
}

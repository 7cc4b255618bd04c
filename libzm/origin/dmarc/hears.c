/* hears.c - who hears how mail of a domain went
 *
 * In     a domain, answers
 * Out    addresses
 * Holds  nothing
 * Trusts nobody: a domain may name a victim, who did not agree then
 * Spec   hears.h; RFC 9990 sections 3.4 and 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "origin/dmarc/hears.h"
#include "origin/dmarc/record.h"

#include "base/banned.h"

struct hearing {
	struct answers	*answers;
	struct arena	*arena;
	struct slice	 domain, organization;
	bool		 asks, is_trouble;
	struct dmarc_hears *out;
};

static struct slice
address_host(const struct hearing *hearing, const struct rua_address *to)
{
	const char *at = strrchr(to->text, '@');

	return slice_lower(hearing->arena, slice_of(at == NULL ? "" : at + 1));
}

static void
hearing_add(struct hearing *hearing, const struct rua_address *to)
{
	struct dmarc_hears *out = hearing->out;

	for (size_t i = 0; i < out->count; i++)
		if (strcmp(out->to[i].text, to->text) == 0)
			return;
	if (out->count < RUA_MAX)
		out->to[out->count++] = *to;
}

/* An answer that is not there, or cannot be had. */
static bool
hearing_lacks(struct hearing *hearing, const struct origin_answer *answer)
{
	bool is_trouble = answer != NULL && answer_is_trouble(answer);

	hearing->asks |= answer == NULL;
	hearing->is_trouble |= is_trouble;
	return answer == NULL || is_trouble;
}

/* What who agrees says in place of the address: all of the same host, or
 * nobody hears. */
static void
hearing_replace(struct hearing *hearing, struct slice uris, struct slice host)
{
	struct rua_address to[RUA_MAX];
	size_t other, count = rua_addresses(uris, to, &other);

	for (size_t i = 0; i < count; i++)
		if (!slice_equal(address_host(hearing, &to[i]), host)) {
			hearing->out->reason = arena_printf(hearing->arena,
			    "%.*s names addresses elsewhere",
			    SLICE_ARG(host));
			return;
		}
	for (size_t i = 0; i < count; i++)
		hearing_add(hearing, &to[i]);
}

/* Steps 2 to 9 of section 4. */
static void
hearing_take_stranger(struct hearing *hearing, const struct rua_address *to,
    struct slice host)
{
	const struct origin_answer *answer = answers_look(hearing->answers,
	    DNS_TYPE_TXT, slice_of(arena_printf(hearing->arena,
	    "%.*s._report._dmarc.%.*s", SLICE_ARG(hearing->domain),
	    SLICE_ARG(host))));
	struct dmarc_record record;
	struct slice uris = { NULL, 0 };
	bool agrees = false;

	if (hearing_lacks(hearing, answer))
		return;
	for (size_t i = 0; answer_has(answer) && i < answer->record_count;
	    i++) {
		if (dmarc_read(answer->records[i].text, &record) ==
		    DMARC_READ_OTHER)
			continue;
		agrees = true;
		uris = uris.n > 0 ? uris : record.rua;
	}
	if (!agrees)
		hearing->out->reason = arena_printf(hearing->arena,
		    "%.*s does not agree to hear of it", SLICE_ARG(host));
	else if (uris.n > 0)
		hearing_replace(hearing, uris, host);
	else
		hearing_add(hearing, to);
}

static void
hearing_take(struct hearing *hearing, const struct rua_address *to)
{
	struct slice host = address_host(hearing, to);
	struct dmarc_walk walk;
	enum origin walked;

	if (slice_equal(host, hearing->domain) ||
	    slice_equal(host, hearing->organization)) {
		hearing_add(hearing, to);
		return;
	}
	walked = dmarc_walk(hearing->answers, host, hearing->arena, &walk);
	if (walked != ORIGIN_NONE) {
		hearing->asks |= walked == ORIGIN_ASKS;
		hearing->is_trouble |= walked == ORIGIN_TEMPERROR;
	} else if (walk.count > 0 && slice_equal(dmarc_organization(&walk),
	    hearing->organization)) {
		hearing_add(hearing, to);
	} else {
		hearing_take_stranger(hearing, to, host);
	}
}

static enum origin
hearing_end(const struct hearing *hearing)
{
	if (hearing->asks)
		return ORIGIN_ASKS;
	if (hearing->out->count > 0)
		return ORIGIN_PASS;
	return hearing->is_trouble ? ORIGIN_TEMPERROR : ORIGIN_NONE;
}

enum origin
dmarc_hear(struct answers *answers, struct slice domain, struct arena *arena,
    struct dmarc_hears *out)
{
	struct hearing hearing = { .answers = answers, .arena = arena,
	    .domain = domain, .out = out };
	struct rua_address to[RUA_MAX];
	struct dmarc_walk walk;
	size_t other, count;
	enum origin walked = dmarc_walk(answers, domain, arena, &walk);

	*out = (struct dmarc_hears){ .reason = "" };
	if (walked != ORIGIN_NONE)
		return walked;
	if (walk.count == 0 || walk.found[0] != DMARC_READ ||
	    walk.records[0].rua.n == 0) {
		out->reason = "it asks for no reports now";
		return ORIGIN_NONE;
	}
	hearing.organization = dmarc_organization(&walk);
	count = rua_addresses(walk.records[0].rua, to, &other);
	if (count == 0)
		out->reason = "it does not ask for reports by mail";
	for (size_t i = 0; i < count; i++)
		hearing_take(&hearing, &to[i]);
	return hearing_end(&hearing);
}

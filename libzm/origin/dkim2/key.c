/* key.c - a key as it is published
 *
 * In     a signature, answers
 * Out    the key, or what is wrong with it
 * Trusts nobody
 * Spec   draft-ietf-dkim-dkim2-spec-04 sections 3.6, 11.5; RFC 6376 section
 *        3.6.1, of which h= is not looked at
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/base64.h"
#include "origin/dkim/internal.h"
#include "origin/dkim2/internal.h"

#include "base/banned.h"

struct key_search {
	struct dkim2_chain *chain;
	const struct dkim2_signature *signature;
	struct dkim2_set *set;
};

static enum origin
search_end(const struct key_search *search, enum origin origin,
    const char *what)
{
	return dkim2_end(search->chain, origin, "DKIM2-Signature i=%u public "
	    "key %.*s._domainkey.%.*s %s", search->signature->number,
	    SLICE_ARG(search->set->selector),
	    SLICE_ARG(search->signature->domain), what);
}

static enum origin
search_bytes(const struct key_search *search, struct slice p)
{
	struct arena *arena = search->chain->arena;
	struct str bytes = STR_INIT;
	struct err err;
	bool is_good;

	if (p.p == NULL)
		return search_end(search, ORIGIN_PERMERROR,
		    "has a syntax error: no p=");
	p = dkim_squeeze(arena, p);
	if (p.n == 0)
		return search_end(search, ORIGIN_PERMERROR,
		    "has been revoked");
	is_good = base64_decode(p, &bytes, &err) == 0;
	search->set->key = slice_copy(arena, str_slice(&bytes));
	str_release(&bytes);
	return is_good ? ORIGIN_PASS : search_end(search, ORIGIN_PERMERROR,
	    "has a syntax error: p= is no base64");
}

static enum origin
search_read(const struct key_search *search, struct slice text)
{
	const char *wanted = search->set->kind == VERIFY_RSA_SHA256 ? "rsa" :
	    "ed25519";
	struct dkim_tags tags;
	struct slice v, k, s;

	if (!dkim_tags_read(text, &tags))
		return search_end(search, ORIGIN_PERMERROR,
		    "has a syntax error");
	v = dkim_tag(&tags, "v");
	k = dkim_tag(&tags, "k");
	s = dkim_tag(&tags, "s");
	if (v.p != NULL && (!slice_is(v, "DKIM1") ||
	    !slice_is(tags.rows[0].name, "v")))
		return search_end(search, ORIGIN_PERMERROR,
		    "has a syntax error: its version is not known");
	if (!slice_is_nocase(k.p == NULL ? SLICE("rsa") : k, wanted))
		return search_end(search, ORIGIN_PERMERROR,
		    "algorithm mismatch");
	if (s.p != NULL && !dkim_list_has(s, "email") &&
	    !dkim_list_has(s, "*"))
		return search_end(search, ORIGIN_PERMERROR,
		    "is not for mail (s=)");
	return search_bytes(search, dkim_tag(&tags, "p"));
}

enum origin
dkim2_key_find(struct dkim2_chain *chain,
    const struct dkim2_signature *signature, struct dkim2_set *set)
{
	const struct key_search search = { chain, signature, set };
	const struct origin_answer *answer = answers_look(chain->answers,
	    DNS_TYPE_TXT, slice_of(arena_printf(chain->arena,
	    "%.*s._domainkey.%.*s", SLICE_ARG(set->selector),
	    SLICE_ARG(signature->domain))));

	if (answer == NULL)
		return ORIGIN_ASKS;
	if (answer_is_trouble(answer))
		return search_end(&search, ORIGIN_TEMPERROR,
		    "could not be fetched");
	if (!answer_has(answer))
		return search_end(&search, ORIGIN_PERMERROR,
		    "does not exist");
	if (answer->record_count > 1)
		return search_end(&search, ORIGIN_PERMERROR,
		    "has multiple records");
	return search_read(&search, answer->records[0].text);
}

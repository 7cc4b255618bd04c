/* key.c - a key as it is published
 *
 * In     a signature, answers
 * Out    the key, or what is wrong with it
 * Trusts nobody
 * Spec   RFC 6376 sections 3.6.1, 6.1.2; RFC 8463 section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include "grammar/base64.h"
#include "origin/dkim/internal.h"

#include "base/banned.h"

struct finding {
	const struct dkim_field *field;
	struct arena	*arena;
	struct dkim_key	*into;
	struct dkim	*out;
};

static enum origin
finding_end(struct finding *finding, enum origin origin, const char *text)
{
	finding->out->origin = origin;
	finding->out->reason = arena_printf(finding->arena,
	    "the key %.*s._domainkey.%.*s %s",
	    SLICE_ARG(finding->out->selector),
	    SLICE_ARG(finding->out->domain), text);
	return origin;
}

static enum origin
finding_bytes(struct finding *finding, struct slice p)
{
	struct str bytes = STR_INIT;
	struct err err;
	bool is_good;

	if (p.p == NULL)
		return finding_end(finding, ORIGIN_PERMERROR, "has no p=");
	p = dkim_squeeze(finding->arena, p);
	if (p.n == 0)
		return finding_end(finding, ORIGIN_PERMERROR,
		    "was revoked (p= is empty)");
	is_good = base64_decode(p, &bytes, &err) == 0;
	finding->into->bytes = slice_copy(finding->arena, str_slice(&bytes));
	str_release(&bytes);
	return is_good ? ORIGIN_PASS : finding_end(finding,
	    ORIGIN_PERMERROR, "has a p= that is no base64");
}

static enum origin
finding_read(struct finding *finding, struct slice text)
{
	const char *wanted = finding->field->kind == VERIFY_RSA_SHA256 ?
	    "rsa" : "ed25519";
	struct dkim_tags tags;
	struct slice v, k, h, s, t;

	if (!dkim_tags_read(text, &tags))
		return finding_end(finding, ORIGIN_PERMERROR,
		    "is no list of tags, or has one twice");
	v = dkim_tag(&tags, "v");
	k = dkim_tag(&tags, "k");
	h = dkim_tag(&tags, "h");
	s = dkim_tag(&tags, "s");
	t = dkim_tag(&tags, "t");
	if (v.p != NULL && (!slice_is(v, "DKIM1") ||
	    !slice_is(tags.rows[0].name, "v")))
		return finding_end(finding, ORIGIN_PERMERROR,
		    "is of a version that is not known");
	if (!slice_is_nocase(k.p == NULL ? SLICE("rsa") : k, wanted))
		return finding_end(finding, ORIGIN_PERMERROR,
		    "is of another kind (k=) than the signature");
	if (h.p != NULL && !dkim_list_has(h, "sha256"))
		return finding_end(finding, ORIGIN_PERMERROR,
		    "allows no sha256 (h=)");
	if (s.p != NULL && !dkim_list_has(s, "email") &&
	    !dkim_list_has(s, "*"))
		return finding_end(finding, ORIGIN_PERMERROR,
		    "is not for mail (s=)");
	finding->into->is_testing = t.p != NULL && dkim_list_has(t, "y");
	finding->into->is_strict = t.p != NULL && dkim_list_has(t, "s");
	return finding_bytes(finding, dkim_tag(&tags, "p"));
}

/* t=s: i= is of d= itself, not below. */
static enum origin
finding_strict(struct finding *finding)
{
	const struct dkim *out = finding->out;

	if (!finding->into->is_strict || (out->identity.n > out->domain.n &&
	    out->identity.p[out->identity.n - out->domain.n - 1] == '@'))
		return ORIGIN_PASS;
	return finding_end(finding, ORIGIN_PERMERROR,
	    "is not for names below its domain (t=s)");
}

enum origin
dkim_key_find(struct answers *answers, const struct dkim_field *field,
    struct arena *arena, struct dkim_key *into, struct dkim *out)
{
	struct finding finding = { .field = field, .arena = arena,
	    .into = into, .out = out };
	const struct origin_answer *answer = answers_look(answers, DNS_TYPE_TXT,
	    slice_of(arena_printf(arena, "%.*s._domainkey.%.*s",
	    SLICE_ARG(out->selector), SLICE_ARG(out->domain))));
	enum origin origin = ORIGIN_PERMERROR;

	*into = (struct dkim_key){ .is_testing = false };
	if (answer == NULL)
		return ORIGIN_ASKS;
	if (answer_is_trouble(answer))
		return finding_end(&finding, ORIGIN_TEMPERROR,
		    "cannot be looked up now");
	if (!answer_has(answer))
		return finding_end(&finding, ORIGIN_PERMERROR,
		    "is not published");
	/* several: the first that will do (section 3.6.2.2) */
	for (size_t i = 0; i < answer->record_count && origin != ORIGIN_PASS;
	    i++)
		origin = finding_read(&finding, answer->records[i].text);
	out->is_testing = into->is_testing;
	return origin == ORIGIN_PASS ? finding_strict(&finding) : origin;
}

/* field.c - a signature as it stands in a header
 *
 * In     a field DKIM-Signature
 * Out    what it says, or what is wrong with it
 * Trusts nobody
 * Spec   RFC 6376 sections 3.5, 6.1.1; RFC 8301
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "grammar/base64.h"
#include "origin/dkim/internal.h"

#include "base/banned.h"

struct reading {
	enum dkim_dialect dialect;
	struct arena	 *arena;
	struct dkim_tags  tags;
	struct dkim_field *into;
	struct dkim	 *out;
};

static bool
reading_fails(struct reading *reading, enum origin origin, const char *reason)
{
	reading->out->origin = origin;
	reading->out->reason = reason;
	return false;
}

/* ---- its tags ----------------------------------------------------------- */

static bool
reading_version(struct reading *reading)
{
	return reading->dialect != DKIM_SIGNATURE ||
	    slice_is(dkim_tag(&reading->tags, "v"), "1") ||
	    reading_fails(reading, ORIGIN_PERMERROR,
	    "the signature has no v=1");
}

static bool
reading_algorithm(struct reading *reading)
{
	struct slice a = dkim_tag(&reading->tags, "a");

	reading->out->algorithm = slice_first(a, 40);
	if (slice_is_nocase(a, "rsa-sha1"))
		return reading_fails(reading, ORIGIN_FAIL, "the algorithm "
		    "rsa-sha1 proves nothing any more (RFC 8301)");
	reading->into->kind = slice_is_nocase(a, "rsa-sha256") ?
	    VERIFY_RSA_SHA256 : VERIFY_ED25519_SHA256;
	return slice_is_nocase(a, "rsa-sha256") ||
	    slice_is_nocase(a, "ed25519-sha256") ||
	    reading_fails(reading, ORIGIN_PERMERROR, "the algorithm a= of "
	    "the signature is not known");
}

/* What is not said is simple; in fields of ARC it is relaxed, as those who
 * seal (dkimpy, and the published cases) have it. */
static bool
reading_canon(struct reading *reading)
{
	struct slice body = dkim_tag(&reading->tags, "c"), header;

	reading->into->is_relaxed_header = reading->dialect != DKIM_SIGNATURE;
	reading->into->is_relaxed_body = reading->dialect != DKIM_SIGNATURE;
	if (body.p == NULL || reading->dialect == DKIM_ARC_SEAL)
		return true;
	if (!slice_cut(&body, '/', &header))
		return false;
	header = slice_trim(header);
	body = slice_trim(body);
	reading->into->is_relaxed_header = slice_is_nocase(header, "relaxed");
	reading->into->is_relaxed_body = slice_is_nocase(body, "relaxed");
	return ((reading->into->is_relaxed_header ||
	    slice_is_nocase(header, "simple")) && (body.n == 0 ||
	    reading->into->is_relaxed_body ||
	    slice_is_nocase(body, "simple"))) ||
	    reading_fails(reading, ORIGIN_PERMERROR, "c= of the signature "
	    "names no canonical form that is known");
}

static bool
name_is_domain(struct slice name)
{
	struct slice label, rest = name;

	while (slice_cut(&rest, '.', &label)) {
		if (label.n == 0 || label.n > 63)
			return false;
		for (size_t i = 0; i < label.n; i++)
			if (!ascii_is_alnum(label.p[i]) && label.p[i] != '-' &&
			    label.p[i] != '_' && label.p[i] > 0)
				return false;
	}
	return name.n > 0 && name.n <= 253;
}

/* "=40" is a byte (section 2.11). */
static struct slice
name_unquote(struct arena *arena, struct slice text)
{
	char *to = arena_alloc(arena, text.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		if (text.p[i] == '=' && i + 2 < text.n &&
		    ascii_hex(text.p[i + 1]) >= 0 &&
		    ascii_hex(text.p[i + 2]) >= 0) {
			to[n++] = (char)(ascii_hex(text.p[i + 1]) * 16 +
			    ascii_hex(text.p[i + 2]));
			i += 2;
		} else {
			to[n++] = text.p[i];
		}
	return (struct slice){ to, n };
}

/* d=, s=, and i=, which is at d= or below it. */
static bool
reading_names(struct reading *reading)
{
	struct dkim *out = reading->out;
	struct slice i = dkim_tag(&reading->tags, "i"), local, at;

	out->domain = slice_lower(reading->arena, dkim_tag(&reading->tags,
	    "d"));
	out->selector = dkim_tag(&reading->tags, "s");
	out->identity = slice_of(arena_printf(reading->arena, "@%.*s",
	    SLICE_ARG(out->domain)));
	if (!name_is_domain(out->domain) || !name_is_domain(out->selector))
		return reading_fails(reading, ORIGIN_PERMERROR,
		    "d= or s= of the signature is no name");
	if (i.p == NULL || reading->dialect != DKIM_SIGNATURE)
		return true;
	i = name_unquote(reading->arena, dkim_squeeze(reading->arena, i));
	out->identity = i;
	at = i;
	while (slice_find(at, '@') < at.n)
		slice_cut(&at, '@', &local);
	return (at.n < i.n && (slice_equal_nocase(at, out->domain) ||
	    (at.n > out->domain.n && at.p[at.n - out->domain.n - 1] == '.' &&
	    slice_equal_nocase(slice_from(at, at.n - out->domain.n),
	    out->domain)))) ||
	    reading_fails(reading, ORIGIN_PERMERROR, "i= of the signature "
	    "is not of the domain in d=");
}

static bool
reading_fields(struct reading *reading)
{
	struct slice names = dkim_tag(&reading->tags, "h"), name;
	size_t count = 0;

	reading->into->names = names;
	if (reading->dialect == DKIM_ARC_SEAL)
		return names.p == NULL || reading_fails(reading,
		    ORIGIN_PERMERROR, "the seal has an h=");
	while (slice_cut(&names, ':', &name))
		count++;
	if (count > DKIM_FIELDS_MAX)
		return reading_fails(reading, ORIGIN_PERMERROR,
		    "h= of the signature names too many fields");
	if (reading->dialect == DKIM_ARC_MESSAGE)
		return (reading->into->names.p != NULL && !dkim_list_has(
		    reading->into->names, "ARC-Seal")) || reading_fails(
		    reading, ORIGIN_PERMERROR, "h= of the signature is not "
		    "there, or names ARC-Seal");
	return dkim_list_has(reading->into->names, "From") ||
	    reading_fails(reading, ORIGIN_PERMERROR,
	    "the signature does not sign From");
}

static bool
reading_number(struct reading *reading, const char *name, uint64_t *out)
{
	struct slice value = dkim_tag(&reading->tags, name);

	*out = UINT64_MAX;
	return value.p == NULL || slice_number(value, 0, UINT64_MAX - 1,
	    out) || reading_fails(reading, ORIGIN_PERMERROR, arena_printf(
	    reading->arena, "%s= of the signature is no number", name));
}

static bool
reading_numbers(struct reading *reading)
{
	uint64_t signed_s;

	if (!reading_number(reading, "l", &reading->into->length) ||
	    !reading_number(reading, "x", &reading->into->ends_s) ||
	    !reading_number(reading, "t", &signed_s))
		return false;
	return signed_s == UINT64_MAX || reading->into->ends_s == UINT64_MAX ||
	    signed_s < reading->into->ends_s || reading_fails(reading,
	    ORIGIN_PERMERROR, "the signature ends before it begins");
}

static bool
reading_bytes(struct reading *reading, const char *name, struct slice *out)
{
	struct str bytes = STR_INIT;
	struct err err;
	bool is_good = base64_decode(dkim_squeeze(reading->arena, dkim_tag(
	    &reading->tags, name)), &bytes, &err) == 0 && bytes.len > 0;

	*out = slice_copy(reading->arena, str_slice(&bytes));
	str_release(&bytes);
	return is_good || reading_fails(reading, ORIGIN_PERMERROR,
	    arena_printf(reading->arena, "%s= of the signature is no base64",
	    name));
}

/* "dns/txt" is the only way to a key there is (section 3.5). */
static bool
reading_query(struct reading *reading)
{
	struct slice q = dkim_tag(&reading->tags, "q");

	return q.p == NULL || dkim_list_has(q, "dns/txt") ||
	    dkim_list_has(q, "dns") || reading_fails(reading,
	    ORIGIN_PERMERROR, "q= of the signature names no way to the key "
	    "that is known");
}

bool
dkim_field_read(const struct header_field *field, enum dkim_dialect dialect,
    struct arena *arena, struct dkim_field *into, struct dkim *out)
{
	struct reading reading = { .dialect = dialect, .arena = arena,
	    .into = into, .out = out };

	*into = (struct dkim_field){ .field = *field };
	*out = (struct dkim){ .origin = ORIGIN_PERMERROR };
	if (field->whole.n > DKIM_FIELD_MAX)
		return reading_fails(&reading, ORIGIN_PERMERROR,
		    "the signature is too long");
	if (!dkim_tags_read(field->value, &reading.tags))
		return reading_fails(&reading, ORIGIN_PERMERROR,
		    "the signature is no list of tags, or has one twice");
	into->b_at = dkim_tag(&reading.tags, "b");
	into->instance = dkim_tag(&reading.tags, "i");
	into->seen = dkim_tag(&reading.tags, "cv");
	out->signature = slice_first(dkim_squeeze(arena, into->b_at), 8);
	return reading_version(&reading) && reading_names(&reading) &&
	    reading_algorithm(&reading) && reading_canon(&reading) &&
	    reading_fields(&reading) && reading_numbers(&reading) &&
	    reading_query(&reading) &&
	    reading_bytes(&reading, "b", &into->signature) &&
	    (dialect == DKIM_ARC_SEAL ||
	    reading_bytes(&reading, "bh", &into->body_sum));
}

/* field.c - one field of a chain as it stands in a header
 *
 * In     DKIM2-Signature, Message-Instance
 * Out    what it says, or what is wrong with it
 * Trusts nobody: keys, paths and numbers are bounded
 * Spec   draft-ietf-dkim-dkim2-spec-04 sections 7, 8, 11.2
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "grammar/base64.h"
#include "origin/dkim/internal.h"
#include "origin/dkim2/internal.h"

#include "base/banned.h"

enum { TIME_MAX_DIGITS = 15 };

enum dkim2_tag {
	TAG_D, TAG_F, TAG_H, TAG_I, TAG_M, TAG_MF, TAG_N, TAG_ND, TAG_R,
	TAG_RT, TAG_S, TAG_T, DKIM2_TAGS
};

static const char *const tag_names[DKIM2_TAGS] = {
	"d", "f", "h", "i", "m", "mf", "n", "nd", "r", "rt", "s", "t"
};

/* ---- tags ------------------------------------------------------------- */

struct dkim2_reading {		/* of one field */
	struct dkim2_chain *chain;
	const char	*what;		/* "DKIM2-Signature i" */
	unsigned	 number;	/* once it is known */
	struct slice	 tags[DKIM2_TAGS];	/* .p NULL: not there */
};

static bool
reading_wrong(struct dkim2_reading *reading, const char *what)
{
	(void)dkim2_end(reading->chain, ORIGIN_PERMERROR, "%s=%u %s",
	    reading->what, reading->number, what);
	return false;
}

static bool
reading_lacks(struct dkim2_reading *reading, enum dkim2_tag tag)
{
	(void)dkim2_end(reading->chain, ORIGIN_PERMERROR, "%s=%u tag=%s "
	    "missing", reading->what, reading->number, tag_names[tag]);
	return false;
}

static bool
reading_syntax(struct dkim2_reading *reading, enum dkim2_tag tag)
{
	(void)dkim2_end(reading->chain, ORIGIN_PERMERROR, "%s=%u syntax "
	    "error in tag=%s", reading->what, reading->number, tag_names[tag]);
	return false;
}

/* One "name=value"; one that is not known is let be. */
static bool
reading_tag(struct dkim2_reading *reading, struct slice tag)
{
	struct slice name;
	size_t i = 0;

	if (slice_find(tag, '=') == tag.n || !slice_cut(&tag, '=', &name))
		return false;
	name = slice_trim(name);
	if (!dkim_tag_name_fits(name))
		return false;
	while (i < DKIM2_TAGS && !slice_is_nocase(name, tag_names[i]))
		i++;
	if (i == DKIM2_TAGS)
		return true;
	if (reading->tags[i].p != NULL)
		return false;
	tag = slice_trim(tag);
	reading->tags[i] = tag.p != NULL ? tag : SLICE("");
	return true;
}

/* false: it is no list of tags, or has one twice. */
static bool
reading_tags(struct dkim2_reading *reading, struct slice value)
{
	struct slice tag;

	while (slice_cut(&value, ';', &tag)) {
		tag = slice_trim(tag);
		if (tag.n == 0 && value.p == NULL)
			return true;		/* after the last sign */
		if (!reading_tag(reading, tag))
			return false;
	}
	return true;
}

/* ---- values ----------------------------------------------------------- */

static struct slice
value_squeeze(struct arena *arena, struct slice value)
{
	char *to = arena_alloc(arena, value.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < value.n; i++)
		if (!ascii_is_space(value.p[i]))
			to[n++] = value.p[i];
	return (struct slice){ to, n };
}

static bool
value_bytes(struct arena *arena, struct slice value, struct slice *out)
{
	struct str bytes = STR_INIT;
	struct err err;
	bool is_good = base64_decode(value_squeeze(arena, value), &bytes,
	    &err) == 0 && bytes.len > 0;

	*out = slice_copy(arena, str_slice(&bytes));
	str_release(&bytes);
	return is_good;
}

static bool
value_is_name(struct slice name)
{
	struct slice label, rest = name;

	while (slice_cut(&rest, '.', &label)) {
		if (label.n == 0 || label.n > 63)
			return false;
		for (size_t i = 0; i < label.n; i++)
			if (!ascii_is_alnum(label.p[i]) &&
			    label.p[i] != '-' && label.p[i] != '_')
				return false;
	}
	return name.n > 0 && name.n <= 253;
}

/* A number of fields, from 1 on; 0: it is none. */
static unsigned
value_number(struct slice value)
{
	uint64_t number;

	return slice_number(value, 1, DKIM2_HOPS_MAX, &number) ?
	    (unsigned)number : 0;
}

static bool
reading_name(struct dkim2_reading *reading, enum dkim2_tag tag,
    struct slice *out)
{
	*out = slice_lower(reading->chain->arena, reading->tags[tag]);
	return value_is_name(*out) || reading_syntax(reading, tag);
}

/* ---- paths ------------------------------------------------------------ */

struct slice
dkim2_domain_of(struct slice address)
{
	size_t at = address.n;

	while (at > 0 && address.p[at - 1] != '@')
		at--;
	return slice_from(address, at > 0 ? at : address.n);
}

bool
dkim2_is_at_or_below(struct slice domain, struct slice above)
{
	size_t more = domain.n - above.n;

	return above.n > 0 && domain.n >= above.n &&
	    slice_equal_nocase(slice_from(domain, more), above) &&
	    (more == 0 || domain.p[more - 1] == '.');
}

/* base64 of "<a@b>", of which *out is what the brackets hold. */
static bool
reading_path(struct dkim2_reading *reading, struct slice value,
    struct slice *out)
{
	bool has_brackets;

	if (!value_bytes(reading->chain->arena, value, out))
		return false;
	for (size_t i = 0; i < out->n; i++)
		if ((unsigned char)out->p[i] < ' ' || out->p[i] == 0x7f)
			return false;
	has_brackets = out->n >= 2 && out->p[0] == '<' &&
	    out->p[out->n - 1] == '>';
	if (has_brackets)
		*out = (struct slice){ out->p + 1, out->n - 2 };
	return has_brackets || reading->chain->mail->is_lenient;
}

static bool
reading_to(struct dkim2_reading *reading, struct dkim2_signature *into)
{
	struct slice rest = reading->tags[TAG_RT], one;
	size_t count = 1;

	for (size_t i = 0; i < rest.n; i++)
		count += rest.p[i] == ',';
	if (count > DKIM2_PATHS_MAX)
		return reading_wrong(reading, "has too many recipients");
	into->to = arena_alloc(reading->chain->arena, count *
	    sizeof(*into->to));
	while (slice_cut(&rest, ',', &one))
		if (!reading_path(reading, one,
		    &into->to[into->to_count]) ||
		    into->to[into->to_count++].n == 0)
			return reading_syntax(reading, TAG_RT);
	return true;
}

/* Either nd=, or mf= and rt=. */
static bool
reading_paths(struct dkim2_reading *reading, struct dkim2_signature *into)
{
	const struct slice *tags = reading->tags;

	if (tags[TAG_ND].p != NULL) {
		if (tags[TAG_MF].p != NULL || tags[TAG_RT].p != NULL)
			return reading_wrong(reading, tags[TAG_MF].p != NULL ?
			    "tag=mf was unexpected" :
			    "tag=rt was unexpected");
		return reading_name(reading, TAG_ND, &into->next);
	}
	if (tags[TAG_MF].p == NULL)
		return reading_lacks(reading, TAG_MF);
	if (tags[TAG_RT].p == NULL)
		return reading_lacks(reading, TAG_RT);
	return (reading_path(reading, tags[TAG_MF], &into->from) ||
	    reading_syntax(reading, TAG_MF)) && reading_to(reading, into);
}

/* ---- what a signature says beside ------------------------------------- */

static const struct dkim2_flag_row {
	enum dkim2_flags flag;
	const char	*text;
} flag_rows[] = {
	{ DKIM2_EXPLODED, "exploded" },
	{ DKIM2_DONOTEXPLODE, "donotexplode" },
	{ DKIM2_DONOTMODIFY, "donotmodify" },
	{ DKIM2_FEEDBACK, "feedback" },
	{ DKIM2_FEEDHERE, "feedhere" }
};

enum { FLAG_ROWS = sizeof(flag_rows) / sizeof(flag_rows[0]) };

const char *
dkim2_flag_text(enum dkim2_flags flag)
{
	for (size_t i = 0; i < FLAG_ROWS; i++)
		if (flag_rows[i].flag == flag)
			return flag_rows[i].text;
	return "";
}

/* One that is not known says nothing. */
static unsigned
value_flags(struct slice value)
{
	unsigned flags = 0;
	struct slice one;

	while (slice_cut(&value, ',', &one))
		for (size_t i = 0; i < FLAG_ROWS; i++)
			if (slice_is_nocase(slice_trim(one),
			    flag_rows[i].text))
				flags |= flag_rows[i].flag;
	return flags;
}

static bool
reading_nonce(struct dkim2_reading *reading)
{
	struct slice nonce = reading->tags[TAG_N];

	for (size_t i = 0; i < nonce.n; i++)
		if (nonce.p[i] <= ' ' || nonce.p[i] > '~')
			return reading_syntax(reading, TAG_N);
	return nonce.n <= DKIM2_NONCE_MAX || reading_wrong(reading,
	    "syntax error: the nonce has more than 64 characters");
}

/* ---- its keys --------------------------------------------------------- */

/* "SELECTOR:ALGORITHM:base64" */
static bool
set_read(struct dkim2_reading *reading, struct slice text,
    struct dkim2_set *set)
{
	struct slice algorithm;

	if (!slice_cut(&text, ':', &set->selector) || text.p == NULL ||
	    !slice_cut(&text, ':', &algorithm) || text.p == NULL)
		return false;
	set->selector = slice_trim(set->selector);
	algorithm = slice_trim(algorithm);
	set->text = text;
	set->kind = slice_is_nocase(algorithm, "rsa-sha256") ?
	    VERIFY_RSA_SHA256 : VERIFY_ED25519_SHA256;
	set->is_known = set->kind == VERIFY_RSA_SHA256 ||
	    slice_is_nocase(algorithm, "ed25519-sha256");
	return value_is_name(set->selector) && algorithm.n > 0 &&
	    value_bytes(reading->chain->arena, text, &set->bytes);
}

static bool
sets_are_fit(struct dkim2_reading *reading,
    const struct dkim2_signature *into)
{
	unsigned of_kind[2] = { 0, 0 };

	for (size_t i = 0; i < into->set_count; i++) {
		const struct dkim2_set *set = &into->sets[i];

		for (size_t k = 0; k < i; k++)
			if (slice_equal_nocase(set->selector,
			    into->sets[k].selector))
				return reading_wrong(reading,
				    "has a duplicate selector");
		if (set->is_known && ++of_kind[set->kind] > 2)
			return reading_wrong(reading,
			    "has too many signatures");
	}
	return true;
}

static bool
reading_sets(struct dkim2_reading *reading, struct dkim2_signature *into)
{
	struct slice rest = reading->tags[TAG_S], one;

	while (slice_cut(&rest, ',', &one)) {
		if (into->set_count == DKIM2_SETS_MAX)
			return reading_wrong(reading,
			    "has too many signatures");
		if (!set_read(reading, one, &into->sets[into->set_count++]))
			return reading_syntax(reading, TAG_S);
	}
	return sets_are_fit(reading, into);
}

/* ---- a signature ------------------------------------------------------ */

static bool
signature_read(struct dkim2_reading *reading, struct dkim2_signature *into)
{
	static const enum dkim2_tag wanted[] = { TAG_M, TAG_T, TAG_D, TAG_S };
	struct slice time = reading->tags[TAG_T];

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++)
		if (reading->tags[wanted[i]].p == NULL)
			return reading_lacks(reading, wanted[i]);
	into->revision = value_number(reading->tags[TAG_M]);
	if (into->revision == 0)
		return reading_syntax(reading, TAG_M);
	if (time.n > TIME_MAX_DIGITS ||
	    !slice_number(time, 0, INT64_MAX, &into->time_s))
		return reading_syntax(reading, TAG_T);
	into->flags = value_flags(reading->tags[TAG_F]);
	return reading_name(reading, TAG_D, &into->domain) &&
	    reading_nonce(reading) && reading_paths(reading, into) &&
	    reading_sets(reading, into);
}

void
dkim2_take_signature(struct dkim2_chain *chain,
    const struct header_field *field)
{
	struct dkim2_reading reading = { chain, "DKIM2-Signature i", 0,
	    { { NULL, 0 } } };
	bool is_list = reading_tags(&reading, field->value);
	struct dkim2_signature *into;

	reading.number = value_number(reading.tags[TAG_I]);
	if (reading.number == 0 || !is_list) {
		(void)reading_wrong(&reading, "syntax error: no i= from 1 to "
		    "50, no list of tags, or one twice");
		return;
	}
	into = &chain->signatures[reading.number - 1];
	if (into->field.whole.n > 0) {
		(void)reading_wrong(&reading, "is there twice");
		return;
	}
	into->field = *field;
	into->number = reading.number;
	if (signature_read(&reading, into) &&
	    reading.number > chain->signature_count)
		chain->signature_count = reading.number;
}

/* ---- an instance ------------------------------------------------------ */

/* "NAME:HEADER:BODY"; of other kinds than sha256 nothing is kept. */
static bool
sums_read(struct dkim2_reading *reading, struct slice text,
    struct dkim2_instance *into)
{
	struct slice name, header, header_sum, body_sum;

	if (!slice_cut(&text, ':', &name) || text.p == NULL ||
	    !slice_cut(&text, ':', &header) || text.p == NULL ||
	    slice_trim(name).n == 0 ||
	    !value_bytes(reading->chain->arena, header, &header_sum) ||
	    !value_bytes(reading->chain->arena, text, &body_sum))
		return false;
	if (!slice_is_nocase(slice_trim(name), "sha256"))
		return true;
	if (into->header_sum.n > 0 || header_sum.n != DIGEST_SHA256_BYTES ||
	    body_sum.n != DIGEST_SHA256_BYTES)
		return false;
	into->header_sum = header_sum;
	into->body_sum = body_sum;
	return true;
}

static bool
instance_recipe(struct dkim2_reading *reading, struct dkim2_instance *into)
{
	struct slice r = reading->tags[TAG_R], json;
	struct err err;

	into->has_recipe = r.p != NULL;
	if (!into->has_recipe)
		return true;
	if (!value_bytes(reading->chain->arena, r, &json))
		return reading_syntax(reading, TAG_R);
	if (dkim2_recipe_read(json, reading->chain->arena, &into->recipe,
	    &err) == 0)
		return true;
	(void)dkim2_end(reading->chain, ORIGIN_PERMERROR, "%s=%u contains "
	    "invalid JSON: %s", reading->what, reading->number, err.text);
	return false;
}

static bool
instance_read(struct dkim2_reading *reading, struct dkim2_instance *into)
{
	struct slice rest = reading->tags[TAG_H], one;

	if (rest.p == NULL)
		return reading_lacks(reading, TAG_H);
	while (slice_cut(&rest, ',', &one))
		if (!sums_read(reading, one, into))
			return reading_syntax(reading, TAG_H);
	return instance_recipe(reading, into);
}

void
dkim2_take_instance(struct dkim2_chain *chain,
    const struct header_field *field)
{
	struct dkim2_reading reading = { chain, "Message-Instance m", 0,
	    { { NULL, 0 } } };
	bool is_list = reading_tags(&reading, field->value);
	struct dkim2_instance *into;

	reading.number = value_number(reading.tags[TAG_M]);
	if (reading.number == 0 || !is_list) {
		(void)reading_wrong(&reading, "syntax error: no m= from 1 to "
		    "50, no list of tags, or one twice");
		return;
	}
	into = &chain->instances[reading.number - 1];
	if (into->field.whole.n > 0) {
		(void)reading_wrong(&reading, "is there twice");
		return;
	}
	into->field = *field;
	into->number = reading.number;
	if (instance_read(&reading, into) &&
	    reading.number > chain->instance_count)
		chain->instance_count = reading.number;
}

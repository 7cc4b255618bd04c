/* record.c - what a domain publishes at _dmarc
 *
 * In     a TXT record
 * Out    what it asks for
 * Trusts nobody
 * Spec   RFC 9989 section 4.7
 *
 * SPDX-License-Identifier: ISC
 */
#include "origin/dmarc/record.h"

#include "base/banned.h"

/* Tags as they are read; a policy that is not said is -1. */
struct dmarc_tags {
	int		p, sp, np;
	bool		is_bad;		/* a policy that cannot be read */
	struct dmarc_record *out;
};

static const char *const policy_texts[] = {
	[DMARC_NONE] = "none",
	[DMARC_QUARANTINE] = "quarantine",
	[DMARC_REJECT] = "reject",
};

const char *
dmarc_policy_text(enum dmarc_policy policy)
{
	return policy_texts[policy];
}

static int
dmarc_policy(struct slice value, bool *out_is_bad)
{
	for (int i = DMARC_NONE; i <= DMARC_REJECT; i++)
		if (slice_is_nocase(value, policy_texts[i]))
			return i;
	*out_is_bad = true;
	return -1;
}

/* The first of "mailto:..." that could be one. */
static bool
dmarc_has_uri(struct slice rua)
{
	struct slice uri;

	while (slice_cut(&rua, ',', &uri)) {
		uri = slice_trim(uri);
		if (slice_find(uri, ':') > 0 && slice_find(uri, ':') + 1 <
		    uri.n)
			return true;
	}
	return false;
}

static void
dmarc_take_tag(struct dmarc_tags *tags, struct slice name, struct slice value)
{
	struct dmarc_record *out = tags->out;

	if (slice_is_nocase(name, "p"))
		tags->p = dmarc_policy(value, &tags->is_bad);
	else if (slice_is_nocase(name, "sp"))
		tags->sp = dmarc_policy(value, &tags->is_bad);
	else if (slice_is_nocase(name, "np"))
		tags->np = dmarc_policy(value, &tags->is_bad);
	else if (slice_is_nocase(name, "psd"))
		out->psd = slice_is_nocase(value, "y") ? DMARC_PSD_YES :
		    slice_is_nocase(value, "n") ? DMARC_PSD_NO :
		    DMARC_PSD_UNKNOWN;
	else if (slice_is_nocase(name, "adkim"))
		out->is_dkim_strict = slice_is_nocase(value, "s");
	else if (slice_is_nocase(name, "aspf"))
		out->is_spf_strict = slice_is_nocase(value, "s");
	else if (slice_is_nocase(name, "t"))
		out->is_testing = slice_is_nocase(value, "y");
	else if (slice_is_nocase(name, "rua"))
		out->rua = value;
}

/* "v=DMARC1" first, blanks around the sign (the version's case counts). */
static bool
dmarc_take_version(struct slice *rest)
{
	struct slice tag, name;

	return slice_cut(rest, ';', &tag) && slice_cut(&tag, '=', &name) &&
	    slice_is(slice_trim(name), "v") &&
	    slice_is(slice_trim(tag), "DMARC1");
}

enum dmarc_read
dmarc_read(struct slice text, struct dmarc_record *out)
{
	struct dmarc_tags tags = { .p = -1, .sp = -1, .np = -1, .out = out };
	struct slice rest = text, tag, name;

	*out = (struct dmarc_record){ .text = text };
	if (!dmarc_take_version(&rest))
		return DMARC_READ_OTHER;
	while (slice_cut(&rest, ';', &tag))
		if (slice_cut(&tag, '=', &name))
			dmarc_take_tag(&tags, slice_trim(name),
			    slice_trim(tag));
	if (tags.p < 0 || tags.is_bad) {
		if (!dmarc_has_uri(out->rua))
			return DMARC_READ_BAD;
		tags.p = tags.sp = tags.np = DMARC_NONE;
	}
	out->p = (enum dmarc_policy)tags.p;
	out->sp = tags.sp < 0 ? out->p : (enum dmarc_policy)tags.sp;
	out->np = tags.np < 0 ? out->sp : (enum dmarc_policy)tags.np;
	return DMARC_READ;
}

/* vouch.c - what a chain of seals is worth to us
 *
 * In     a chain that is good, domains whose seals are believed, an author
 * Out    which set says that the author's domain stood by the mail
 * Trusts who is on the list, as far as the chain is theirs without a gap
 * Spec   arc.h; RFC 8617 section 7.2; doc/AUTH.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "origin/arc/arc.h"
#include "origin/authres_read.h"

#include "base/banned.h"

static bool
trust_has(const struct arc_trust *trust, struct slice domain)
{
	for (size_t i = 0; i < trust->count; i++)
		if (trust->domains[i][0] == '.' ?
		    slice_ends(domain, trust->domains[i]) :
		    slice_is(domain, trust->domains[i]))
			return true;
	return false;
}

/* Is the property the author's domain, or an address in it? */
static bool
property_is_of(const struct authres_result *result, const char *name,
    struct slice author, struct arena *arena)
{
	struct slice value, local;

	if (!authres_property(result, name, arena, &value))
		return false;
	while (slice_find(value, '@') < value.n)
		slice_cut(&value, '@', &local);
	return slice_equal_nocase(value, author);
}

static bool
results_say(struct slice results, struct slice author, struct arena *arena)
{
	bool has_dmarc = false, dmarc = false, other = false;
	struct authres_result one;

	while (authres_next(&results, &one)) {
		bool is_pass = slice_is_nocase(one.result, "pass");

		if (slice_is_nocase(one.method, "dmarc")) {
			dmarc = is_pass && (!has_dmarc || dmarc) &&
			    property_is_of(&one, "header.from", author,
			    arena);
			has_dmarc = true;
		} else if (is_pass && slice_is_nocase(one.method, "dkim")) {
			other |= property_is_of(&one, "header.d", author,
			    arena) || property_is_of(&one, "header.i", author,
			    arena);
		} else if (is_pass && slice_is_nocase(one.method, "spf")) {
			other |= property_is_of(&one, "smtp.mailfrom", author,
			    arena);
		}
	}
	return has_dmarc ? dmarc : other;
}

const struct arc_set *
arc_vouches(const struct arc *arc, const struct arc_trust *trust,
    struct slice author, struct arena *arena)
{
	if (arc->origin != ORIGIN_PASS || author.n == 0)
		return NULL;
	for (size_t i = arc->count; i-- > 0;) {
		const struct arc_set *set = &arc->sets[i];

		if (!trust_has(trust, set->domain))
			return NULL;
		if (results_say(set->results, author, arena))
			return set;
	}
	return NULL;
}

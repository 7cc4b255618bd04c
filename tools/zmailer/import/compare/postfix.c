/* postfix.c - what Postfix would do with an address, by its own tables
 *
 * In     main.cf as the importer read it; `postmap -q KEY TYPE:PLACE`
 * Out    places, in the words of compare.h
 * Holds  nothing
 * Trusts no value: each is a word of the next question, or of a place
 * Spec   virtual(5), aliases(5), transport(5), ADDRESS_CLASS_README of Postfix
 *
 * Postfix has no program that tells where an address goes without sending
 * mail there; so its order of tables is followed here.
 *
 * SPDX-License-Identifier: ISC
 */
#include "tools/zmailer/import/compare/compare.h"
#include "tools/zmailer/import/postfix/postfix.h"

#include "base/banned.h"

enum { POSTFIX_DEPTH_MAX = 20, POSTFIX_QUESTIONS_MAX = 500 };

struct postfix_asked {
	struct compare		*compare;
	struct compare_answer	*out;
	struct err		*err;
	unsigned		questions;
	bool			is_broken;	/* postmap cannot be run */
};

static void postfix_address(struct postfix_asked *asked,
    struct slice address, int depth);

static void
postfix_trouble(struct postfix_asked *asked, const char *what,
    struct slice about)
{
	asked->out->trouble = arena_printf(asked->compare->import->arena,
	    "%s: %s", what, import_quote(asked->compare->import, about));
}

/* ---- tables ------------------------------------------------------------- */

/* One map.  returns whether the key is there */
static bool
postfix_map(struct postfix_asked *asked, struct slice spec,
    const char *key, struct slice *out)
{
	struct import *import = asked->compare->import;
	size_t at = slice_find(spec, ':');
	const char *words[7] = { "postmap", "-c", import->dir, "-q", key };
	struct str text = STR_INIT;
	struct slice said;
	int status;

	if (slice_starts(spec, "proxy:")) {
		spec = slice_from(spec, 6);
		at = slice_find(spec, ':');
	}
	if (asked->compare->program != NULL)
		words[0] = asked->compare->program;
	/* unix:passwd.byname is no file */
	words[5] = !slice_starts(slice_from(spec, at + 1), "/") ?
	    slice_dup(import->arena, spec) : arena_printf(import->arena,
	    SLICE_FMT ":%s", SLICE_ARG(slice_first(spec, at)),
	    import_file_here(import, slice_from(spec, at + 1)));
	if (key[0] == '-' || ++asked->questions > POSTFIX_QUESTIONS_MAX) {
		postfix_trouble(asked, "not asked", slice_of(key));
		return false;
	}
	status = compare_run(words, &text, asked->err);
	said = slice_trim(slice_copy(import->arena, str_slice(&text)));
	str_release(&text);
	if (status < 0)
		asked->is_broken = true;
	else if (status != 0 && said.n > 0)
		postfix_trouble(asked, words[5], said);
	*out = said;
	return status == 0;
}

static bool
postfix_maps(struct postfix_asked *asked, const char *setting,
    struct slice key, struct slice *out)
{
	struct arena *arena = asked->compare->import->arena;
	struct slice rest = import_value(asked->compare->import, setting);
	const char *word = slice_dup(arena, slice_lower(arena, key));
	struct slice spec;

	while (!asked->is_broken && import_list_next(&rest, &spec))
		if (slice_find(spec, ':') < spec.n &&
		    postfix_map(asked, spec, word, out))
			return true;
	return false;
}

/* ---- classes of domains ------------------------------------------------- */

struct domain_wanted {
	struct slice	domain;
	bool		is_found;
};

static void
domain_compare(struct import *import, void *context, struct slice domain)
{
	struct domain_wanted *wanted = context;

	(void)import;
	wanted->is_found |= slice_equal_nocase(domain, wanted->domain);
}

static bool
domain_is_of(struct postfix_asked *asked, const char *setting,
    struct slice domain)
{
	struct domain_wanted wanted = { domain, false };

	import_domains_each(asked->compare->import, setting, domain_compare,
	    &wanted);
	return wanted.is_found;
}

/* ---- where it goes ------------------------------------------------------ */

static void
postfix_hop(struct postfix_asked *asked, struct slice hop)
{
	size_t end = slice_find(hop, ']');
	struct slice host = hop, port = SLICE("");

	if (slice_starts(hop, "[") && end < hop.n) {
		host = (struct slice){ hop.p + 1, end - 1 };
		port = slice_from(hop, end + 1);
	}
	if (slice_is(port, ":submission"))
		port = SLICE(":587");
	else if (slice_is(port, ":25") || slice_is(port, ":smtp"))
		port = SLICE("");
	compare_place_add(asked->compare, asked->out, "smtp " SLICE_FMT
	    SLICE_FMT, SLICE_ARG(host), SLICE_ARG(port));
}

/* TRANSPORT:HOP; without a hop relayhost's, or the domain's own. */
static void
postfix_transport(struct postfix_asked *asked, struct slice value,
    struct slice domain)
{
	struct slice name = slice_first(value, slice_find(value, ':'));
	struct slice hop = slice_from(value, name.n + 1);
	struct slice relay = import_value(asked->compare->import,
	    "relayhost");

	if (slice_is(name, "error"))
		compare_place_add(asked->compare, asked->out, "refused");
	else if (slice_is(name, "retry"))
		compare_place_add(asked->compare, asked->out, "deferred");
	else if (slice_is(name, "discard"))
		compare_place_add(asked->compare, asked->out, "discarded");
	else if (name.n == 0 || slice_is(name, "smtp") ||
	    slice_is(name, "relay"))
		postfix_hop(asked, hop.n > 0 ? hop : relay.n > 0 ? relay :
		    domain);
	else
		compare_place_add(asked->compare, asked->out, SLICE_FMT " "
		    SLICE_FMT, SLICE_ARG(name), SLICE_ARG(hop));
}

/* transport_maps: the address, its domain, what is above it, "*". */
static bool
postfix_routed(struct postfix_asked *asked, struct slice address,
    struct slice domain, struct slice *out)
{
	struct slice above = domain;

	if (postfix_maps(asked, "transport_maps", address, out) ||
	    postfix_maps(asked, "transport_maps", domain, out))
		return true;
	while (slice_find(above, '.') < above.n) {
		above = slice_from(above, slice_find(above, '.') + 1);
		if (postfix_maps(asked, "transport_maps", slice_of(
		    arena_printf(asked->compare->import->arena, "."
		    SLICE_FMT, SLICE_ARG(above))), out))
			return true;
	}
	return postfix_maps(asked, "transport_maps", SLICE("*"), out);
}

static void
postfix_local(struct postfix_asked *asked, struct slice user)
{
	struct slice value;

	if (import_value(asked->compare->import, "local_recipient_maps").n >
	    0 && !postfix_maps(asked, "local_recipient_maps", user, &value))
		compare_place_add(asked->compare, asked->out, "refused");
	else if (import_value(asked->compare->import,
	    "mailbox_transport").n > 0)
		postfix_transport(asked, import_value(asked->compare->import,
		    "mailbox_transport"), SLICE(""));
	else
		compare_place_add(asked->compare, asked->out, "local "
		    SLICE_FMT, SLICE_ARG(user));
}

static void
postfix_class(struct postfix_asked *asked, struct slice address,
    struct slice domain)
{
	struct slice value, none;
	bool is_boxes = domain_is_of(asked, "virtual_mailbox_domains",
	    domain);

	if (!is_boxes && domain_is_of(asked, "virtual_alias_domains",
	    domain)) {
		compare_place_add(asked->compare, asked->out, "refused");
		return;
	}
	/* relay_recipient_maps is a rule, which the router does not know */
	if (is_boxes && !postfix_maps(asked, "virtual_mailbox_maps", address,
	    &none)) {
		compare_place_add(asked->compare, asked->out, "refused");
		return;
	}
	if (postfix_routed(asked, address, domain, &value))
		postfix_transport(asked, value, domain);
	else if (is_boxes && slice_is(import_value(asked->compare->import,
	    "virtual_transport"), "virtual"))
		compare_place_add(asked->compare, asked->out, "local "
		    SLICE_FMT, SLICE_ARG(address));
	else
		postfix_transport(asked, is_boxes ? import_value(
		    asked->compare->import, "virtual_transport") :
		    SLICE("smtp:"), domain);
}

/* ---- addresses that become others --------------------------------------- */

static struct slice
address_whole_of(struct postfix_asked *asked, struct slice text)
{
	struct slice origin = import_value(asked->compare->import,
	    "myorigin");

	return slice_find(text, '@') < text.n ? text : slice_of(arena_printf(
	    asked->compare->import->arena, SLICE_FMT "@" SLICE_FMT,
	    SLICE_ARG(text), SLICE_ARG(origin)));
}

/* Items of a value of alias_maps. */
static void
postfix_items(struct postfix_asked *asked, struct slice value,
    struct slice user, int depth)
{
	struct slice rest = value, item;

	while (slice_cut(&rest, ',', &item)) {
		item = slice_trim(item);
		if (slice_starts(item, "\"") && slice_ends(item, "\"") &&
		    item.n > 1)
			item = (struct slice){ item.p + 1, item.n - 2 };
		if (slice_starts(item, "|"))
			compare_place_add(asked->compare, asked->out,
			    "program " SLICE_FMT, SLICE_ARG(slice_from(item,
			    1)));
		else if (slice_is(item, "/dev/null"))
			compare_place_add(asked->compare, asked->out,
			    "discarded");
		else if (slice_starts(item, "/"))
			compare_place_add(asked->compare, asked->out, "file "
			    SLICE_FMT, SLICE_ARG(item));
		else if (slice_starts(item, ":include:"))
			postfix_trouble(asked, "list files are not read",
			    item);
		else if (slice_starts(item, "\\") || slice_equal_nocase(item,
		    user))
			postfix_local(asked, slice_from(item,
			    slice_starts(item, "\\")));
		else if (item.n > 0)
			postfix_address(asked, address_whole_of(asked, item),
			    depth + 1);
	}
}

/* virtual_alias_maps: returns whether it became something else. */
static bool
postfix_virtual(struct postfix_asked *asked, struct slice address,
    bool is_local, int depth)
{
	size_t at = slice_find(address, '@');
	struct slice value, item, user = slice_first(address, at);

	if (!postfix_maps(asked, "virtual_alias_maps", address, &value) &&
	    !(is_local && postfix_maps(asked, "virtual_alias_maps", user,
	    &value)) && !postfix_maps(asked, "virtual_alias_maps",
	    slice_from(address, at), &value))
		return false;
	while (import_list_next(&value, &item)) {
		if (slice_starts(item, "@"))
			item = slice_of(arena_printf(
			    asked->compare->import->arena, SLICE_FMT
			    SLICE_FMT, SLICE_ARG(user), SLICE_ARG(item)));
		item = address_whole_of(asked, item);
		if (slice_equal_nocase(item, address))
			return false;
		postfix_address(asked, item, depth + 1);
	}
	return true;
}

static void
postfix_address(struct postfix_asked *asked, struct slice address, int depth)
{
	size_t at = slice_find(address, '@');
	struct slice domain = slice_from(address, at + 1), value;
	bool is_local;

	if (depth > POSTFIX_DEPTH_MAX || asked->is_broken ||
	    asked->out->trouble != NULL) {
		if (depth > POSTFIX_DEPTH_MAX)
			postfix_trouble(asked, "it leads to itself",
			    address);
		return;
	}
	is_local = domain_is_of(asked, "mydestination", domain);
	if (postfix_virtual(asked, address, is_local, depth))
		return;
	if (!is_local)
		postfix_class(asked, address, domain);
	else if (postfix_maps(asked, "alias_maps", slice_first(address, at),
	    &value))
		postfix_items(asked, value, slice_first(address, at), depth);
	else
		postfix_local(asked, slice_first(address, at));
}

int
compare_postfix(struct compare *compare, const char *address,
    struct compare_answer *out, struct err *err)
{
	struct postfix_asked asked = { .compare = compare, .out = out,
		.err = err };

	postfix_address(&asked, address_whole_of(&asked, slice_of(address)),
	    0);
	if (out->count == 0 && out->trouble == NULL)
		out->trouble = "no answer";
	return asked.is_broken ? -1 : 0;
}

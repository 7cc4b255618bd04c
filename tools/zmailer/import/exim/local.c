/* local.c - our domains: routers, walked for each name of ours
 *
 * In     routers in their order, the names of their lists
 * Out    domain NAME... { users; aliases; deliver }
 * Holds  nothing
 * Spec   the Exim specification, chapter 3.12 ("Router preconditions");
 *        zmailer.conf(5), domain
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/exim/exim4.h"

#include "base/banned.h"

struct exim4_block {		/* what becomes of a name */
	struct str	 aliases;	/* " <a> <b>" */
	const char	*users, *deliver;
	bool		 is_accepted;
};

const struct exim4_set *
exim4_domains(struct exim4 *exim, const struct exim4_driver *router)
{
	static const struct exim4_set none = { .words = NULL };
	struct exim4_row *row = exim4_option(exim, router, "domains");

	return row == NULL ? &none : exim4_set_of(exim, "domainlist",
	    row->value);
}

bool
exim4_is_remote(struct exim4 *exim, const struct exim4_driver *router)
{
	struct slice driver = exim4_value(exim, router, "driver");
	struct exim4_driver *transport = exim4_driver_of(exim,
	    EXIM4_TRANSPORTS, exim4_value(exim, router, "transport"));

	if (slice_is(driver, "accept") && transport != NULL &&
	    slice_is(exim4_value(exim, transport, "driver"), "smtp"))
		return exim4_option(exim, router, "check_local_user") ==
		    NULL && !slice_is(exim4_value(exim, transport,
		    "protocol"), "lmtp");
	return slice_is(driver, "dnslookup") ||
	    slice_is(driver, "manualroute") || slice_is(driver, "ipliteral") ||
	    slice_is(driver, "queryprogram") ||
	    slice_is(driver, "iplookup");
}

/* ---- which names -------------------------------------------------------- */

static void
local_add(struct exim4 *exim, const char *word)
{
	struct slice name = slice_of(word);

	if (name.n == 0 || slice_is(name, "*") || import_name_number(
	    &exim->local, name) != 0)
		return;
	import_name_put(exim->import->arena, &exim->local, name, 1);
	str_addf(&exim->local_words, " %s ", word);
}

/* Names that routers deliver here, and those that they keep from going
 * elsewhere. */
static void
local_names(struct exim4 *exim)
{
	for (size_t i = 0; i < exim->driver_count; i++) {
		const struct exim4_driver *router = &exim->drivers[i];
		const struct exim4_set *set;
		bool is_remote;

		if (router->section != EXIM4_ROUTERS)
			continue;
		set = exim4_domains(exim, router);
		is_remote = exim4_is_remote(exim, router);
		for (size_t k = 0; k < set->count; k++)
			if (set->words[k].is_not == is_remote)
				local_add(exim, set->words[k].text);
	}
	if (exim->local_words.len == 0)
		local_add(exim, exim->host);
}

/* ---- a router, for a name ----------------------------------------------- */

/* A condition that no statement here has.  returns whether there is one */
static bool
router_is_odd(struct exim4 *exim, struct exim4_driver *router)
{
	static const struct { const char *name, *text; } rows[] = {
		{ "senders", "senders: only some senders' mail goes so: "
		    "write it as `route PATTERN from SENDER via ...` or as a "
		    "rule" },
		{ "require_files", "require_files: users with such a file "
		    "write \"|COMMAND\" into their .forward" },
		{ "local_part_prefix", "local_part_prefix: write such "
		    "addresses into the aliases" },
	};
	bool is_forward = slice_is(exim4_value(exim, router, "driver"),
	    "redirect") && exim4_option(exim, router, "file") != NULL;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (exim4_option(exim, router, rows[i].name) == NULL)
			continue;
		if (is_forward && strcmp(rows[i].name, "require_files") == 0)
			continue;
		router->differs = rows[i].text;
		router->is_odd = true;
		return true;
	}
	return false;
}

/* The table of users that a condition or a list of local parts asks.
 * returns false: the condition cannot be said */
static bool
accept_users(struct exim4 *exim, struct exim4_driver *router,
    const char *domain, const char **out_users)
{
	struct arena *arena = exim->import->arena;
	struct slice condition = exim4_value(exim, router, "condition");
	struct slice parts = exim4_value(exim, router, "local_parts");
	struct exim4_lookup lookup;
	const char *why = "condition: it is no look-up of a file or "
	    "database: write the names into a table, and `users <TABLE>`";

	*out_users = NULL;
	if (condition.n == 0 && (parts.n == 0 || slice_starts(parts, "!")))
		return true;
	if (condition.n > 0 ? exim4_lookup_cut(arena, condition, &lookup) :
	    exim4_lookup_item(parts, &lookup) || exim4_lookup_cut(arena,
	    parts, &lookup))
		*out_users = exim4_users(exim, &lookup, domain, &why);
	if (*out_users == NULL)
		router->why = why;
	return *out_users != NULL;
}

/* An accept router.  returns whether the name goes no further */
static bool
router_accepts(struct exim4 *exim, struct exim4_driver *router,
    const char *domain, struct exim4_block *block)
{
	struct slice parts = exim4_value(exim, router, "local_parts");
	bool is_account = exim4_flag(exim, router, "check_local_user");
	const char *table, *deliver;

	if (!accept_users(exim, router, domain, &table))
		return false;
	if (block->is_accepted) {
		router->why = "a domain has one way to its mailboxes, and a "
		    "router before this one says it: give these names a "
		    "domain of their own";
		return false;
	}
	deliver = exim4_deliver(exim, router);
	if (deliver == NULL)
		return false;
	block->is_accepted = true;
	block->deliver = deliver;
	block->users = table != NULL ? table : is_account ? "passwd" : "any";
	return !slice_starts(parts, "!");
}

/* Where a name that came so far leaves this host. */
static void
router_sends(struct exim4 *exim, struct exim4_driver *router,
    struct exim4_block *block)
{
	struct slice route = exim4_value(exim, router, "route_list"), word;
	const char *via = NULL;

	if (block->aliases.len == 0)
		return;		/* a route says it */
	if (slice_is(exim4_value(exim, router, "driver"), "manualroute") &&
	    slice_word(&route, &word) && slice_is(word, "*") &&
	    slice_word(&route, &word))
		via = exim4_via(exim, router, word);
	if (via == NULL || strncmp(via, "lmtp", 4) == 0 || strchr(via, ' ') !=
	    NULL || strncmp(via, "smtps:", 6) == 0) {
		router->why = "addresses of the domain that no alias has go "
		    "on: write `users any; deliver smtp HOST:PORT` into its "
		    "block";
		return;
	}
	block->is_accepted = true;
	block->users = "any";
	block->deliver = arena_printf(exim->import->arena, "deliver smtp %s",
	    via);
}

/* A manualroute has patterns of its own. */
static bool
manual_has(struct exim4 *exim, const struct exim4_driver *router,
    const char *domain)
{
	struct slice value = exim4_value(exim, router, "route_list"), rule,
	    pattern;
	struct exim4_list list;

	if (value.n == 0)
		return true;
	exim4_list_begin(value, &list);
	if (!slice_starts(value, "<"))
		list.separator = ';';
	while (exim4_list_next(exim->import->arena, &list, &rule))
		if (slice_word(&rule, &pattern) && exim4_set_has(exim4_set_of(
		    exim, "domainlist", pattern), domain))
			return true;
	return false;
}

/* returns whether the name goes no further */
static bool
router_walk(struct exim4 *exim, struct exim4_driver *router,
    const char *domain, struct exim4_block *block)
{
	const struct exim4_set *set = exim4_domains(exim, router);
	struct slice driver = exim4_value(exim, router, "driver");

	if (set->odd != NULL)
		router->differs = arena_printf(exim->import->arena,
		    "domains: \"%s\" is no name that is known when it is "
		    "read: write `domain` or `route` for it", set->odd);
	if (set->is_given && !exim4_set_has(set, domain))
		return false;
	if (exim4_is_remote(exim, router) && !manual_has(exim, router,
	    domain))
		return false;
	router->is_walked = true;
	if (router->came == NULL)
		router->came = domain;
	if (router_is_odd(exim, router))
		return false;
	if (slice_is(driver, "redirect"))
		return !exim4_redirect(exim, router, domain,
		    &block->aliases);
	if (exim4_is_remote(exim, router)) {
		if (exim4_option(exim, router, "condition") == NULL &&
		    exim4_option(exim, router, "local_parts") == NULL &&
		    exim4_option(exim, router, "check_local_user") == NULL) {
			router_sends(exim, router, block);
			return true;
		}
		router->why = "only some names of a domain go elsewhere: "
		    "write `NAME: NAME@HOST` for each into its aliases";
		return false;
	}
	if (slice_is(driver, "accept"))
		return router_accepts(exim, router, domain, block);
	router->why = "no router of this driver is known here: write "
	    "`domain` or `route` (zmailer help)";
	return false;
}

/* ---- blocks ------------------------------------------------------------- */

/* The block of a name, NULL: its mail does not end here. */
static const char *
local_block(struct exim4 *exim, const char *domain)
{
	struct exim4_block block = { .aliases = STR_INIT, .users = "none",
		.deliver = "" };
	const char *out = NULL;

	for (size_t i = 0; i < exim->driver_count; i++)
		if (exim->drivers[i].section == EXIM4_ROUTERS &&
		    router_walk(exim, &exim->drivers[i], domain, &block))
			break;
	if (block.aliases.len > 0 || block.is_accepted)
		out = arena_printf(exim->import->arena, "%s%s%saliases%s%s%s",
		    strcmp(block.users, "passwd") == 0 ? "" : "users ",
		    strcmp(block.users, "passwd") == 0 ? "" : block.users,
		    strcmp(block.users, "passwd") == 0 ? "" : "; ",
		    block.aliases.len > 0 ? block.aliases.buf :
		    arena_printf(exim->import->arena, " %s",
		    import_no_aliases_say(exim->import)),
		    block.deliver[0] != '\0' ? "; " : "", block.deliver);
	str_release(&block.aliases);
	return out;
}

/* The routers that the first of these names came to. */
static void
local_said(struct exim4 *exim, const char *name, int statement)
{
	for (size_t i = 0; i < exim->driver_count; i++) {
		struct exim4_driver *router = &exim->drivers[i];

		if (router->section != EXIM4_ROUTERS || router->came == NULL ||
		    strcmp(router->came, name) != 0)
			continue;
		if (!router->is_odd && router->statement < 0 &&
		    router->why == NULL && !exim4_is_remote(exim, router))
			router->statement = statement;
	}
}

/* The names with that block, and none twice. */
static void
local_domain_say(struct exim4 *exim, const char **names, const char **blocks,
    size_t count, size_t at)
{
	struct str words = STR_INIT;
	const char *block = blocks[at];
	int statement;

	for (size_t i = at; i < count; i++)
		if (blocks[i] != NULL && strcmp(blocks[i], block) == 0)
			str_addf(&words, " %s", names[i]);
	statement = import_say_once(exim->import, IMPORT_DOMAINS,
	    arena_printf(exim->import->arena, "domain%s { %s }", words.buf,
	    block));
	for (size_t i = at; i < count; i++)
		if (blocks[i] != NULL && strcmp(blocks[i], block) == 0) {
			local_said(exim, names[i], statement);
			if (i > at)
				blocks[i] = NULL;
		}
	str_release(&words);
}

void
exim4_local(struct exim4 *exim)
{
	struct slice rest, word;
	const char **names, **blocks;
	size_t count = 0, bytes;

	local_names(exim);
	bytes = (exim->local_words.len / 2 + 1) * sizeof(*names);
	names = arena_alloc(exim->import->arena, bytes);
	blocks = arena_alloc(exim->import->arena, bytes);
	rest = str_slice(&exim->local_words);
	while (slice_word(&rest, &word)) {
		names[count] = slice_dup(exim->import->arena, word);
		blocks[count] = local_block(exim, names[count]);
		count++;
	}
	for (size_t i = 0; i < count; i++)
		if (blocks[i] != NULL)
			local_domain_say(exim, names, blocks, count, i);
}

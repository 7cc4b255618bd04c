/* remote.c - where Exim sends mail for others
 *
 * In     routers that lead elsewhere, in their order
 * Out    route, routes
 * Holds  nothing
 * Spec   the Exim specification, chapters 16 to 21; zmailer.conf(5), route
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/exim/exim4.h"

#include "base/banned.h"

/* Senders of a router as " from PATTERN"; returns false: they cannot be said,
 * which is why. */
static bool
route_from(struct exim4 *exim, struct exim4_driver *router,
    const char **out_from)
{
	struct exim4_row *row = exim4_option(exim, router, "senders");
	const struct exim4_set *set;

	*out_from = "";
	if (row == NULL)
		return true;
	set = exim4_set_of(exim, "addresslist", row->value);
	if (set->odd != NULL || set->count != 1 || set->words[0].is_not) {
		router->why = "senders: write `route PATTERN from SENDER via "
		    "...` for each";
		return false;
	}
	*out_from = set->words[0].text[0] == '\0' ? " from <>" :
	    arena_printf(exim->import->arena, " from %s",
	    set->words[0].text);
	return true;
}

/* What only the address in hand decides. */
static bool
route_is_odd(struct exim4 *exim, struct exim4_driver *router)
{
	static const char *const names[] = { "condition", "local_parts",
		"check_local_user", "local_part_prefix",
		"local_part_suffix" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (exim4_option(exim, router, names[i]) != NULL) {
			router->why = arena_printf(exim->import->arena, "%s: "
			    "it decides by more than domain and sender: write "
			    "`route PATTERN from SENDER via ...` for what it "
			    "has", names[i]);
			return true;
		}
	return false;
}

/* The host that a target names, for tls-to; "*" for mx. */
static const char *
route_host(struct exim4 *exim, const char *via)
{
	struct slice text = slice_of(via);

	if (slice_starts(text, "mx"))
		return NULL;
	if (slice_starts(text, "smtps:"))
		text = slice_from(text, 6);
	if (slice_starts(text, "["))
		return slice_dup(exim->import->arena, (struct slice){
		    text.p + 1, slice_find(text, ']') - 1 });
	return slice_dup(exim->import->arena, slice_first(text, slice_find(
	    text, ':')));
}

static void
route_say(struct exim4 *exim, struct exim4_driver *router,
    const char *pattern, const char *from, const char *via)
{
	bool is_all = strcmp(pattern, "*") == 0;
	const char *host = route_host(exim, via);

	if (is_all && exim->has_all && from[0] == '\0') {
		router->needless = "a router before it has all mail";
		return;
	}
	exim->has_all |= is_all && from[0] == '\0';
	exim4_driver_say(exim, router, is_all ? IMPORT_LAST_ROUTES :
	    IMPORT_ROUTES, "route %s%s via %s", pattern, from, via);
	exim4_transport_smtp(exim, router, host == NULL ? pattern : host);
}

/* The route for each name of its domains. */
static void
route_domains(struct exim4 *exim, struct exim4_driver *router,
    const char *from, const char *via)
{
	const struct exim4_set *set = exim4_domains(exim, router);

	if (via == NULL)
		return;
	if (!exim4_set_is_positive(set)) {
		route_say(exim, router, "*", from, via);
		return;
	}
	for (size_t i = 0; i < set->count; i++)
		if (!set->words[i].is_not)
			route_say(exim, router, set->words[i].text, from,
			    via);
}

/* ---- manualroute -------------------------------------------------------- */

/* The hosts of a rule: quoted, or up to a blank. */
static struct slice
rule_hosts(struct slice rest)
{
	struct slice word = SLICE("");

	rest = slice_trim(rest);
	if (slice_starts(rest, "\"")) {
		rest = slice_from(rest, 1);
		return slice_first(rest, slice_find(rest, '"'));
	}
	if (slice_starts(rest, "<") && rest.n > 1)
		return rest;
	(void)slice_word(&rest, &word);
	return word;
}

/* PATTERN HOSTS OPTIONS */
static void
manual_rule(struct exim4 *exim, struct exim4_driver *router, const char *from,
    struct slice rule)
{
	struct slice rest = rule, pattern = SLICE("");
	const struct exim4_set *set;
	const char *via;

	if (!slice_word(&rest, &pattern) || slice_trim(rest).n == 0) {
		router->why = "route_list: a rule names no host: write "
		    "`route PATTERN via HOST:PORT`";
		return;
	}
	via = slice_is(rule_hosts(rest), "$domain") ? exim4_via_mx(exim,
	    router) : exim4_via(exim, router, rule_hosts(rest));
	if (via == NULL)
		return;
	if (slice_is(pattern, "*")) {
		route_domains(exim, router, from, via);
		return;
	}
	set = exim4_set_of(exim, "domainlist", pattern);
	for (size_t i = 0; i < set->count; i++)
		route_say(exim, router, set->words[i].text, from, via);
	if (set->odd != NULL)
		router->why = arena_printf(exim->import->arena,
		    "route_list: \"%s\" is no domain: write `route PATTERN "
		    "via HOST:PORT`", set->odd);
}

static void
manual_list(struct exim4 *exim, struct exim4_driver *router, const char *from)
{
	struct slice value = exim4_value(exim, router, "route_list"), rule;
	struct exim4_list list;

	/* a list of this option has semicolons where nothing is said */
	exim4_list_begin(value, &list);
	if (!slice_starts(value, "<"))
		list.separator = ';';
	while (exim4_list_next(exim->import->arena, &list, &rule))
		if (rule.n > 0)
			manual_rule(exim, router, from, rule);
}

/* A row of a file as one of a table of routes. */
static void
routes_row_add(struct exim4 *exim, struct exim4_driver *router,
    struct import_entry *entry, bool is_partial, const char *path,
    struct str *out)
{
	const char *via = exim4_via(exim, router, rule_hosts(entry->value));
	const char *key = slice_is(entry->key, "*") ? "." : import_domain(
	    exim->import, slice_from(entry->key, slice_starts(entry->key,
	    "*.")));
	struct slice rest, hop;

	if (via == NULL || key == NULL || strstr(via, " zone ") != NULL) {
		import_row_note(exim->import, path, entry, IMPORT_MISSING,
		    "write `route DOMAIN via HOST:PORT`");
		router->why = NULL;
		return;
	}
	for (int turn = 0; turn < 1 + (is_partial && key[0] == '.' &&
	    key[1] != '\0'); turn++) {
		str_adds(out, key + turn);
		rest = slice_of(via);
		/* "HOST:PORT" of a route is "[HOST]:PORT" in a table */
		while (slice_word(&rest, &hop))
			if (slice_find(hop, ':') < hop.n && !slice_starts(hop,
			    "[") && !slice_starts(hop, "smtps:"))
				str_addf(out, " [" SLICE_FMT "]" SLICE_FMT,
				    SLICE_ARG(slice_first(hop, slice_find(hop,
				    ':'))), SLICE_ARG(slice_from(hop,
				    slice_find(hop, ':'))));
			else
				str_addf(out, " " SLICE_FMT, SLICE_ARG(hop));
		str_addc(out, '\n');
	}
}

static void
manual_table(struct exim4 *exim, struct exim4_driver *router,
    const struct exim4_lookup *lookup)
{
	struct import_entries entries;
	struct str rows = STR_INIT;
	const char *why, *path = import_file_here(exim->import,
	    lookup->place);

	if (!exim4_entries(exim, lookup->place, &entries, &why)) {
		router->why = why;
		return;
	}
	for (size_t i = 0; i < entries.count; i++)
		routes_row_add(exim, router, &entries.rows[i],
		    lookup->is_partial, path, &rows);
	if (rows.len > 0) {
		exim4_driver_say(exim, router, IMPORT_ROUTES, "routes <%s>",
		    import_table_add(exim->import, "", "file", "routes",
		    &rows, IMPORT_EVERYBODY));
		exim4_transport_smtp(exim, router, "*");
	} else
		router->needless = "no row of its file is left";
	str_release(&rows);
}

static void
router_manual(struct exim4 *exim, struct exim4_driver *router,
    const char *from)
{
	struct slice data = exim4_value(exim, router, "route_data");
	struct exim4_lookup lookup;

	(void)exim4_option(exim, router, "host_find_failed");
	if (exim4_option(exim, router, "route_list") != NULL) {
		manual_list(exim, router, from);
		return;
	}
	if (!exim4_lookup_cut(exim->import->arena, data, &lookup))
		route_domains(exim, router, from, exim4_via(exim, router,
		    data));
	else if (slice_is(lookup.key, "$domain") && slice_ends(lookup.type,
	    "lsearch") && from[0] == '\0')
		manual_table(exim, router, &lookup);
	else
		router->why = "route_data: write its rows into a table, and "
		    "`routes <TABLE>` (zmailer help routes)";
}

/* ---- all of them -------------------------------------------------------- */

/* :fail: for what is not ours. */
static void
router_refuses(struct exim4 *exim, struct exim4_driver *router)
{
	struct slice data = exim4_value(exim, router, "data");

	if (!slice_starts(data, ":fail:") || exim->has_all)
		return;
	exim->has_all = true;
	exim4_driver_say(exim, router, IMPORT_LAST_ROUTES,
	    "route * via error \"5.1.2 %s\"", import_quote(exim->import,
	    slice_trim(slice_from(data, 6))));
	router->why = NULL;
}

static void
router_remote(struct exim4 *exim, struct exim4_driver *router)
{
	struct slice driver = exim4_value(exim, router, "driver");
	const struct exim4_set *set = exim4_domains(exim, router);
	struct exim4_driver *transport = exim4_driver_of(exim,
	    EXIM4_TRANSPORTS, exim4_value(exim, router, "transport"));
	const char *from;

	router->is_walked = true;
	if (slice_is(driver, "ipliteral")) {
		router->needless = "[ADDRESS] as a domain is routed always";
		return;
	}
	if (set->is_given && set->count == 0 && set->odd == NULL) {
		router->needless = "its list of domains is empty";
		return;
	}
	if (set->odd != NULL && router->differs == NULL)
		router->differs = arena_printf(exim->import->arena,
		    "domains: \"%s\" is no name that is known when it is "
		    "read: write `route` for it", set->odd);
	if (route_is_odd(exim, router) || !route_from(exim, router, &from))
		return;
	if (slice_is(driver, "dnslookup"))
		route_domains(exim, router, from, exim4_via_mx(exim,
		    router));
	else if (slice_is(driver, "manualroute"))
		router_manual(exim, router, from);
	else if (slice_is(driver, "accept") && transport != NULL)
		route_domains(exim, router, from, exim4_via(exim, router,
		    exim4_value(exim, transport, "hosts")));
	else
		router->why = "no router of this driver is known here: write "
		    "`route PATTERN via ...`";
}

void
exim4_remote(struct exim4 *exim)
{
	for (size_t i = 0; i < exim->driver_count; i++) {
		struct exim4_driver *router = &exim->drivers[i];
		const struct exim4_set *set;

		if (router->section != EXIM4_ROUTERS)
			continue;
		set = exim4_domains(exim, router);
		if (exim4_is_remote(exim, router))
			router_remote(exim, router);
		else if (set->is_given && set->count > 0 &&
		    !exim4_set_is_positive(set))
			router_refuses(exim, router);
	}
}

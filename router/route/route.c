/* route.c - an address becomes places: the way in, and what all ways share
 *
 * In     one recipient
 * Out    places in a struct places
 * Holds  open tables and the accounts that were asked for
 * Trusts the configuration; no byte of an address
 * Spec   doc/INTERNALS section 7; RFC 5321 section 3.6, 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <idn2.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "journal/counters.h"
#include "base/mem.h"
#include "grammar/dsn.h"
#include "grammar/xtext.h"
#include "router/message/copies.h"
#include "router/message/hooks.h"
#include "router/route/rewrite.h"

#include "base/banned.h"

enum {
	NOTE_BYTES_MAX = 600,		/* of one line */
	NOTES_BYTES_MAX = 256 << 10
};

/* Of two lists of one name the first counts. */
static void
lists_index(struct router *router)
{
	const struct conf *conf = router->conf;
	size_t number;

	memo_init(&router->lists, router->arena, conf->list_count);
	for (size_t i = 0; i < conf->list_count; i++)
		memo_add(&router->lists, slice_of(arena_printf(router->arena,
		    "%s@%s", conf->lists[i].local, conf->lists[i].domain)),
		    &number);
}

struct router *
router_new(const struct conf *conf)
{
	struct router *router = mem_alloc(1, sizeof(*router));

	router->conf = conf;
	router->arena = arena_new();
	lists_index(router);
	if (conf->srs.domain != NULL)
		router->srs_keys = table_new("srs", arena_printf(
		    router->arena, "file:%s", conf->srs.key));
	table_share(conf->run_dir, conf->limits.table_memory_bytes);
	router->users = users_new();
	router->hooks = router_hooks_new(router);
	router->tables = mem_alloc(conf->table_count + 1,
	    sizeof(struct table *));
	for (size_t i = 0; i < conf->table_count; i++)
		router->tables[i] = table_new(conf->tables[i].name,
		    conf->tables[i].spec);
	return router;
}

void
router_free(struct router **prouter)
{
	struct router *router = *prouter;

	if (router == NULL)
		return;
	for (size_t i = 0; i < router->conf->table_count; i++)
		table_free(&router->tables[i]);
	mem_free(&router->tables);
	table_free(&router->srs_keys);
	hooks_free(&router->hooks);
	arena_free(&router->arena);
	users_free(&router->users);
	mem_free(prouter);
}

const struct conf *
router_conf(const struct router *router)
{
	return router->conf;
}

/* ---- domains --------------------------------------------------------- */

static bool
is_ascii(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] > 126)
			return false;
	return true;
}

static int
domain_to_ascii(struct arena *arena, struct slice domain, struct slice *out,
    struct err *err)
{
	uint8_t *ascii = NULL;
	int rc;

	rc = idn2_lookup_u8((const uint8_t *)slice_dup(arena, domain), &ascii,
	    IDN2_NFC_INPUT | IDN2_NONTRANSITIONAL);
	if (rc != IDN2_OK)
		return err_set(err, "'" SLICE_FMT "' is not a domain: %s",
		    SLICE_ARG(domain), idn2_strerror(rc));
	*out = slice_lower(arena, slice_of((const char *)ascii));
	idn2_free(ascii);
	return 1;
}

int
router_domain(struct arena *arena, struct slice domain, struct slice *out,
    struct err *err)
{
	while (slice_ends(domain, "."))
		domain.n--;
	if (domain.n == 0 || domain.n > DOMAIN_MAX_BYTES)
		return err_set(err, "a domain has 1 to %d bytes",
		    DOMAIN_MAX_BYTES);
	if (domain.p[0] == '[')
		*out = domain;
	else if (is_ascii(domain))
		*out = slice_lower(arena, domain);
	else
		return domain_to_ascii(arena, domain, out, err);
	return 1;
}

/* ---- tables and trouble ---------------------------------------------- */

int
routing_trouble(struct routing *routing, const char *what, const char *name)
{
	char *to = routing->places->trouble;
	size_t n = 0, size = sizeof(routing->places->trouble);

	for (const char *p = what; *p != 0 && n + 1 < size; p++)
		to[n++] = *p;
	for (const char *p = name; *p != 0 && n + 1 < size; p++) {
		char c = *p >= 'A' && *p <= 'Z' ? (char)(*p + 32) : *p;

		to[n++] = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ?
		    c : '-';
	}
	to[n] = 0;
	return -1;
}

struct table *
routing_table(struct routing *routing, const char *name, struct err *err)
{
	const struct conf *conf = routing->router->conf;

	for (size_t i = 0; i < conf->table_count; i++)
		if (strcmp(conf->tables[i].name, name) == 0)
			return routing->router->tables[i];
	err_set(err, "there is no table '%s' in the configuration", name);
	routing_trouble(routing, "table-", name);
	return NULL;
}

void
routing_note(const struct routing *routing, const char *format, ...)
{
	struct str *notes = routing->places->notes;
	char line[NOTE_BYTES_MAX];
	va_list ap;

	if (notes == NULL || notes->len > NOTES_BYTES_MAX)
		return;
	va_start(ap, format);
	vsnprintf(line, sizeof(line), format, ap);
	va_end(ap);
	str_addf(notes, "%*s", (int)routing->depth * 2, "");
	str_add_escaped(notes, slice_of(line));
	str_addc(notes, '\n');
}

static void
note_found(const struct routing *routing, const struct table *table,
    struct slice key, struct slice value, unsigned line)
{
	const char *path = table_path(table);
	char where[32] = "";

	if (line > 0)
		snprintf(where, sizeof(where), ":%u", line);
	routing_note(routing, "table <%s>: " SLICE_FMT " is '" SLICE_FMT
	    "' (%s%s, generation %u)", table_name(table), SLICE_ARG(key),
	    SLICE_ARG(slice_first(value, 200)), path[0] ? path :
	    table_kind(table), where, table_generation(table));
}

int
routing_lookup(struct routing *routing, struct table *table, struct slice key,
    struct slice *out_value, unsigned *out_line, struct err *err)
{
	struct slice value;

	switch (table_lookup(table, key, &value, out_line, err)) {
	case TABLE_FOUND:
		*out_value = slice_copy(routing->places->arena, value);
		if (routing->places->notes != NULL)
			note_found(routing, table, key, *out_value,
			    *out_line);
		return 1;
	case TABLE_NONE:
		routing_note(routing, "table <%s>: " SLICE_FMT
		    " is not in it", table_name(table), SLICE_ARG(key));
		return 0;
	default:
		return routing_trouble(routing, "table-", table_name(table));
	}
}

/* ---- places ---------------------------------------------------------- */

struct slice
routing_join(struct routing *routing, struct slice local, struct slice domain)
{
	size_t n = local.n + (domain.n > 0 ? domain.n + 1 : 0);
	char *text = arena_alloc(routing->places->arena, n + 1);

	memcpy(text, local.p, local.n);
	if (domain.n > 0) {
		text[local.n] = '@';
		memcpy(text + local.n + 1, domain.p, domain.n);
	}
	return (struct slice){ text, n };
}

/* The address as it came, for the next hop and for reports, when the one in
 * hand is another (RFC 3461 section 5.2.1 item d allows to add it).  A list
 * with an owner is the end of the road for both (section 5.2.7.1). */
static struct slice
original_rcpt(const struct routing *routing, struct slice user)
{
	struct str text = STR_INIT;
	struct slice copy;

	if (routing->sender != 0)
		return (struct slice){ NULL, 0 };
	if (routing->request->orcpt.n > 0)
		return routing->request->orcpt;
	if (slice_equal_nocase(user, routing->to))
		return (struct slice){ NULL, 0 };
	str_adds(&text, "rfc822;");
	xtext_encode(&text, routing->to);
	copy = text.len <= DSN_ORCPT_BYTES_MAX ?
	    slice_copy(routing->places->arena, str_slice(&text)) :
	    (struct slice){ NULL, 0 };
	str_release(&text);
	return copy;
}

/* One name is opened once a message: a second time its places are there
 * already, and a loop ends here. */
bool
routing_opens(struct routing *routing, struct slice text)
{
	struct routing_count *counts = routing->counts;
	size_t number;

	if (memo_add(&routing->places->expanded, text, &number))
		return true;
	if (number < counts->first_expanded)
		counts->hits++;
	else
		counts->met_loop = true;
	return false;
}

bool
routing_waits(struct routing *routing)
{
	if (routing->request->lists != ROUTE_LISTS_WAIT ||
	    routing->sender != 0 || routing->places->is_from_null)
		return false;
	routing->counts->waits = routing->counts->is_over = true;
	return true;
}

size_t
routing_detail(const struct routing *routing, struct slice local)
{
	const char *delimiters = routing->router->conf->delimiters;

	if (strcmp(delimiters, "none") == 0)
		return local.n;
	for (size_t i = 1; i + 1 < local.n; i++)
		if (strchr(delimiters, local.p[i]) != NULL)
			return i;
	return local.n;
}

void
routing_done(const struct routing *routing, struct slice address,
    enum place_done done, const struct place_rule *rule)
{
	struct place place = {
		.channel = SLICE("expand"), .host = SLICE("-"),
		.user = address, .uid = PLACE_UID_NOBODY,
		.notify = routing->notify, .sender = routing->sender,
		.done = done, .to = routing->to, .rule = *rule,
	};

	place.orcpt = original_rcpt(routing, address);
	places_add(routing->places, &place);
}

int
routing_add_place(struct routing *routing, const struct place *found,
    struct err *err)
{
	const struct conf_limits *limits = &routing->router->conf->limits;
	struct place place = *found;

	place.notify = routing->notify;
	place.sender = routing->sender;
	place.to = routing->to;
	place.zone = slice_of(routing->zone);
	if (place.host.n == 0)
		place.host = SLICE("-");
	if (routing->rule.kind != NULL)
		place.rule = routing->rule;
	routing->counts->hits++;
	if (slice_starts(place.channel, "smtp") && place.sender == 0 &&
	    routing_redirect(routing, &place.sender, err) != 1)
		return -1;
	if (routing->router->conf->generic_count > 0 &&
	    rewrite_place(routing, &place, err) != 1)
		return -1;
	place.orcpt = original_rcpt(routing, place.user);
	if (places_add(routing->places, &place) &&
	    ++routing->counts->added > limits->expansion) {
		counters_limit("expansion");
		routing->counts->is_over = true;
	}
	return 1;
}

int
routing_add(struct routing *routing, const char *channel, struct slice host,
    struct slice user, int64_t uid, const struct place_rule *rule,
    struct err *err)
{
	struct place place = { .channel = slice_of(channel), .host = host,
	    .user = user, .uid = uid, .rule = *rule };

	return routing_add_place(routing, &place, err);
}

int
routing_refuse(struct routing *routing, const char *form,
    const struct path *path, const struct place_rule *rule)
{
	return routing_add(routing, "error", slice_of(form),
	    routing_join(routing, path->local, path->domain),
	    PLACE_UID_NOBODY, rule, NULL);
}

/* ---- the way in ------------------------------------------------------ */

static void
note_domain(const struct routing *routing, const struct path *path,
    struct slice name, const struct conf_domain *domain)
{
	const char *source;
	unsigned line, generation;

	source = conf_domain_source(routing->router->conf, name, &line,
	    &generation);
	if (source != NULL)
		routing_note(routing, SLICE_FMT "@" SLICE_FMT ": the domain "
		    "is ours (%s:%u, generation %u)",
		    SLICE_ARG(path->local), SLICE_ARG(name), source,
		    line, generation);
	else if (domain == NULL)
		routing_note(routing, SLICE_FMT "@" SLICE_FMT ": the domain "
		    "is not ours", SLICE_ARG(path->local), SLICE_ARG(name));
	else if (domain->at.file == NULL)
		routing_note(routing, SLICE_FMT "@" SLICE_FMT ": the domain "
		    "is ours (preset)", SLICE_ARG(path->local),
		    SLICE_ARG(name));
	else
		routing_note(routing, SLICE_FMT "@" SLICE_FMT ": the domain "
		    "is ours (%s:%u)", SLICE_ARG(path->local),
		    SLICE_ARG(name), domain->at.file, domain->at.line);
}

int
route_path(struct routing *routing, const struct path *path, struct err *err)
{
	static const struct place_rule built_in = { .kind = "syntax" };
	const struct conf_domain *domain;
	struct slice name = path->domain.n > 0 ? path->domain :
	    routing->domain;
	struct err bad;
	int found;

	if (path->local.n == 0)
		return routing_refuse(routing, "badaddress", path, &built_in);
	if (router_domain(routing->places->arena, name, &name, &bad) != 1)
		return routing_refuse(routing, "baddomain", path, &built_in);
	if (routing->router->hooks != NULL) {
		found = hooks_route(routing, name, path, err);
		if (found != 0)
			return found;
	}
	found = route_virtual(routing, name, path, err);
	if (found != 0)
		return found;
	domain = conf_domain_find(routing->router->conf, name);
	if (routing->places->notes != NULL)
		note_domain(routing, path, name, domain);
	if (domain != NULL)
		return route_local(routing, domain, name, path, err);
	return route_remote(routing, name, path, err);
}

static void
routing_begin(struct routing *routing, struct places *places,
    const struct route_request *request, struct routing_count *counts)
{
	places_mark(places);
	*counts = (struct routing_count){
	    .first_expanded = places->expanded.count };
	*routing = (struct routing){ .places = places, .request = request,
	    .counts = counts, .uid = PLACE_UID_NOBODY,
	    .notify = request->notify };
	routing->to = routing_join(routing, request->path.local,
	    request->path.domain);
}

void
router_refuse(struct places *places, const struct route_request *request,
    const char *form)
{
	static const struct place_rule built_in = { .kind = "message" };
	static const struct conf unlimited = {
	    .limits = { .expansion = 1 } };
	struct router none = { .conf = &unlimited };
	struct routing_count counts;
	struct routing routing;

	routing_begin(&routing, places, request, &counts);
	routing.router = &none;
	routing_refuse(&routing, form, &request->path, &built_in);
}

int
router_only_hook(struct router *router, struct places *places,
    const struct route_request *request, struct err *err)
{
	struct routing_count counts;
	struct routing routing;

	if (router->hooks == NULL)
		return 1;
	routing_begin(&routing, places, request, &counts);
	routing.router = router;
	routing.domain = slice_of(router->conf->host);
	return hooks_rcpt(&routing, &request->path, err) < 0 ? -1 : 1;
}

int
router_address(struct router *router, struct places *places,
    const struct route_request *request, struct err *err)
{
	static const struct place_rule built_in = { .kind = "limit" };
	struct path path = request->path;
	struct routing_count counts;
	struct routing routing;
	int asked = 0;

	routing_begin(&routing, places, request, &counts);
	routing.router = router;
	routing.domain = slice_of(router->conf->host);
	if (router->conf->copy_count > 0 && !places->is_check &&
	    copies_note(&routing, &path, err) < 0)
		return -1;
	if (router->hooks != NULL && request->lists != ROUTE_LISTS_WAITED)
		asked = hooks_rcpt(&routing, &request->path, err);
	if (asked == 0)
		asked = rewrite_path(&routing, REWRITE_RCPTS |
		    REWRITE_ENVELOPE, &path, err) < 0 ? -1 :
		    route_path(&routing, &path, err);
	if (asked != 1)
		return -1;
	if (counts.waits) {
		places_back(places);
		return 0;
	}
	if (counts.is_over || counts.hits == 0) {
		const char *form = counts.is_over ? "expansion" :
		    counts.met_loop ? "aliasloop" : "emptylist";

		places_back(places);
		routing.counts->is_over = false;
		routing_refuse(&routing, form, &request->path, &built_in);
	}
	return 1;
}

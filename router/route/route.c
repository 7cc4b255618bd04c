/* route.c - an address becomes recipients: the way in
 *
 * In     one recipient
 * Out    recipients in a struct rcpts
 * Holds  open tables and the accounts that were asked for
 * Trusts the configuration; no byte of an address
 * Spec   doc/INTERNALS section 7; RFC 5321 section 3.6, 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/mem.h"
#include "grammar/smtp/xtext.h"
#include "router/route/hooks.h"
#include "router/route/rewrite.h"

#include "base/banned.h"

/* Of two lists of one name the first counts. */
static void
router_index_lists(struct router *router)
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
	router_index_lists(router);
	if (conf->srs.domain != NULL)
		router->srs_keys = table_new("srs", arena_printf(
		    router->arena, "file:%s", conf->srs.key));
	table_share(conf->run_dir, conf->limits.table_memory_bytes);
	router->users = users_new();
	router->hooks = router_hooks_new(router);
	router->tables = mem_alloc(conf->table_count + 1,
	    sizeof(struct table *));
	for (size_t i = 0; i < conf->table_count; i++) {
		router->tables[i] = table_new(conf->tables[i].name,
		    conf->tables[i].spec);
		router->asks_databases |= table_is_asked(router->tables[i]);
	}
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

/* ---- the way in ------------------------------------------------------ */

static void
route_note_domain(const struct routing *routing, const struct path *path,
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
	static const struct rcpt_rule built_in = { .kind = "syntax" };
	const struct conf_domain *domain;
	struct slice name = path->domain.n > 0 ? path->domain :
	    routing->domain;
	struct err bad;
	enum route_answer found;

	if (path->local.n == 0)
		return routing_refuse(routing, "badaddress", path, &built_in);
	if (router_domain(routing->rcpts->arena, name, &name, &bad) < 0)
		return routing_refuse(routing, "baddomain", path, &built_in);
	if (routing->router->hooks != NULL) {
		found = hooks_route(routing, name, path, err);
		if (found != ROUTE_NO)
			return found == ROUTE_YES ? 0 : -1;
	}
	found = route_virtual(routing, name, path, err);
	if (found != ROUTE_NO)
		return found == ROUTE_YES ? 0 : -1;
	if (routing_domain(routing, name, &domain, err) == ROUTE_TROUBLE)
		return -1;
	if (routing->rcpts->notes != NULL)
		route_note_domain(routing, path, name, domain);
	if (domain != NULL)
		return route_local(routing, domain, name, path, err);
	return route_remote(routing, name, path, err);
}

/* A recipient as it came: remember the copies that it asks for. */
static int
route_note_copies(struct routing *routing, const struct path *path,
    struct err *err)
{
	const struct conf *conf = routing->router->conf;
	struct rcpts *rcpts = routing->rcpts;
	struct slice address = slice_lower(rcpts->arena, routing_join(
	    routing, path->local, path->domain.n > 0 ? path->domain :
	    slice_of(conf->host)));
	enum route_answer fits;

	if (rcpts->copies == NULL)
		rcpts->copies = arena_alloc(rcpts->arena,
		    conf->copy_count * sizeof(*rcpts->copies));
	for (size_t i = 0; i < conf->copy_count; i++) {
		if (conf->copies[i].rcpt == NULL || rcpts->copies[i])
			continue;
		fits = who_is(routing, conf->copies[i].rcpt, address, err);
		if (fits == ROUTE_TROUBLE)
			return -1;
		rcpts->copies[i] = fits == ROUTE_YES;
	}
	return 0;
}

static void
routing_begin(struct routing *routing, struct rcpts *rcpts,
    const struct given_rcpt *given, struct routing_count *counts)
{
	rcpts_mark(rcpts);
	*counts = (struct routing_count){
		.first_expanded = rcpts->expanded.count
	};
	*routing = (struct routing){ .rcpts = rcpts, .given = given,
	    .counts = counts, .uid = RCPT_UID_NOBODY,
	    .notify = given->notify };
	routing->to = routing_join(routing, given->path.local,
	    given->path.domain);
}

void
router_refuse(struct rcpts *rcpts, const struct given_rcpt *given,
    const char *form)
{
	static const struct rcpt_rule built_in = { .kind = "message" };
	static const struct conf unlimited = {
	    .limits = { .expansion = 1 } };
	struct router none = { .conf = &unlimited };
	struct routing_count counts;
	struct routing routing;

	routing_begin(&routing, rcpts, given, &counts);
	routing.router = &none;
	routing_refuse(&routing, form, &given->path, &built_in);
}

int
router_only_hook(struct router *router, struct rcpts *rcpts,
    const struct given_rcpt *given, struct err *err)
{
	struct routing_count counts;
	struct routing routing;

	if (router->hooks == NULL)
		return 0;
	routing_begin(&routing, rcpts, given, &counts);
	routing.router = router;
	routing.domain = slice_of(router->conf->host);
	return hooks_rcpt(&routing, &given->path, err) == ROUTE_TROUBLE ? -1 :
	    0;
}

int
router_to_target(struct router *router, struct rcpts *rcpts,
    const struct given_rcpt *given, struct slice via, struct err *err)
{
	static const struct rcpt_rule built_in = { .kind = "before_attempt" };
	const struct path *path = &given->path;
	struct slice name = path->domain.n > 0 ? path->domain :
	    slice_of(router->conf->host);
	struct str text = STR_INIT;
	struct routing_count counts;
	struct route_target target;
	struct routing routing;
	int result = -1;

	routing_begin(&routing, rcpts, given, &counts);
	routing.router = router;
	routing.domain = slice_of(router->conf->host);
	if (xtext_decode(via, &text, err) == 0 &&
	    router_domain(rcpts->arena, name, &name, err) == 0 &&
	    route_value_parse(rcpts->arena, slice_copy(rcpts->arena,
		str_slice(&text)), name, &target, err) == ROUTE_VALUE_TARGET)
		result = 0;
	str_release(&text);
	if (result < 0)
		return routing_trouble(&routing, "steered", "");
	return route_target_add(&routing, &target, routing_join(&routing,
	    path->local, name), &built_in, err);
}

enum route_end
router_address(struct router *router, struct rcpts *rcpts,
    const struct given_rcpt *given, struct err *err)
{
	static const struct rcpt_rule built_in = { .kind = "limit" };
	struct path path = given->path;
	struct routing_count counts;
	struct routing routing;
	enum route_answer asked = ROUTE_NO;

	routing_begin(&routing, rcpts, given, &counts);
	routing.router = router;
	routing.domain = slice_of(router->conf->host);
	if (router->conf->copy_count > 0 && !rcpts->is_check &&
	    route_note_copies(&routing, &path, err) < 0)
		return ROUTE_FAILED;
	if (router->hooks != NULL && given->lists != ROUTE_LISTS_WAITED)
		asked = hooks_rcpt(&routing, &given->path, err);
	if (asked == ROUTE_NO)
		asked = rewrite_path(&routing, REWRITE_RCPTS |
		    REWRITE_ENVELOPE, &path, err) == ROUTE_TROUBLE ?
		    ROUTE_TROUBLE : route_done(route_path(&routing, &path,
		    err));
	if (asked != ROUTE_YES)
		return ROUTE_FAILED;
	if (counts.waits) {
		rcpts_back(rcpts);
		return ROUTE_WAITS;
	}
	if (counts.is_over || counts.hits == 0) {
		const char *form = counts.is_over ? "expansion" :
		    counts.met_loop ? "aliasloop" : "emptylist";

		rcpts_back(rcpts);
		routing.counts->is_over = false;
		routing_refuse(&routing, form, &given->path, &built_in);
	}
	return ROUTE_ROUTED;
}

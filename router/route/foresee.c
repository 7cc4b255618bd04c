/* foresee.c - what databases will be asked about an address, asked ahead
 *
 * In     an address that will be routed
 * Out    questions on their way (table_expect)
 * Holds  nothing
 * Trusts no byte of an address; what is asked in vain costs a question
 * Spec   doc/protocol/tables.md section 3
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/route/routing.h"

#include <string.h>

#include "base/mem.h"

#include "base/banned.h"

/* NULL: there is none, which who looks it up will tell. */
static struct table *
foresee_table(const struct router *router, const char *name)
{
	const struct conf *conf = router->conf;

	for (size_t i = 0; i < conf->table_count; i++)
		if (strcmp(conf->tables[i].name, name) == 0)
			return table_is_asked(router->tables[i]) ?
			    router->tables[i] : NULL;
	return NULL;
}

bool
router_asks(const struct router *router)
{
	return router->asks_databases;
}

void
route_foresee_local(const struct router *router,
    const struct conf_domain *domain, struct slice whole, struct slice key)
{
	struct table *table;

	for (size_t i = 0; i < domain->alias_count; i++) {
		table = foresee_table(router, domain->aliases[i]);
		if (table == NULL)
			continue;
		table_expect(table, whole);
		if (table_takes_parts(table))
			table_expect(table, key);
	}
	if (domain->users == USERS_TABLE &&
	    (table = foresee_table(router, domain->users_table)) != NULL)
		table_expect(table, whole);
}

void
router_foresee(struct router *router, struct arena *arena,
    const struct path *path)
{
	const struct conf *conf = router->conf;
	const struct conf_domain *domain, *asked;
	struct slice name, key;
	struct table *table;
	const char *of;
	struct err err;

	if (!router->asks_databases ||
	    router_domain(arena, path->domain, &name, &err) < 0)
		return;
	domain = conf_domain_find(conf, name);
	for (size_t i = 0; domain == NULL && conf_domain_is_asked(name) &&
	    (of = conf_domain_table(conf, i, &asked)) != NULL; i++)
		if ((table = foresee_table(router, of)) != NULL) {
			table_expect(table, name);
			domain = asked;		/* the most likely one */
		}
	if (domain == NULL)
		return;
	key = slice_lower(arena, path_local_plain(arena, path));
	route_foresee_local(router, domain, slice_of(arena_printf(arena,
	    SLICE_FMT "@" SLICE_FMT, SLICE_ARG(key), SLICE_ARG(name))), key);
}

void
router_foresee_rcpts(struct router *router, struct arena *arena,
    const struct envelope *envelope, size_t from)
{
	for (size_t i = from; envelope->terms.via.n == 0 &&
	    i < envelope->rcpt_count && i < from + ROUTE_FORESEEN; i++)
		router_foresee(router, arena, &envelope->rcpts[i].path);
}

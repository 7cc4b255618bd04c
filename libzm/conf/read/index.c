/* index.c - domains by name, tables by name
 *
 * In     names of domain statements
 * Out    the statement that a name belongs to, in constant time
 * Holds  a hash of names in the arena of the conf
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "conf/read/read.h"
#include "grammar/smtp/path.h"
#include "mail/table/table.h"

#include "base/banned.h"

/* FNV-1a over the lower-case name; names come from the configuration, keys
 * from outside only meet names that are there. */
static size_t
domain_hash(struct slice name)
{
	uint64_t hash = 0xcbf29ce484222325U;

	for (size_t i = 0; i < name.n; i++)
		hash = (hash ^ (unsigned char)ascii_lower(name.p[i])) *
		    0x100000001b3U;
	return (size_t)(hash ^ hash >> 32);
}

/* The slot with this name, or the empty one where it would go. */
static unsigned *
domain_slot(const struct conf_book *book, struct slice name)
{
	size_t at = domain_hash(name) & (book->slot_count - 1);

	while (book->name_slots[at] != 0 && !slice_equal_nocase(name,
	    slice_of(book->names[book->name_slots[at] - 1].name)))
		at = (at + 1) & (book->slot_count - 1);
	return &book->name_slots[at];
}

void
conf_domain_add(struct conf_loader *loader, const struct conf_domain *domain,
    const struct conf_value *names)
{
	struct conf *conf = loader->conf;
	struct conf_book *book = loader->book;

	for (size_t i = 0; i < domain->name_count; i++) {
		book->names = arena_grow(conf->arena, book->names,
		    book->name_count, sizeof(*book->names));
		book->names[book->name_count++] = (struct conf_name){
			.name = domain->names[i],
			.domain = conf->domain_count,
			.token = names ? names[i].token : NULL,
		};
	}
	conf->domains = arena_grow(conf->arena, conf->domains,
	    conf->domain_count, sizeof(*conf->domains));
	conf->domains[conf->domain_count++] = *domain;
}

static void
complain_twice(struct conf_loader *loader, const struct conf_name *first,
    const struct conf_name *second)
{
	if (second->token == NULL || first->token == NULL)
		return;
	conf_complain(loader, CONF_ERROR, second->token,
	    arena_printf(loader->conf->arena,
		"the first is in line %u; "
		"keep one of them",
		first->token->line),
	    "domain %s stands here and before", second->name);
}

/* The first of two counts. */
void
conf_index_names(struct arena *arena, struct conf_book *book,
    struct conf_loader *loader)
{
	book->slot_count = 16;
	while (book->slot_count < book->name_count * 2)
		book->slot_count *= 2;
	book->name_slots = arena_alloc(arena,
	    book->slot_count * sizeof(*book->name_slots));
	memset(book->name_slots, 0, book->slot_count *
	    sizeof(*book->name_slots));
	for (size_t i = 0; i < book->name_count; i++) {
		unsigned *slot = domain_slot(book,
		    slice_of(book->names[i].name));

		if (*slot == 0)
			*slot = (unsigned)i + 1;
		else if (loader != NULL)
			complain_twice(loader, &book->names[*slot - 1],
			    &book->names[i]);
	}
}

static const struct conf_name *
find_exact(const struct conf *conf, struct slice name)
{
	unsigned slot = *domain_slot(conf->book, name);

	return slot == 0 ? NULL : &conf->book->names[slot - 1];
}

/* The name itself, then ".parent", longest first. */
static const struct conf_name *
index_find(const struct conf *conf, struct slice name)
{
	const struct conf_name *found;

	if (name.n == 0 || name.p[0] == '.' || name.n > DOMAIN_MAX_BYTES)
		return NULL;
	found = find_exact(conf, name);
	while (found == NULL) {
		size_t dot = slice_find(slice_from(name, 1), '.') + 1;

		if (dot >= name.n)
			return NULL;
		name = slice_from(name, dot);
		found = find_exact(conf, name);
	}
	return found;
}

const struct conf_domain *
conf_domain_find(const struct conf *conf, struct slice name)
{
	const struct conf_name *found = index_find(conf, name);

	return found == NULL ? NULL : &conf->domains[found->domain];
}

const char *
conf_domain_source(const struct conf *conf, struct slice name,
    unsigned *out_line, unsigned *out_generation)
{
	const struct conf_name *found = index_find(conf, name);

	if (found == NULL || found->table_path == NULL)
		return NULL;
	*out_line = found->line;
	*out_generation = conf->book->names_generation + 1;
	return found->table_path;
}

const struct conf_domain *
conf_domain_of_pipe(const struct conf *conf, struct slice host)
{
	for (size_t i = 0; i < conf->domain_count; i++)
		if (conf->domains[i].deliver.command != NULL &&
		    slice_is(host, conf->domains[i].deliver.host))
			return &conf->domains[i];
	return NULL;
}

const struct conf_listen *
conf_listen_find(const struct conf *conf, const char *text)
{
	for (size_t i = 0; i < conf->listen_count; i++)
		if (strcmp(conf->listens[i].text, text) == 0)
			return &conf->listens[i];
	return NULL;
}

bool
conf_asks_databases(const struct conf *conf)
{
	for (size_t i = 0; i < conf->table_count; i++)
		if (table_spec_is_asked(conf->tables[i].spec))
			return true;
	return false;
}

bool
conf_asks_sts(const struct conf *conf)
{
	for (size_t i = 0; i < conf->tls_to_count; i++)
		if (conf->tls_to[i].level == TLS_LEVEL_STS)
			return true;
	return false;
}

bool
conf_cluster_publishes(const struct conf_cluster *cluster, struct slice node)
{
	for (size_t i = 0; i < cluster->publisher_count; i++)
		if (slice_is(node, cluster->publishers[i]))
			return true;
	return false;
}

bool
conf_cluster_has_redis(const struct conf_cluster *cluster)
{
	return cluster->server_count > 0 || cluster->sentinel_count > 0;
}

bool
conf_asks_share(const struct conf *conf)
{
	return conf_cluster_has_redis(&conf->cluster) ||
	    conf_keeps_copies(conf);
}

bool
conf_asks_nodes(const struct conf *conf)
{
	return conf->cluster.desk_ca != NULL;
}

bool
conf_keeps_copies(const struct conf *conf)
{
	return conf->cluster.postgres != NULL;
}

bool
conf_asks_notify(const struct conf *conf)
{
	return conf->notify_count > 0;
}

bool
conf_has_resolver(const struct conf *conf)
{
	return conf->resolver.address != NULL;
}

bool
conf_role_is_extra(int role)
{
	return role == ROLE_TABLES || role == ROLE_STS ||
	    role == ROLE_SHARE || role == ROLE_RESOLVER ||
	    role == ROLE_NOTIFY || role == ROLE_WEB || role == ROLE_NODES;
}

bool
conf_uses_role(const struct conf *conf, int role)
{
	return role == ROLE_TABLES ? conf_asks_databases(conf) :
	    role == ROLE_STS ? conf_asks_sts(conf) :
	    role == ROLE_SHARE ? conf_asks_share(conf) :
	    role == ROLE_RESOLVER ? conf_has_resolver(conf) :
	    role == ROLE_NOTIFY ? conf_asks_notify(conf) :
	    role == ROLE_NODES ? conf_asks_nodes(conf) :
	    role != ROLE_WEB;	/* who starts it hears of it */
}

const struct conf_table *
conf_table_find(const struct conf *conf, const char *name)
{
	for (size_t i = 0; i < conf->table_count; i++)
		if (strcmp(conf->tables[i].name, name) == 0)
			return &conf->tables[i];
	return NULL;
}

const char *
conf_table_file(const struct conf_table *table)
{
	const char *spec = table == NULL ? "" :
	    table->spec + (table->spec[0] == '?');

	return strncmp(spec, "file:", 5) == 0 ? spec + 5 : NULL;
}

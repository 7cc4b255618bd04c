/* conf_index.c - domains by name, tables by name
 *
 * In     names of domain statements
 * Out    the statement that a name belongs to, in constant time
 * Holds  a hash of names in the arena of the conf
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "daemon/conf_internal.h"
#include "mail/table.h"

#include "base/banned.h"

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

/* FNV-1a over the lower-case name; names come from the configuration, keys
 * from outside only meet names that are there. */
static size_t
hash_of(struct slice name)
{
	uint64_t hash = 0xcbf29ce484222325U;

	for (size_t i = 0; i < name.n; i++)
		hash = (hash ^ (unsigned char)lower(name.p[i])) *
		    0x100000001b3U;
	return (size_t)(hash ^ hash >> 32);
}

/* The slot with this name, or the empty one where it would go. */
static unsigned *
slot_of(const struct conf_book *book, struct slice name)
{
	size_t at = hash_of(name) & (book->slot_count - 1);

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
		book->names = conf_push(conf->arena, book->names,
		    book->name_count, sizeof(*book->names));
		book->names[book->name_count++] = (struct conf_name){
			.name = domain->names[i],
			.domain = conf->domain_count,
			.token = names ? names[i].token : NULL,
		};
	}
	conf->domains = conf_push(conf->arena, conf->domains,
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
	    arena_printf(loader->conf->arena, "the first is in line %u",
	    first->token->line), "domain %s stands here and before",
	    second->name);
}

/* ---- names in tables -------------------------------------------------- */

struct names {
	struct conf_loader	*loader;
	const struct conf_name	*from;		/* "<table>" */
	const struct table	*table;
	struct conf_name	*list;
	size_t			 count;
};

static void
add_name(struct names *names, const struct conf_name *name)
{
	names->list = conf_push(names->loader->conf->arena, names->list,
	    names->count, sizeof(*names->list));
	names->list[names->count++] = *name;
}

static bool
take_name(void *context, struct slice key, struct slice value, unsigned line)
{
	struct names *names = context;
	struct conf_name name = { .domain = names->from->domain };
	struct err why;

	if (domain_parse(slice_from(key, slice_starts(key, ".")),
	    &why) != 1) {
		conf_complain(names->loader, CONF_ERROR, names->from->token,
		    NULL, "%s:%u: " SLICE_FMT " is not a domain",
		    table_path(names->table), line,
		    SLICE_ARG(slice_first(key, 64)));
		return true;
	}
	name.name = slice_dup(names->loader->conf->arena, key);
	add_name(names, &name);
	return true;
}

static void
names_of_table(struct names *names, const struct conf_name *from)
{
	struct arena *arena = names->loader->conf->arena;
	const struct conf_table *row;
	const char *name = arena_dup(arena, from->name + 1,
	    strlen(from->name) - 2);
	struct table *table;
	struct err err;

	row = conf_table_find(names->loader->conf, name);
	if (row == NULL)
		return;		/* conf_check_references complained */
	table = table_new(name, row->spec);
	names->from = from;
	names->table = table;
	if (table_each(table, take_name, names, &err) == TABLE_TROUBLE)
		conf_complain(names->loader, CONF_ERROR, from->token, NULL,
		    "%s", err.text);
	table_free(&table);
}

/* Where a table stands its keys come, so that the first of two still
 * counts. */
static void
names_expand(struct conf_loader *loader)
{
	struct conf_book *book = loader->book;
	struct names names = { .loader = loader };
	bool has_table = false;

	for (size_t i = 0; i < book->name_count && !has_table; i++)
		has_table = book->names[i].name[0] == '<';
	if (!has_table)
		return;
	for (size_t i = 0; i < book->name_count; i++)
		if (book->names[i].name[0] == '<')
			names_of_table(&names, &book->names[i]);
		else
			add_name(&names, &book->names[i]);
	book->names = names.list;
	book->name_count = names.count;
}

void
conf_index_domains(struct conf_loader *loader)
{
	struct conf_book *book = loader->book;

	names_expand(loader);

	book->slot_count = 16;
	while (book->slot_count < book->name_count * 2)
		book->slot_count *= 2;
	book->name_slots = arena_alloc(loader->conf->arena,
	    book->slot_count * sizeof(*book->name_slots));
	for (size_t i = 0; i < book->name_count; i++) {
		unsigned *slot = slot_of(book, slice_of(book->names[i].name));

		if (*slot == 0)
			*slot = (unsigned)i + 1;
		else
			complain_twice(loader, &book->names[*slot - 1],
			    &book->names[i]);
	}
}

static const struct conf_domain *
find_exact(const struct conf *conf, struct slice name)
{
	unsigned slot = *slot_of(conf->book, name);

	return slot == 0 ? NULL :
	    &conf->domains[conf->book->names[slot - 1].domain];
}

/* The name itself, then ".parent", longest first. */
const struct conf_domain *
conf_domain_find(const struct conf *conf, struct slice name)
{
	const struct conf_domain *domain;

	if (name.n == 0 || name.p[0] == '.' || name.n > DOMAIN_MAX_BYTES)
		return NULL;
	domain = find_exact(conf, name);
	while (domain == NULL) {
		size_t dot = slice_find(slice_from(name, 1), '.') + 1;

		if (dot >= name.n)
			return NULL;
		name = slice_from(name, dot);
		domain = find_exact(conf, name);
	}
	return domain;
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

const struct conf_table *
conf_table_find(const struct conf *conf, const char *name)
{
	for (size_t i = 0; i < conf->table_count; i++)
		if (strcmp(conf->tables[i].name, name) == 0)
			return &conf->tables[i];
	return NULL;
}

/* ours.c - names of domains that databases have (domain <table>)
 *
 * In     a name
 * Out    whose statement it belongs to; or that nobody can tell now
 * Holds  a connection for each table, of who waits for answers
 * Trusts no silence: a database that does not answer is trouble, never "not
 *        ours"
 * Spec   zmailer.conf(5), domain; doc/protocol/tables.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf/read/read.h"
#include "grammar/smtp/path.h"
#include "mail/table/table.h"

#include "base/banned.h"

void
conf_ours_add(struct conf *conf, const struct conf_table *row, size_t domain)
{
	struct conf_book *book = conf->book;

	book->name_tables = arena_grow(conf->arena, book->name_tables,
	    book->name_table_count, sizeof(*book->name_tables));
	book->name_tables[book->name_table_count++] =
	    (struct conf_name_table){ .name = row->name, .spec = row->spec,
	    .domain = domain };
}

void
conf_ours_release(struct conf_book *book)
{
	for (size_t i = 0; i < book->name_table_count; i++)
		table_free(&book->name_tables[i].table);
}

const char *
conf_domain_table(const struct conf *conf, size_t i,
    const struct conf_domain **out_domain)
{
	const struct conf_book *book = conf->book;

	if (book == NULL || i >= book->name_table_count)
		return NULL;
	if (out_domain != NULL)
		*out_domain = &conf->domains[book->name_tables[i].domain];
	return book->name_tables[i].name;
}

bool
conf_domain_is_asked(struct slice name)
{
	return name.n > 0 && name.n <= DOMAIN_MAX_BYTES &&
	    name.p[0] != '.' && name.p[0] != '[';
}

static enum table_result
name_table_ask(struct conf_name_table *one, struct slice name,
    struct err *err)
{
	if (one->table == NULL)
		one->table = table_new(one->name, one->spec);
	return table_lookup(one->table, name, NULL, NULL, err);
}

enum table_result
conf_domain_ask(const struct conf *conf, struct slice name,
    const struct conf_domain **out_domain, struct err *err)
{
	struct conf_book *book = conf->book;
	enum table_result found = TABLE_NONE;

	*out_domain = conf_domain_find(conf, name);
	if (*out_domain != NULL)
		return TABLE_FOUND;
	if (!conf_domain_is_asked(name))
		return TABLE_NONE;
	for (size_t i = 0; i < book->name_table_count && found == TABLE_NONE;
	    i++) {
		found = name_table_ask(&book->name_tables[i], name, err);
		if (found == TABLE_FOUND)
			*out_domain = &conf->domains[
			    book->name_tables[i].domain];
	}
	return found;
}

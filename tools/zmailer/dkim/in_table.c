/* in_table.c - the keys of domains that are in a table
 *
 * In     sign <table> keys DIR; the value of a domain in the table
 * Out    which keys sign; the row that a person has to write
 * Holds  nothing: a table is asked each time, and never written here
 * Spec   zmailer-dkim(8); zmailer.conf(5), sign
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "tools/zmailer/dkim/dkim.h"

#include "base/banned.h"

/* Of the keys that are known, or put at their end. */
static void
table_key_mark(struct change *change, struct dkim_own_key **all,
    const struct conf_sign *one)
{
	struct dkim_own_key **at = all;

	while (*at != NULL && (strcmp((*at)->domain, one->domain) != 0 ||
	    strcmp((*at)->selector, one->selector) != 0))
		at = &(*at)->next;
	if (*at == NULL) {
		*at = arena_alloc(change->arena, sizeof(**at));
		**at = (struct dkim_own_key){ .name = slice_of(arena_printf(
		    change->arena, "%s._domainkey.%s", one->selector,
		    one->domain)), .selector = one->selector,
		    .domain = one->domain };
	}
	(*at)->path = one->key;
	(*at)->table = one->table;
	(*at)->signs = true;
}

void
dkim_keys_add_tables(struct change *change, struct dkim_own_key **all,
    const char *domain)
{
	struct conf_sign *found;
	struct err err;
	size_t count;

	if (change->conf->sign_table_count == 0 ||
	    conf_sign_is_stated(change->conf, slice_of(domain)))
		return;
	if (conf_sign_keys(change->conf, slice_of(domain), change->arena,
	    &found, &count, &err) != 0) {
		fprintf(stderr, "zmailer: dkim: %s\n", err.text);
		return;
	}
	for (size_t i = 0; i < count; i++)
		table_key_mark(change, all, &found[i]);
}

/* Has an earlier key the same domain?  Then its table was asked. */
static bool
table_domain_is_asked(const struct dkim_own_key *all,
    const struct dkim_own_key *end)
{
	for (; all != end; all = all->next)
		if (strcmp(all->domain, end->domain) == 0)
			return true;
	return false;
}

void
dkim_keys_mark_tables(struct change *change, struct dkim_own_key **all)
{
	if (change->conf->sign_table_count == 0)
		return;
	for (struct dkim_own_key *key = *all; key != NULL; key = key->next)
		if (!table_domain_is_asked(*all, key))
			dkim_keys_add_tables(change, all, key->domain);
}

const struct conf_sign_table *
dkim_table_for(struct change *change, const char *domain)
{
	const struct conf *conf = change->conf;
	const struct dkim_own_key *key = dkim_keys_of(change, domain);

	if (conf->sign_table_count == 0 ||
	    conf_sign_is_stated(conf, slice_of(domain)))
		return NULL;
	for (; key != NULL; key = key->next) {
		if (strcmp(key->domain, domain) != 0 || !key->signs)
			continue;
		for (size_t i = 0; i < conf->sign_table_count; i++)
			if (key->table != NULL && strcmp(key->table,
			    conf->sign_tables[i].table) == 0)
				return &conf->sign_tables[i];
		return NULL;	/* opendkim signs for it */
	}
	return &conf->sign_tables[0];
}

/* A text file is changed with an editor; for other types the line says how. */
static const char *
table_place(const struct change *change, const char *name)
{
	const struct conf_table *table = conf_table_find(change->conf, name);

	return table == NULL ? "" : table->spec;
}

void
dkim_table_row_say(FILE *out, const struct change *change,
    const struct conf_sign_table *row, const char *domain,
    const char *selector)
{
	fprintf(out, "  %s %s      (a row of table %s, %s)\n", domain,
	    selector, row->table, table_place(change, row->table));
}

int
dkim_table_refuse(const struct change *change, const struct dkim_own_key *key,
    bool is_use)
{
	const struct conf *conf = change->conf;
	const struct conf_sign_table *row = &conf->sign_tables[0];

	for (size_t i = 0; i < conf->sign_table_count; i++)
		if (key->table != NULL && strcmp(key->table,
		    conf->sign_tables[i].table) == 0)
			row = &conf->sign_tables[i];
	fprintf(stderr, "zmailer: dkim: a table says what signs for %s, and "
	    "nothing was changed; %s\n", key->domain, is_use ? "write there:" :
	    "take its selector out of there:");
	dkim_table_row_say(stderr, change, row, key->domain, key->selector);
	return 1;
}

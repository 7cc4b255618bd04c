/* sign_keys.c - which keys sign for a domain
 *
 * In     sign statements, the tables that they name
 * Out    rows: domain, selector, the key's file
 * Holds  nothing; a tool opens a table for one question
 * Trusts no value of a table: each selector becomes part of a file's name
 * Spec   zmailer.conf(5), sign; RFC 6376 section 3.1 (selectors)
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "conf/part/part.h"
#include "mail/table/table.h"

#include "base/banned.h"

bool
conf_signs(const struct conf *conf)
{
	return conf->sign_count > 0 || conf->sign_table_count > 0;
}

bool
conf_sign_is_stated(const struct conf *conf, struct slice domain)
{
	for (size_t i = 0; i < conf->sign_count; i++)
		if (slice_is(domain, conf->signs[i].domain))
			return true;
	return false;
}

bool
conf_sign_name_is_good(struct slice name)
{
	bool was_dot = true;

	if (name.n == 0 || name.n > CONF_SIGN_NAME_MAX)
		return false;
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];

		if (c == '.' ? was_dot : !(c == '-' || c == '_' ||
		    ascii_is_alnum(c)))
			return false;
		was_dot = c == '.';
	}
	return !was_dot;
}

const char *
conf_sign_file(struct arena *arena, struct slice selector,
    struct slice domain)
{
	return arena_printf(arena, SLICE_FMT "._domainkey." SLICE_FMT
	    ".private", SLICE_ARG(selector), SLICE_ARG(domain));
}

/* ---- the value of a table ---------------------------------------------- */

static int
sign_value_bad(const struct conf_sign_table *row, struct slice domain,
    struct slice word, const char *what, struct err *err)
{
	struct str shown = STR_INIT;

	str_add_escaped(&shown, slice_first(word, 100));
	err_set(err, "table <%s>: " SLICE_FMT ": '%s' %s", row->table,
	    SLICE_ARG(slice_first(domain, 100)), shown.buf, what);
	str_release(&shown);
	return -1;
}

int
conf_sign_of_value(const struct conf_sign_table *row, struct slice domain,
    struct slice value, struct arena *arena, struct conf_sign *out,
    size_t *out_count, struct err *err)
{
	struct slice word, whole = slice_trim(value);

	*out_count = 0;
	if (!conf_sign_name_is_good(domain))
		return sign_value_bad(row, domain, domain, "is no name of a "
		    "domain", err);
	while (slice_word(&value, &word)) {
		if (!conf_sign_name_is_good(word))
			return sign_value_bad(row, domain, word, "is no "
			    "selector", err);
		if (*out_count == CONF_SIGN_KEYS_MAX)
			return sign_value_bad(row, domain, whole, "has more "
			    "than 4 selectors", err);
		word = slice_lower(arena, word);
		out[(*out_count)++] = (struct conf_sign){
			.domain = slice_dup(arena, domain),
			.selector = word.p, .table = row->table,
			.key = arena_printf(arena, "%s/%s", row->dir,
			    conf_sign_file(arena, word, domain)),
			.is_7bit = row->is_7bit, .else_send = row->else_send,
			.at = row->at };
	}
	return *out_count > 0 ? 0 : sign_value_bad(row, domain, whole,
	    "has no selector", err);
}

/* ---- for tools ---------------------------------------------------------- */

static enum table_result
sign_table_ask(const struct conf *conf, const struct conf_sign_table *row,
    struct slice domain, struct arena *arena, struct conf_sign *out,
    size_t *out_count, struct err *err)
{
	const struct conf_table *entry = conf_table_find(conf, row->table);
	enum table_result result;
	struct table *table;
	struct slice value;

	if (entry == NULL)	/* the check of references has said so */
		return TABLE_NONE;
	table = table_new(entry->name, entry->spec);
	result = table_lookup(table, domain, &value, NULL, err);
	if (result == TABLE_FOUND && conf_sign_of_value(row, domain, value,
	    arena, out, out_count, err) != 0)
		result = TABLE_TROUBLE;
	table_free(&table);
	return result;
}

int
conf_sign_keys(const struct conf *conf, struct slice domain,
    struct arena *arena, struct conf_sign **out, size_t *out_count,
    struct err *err)
{
	enum table_result found = TABLE_NONE;

	*out = arena_alloc(arena, CONF_SIGN_KEYS_MAX * sizeof(**out));
	*out_count = 0;
	for (size_t i = 0; i < conf->sign_count; i++)
		if (slice_is(domain, conf->signs[i].domain))
			(*out)[(*out_count)++] = conf->signs[i];
	if (*out_count > 0 || !conf_sign_name_is_good(domain))
		return 0;
	for (size_t i = 0; i < conf->sign_table_count && found == TABLE_NONE;
	    i++)
		found = sign_table_ask(conf, &conf->sign_tables[i], domain,
		    arena, *out, out_count, err);
	return found == TABLE_TROUBLE ? -1 : 0;
}

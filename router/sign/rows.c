/* rows.c - which keys sign for the domain of a From
 *
 * In     a domain; sign statements and their tables
 * Out    rows; trouble of a table
 * Holds  nothing
 * Trusts no value of a table: conf_sign_of_value looks at each word
 * Spec   zmailer.conf(5), sign
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/sign/rows.h"

#include "journal/event.h"

#include "base/banned.h"

static void
sign_rows_stated(const struct conf *conf, struct slice domain,
    struct sign_rows *out)
{
	for (size_t i = 0; i < conf->sign_count &&
	    out->count < CONF_SIGN_KEYS_MAX; i++)
		if (slice_is(domain, conf->signs[i].domain))
			out->rows[out->count++] = conf->signs[i];
}

/* What is wrong in a value is nobody's but the table's owner to mend. */
static enum route_answer
sign_rows_wrong(struct routing *routing, const struct conf_sign_table *row,
    struct sign_rows *out, const struct err *err)
{
	out->count = 0;
	if (!row->else_send) {
		(void)routing_trouble(routing, "sign", "");
		return ROUTE_TROUBLE;
	}
	event(EV_SIGN_REFUSED, NULL, "file", slice_of(row->table), "reason",
	    slice_of(err->text), NULL);
	return ROUTE_YES;
}

static enum route_answer
sign_rows_ask(struct routing *routing, const struct conf_sign_table *row,
    struct slice domain, struct sign_rows *out, struct err *err)
{
	struct table *table = routing_table(routing, row->table, err);
	enum route_answer found;
	struct slice value;
	unsigned line = 0;

	found = table == NULL ? ROUTE_TROUBLE : routing_lookup(routing, table,
	    domain, &value, &line, err);
	if (found == ROUTE_YES && conf_sign_of_value(row, domain, value,
	    routing->rcpts->arena, out->rows, &out->count, err) != 0)
		return sign_rows_wrong(routing, row, out, err);
	if (found != ROUTE_TROUBLE || !row->else_send)
		return found;
	routing->rcpts->trouble[0] = '\0';
	return ROUTE_YES;	/* unsigned: table.trouble has told why */
}

int
sign_rows_find(struct routing *routing, struct slice domain,
    struct sign_rows *out, struct err *err)
{
	const struct conf *conf = routing->router->conf;
	enum route_answer found = ROUTE_NO;

	out->count = 0;
	sign_rows_stated(conf, domain, out);
	if (out->count > 0 || !conf_sign_name_is_good(domain))
		return 0;
	for (size_t i = 0; i < conf->sign_table_count && found == ROUTE_NO;
	    i++)
		found = sign_rows_ask(routing, &conf->sign_tables[i], domain,
		    out, err);
	return found == ROUTE_TROUBLE ? -1 : 0;
}

void
sign_rows_note(struct routing *routing, struct slice sender)
{
	struct sign_rows found;
	struct slice domain;
	struct err err;

	if (!conf_signs(routing->router->conf) ||
	    router_domain(routing->rcpts->arena, who_domain(sender), &domain,
	    &err) != 0)
		return;
	if (sign_rows_find(routing, domain, &found, &err) != 0) {
		routing_note(routing, "with From in " SLICE_FMT " it would "
		    "wait: %s", SLICE_ARG(domain), err.text);
		routing->rcpts->trouble[0] = '\0';
	}
	for (size_t i = 0; i < found.count; i++)
		routing_note(routing, "signed, with From in " SLICE_FMT ", by "
		    "selector %s, key %s (%s:%u)", SLICE_ARG(domain),
		    found.rows[i].selector, found.rows[i].key,
		    found.rows[i].at.file, found.rows[i].at.line);
}

bool
sign_rows_any_7bit(const struct conf *conf)
{
	for (size_t i = 0; i < conf->sign_count; i++)
		if (conf->signs[i].is_7bit)
			return true;
	for (size_t i = 0; i < conf->sign_table_count; i++)
		if (conf->sign_tables[i].is_7bit)
			return true;
	return false;
}

/* routing.c - what all files here share of a recipient on its way
 *
 * In     names of tables, keys, domains
 * Out    values, copied; trouble; lines for who asked
 * Holds  nothing
 * Trusts the configuration; no byte of an address
 * Spec   doc/INTERNALS section 7
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "router/route/routing.h"

#include <idn2.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#include "base/banned.h"

enum {
	NOTE_BYTES_MAX = 600,		/* of one line */
	NOTES_BYTES_MAX = 256 << 10
};


/* ---- domains --------------------------------------------------------- */

static bool
domain_is_ascii(struct slice s)
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
	return 0;
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
	else if (domain_is_ascii(domain))
		*out = slice_lower(arena, domain);
	else
		return domain_to_ascii(arena, domain, out, err);
	return 0;
}

/* ---- tables and trouble ---------------------------------------------- */

int
routing_trouble(struct routing *routing, const char *what, const char *name)
{
	char *to = routing->rcpts->trouble;
	size_t n = 0, size = sizeof(routing->rcpts->trouble);

	for (const char *p = what; *p != 0 && n + 1 < size; p++)
		to[n++] = *p;
	for (const char *p = name; *p != 0 && n + 1 < size; p++) {
		char c = ascii_lower(*p);

		to[n++] = ascii_is_lower(c) || ascii_is_digit(c) ?
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
	struct str *notes = routing->rcpts->notes;
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
routing_note_found(const struct routing *routing, const struct table *table,
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

enum route_answer
routing_lookup(struct routing *routing, struct table *table, struct slice key,
    struct slice *out_value, unsigned *out_line, struct err *err)
{
	struct slice value;

	switch (table_lookup(table, key, &value, out_line, err)) {
	case TABLE_FOUND:
		*out_value = slice_copy(routing->rcpts->arena, value);
		if (routing->rcpts->notes != NULL)
			routing_note_found(routing, table, key, *out_value,
			    *out_line);
		return ROUTE_YES;
	case TABLE_NONE:
		routing_note(routing, "table <%s>: " SLICE_FMT
		    " is not in it", table_name(table), SLICE_ARG(key));
		return ROUTE_NO;
	default:
		return routing_trouble(routing, "table-", table_name(table));
	}
}

enum route_answer
routing_domain(struct routing *routing, struct slice name,
    const struct conf_domain **out_domain, struct err *err)
{
	const struct conf *conf = routing->router->conf;
	enum route_answer found = ROUTE_NO;
	struct table *table;
	struct slice value;
	const char *asked;
	unsigned line;

	*out_domain = conf_domain_find(conf, name);
	if (*out_domain != NULL)
		return ROUTE_YES;
	if (!conf_domain_is_asked(name))
		return ROUTE_NO;
	for (size_t i = 0; found == ROUTE_NO && (asked = conf_domain_table(
	    conf, i, out_domain)) != NULL; i++) {
		table = routing_table(routing, asked, err);
		found = table == NULL ? ROUTE_TROUBLE : routing_lookup(
		    routing, table, name, &value, &line, err);
	}
	if (found != ROUTE_YES)
		*out_domain = NULL;
	return found;
}

/* ---- addresses -------------------------------------------------------- */

struct slice
routing_join(struct routing *routing, struct slice local, struct slice domain)
{
	size_t n = local.n + (domain.n > 0 ? domain.n + 1 : 0);
	char *text = arena_alloc(routing->rcpts->arena, n + 1);

	memcpy(text, local.p, local.n);
	if (domain.n > 0) {
		text[local.n] = '@';
		memcpy(text + local.n + 1, domain.p, domain.n);
	}
	return (struct slice){ text, n };
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

/* ---- names that are opened -------------------------------------------- */

/* One name is opened once a message: a second time its recipients are there
 * already, and a loop ends here. */
bool
routing_opens(struct routing *routing, struct slice text)
{
	struct routing_count *counts = routing->counts;
	size_t number;

	if (memo_add(&routing->rcpts->expanded, text, &number))
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
	if (routing->given->lists != ROUTE_LISTS_WAIT ||
	    routing->sender != 0 || routing->rcpts->is_from_null)
		return false;
	routing->counts->waits = routing->counts->is_over = true;
	return true;
}

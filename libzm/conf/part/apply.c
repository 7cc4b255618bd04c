/* apply.c - what each statement does to the settings
 *
 * In     statements that agree with their rows
 * Out    the fields of struct conf; complaints about what is there twice
 * Holds  nothing; arrays grow in the arena of the conf
 *
 * SPDX-License-Identifier: ISC
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "conf/part/part.h"
#include "io/unix_socket.h"

#include "base/banned.h"

static struct conf_at
at_of(const struct conf_statement *statement)
{
	return conf_at(statement->node->tokens);
}

void
conf_field_store(void *field, size_t width, const char *type,
    const struct conf_value *value)
{
	unsigned number = (unsigned)value->number;
	char *rest = (char *)field + sizeof(value->number);

	if (value->text != NULL && !slice_starts(slice_of(type), "choice"))
		memcpy(field, &value->text, sizeof(value->text));
	else if (width == sizeof(bool))
		*(bool *)field = number != 0;
	else if (width == sizeof(unsigned))
		memcpy(field, &number, sizeof(number));
	else
		memcpy(field, &value->number, sizeof(value->number));
	if (strcmp(type, "rate") == 0)		/* number in this span */
		memcpy(rest, &value->span_ms, sizeof(value->span_ms));
}

static void
item_store(struct conf_loader *loader, const struct conf_statement *statement,
    void *target, const struct conf_value *value)
{
	const struct conf_row *row = statement->row;

	if (row->group == GROUP_SCHEDULE)
		conf_clause_say(loader, statement, target);
	conf_field_store((char *)target + row->offset, row->width, row->args,
	    value);
}

void
conf_apply_item(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	item_store(loader, statement, target, statement->args);
}

void
conf_apply_item_s(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_value value = statement->args[0];

	value.number /= 1000;
	item_store(loader, statement, target, &value);
}

void
conf_apply_setting(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_setting *setting = statement->setting;
	struct conf_at *places = loader->book->setting_at;

	for (size_t i = 0; i < conf_setting_count; i++) {
		if (conf_settings[i].offset != setting->offset ||
		    places[i].file == NULL)
			continue;
		conf_complain_twice(loader, statement->node->tokens, places[i],
		    arena_printf(loader->conf->arena, "'%s%s%s' is said twice",
		    setting->statement, setting->key[0] ? " " : "",
		    setting->key));
		return;
	}
	places[setting - conf_settings] = at_of(statement);
	conf_field_store((char *)loader->conf + setting->offset,
	    setting->width, setting->type, statement->args);
}

/* ---- listen ---------------------------------------------------------- */

/* take_listen has checked its length. */
static void
set_unix(struct conf_listen *listen_on, const char *text, struct slice path)
{
	(void)unix_socket_address(path,
	    (struct sockaddr_un *)&listen_on->address, NULL);
	listen_on->length = sizeof(struct sockaddr_un);
	strlcpy(listen_on->text, text, sizeof(listen_on->text));
}

void
conf_listen_make(struct conf_listen *listen_on, const char *text,
    unsigned port)
{
	struct slice path;

	if (unix_socket_path(slice_of(text), &path))
		set_unix(listen_on, text, path);
	else if (net_endpoint_parse(slice_of(text), port,
	    &listen_on->address, &listen_on->length, NULL) != 0)
		panic("conf: endpoint %s", text);
	else
		net_endpoint_text((const struct sockaddr *)&listen_on->address,
		    listen_on->text, sizeof(listen_on->text));
}

static void
add_listen(struct conf_loader *loader, struct conf_listen *listen_on,
    const char *text, bool is_optional)
{
	struct conf *conf = loader->conf;

	conf_listen_make(listen_on, text, 25);
	listen_on->is_optional = is_optional;
	conf->listens = arena_grow(conf->arena, conf->listens,
	    conf->listen_count, sizeof(*conf->listens));
	conf->listens[conf->listen_count++] = *listen_on;
}

void
conf_apply_listen(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *value = statement->args;
	struct conf *conf = loader->conf;
	struct conf_listen one = {
		.is_submission = statement->keywords[0].token != NULL,
		.no_verify = statement->keywords[1].token != NULL &&
		    statement->keywords[1].number == 1,
		.is_tls = statement->keywords[2].token != NULL,
		.is_lmtp = statement->keywords[3].token != NULL,
		.decides_early = statement->keywords[4].token != NULL &&
		    statement->keywords[4].number == 1,
		.at = at_of(statement),
	};
	size_t before = conf->listen_count;

	if (value->number == 0) {
		add_listen(loader, &one, value->text, false);
	} else {
		add_listen(loader, &one, arena_printf(conf->arena,
		    "0.0.0.0:%u", (unsigned)value->number), false);
		add_listen(loader, &one, arena_printf(conf->arena,
		    "[::]:%u", (unsigned)value->number), true);
	}
	for (size_t i = 0; i < before; i++) {
		if (strcmp(conf->listens[i].text,
		    conf->listens[before].text) != 0)
			continue;
		conf_complain_twice(loader, value->token, conf->listens[i].at,
		    "this port is listened on already");
		break;
	}
}

/* ---- tables ---------------------------------------------------------- */

/* The lines of a block as they stand there, each as far below the first as in
 * the file, unless several stand on one. */
static const char *
inline_spec(struct conf_loader *loader, const struct conf_node *lines,
    unsigned first_line, bool *out_has_lines)
{
	struct str spec = STR_INIT;
	unsigned line = first_line;
	const char *result;

	*out_has_lines = true;
	str_adds(&spec, "inline:");
	for (; lines != NULL; lines = lines->next) {
		const struct conf_token *first = lines->tokens, *last;

		if (lines->is_bad || lines->count == 0)
			continue;
		if (lines->has_block) {
			conf_complain(loader, CONF_ERROR, first,
			    "put values with braces into a file: table NAME "
			    "file:PATH", "a table has no blocks inside");
			continue;
		}
		last = first + lines->count - 1;
		for (; line < first->line; line++)
			str_addc(&spec, '\n');
		*out_has_lines = *out_has_lines && line == first->line;
		line++;
		str_add(&spec, first->raw.p, (size_t)(last->raw.p +
		    last->raw.n - first->raw.p));
		str_addc(&spec, '\n');
	}
	result = slice_dup(loader->conf->arena, str_slice(&spec));
	str_release(&spec);
	return result;
}

void
conf_apply_table(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_node *node = statement->node;
	struct conf *conf = loader->conf;
	struct conf_table table = {
		.name = statement->args[0].text, .at = at_of(statement),
	};
	const struct conf_table *other = conf_table_find(conf, table.name);

	if (other != NULL) {
		conf_complain_twice(loader, statement->args[0].token, other->at,
		    arena_printf(conf->arena, "there is a table <%s> already",
		    table.name));
		return;
	}
	if ((statement->arg_count > 1) == node->has_block) {
		conf_complain(loader, CONF_ERROR, node->tokens, NULL,
		    node->has_block ? "a table is a file or a block, not both" :
		    "a table needs file:PATH or a block of lines");
		return;
	}
	table.spec = node->has_block ? inline_spec(loader, node->children,
	    node->tokens[0].line, &table.has_lines) :
	    statement->args[1].text;
	conf->tables = arena_grow(conf->arena, conf->tables, conf->table_count,
	    sizeof(*conf->tables));
	conf->tables[conf->table_count++] = table;
}

/* ---- domains --------------------------------------------------------- */

void
conf_apply_domain(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf *conf = loader->conf;
	struct conf_domain domain = {
		.deliver = { .channel = "local", .host = "-" },
		.at = at_of(statement),
		.name_count = statement->arg_count,
	};

	domain.names = arena_alloc(conf->arena,
	    domain.name_count * sizeof(*domain.names));
	for (size_t i = 0; i < domain.name_count; i++)
		domain.names[i] = statement->args[i].table != NULL ?
		    arena_printf(conf->arena, "<%s>",
		    statement->args[i].table) : statement->args[i].text;
	conf_check_list(loader, statement->node->children, GROUP_DOMAIN,
	    &domain);
	conf_domain_add(loader, &domain, statement->args);
}

static void
complain_host(struct conf_loader *loader,
    const struct conf_statement *statement, const char *hint,
    const char *what)
{
	const struct conf_token *token = statement->arg_count > 1 ?
	    statement->args[1].token : statement->node->tokens;

	conf_complain(loader, CONF_ERROR, token, hint, "%s", what);
}

/* The host is a name for the command, which has blanks. */
static void
deliver_pipe(struct conf_loader *loader,
    const struct conf_statement *statement, struct conf_domain *domain,
    const char *command)
{
	if (command == NULL) {
		complain_host(loader, statement,
		    "write: deliver pipe \"/PATH/PROGRAM ARGUMENT...\"",
		    "what shall mail be piped to?");
		return;
	}
	domain->deliver.command = command;
	domain->deliver.account = statement->keywords[0].text;
	domain->deliver.host = arena_printf(loader->conf->arena, "=%s",
	    domain->names[0]);
}

void
conf_apply_deliver(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_deliver *deliver = &((struct conf_domain *)target)->deliver;
	struct arena *arena = loader->conf->arena;
	const char *host = statement->arg_count > 1 ?
	    statement->args[1].text : NULL;
	const char *channel = statement->args[0].text;
	const struct conf_value *account = &statement->keywords[0];
	struct err why;

	*deliver = (struct conf_deliver){ .channel = channel, .host = "-" };
	if (account->token != NULL && strcmp(channel, "pipe") != 0)
		conf_complain(loader, CONF_ERROR, account->token,
		    "only pipe runs as an account", "'%s' has no account",
		    channel);
	if (strcmp(channel, "lmtp") == 0) {
		if (conf_target_parse(arena, slice_of(arena_printf(arena,
		    "lmtp %s", host ? host : "")), &deliver->channel,
		    &deliver->host, &why) < 0)
			complain_host(loader, statement, why.text,
			    "this is not where LMTP is spoken");
	} else if (strcmp(channel, "smtp") == 0) {
		if (host == NULL || conf_target_parse(arena, slice_of(host),
		    &deliver->channel, &deliver->host, &why) < 0)
			complain_host(loader, statement, host ? why.text :
			    "write: deliver smtp HOST:PORT",
			    "this is not where SMTP is spoken");
	} else if (strcmp(channel, "http") == 0) {
		if (conf_target_parse(arena, slice_of(arena_printf(arena,
		    "http %s", host ? host : "")), &deliver->channel,
		    &deliver->host, &why) < 0)
			complain_host(loader, statement, why.text,
			    "this is no URL that mail can be posted to");
	} else if (strcmp(channel, "pipe") == 0) {
		deliver_pipe(loader, statement, target, host);
	} else if (host != NULL) {
		complain_host(loader, statement, NULL,
		    arena_printf(arena, "'%s' takes no host", channel));
	}
}

/* ---- routes and rules ------------------------------------------------ */

static void
add_route(struct conf_loader *loader, const struct conf_route *route)
{
	struct conf *conf = loader->conf;

	conf->routes = arena_grow(conf->arena, conf->routes, conf->route_count,
	    sizeof(*conf->routes));
	conf->routes[conf->route_count++] = *route;
}

enum { ROUTE_VIA, ROUTE_FROM, ROUTE_AS, ROUTE_ZONE,
	ROUTE_CUT_THROUGH };	/* keywords */

void
conf_apply_route(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_route route = {
		.pattern = statement->args[0].text,
		.channel = statement->keywords[ROUTE_VIA].channel,
		.host = statement->keywords[ROUTE_VIA].text,
		.ways = statement->keywords[ROUTE_VIA].ways,
		.way_count = statement->keywords[ROUTE_VIA].way_count,
		.sender = statement->keywords[ROUTE_FROM].text,
		.user = statement->keywords[ROUTE_AS].text,
		.zone = statement->keywords[ROUTE_ZONE].text,
		.is_cut_through =
		    statement->keywords[ROUTE_CUT_THROUGH].token != NULL,
		.at = at_of(statement),
	};

	add_route(loader, &route);
}

void
conf_apply_routes(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_route route = {
		.table = statement->args[0].table,
		.channel = "", .host = "", .at = at_of(statement),
	};

	if (statement->keywords[0].token != NULL)
		route.by = (enum conf_route_by)statement->keywords[0].number;

	route.pattern = arena_printf(loader->conf->arena, "<%s>", route.table);
	add_route(loader, &route);
}

void
conf_apply_include(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	conf_load_file(loader, statement->args[0].text,
	    statement->args[0].token, conf_load_text);
}

const char **
conf_tables_of(struct conf_loader *loader,
    const struct conf_statement *statement)
{
	const char **names = arena_alloc(loader->conf->arena,
	    statement->arg_count * sizeof(*names));

	for (size_t i = 0; i < statement->arg_count; i++)
		names[i] = statement->args[i].table;
	return names;
}

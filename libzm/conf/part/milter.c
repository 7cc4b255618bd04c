/* milter.c - the milter statement
 *
 * In     statements that agree with their row
 * Out    conf->milters
 * Holds  nothing; arrays grow in the arena of the conf
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "conf/part/part.h"
#include "io/unix_socket.h"

#include "base/banned.h"

enum { CONNECT_MS = 10000, COMMAND_MS = 30000, TIMEOUT_MS = 60000,
	CONTENT_MS = 120000 };

const char *const conf_milter_fails[] = { "tempfail", "accept", "reject",
	"quarantine" };

void
conf_complain_socket(struct conf_loader *loader,
    const struct conf_token *token)
{
	struct err why = { "" };
	const char *hint = conf_mend_socket(loader->conf->arena, token->text);

	if (hint == NULL && unix_socket_is_meant(token->text))
		(void)conf_unix_parse(token->text, NULL, &why);
	conf_complain(loader, CONF_ERROR, token, hint != NULL ? hint :
	    why.text[0] != '\0' ? why.text :
	    "write unix:/PATH or inet:ADDRESS:PORT",
	    "'" SLICE_FMT "' is not a socket",
	    SLICE_ARG(slice_first(token->text, 100)));
}

bool
conf_is_socket(const char *text)
{
	struct sockaddr_storage address;
	socklen_t length;

	if (conf_unix_parse(slice_of(text), NULL, NULL))
		return true;
	return strncmp(text, "inet:", 5) == 0 &&
	    net_endpoint_parse(slice_of(text + 5), 0, &address, &length,
		NULL) == 0;
}

void
conf_apply_milter(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf *conf = loader->conf;
	struct conf_milter milter = {
		.socket = statement->args[0].text,
		.connect_ms = CONNECT_MS,
		.command_ms = COMMAND_MS,
		.timeout_ms = TIMEOUT_MS,
		.at = conf_at(statement->node->tokens),
	};

	if (!conf_is_socket(milter.socket)) {
		conf_complain_socket(loader, statement->args[0].token);
		return;
	}
	if (statement->keywords[0].token != NULL)
		milter.fail = (enum conf_milter_fail)
		    statement->keywords[0].number;
	if (statement->keywords[1].token != NULL)
		milter.timeout_ms = (int64_t)statement->keywords[1].number;
	if (statement->keywords[2].token != NULL)
		milter.connect_ms = (int64_t)statement->keywords[2].number;
	if (statement->keywords[3].token != NULL)
		milter.command_ms = (int64_t)statement->keywords[3].number;
	if (statement->keywords[4].token != NULL) {
		milter.has_except = true;
		milter.except = statement->keywords[4].net;
	}
	milter.sees_local = statement->keywords[5].token != NULL;
	conf->milters = arena_grow(conf->arena, conf->milters,
	    conf->milter_count, sizeof(*conf->milters));
	conf->milters[conf->milter_count++] = milter;
}

bool
conf_milters_see_local(const struct conf *conf)
{
	for (size_t i = 0; i < conf->milter_count; i++)
		if (conf->milters[i].sees_local)
			return true;
	return false;
}

void
conf_apply_content_filter(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf *conf = loader->conf;
	struct conf_milter filter = {
		.socket = statement->args[0].text,
		.timeout_ms = CONTENT_MS,
		.at = conf_at(statement->node->tokens),
	};

	if (filter.socket[0] != '/' &&
	    !conf_unix_parse(slice_of(filter.socket), NULL, NULL)) {
		conf_complain(loader, CONF_ERROR, statement->args[0].token,
		    "write /path/of/a/program or unix:/path/of/a/socket",
		    "'%s' is neither a program nor a socket", filter.socket);
		return;
	}
	if (conf->content_filter.socket != NULL) {
		conf_complain_twice(loader, statement->node->tokens,
		    conf->content_filter.at,
		    "'content-filter' is said twice");
		return;
	}
	if (statement->keywords[0].token != NULL)
		filter.fail = (enum conf_milter_fail)
		    statement->keywords[0].number;
	if (statement->keywords[1].token != NULL)
		filter.timeout_ms = (int64_t)statement->keywords[1].number;
	if (statement->keywords[2].token != NULL) {
		filter.has_except = true;
		filter.except = statement->keywords[2].net;
	}
	conf->content_filter = filter;
}

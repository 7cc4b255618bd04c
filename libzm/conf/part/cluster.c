/* cluster.c - the machines that share numbers
 *
 * In     the cluster statement and the items of its block
 * Out    the nodes, which of them this is, where the Redis is
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/crc32c.h"
#include "conf/part/part.h"
#include "grammar/units.h"

#include "base/banned.h"

enum { HOST_NAME_BYTES = 256 };
enum { CLUSTER_CA, CLUSTER_CERTIFICATE, CLUSTER_KEY };	/* words of tls */
enum { DESK_CA, DESK_CERTIFICATE, DESK_KEY };		/* of desk */
enum { COPIES_ELSE, COPIES_SIZE, COPIES_LEASE };	/* of copies */

/* It becomes part of keys and of lines: no blank, nothing that divides. */
static bool
cluster_name_is_good(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if (!(ascii_is_lower(text.p[i]) ||
		    ascii_is_digit(text.p[i]) ||
		    (i > 0 && ascii_is_among(text.p[i], "-_."))))
			return false;
	return text.n > 0 && text.n <= CLUSTER_NAME_BYTES_MAX;
}

static bool
cluster_check_name(struct conf_loader *loader, const struct conf_value *name,
    const char *what)
{
	if (cluster_name_is_good(slice_of(name->text)))
		return true;
	conf_complain(loader, CONF_ERROR, name->token,
	    "small letters, digits, - _ and ., at most 64 of them",
	    "'%.100s' is no name for a %s", name->text, what);
	return false;
}

size_t
conf_cluster_find(const struct conf_cluster *cluster, struct slice name)
{
	size_t i = 0;

	while (i < cluster->node_count && !slice_is(name, cluster->nodes[i]))
		i++;
	return i;
}

static bool
cluster_has_node(const struct conf_cluster *cluster, struct slice name)
{
	return conf_cluster_find(cluster, name) < cluster->node_count;
}

void
conf_apply_cluster(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf *conf = loader->conf;
	struct conf_cluster cluster = {
		.name = statement->args[0].text,
		.at = conf_at(statement->node->tokens),
		.patience_ms = CLUSTER_PATIENCE_MS,
		.copy_bytes_max = CLUSTER_COPY_BYTES,
	};

	(void)cluster_check_name(loader, &statement->args[0], "cluster");
	if (conf->cluster.name != NULL) {
		conf_complain_twice(loader, statement->node->tokens,
		    conf->cluster.at, "'cluster' is said twice");
		return;
	}
	conf_check_list(loader, statement->node->children, GROUP_CLUSTER,
	    &cluster);
	conf->cluster = cluster;
}

/* ---- items ----------------------------------------------------------- */

/* *count is that of words, before it. */
static const char **
cluster_push(struct conf_loader *loader, const char **words, size_t *count,
    const char *word)
{
	words = arena_grow(loader->conf->arena, words, *count, sizeof(*words));
	words[(*count)++] = word;
	return words;
}

static void
cluster_add_node(struct conf_loader *loader, struct conf_cluster *cluster,
    const char *name, const char *at)
{
	size_t count = cluster->node_count;

	cluster->node_ats = cluster_push(loader, cluster->node_ats, &count,
	    at);
	cluster->nodes = cluster_push(loader, cluster->nodes,
	    &cluster->node_count, name);
}

void
conf_apply_cluster_node(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_cluster *cluster = target;

	conf_check_node_at(loader, statement, cluster);
	for (size_t i = 0; i < statement->arg_count; i++) {
		const struct conf_value *name = &statement->args[i];

		if (!cluster_check_name(loader, name, "node"))
			continue;
		if (cluster_has_node(cluster, slice_of(name->text)))
			conf_complain(loader, CONF_ERROR, name->token,
			    "leave one of them out", "there is a node '%s' "
			    "already", name->text);
		else if (cluster->node_count >= CLUSTER_NODES_MAX)
			conf_complain(loader, CONF_ERROR, name->token, NULL,
			    "a cluster has at most %d nodes",
			    CLUSTER_NODES_MAX);
		else
			cluster_add_node(loader, cluster, name->text,
			    statement->keywords[0].text);
	}
}

void
conf_apply_cluster_self(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_cluster *cluster = target;
	const struct conf_token *token = statement->args[0].token;

	if (cluster->self != NULL)
		conf_complain_twice(loader, statement->node->tokens,
		    cluster->self_at, "'self' is said twice");
	cluster->self = statement->args[0].text;
	cluster->self_at = conf_at(token);
}

/* The port after the last colon, when there is one. */
static size_t
cluster_port_at(struct slice text)
{
	size_t colon = text.n;

	while (colon > 0 && text.p[colon - 1] != ':')
		colon--;
	if (colon == 0 || (slice_find(text, ':') + 1 < colon &&
	    text.p[0] != '['))
		return text.n + 1;	/* none, or a bare address */
	return text.p[0] == '[' && text.p[text.n - 1] == ']' ? text.n + 1 :
	    colon;
}

bool
conf_cluster_server(struct slice text, struct slice *out_host,
    unsigned *out_port)
{
	size_t at = cluster_port_at(text);
	struct slice host = slice_first(text, at <= text.n ? at - 1 : text.n);
	uint64_t port = *out_port;

	if (at <= text.n && !slice_number(slice_from(text, at), 1, 65535,
	    &port))
		return false;
	if (slice_starts(host, "[") != slice_ends(host, "]"))
		return false;
	if (slice_starts(host, "["))
		host = slice_first(slice_from(host, 1), host.n - 2);
	for (size_t i = 0; i < host.n; i++)
		if (!ascii_is_alnum(host.p[i]) &&
		    !ascii_is_among(host.p[i], "-_.:"))
			return false;
	*out_host = host;
	*out_port = (unsigned)port;
	return host.n > 0 && host.n < HOST_NAME_BYTES;
}

/* Add where one is to a list. */
static void
cluster_add_server(struct conf_loader *loader, const struct conf_value *server,
    const char *what, const char ***list, size_t *count)
{
	unsigned port = CLUSTER_PORT;
	struct slice host;

	if (!conf_cluster_server(slice_of(server->text), &host, &port))
		conf_complain(loader, CONF_ERROR, server->token,
		    "write 192.0.2.20, redis.example.org:6379 or "
		    "[2001:db8::20]:6379", "'%.100s' is not where a "
		    "%s is", server->text, what);
	else if (*count >= CLUSTER_SERVERS_MAX)
		conf_complain(loader, CONF_ERROR, server->token, NULL,
		    "at most %d addresses", CLUSTER_SERVERS_MAX);
	else
		*list = cluster_push(loader, *list, count, server->text);
}

void
conf_apply_cluster_redis(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_cluster *cluster = target;

	for (size_t i = 0; i < statement->arg_count; i++)
		cluster_add_server(loader, &statement->args[i], "Redis",
		    &cluster->servers, &cluster->server_count);
}

void
conf_apply_cluster_sentinel(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_cluster *cluster = target;
	const struct conf_value *name = &statement->args[0];

	if (cluster->master != NULL)
		conf_complain_twice(loader, statement->node->tokens,
		    cluster->sentinel_at, "'sentinel' is said twice");
	cluster->sentinel_at = conf_at(statement->node->tokens);
	cluster->master = name->text;
	if (statement->arg_count < 2)
		conf_complain(loader, CONF_ERROR, name->token,
		    "write: sentinel MASTER HOST[:PORT]...",
		    "where are the sentinels of '%.100s'?", name->text);
	else if (strspn(name->text, "0123456789abcdefABCDEF.:") ==
	    strlen(name->text) && strpbrk(name->text, ".:") != NULL)
		conf_complain(loader, CONF_ERROR, name->token,
		    "write: sentinel MASTER HOST[:PORT]...; MASTER is what "
		    "`sentinel monitor` calls it there",
		    "'%.100s' is an address: the name of the master is "
		    "missing", name->text);
	for (size_t i = 1; i < statement->arg_count; i++)
		cluster_add_server(loader, &statement->args[i], "sentinel",
		    &cluster->sentinels, &cluster->sentinel_count);
}

void
conf_apply_cluster_sentinel_password(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_cluster *cluster = target;

	cluster->sentinel_password_path = statement->args[0].text;
}

void
conf_apply_cluster_password(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_cluster *cluster = target;

	cluster->password_path = statement->args[0].text;
}

void
conf_apply_cluster_tls(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *words = statement->keywords;
	struct conf_cluster *cluster = target;

	cluster->is_tls = true;
	cluster->roots = words[CLUSTER_CA].text;
	cluster->certificate = words[CLUSTER_CERTIFICATE].text;
	cluster->key = words[CLUSTER_KEY].text;
	if (cluster->key != NULL && cluster->certificate == NULL)
		conf_complain(loader, CONF_ERROR, words[CLUSTER_KEY].token,
		    "write certificate FILE before it",
		    "a key is of no use without its certificate");
}

void
conf_apply_cluster_postgres(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_cluster *cluster = target;

#ifndef HAVE_PGSQL
	conf_complain(loader, CONF_ERROR, statement->node->tokens,
	    "apt-get install libpq-dev, then ./configure and make",
	    "this zmailer was built without PostgreSQL");
#endif
	if (cluster->postgres != NULL)
		conf_complain_twice(loader, statement->node->tokens,
		    cluster->postgres_at, "'postgres' is said twice");
	cluster->postgres_at = conf_at(statement->node->tokens);
	cluster->postgres = statement->args[0].text;
	conf_check_connection(loader, statement->args[0].token,
	    cluster->postgres);
	cluster->postgres_password_path = statement->keywords[0].text;
}

void
conf_apply_cluster_copies(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *words = statement->keywords;
	struct conf_cluster *cluster = target;

	cluster->copies_at = conf_at(statement->node->tokens);
	cluster->copies_defer = words[COPIES_ELSE].token != NULL &&
	    words[COPIES_ELSE].number == 1;
	cluster->delivers_alone = words[COPIES_LEASE].token != NULL &&
	    words[COPIES_LEASE].number == 1;
	if (words[COPIES_SIZE].token != NULL)
		cluster->copy_bytes_max = words[COPIES_SIZE].number;
}

void
conf_apply_cluster_takeover(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_cluster *cluster = target;

	if (cluster->takeover_at.line != 0)
		conf_complain_twice(loader, statement->node->tokens,
		    cluster->takeover_at, "'takeover' is said twice");
	cluster->takeover_at = conf_at(statement->node->tokens);
	cluster->takeover_after_ms = (int64_t)statement->keywords[0].number;
}

void
conf_apply_cluster_asks(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *words = statement->keywords;
	struct conf_cluster *cluster = target;

	if (cluster->desk_ca != NULL)
		conf_complain_twice(loader, statement->node->tokens,
		    cluster->desk_at, "'desk' is said twice");
	cluster->desk_at = conf_at(statement->node->tokens);
	cluster->desk_ca = words[DESK_CA].text;
	cluster->desk_certificate = words[DESK_CERTIFICATE].text;
	cluster->desk_key = words[DESK_KEY].text;
}

void
conf_apply_cluster_publish(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_cluster *cluster = target;

	cluster->publish_at = conf_at(statement->node->tokens);
	/* the first word is "from" */
	for (size_t i = 1; i < statement->arg_count; i++)
		cluster->publishers = cluster_push(loader,
		    cluster->publishers, &cluster->publisher_count,
		    statement->args[i].text);
}

/* ---- checks ---------------------------------------------------------- */

static void
cluster_complain(struct conf_loader *loader, struct conf_at at,
    unsigned width, const char *hint, const char *text)
{
	conf_complain_at(loader->report, loader->report_arena, loader->book,
	    CONF_ERROR, at, width, hint, text);
}

/* What the system calls this machine, as a node; NULL: it is none. */
static const char *
cluster_find_self(const struct conf *conf, const char *host_name)
{
	const struct conf_cluster *cluster = &conf->cluster;
	struct slice name = slice_lower(conf->arena, slice_of(host_name));
	struct slice first = slice_first(name, slice_find(name, '.'));

	if (cluster_has_node(cluster, name))
		return slice_dup(conf->arena, name);
	return cluster_has_node(cluster, first) ?
	    slice_dup(conf->arena, first) : NULL;
}

static void
cluster_check_self(struct conf_loader *loader)
{
	struct conf *conf = loader->conf;
	struct conf_cluster *cluster = &conf->cluster;
	char name[HOST_NAME_BYTES] = "";

	if (cluster->self != NULL) {
		if (!cluster_has_node(cluster, slice_of(cluster->self)))
			cluster_complain(loader, cluster->self_at,
			    (unsigned)strlen(cluster->self),
			    "name it in node, too", arena_printf(conf->arena,
			    "'%s' is no node of the cluster", cluster->self));
		return;
	}
	if (gethostname(name, sizeof(name)) != 0)
		name[0] = '\0';
	name[sizeof(name) - 1] = '\0';
	cluster->self = cluster_find_self(conf, name);
	if (cluster->self == NULL)
		cluster_complain(loader, cluster->at, 7,
		    "add to the block: self NODE", arena_printf(conf->arena,
		    "none of its nodes is this machine, which is called '%s'",
		    name));
}

static int
node_compare(const void *a, const void *b)
{
	const char *const *one = a, *const *two = b;

	return strcmp(*one, *two);
}

/* A number below SPOOL_NODES_MAX for each node: by its name, so that another
 * node in the list does not change it; the next free one where two names have
 * the same.  *numbers are those of nodes, which are sorted. */
static void
cluster_number_nodes(const char *const *nodes, size_t count,
    unsigned numbers[CLUSTER_NODES_MAX])
{
	bool is_used[SPOOL_NODES_MAX] = { false };

	for (size_t i = 0; i < count; i++) {
		unsigned at = crc32c(0, nodes[i], strlen(nodes[i])) %
		    SPOOL_NODES_MAX;

		while (is_used[at])
			at = (at + 1) % SPOOL_NODES_MAX;
		is_used[at] = true;
		numbers[i] = at;
	}
}

/* What our spool ids carry. */
static void
cluster_number_self(struct conf_cluster *cluster)
{
	const char *sorted[CLUSTER_NODES_MAX];
	unsigned numbers[CLUSTER_NODES_MAX];

	memcpy(sorted, cluster->nodes, cluster->node_count * sizeof(*sorted));
	qsort(sorted, cluster->node_count, sizeof(*sorted), node_compare);
	cluster_number_nodes(sorted, cluster->node_count, numbers);
	for (size_t i = 0; i < cluster->node_count; i++)
		if (cluster->self != NULL &&
		    strcmp(sorted[i], cluster->self) == 0)
			spool_node_digits(numbers[i], cluster->node_digits);
}

/* Each node must be found by the others. */
static void
cluster_check_addresses(struct conf_loader *loader)
{
	const struct conf_cluster *cluster = &loader->conf->cluster;

	for (size_t i = 0; cluster->desk_ca != NULL &&
	    i < cluster->node_count; i++)
		if (cluster->node_ats[i] == NULL)
			cluster_complain(loader, cluster->desk_at, 4,
			    arena_printf(loader->conf->arena,
			    "add to the block: node %s at ADDRESS",
			    cluster->nodes[i]), arena_printf(
			    loader->conf->arena, "where is %s? desk needs "
			    "the address of each node", cluster->nodes[i]));
}

/* Publishers are nodes, and come by the desk. */
static void
cluster_check_publishers(struct conf_loader *loader)
{
	const struct conf_cluster *cluster = &loader->conf->cluster;

	if (cluster->publisher_count > 0 && cluster->desk_ca == NULL)
		cluster_complain(loader, cluster->publish_at, 7,
		    "add to the block: desk ca FILE certificate FILE",
		    "a publish comes by the desk, and there is none");
	for (size_t i = 0; i < cluster->publisher_count; i++)
		if (!cluster_has_node(cluster,
		    slice_of(cluster->publishers[i])))
			cluster_complain(loader, cluster->publish_at, 7,
			    "name a node", arena_printf(loader->conf->arena,
			    "'%s' is no node of the cluster",
			    cluster->publishers[i]));
}

static void
cluster_complain_alone(struct conf_loader *loader, struct conf_at at,
    unsigned width)
{
	cluster_complain(loader, at, width, loader->conf->cluster.name ==
	    NULL ? "add: cluster NAME { node NAME...; redis HOST }" :
	    "add to the cluster: redis HOST",
	    "shared with whom? no cluster has a redis");
}

static void
cluster_check_shared(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;

	if (conf_cluster_has_redis(&conf->cluster))
		return;
	for (size_t i = 0; i < conf->rule_count; i++)
		if (conf->rules[i].count.is_shared ||
		    conf->rules[i].greylist.is_shared)
			cluster_complain_alone(loader, conf->rules[i].at, 5);
	for (size_t i = 0; i < conf->zone_count; i++)
		if (conf->zones[i].warm_is_shared)
			cluster_complain_alone(loader, conf->zones[i].at, 4);
}

static void
cluster_check_takeover(struct conf_loader *loader)
{
	const struct conf_cluster *cluster = &loader->conf->cluster;

	if (cluster->takeover_at.line == 0)
		return;
	if (cluster->postgres == NULL)
		cluster_complain(loader, cluster->takeover_at, 8,
		    "add to the block: postgres \"host=... dbname=...\"",
		    "taken over from where? no copies are kept");
	else if (cluster->delivers_alone)
		cluster_complain(loader, cluster->takeover_at, 8,
		    "leave one of them out", "with 'copies lease go-on' a "
		    "node delivers what another one has taken over");
}

void
conf_check_cluster(struct conf_loader *loader)
{
	struct conf *conf = loader->conf;

	if (conf->cluster.name != NULL && conf->cluster.node_count == 0)
		cluster_complain(loader, conf->cluster.at, 7,
		    "add to the block: node NAME...", "it has no nodes");
	else if (conf->cluster.name != NULL) {
		cluster_check_self(loader);
		cluster_number_self(&conf->cluster);
	}
	cluster_check_addresses(loader);
	cluster_check_publishers(loader);
	if (conf->cluster.copies_at.line != 0 && conf->cluster.postgres ==
	    NULL)
		cluster_complain(loader, conf->cluster.copies_at, 6,
		    "add to the block: postgres \"host=... dbname=...\"",
		    "copies are kept where?");
	cluster_check_takeover(loader);
	if (conf->cluster.master != NULL && conf->cluster.server_count > 0)
		cluster_complain(loader, conf->cluster.sentinel_at, 8,
		    "leave out redis: the sentinels say where it is",
		    "redis and sentinel are said both");
	cluster_check_shared(loader);
}

/* node_at.c - where the nodes of a cluster are
 *
 * In     `node NAME at ADDRESS`
 * Out    addresses; complaints: one that is none, one that two nodes have
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <netinet/in.h>
#include <string.h>

#include "conf/read/read.h"
#include "grammar/net.h"

#include "base/banned.h"

enum { ADDRESS_BYTES = INET6_ADDRSTRLEN + 8 };	/* "[...]:65535" */

int
conf_node_address(const struct conf_cluster *cluster, size_t node,
    struct sockaddr_storage *out, unsigned *out_length, struct err *err)
{
	socklen_t length;

	if (cluster->node_ats[node] == NULL)
		return err_set(err, "no address is configured");
	if (net_endpoint_parse(slice_of(cluster->node_ats[node]),
	    CLUSTER_DESK_PORT, out, &length, err) < 0)
		return -1;
	*out_length = (unsigned)length;
	return 0;
}

/* The node that is there already; NULL: none. */
static const char *
node_find_at(const struct conf_cluster *cluster,
    const struct sockaddr_storage *address)
{
	char wanted[ADDRESS_BYTES], text[ADDRESS_BYTES];
	struct sockaddr_storage other;
	unsigned length;
	struct err err;

	net_endpoint_text((const struct sockaddr *)address, wanted,
	    sizeof(wanted));
	for (size_t i = 0; i < cluster->node_count; i++) {
		if (conf_node_address(cluster, i, &other, &length, &err) < 0)
			continue;
		net_endpoint_text((struct sockaddr *)&other, text,
		    sizeof(text));
		if (strcmp(text, wanted) == 0)
			return cluster->nodes[i];
	}
	return NULL;
}

/* A name would have to be looked up, by each of them. */
void
conf_check_node_at(struct conf_loader *loader,
    const struct conf_statement *statement,
    const struct conf_cluster *cluster)
{
	const struct conf_value *at = &statement->keywords[0];
	struct sockaddr_storage address;
	const char *there;
	socklen_t length;
	struct err err;

	if (at->token == NULL)
		return;
	if (statement->arg_count > 1)
		conf_complain(loader, CONF_ERROR, at->token,
		    "write a node statement for each",
		    "'at' is the address of one node");
	if (net_endpoint_parse(slice_of(at->text), CLUSTER_DESK_PORT,
	    &address, &length, &err) < 0 || strspn(at->text, "0123456789") ==
	    strlen(at->text))
		conf_complain(loader, CONF_ERROR, at->token,
		    "write 192.0.2.11, 192.0.2.11:9025 or [2001:db8::11]",
		    "'%.100s' is no address", at->text);
	else if ((there = node_find_at(cluster, &address)) != NULL)
		conf_complain(loader, CONF_ERROR, at->token,
		    "each node has an address, or a port, of its own",
		    "%s is at %.100s already", there, at->text);
}

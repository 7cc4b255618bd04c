/* cluster.h - the machines that share numbers
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SETTINGS_CLUSTER_H
#define ZM_CONF_SETTINGS_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "conf/settings/at.h"
#include "mail/spool_id.h"

enum {
	CLUSTER_NAME_BYTES_MAX = 64,	/* of a cluster, of a node */
	CLUSTER_NODES_MAX = 256,
	CLUSTER_SERVERS_MAX = 16,
	CLUSTER_PORT = 6379,		/* of Redis, unless said */
	CLUSTER_DESK_PORT = 9025,	/* of a node's desk, unless said */
	CLUSTER_SENTINEL_PORT = 26379,
	CLUSTER_PATIENCE_MS = 200,	/* unless said */
	CLUSTER_MARGIN_MS = 300,	/* a caller waits that much longer */
	CLUSTER_COPY_BYTES = 25 << 20	/* a larger message has no copy,
					 * unless said */
};

struct conf_cluster {		/* cluster NAME { ... } */
	const char	*name;		/* NULL: there is none */
	const char	**nodes;	size_t node_count;
	const char	**node_ats;	/* of each: "ADDRESS[:PORT]", or NULL */
	const char	*self;		/* one of them */
	char		 node_digits[SPOOL_NODE_BYTES];	/* its; "": there
					 * is no cluster */
	const char	**servers;	size_t server_count;
				/* of one Redis: "HOST", "HOST:PORT",
				 * "[ADDRESS]:PORT" */
	const char	*master;	/* what the sentinels call it; NULL:
					 * there are none, but servers */
	const char	**sentinels;	size_t sentinel_count;
	struct conf_at	 sentinel_at;
	const char	*password_path;	/* NULL: it needs none */
	const char	*sentinel_password_path;	/* NULL: none */
	bool		 is_tls;
	/* PEM files; NULL: the system's roots; none is shown; the key is in
	 * certificate */
	const char	*roots, *certificate, *key;
	int64_t		 patience_ms;	/* of a question to it */
	const char	*postgres;	/* libpq's words for a connection to the
					 * database with the copies; NULL: none
					 * are kept */
	const char	*postgres_password_path;	/* NULL: none */
	uint64_t	 copy_bytes_max;
	bool		 copies_defer;	/* 451 where there is no copy; else it
					 * is accepted without */
	bool		 delivers_alone;	/* also without a lease */
	int64_t		 takeover_after_ms;	/* a node's lease is over for
					 * so long: taken over without an
					 * order; 0: never */
	/* PEM files of the desk: its authority, our certificate, our key
	 * (NULL: in certificate); desk_ca NULL: there is none */
	const char	*desk_ca, *desk_certificate, *desk_key;
	/* nodes whose `config publish` is taken here */
	const char	**publishers;	size_t publisher_count;
	struct conf_at	 at, self_at, desk_at, publish_at;
	struct conf_at	 postgres_at, copies_at;	/* line 0: not said */
	struct conf_at	 takeover_at;	/* the same */
};

/* Parse "HOST", "HOST:PORT", "ADDRESS" or "[ADDRESS]:PORT"; *out_host borrows
 * from text; *out_port is the default before, and stays so without PORT.
 * false: it is none of these. */
bool conf_cluster_server(struct slice text, struct slice *out_host,
    unsigned *out_port);
/* Is there a Redis, named or found by sentinels? */
bool conf_cluster_has_redis(const struct conf_cluster *cluster);

struct conf;
/* Is there a Redis for sharing numbers, or a database for copies? */
bool conf_asks_share(const struct conf *conf);
/* Do the nodes answer each other, so that one desk serves all? */
bool conf_asks_nodes(const struct conf *conf);
/* May that node replace the configuration of this one? */
bool conf_cluster_publishes(const struct conf_cluster *cluster,
    struct slice node);
/* Where the node of that place is: "ADDRESS:PORT" into the address; the default
 * port is CLUSTER_DESK_PORT.  0; -1: that is none (err). */
struct sockaddr_storage;
int conf_node_address(const struct conf_cluster *cluster, size_t node,
    struct sockaddr_storage *out, unsigned *out_length, struct err *err);
/* The place of that name in nodes; node_count: there is none. */
size_t conf_cluster_find(const struct conf_cluster *cluster,
    struct slice name);
/* Is each accepted message copied to a database? */
bool conf_keeps_copies(const struct conf *conf);

/* Append what follows the word cluster. */
void conf_cluster_add(struct str *out, const struct conf_cluster *cluster);

#endif

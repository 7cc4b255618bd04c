/* nodes.c - main: the process that answers other nodes, and asks them
 *
 * zmailer run starts it when a cluster has a desk; consulted.h has the rest.
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include "base/clock.h"
#include "daemon/consulted.h"
#include "daemon/sandbox.h"
#include "daemon/sidecar.h"
#include "nodes/exchange/exchange.h"
#include "tls/pair.h"

#include "base/banned.h"

static const struct daemon nodes = {
	.name = "nodes",
	.purpose = "Answers the other nodes of a cluster, and asks them.",
	.started = "when a cluster has a desk; see zmailer-cluster(8)",
	.role = ROLE_NODES,
};

enum { OTHERS = 077 };

struct nodes_state {
	struct exchange_means	 means;
};

/* Whoever reads it is this node. */
static void
nodes_check_key(const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && (st.st_mode & OTHERS) != 0)
		fatal("cluster: desk: %s has a key, and others may read or "
		    "change it: chmod 600", path);
}

static void
nodes_make_server(const struct conf_cluster *cluster,
    struct nodes_state *state)
{
	struct tls_terms terms = { .needs_tls13 = true, .ask = TLS_REQUIRE };
	const char *key = cluster->desk_key != NULL ? cluster->desk_key :
	    cluster->desk_certificate;
	struct tls_pair pair = { .key = NULL };
	struct str ca = STR_INIT;
	struct err err;

	if (tls_file_read(cluster->desk_ca, &ca, &err) < 0 ||
	    tls_pair_load(&pair, cluster->desk_certificate, key, &err) < 0)
		fatal("cluster: desk: %s", err.text);
	terms.ca = str_slice(&ca);
	/* a session that is resumed would not look at the dates again */
	state->means.server = tls_server_new(&terms, NULL, &err);
	if (state->means.server == NULL || tls_server_add(state->means.server,
	    cluster->self, str_slice(&pair.chain), pair.key, &err) < 0)
		fatal("cluster: desk: %s", err.text);
	tls_pair_release(&pair);
	str_release(&ca);
}

/* As root. */
static void
nodes_read_keys(const struct conf *conf, struct nodes_state *state)
{
	const struct conf_cluster *cluster = &conf->cluster;
	const struct tls_client_files files = { .roots = cluster->desk_ca,
		.certificate = cluster->desk_certificate,
		.key = cluster->desk_key };
	struct err err;

	nodes_check_key(cluster->desk_key != NULL ? cluster->desk_key :
	    cluster->desk_certificate);
	nodes_make_server(cluster, state);
	state->means.client = tls_client_new(&files, &err);
	if (state->means.client == NULL)
		fatal("cluster: desk: %s", err.text);
	peer_rules_read(conf, &state->means.rules);
}

/* It has the key: nobody of the same account looks at its memory.  Users'
 * names are looked up later: what that needs is loaded now. */
static void
nodes_lock_in(const struct conf *conf)
{
	struct sandbox rules = { .sockets = SOCKETS_ALL, .may_accept = true,
		.readable = { "/etc" }, .readable_count = 1 };
	struct err err;

	if (daemon_drop(conf, ROLE_NODES, &err) < 0)
		fatal("%s", err.text);
#ifdef PR_SET_DUMPABLE
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
	rules.appended[rules.appended_count++] = conf->log_dir;
	(void)clock_steady_ms();
	(void)getpwuid(0);
	if (sandbox_enter(&rules, &err) < 0)
		fatal("%s", err.text);
}

int
main(int argc, char **argv)
{
	struct nodes_state state = { .means = { .server = NULL } };
	struct process process;
	struct exchange *exchange;
	/* before another file gets that number */
	int network = fcntl(SIDECAR_SECOND_FD, F_GETFD) >= 0 ?
	    SIDECAR_SECOND_FD : -1;
	int status = consulted_begin(&process, &nodes, argc, argv);

	if (status >= 0)
		return status;
	if (!conf_asks_nodes(process.conf))
		return consulted_end(&process);
	nodes_read_keys(process.conf, &state);
	nodes_lock_in(process.conf);
	exchange = exchange_new(&process, &state.means, SIDECAR_SOCKET_FD,
	    network, SIDECAR_LIFELINE_FD);
	loop_run(process.loop);
	exchange_free(&exchange);
	tls_server_drop(&state.means.server);
	tls_client_free(&state.means.client);
	return consulted_end(&process);
}

/* calls.c - a user of this machine wants another node
 *
 * In     "to NODE control|verb|config"; that node's answer
 * Out    a TLS connection to it, our hello; "ok" or "no" to the user
 * Holds  nothing of its own
 * Trusts the kernel about the user; the node by its certificate, which must
 *        have the name of the node that is wanted
 * Spec   transit.h; doc/protocol/nodes.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "io/consult/nodes_ask.h"
#include "nodes/exchange/transit.h"
#include "tls/outward/client_stream.h"

#include "base/banned.h"

/* ---- the node ---------------------------------------------------------- */

static void
transit_say_hello(struct transit *transit)
{
	const struct conf_cluster *cluster = transit->exchange->cluster;
	const struct nodes_hello hello = {
		.cluster = slice_of(cluster->name),
		.from = slice_of(cluster->self),
		.to = slice_of(cluster->nodes[transit->node]),
		.who = slice_of(transit->who), .want = transit->want,
		.may_write = transit->may_write };
	struct str line = STR_INIT;

	nodes_hello_add(&line, &hello);
	stream_say(transit->sides[SIDE_FAR], str_slice(&line));
	str_release(&line);
}

/* The connection stands: encrypt it.  Who may be asked is whose certificate
 * has that name, and no address's. */
static void
transit_encrypt(struct transit *transit)
{
	const struct exchange *exchange = transit->exchange;
	const char *name = exchange->cluster->nodes[transit->node];
	const struct tls_goal goal = { .key = name, .sni = name,
		.names = &name, .name_count = 1, .is_strict = true,
		.is_exact = true };
	struct stream *far = stream_new(exchange->process->loop,
	    transit->dial_fd, transit_go, transit);
	struct err err;

	transit->dial_fd = -1;
	transit->sides[SIDE_FAR] = far;
	if (stream_start_tls_client(far, exchange->means->client, &goal,
	    &err) < 0) {
		(void)transit_refuse(transit, "%s", err.text);
		return;
	}
	transit_say_hello(transit);
	transit->at = AT_REACH;
}

static void
transit_on_dial(void *context, unsigned ready)
{
	struct transit *transit = context;
	int trouble = 0, on = 1;
	socklen_t n = sizeof(trouble);

	if (getsockopt(transit->dial_fd, SOL_SOCKET, SO_ERROR, &trouble,
	    &n) != 0)
		trouble = errno;
	watch_free(&transit->dial);
	(void)setsockopt(transit->dial_fd, IPPROTO_TCP, TCP_NODELAY, &on,
	    sizeof(on));
	if (trouble != 0)
		(void)transit_refuse(transit, "%s", strerror(trouble));
	else
		transit_encrypt(transit);
	transit_go(transit);
}

static enum transit_step
transit_dial(struct transit *transit)
{
	const struct exchange *exchange = transit->exchange;
	struct sockaddr_storage address;
	unsigned length;
	struct err err;

	if (conf_node_address(exchange->cluster, transit->node, &address,
	    &length, &err) < 0)
		return transit_refuse(transit, "%s", err.text);
	transit->dial_fd = socket(address.ss_family,
	    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (transit->dial_fd < 0 || (connect(transit->dial_fd,
	    (const struct sockaddr *)&address, (socklen_t)length) != 0 &&
	    errno != EINPROGRESS))
		return transit_refuse(transit, "%s", strerror(errno));
	transit->dial = loop_watch(exchange->process->loop, transit->dial_fd,
	    LOOP_WRITE, transit_on_dial, transit);
	transit->at = AT_DIAL;
	return STEP_WAIT;
}

/* ---- the user ---------------------------------------------------------- */

enum transit_step
transit_call(struct transit *transit)
{
	struct stream *near = transit->sides[SIDE_NEAR];
	struct nodes_call call;
	struct slice line;
	enum transit_step step = transit_line(transit, SIDE_NEAR,
	    NODES_LINE_BYTES_MAX, &line);

	if (step != STEP_NEXT)
		return step;
	if (transit->is_denied)
		return transit_refuse(transit, NODES_DENIED " ask other "
		    "nodes");
	if (nodes_call_parse(line, &call) < 0)
		return transit_refuse(transit, "say: to NODE "
		    "control|verb|config");
	if (call.want == NODES_CONFIG && !transit->is_owner)
		return transit_refuse(transit, NODES_DENIED " publish: root "
		    "may");
	transit->want = call.want;
	transit->node = conf_cluster_find(transit->exchange->cluster,
	    call.node);
	if (transit->node >= transit->exchange->cluster->node_count ||
	    transit->node == transit->exchange->self)
		return transit->node == transit->exchange->self ?
		    transit_refuse(transit, "this is that node") :
		    transit_refuse(transit, "there is no node " SLICE_FMT,
		    SLICE_ARG(call.node));
	stream_consume(near, line.n + 1);
	return transit_dial(transit);
}

enum transit_step
transit_reach(struct transit *transit)
{
	struct stream *far = transit->sides[SIDE_FAR];
	char said[NODES_LINE_BYTES_MAX];
	struct slice line, words;
	uint64_t number;
	enum transit_step step = transit_line(transit, SIDE_FAR,
	    NODES_LINE_BYTES_MAX, &line);

	if (stream_tls(far) == STREAM_TLS_FAILED) {
		strlcpy(said, stream_tls_trouble(far), sizeof(said));
		return transit_refuse(transit, "%s", said);
	}
	if (step == STEP_END)
		return transit_refuse(transit, "it hung up: it does not take "
		    "our certificate, or is busy");
	if (step == STEP_WAIT)
		return STEP_WAIT;
	switch (nodes_answer_parse(line, &number, &words)) {
	case NODES_OK:
		break;
	case NODES_NO:
		snprintf(said, sizeof(said), SLICE_FMT, SLICE_ARG(words));
		return transit_refuse(transit, "%s", said);
	case NODES_NONSENSE:
		return transit_refuse(transit, "it says nonsense");
	}
	stream_consume(far, line.n + 1);
	snprintf(said, sizeof(said), "ok %lld\n",
	    (long long)stream_tls_client_ends_s(far));
	stream_say(transit->sides[SIDE_NEAR], slice_of(said));
	transit_settle(transit, AT_RELAY);
	return STEP_NEXT;
}

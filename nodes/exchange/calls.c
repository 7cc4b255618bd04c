/* calls.c - a user of this machine wants another node
 *
 * In     "to NODE control|verb"; that node's answer
 * Out    a TLS connection to it, our hello; "ok" or "no" to the user
 * Holds  nothing of its own
 * Trusts the kernel about the user; the node by its certificate, which must
 *        have the name of the node that is wanted
 * Spec   session.h; doc/protocol/nodes.md
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
#include "nodes/exchange/session.h"
#include "tls/outward/client_stream.h"

#include "base/banned.h"

/* ---- the node ---------------------------------------------------------- */

static void
session_say_hello(struct session *session)
{
	const struct conf_cluster *cluster = session->exchange->cluster;
	const struct nodes_hello hello = {
		.cluster = slice_of(cluster->name),
		.from = slice_of(cluster->self),
		.to = slice_of(cluster->nodes[session->node]),
		.who = slice_of(session->who), .want = session->want,
		.may_write = session->may_write };
	struct str line = STR_INIT;

	nodes_hello_add(&line, &hello);
	stream_say(session->sides[SIDE_FAR], str_slice(&line));
	str_release(&line);
}

/* The connection stands: encrypt it.  Who may be asked is whose certificate
 * has that name, and no address's. */
static void
session_encrypt(struct session *session)
{
	const struct exchange *exchange = session->exchange;
	const char *name = exchange->cluster->nodes[session->node];
	const struct tls_goal goal = { .key = name, .sni = name,
		.names = &name, .name_count = 1, .is_strict = true };
	struct stream *far = stream_new(exchange->process->loop,
	    session->dial_fd, session_go, session);
	struct err err;

	session->dial_fd = -1;
	session->sides[SIDE_FAR] = far;
	if (stream_start_tls_client(far, exchange->means->client, &goal,
	    &err) < 0) {
		(void)session_refuse(session, "%s", err.text);
		return;
	}
	session_say_hello(session);
	session->at = AT_REACH;
}

static void
session_on_dial(void *context, unsigned ready)
{
	struct session *session = context;
	int trouble = 0, on = 1;
	socklen_t n = sizeof(trouble);

	if (getsockopt(session->dial_fd, SOL_SOCKET, SO_ERROR, &trouble,
	    &n) != 0)
		trouble = errno;
	watch_free(&session->dial);
	(void)setsockopt(session->dial_fd, IPPROTO_TCP, TCP_NODELAY, &on,
	    sizeof(on));
	if (trouble != 0)
		(void)session_refuse(session, "%s", strerror(trouble));
	else
		session_encrypt(session);
	session_go(session);
}

static enum session_step
session_dial(struct session *session)
{
	const struct exchange *exchange = session->exchange;
	struct sockaddr_storage address;
	unsigned length;
	struct err err;

	if (conf_node_address(exchange->cluster, session->node, &address, &length,
	    &err) < 0)
		return session_refuse(session, "%s", err.text);
	session->dial_fd = socket(address.ss_family,
	    SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (session->dial_fd < 0 || (connect(session->dial_fd,
	    (const struct sockaddr *)&address, (socklen_t)length) != 0 &&
	    errno != EINPROGRESS))
		return session_refuse(session, "%s", strerror(errno));
	session->dial = loop_watch(exchange->process->loop, session->dial_fd,
	    LOOP_WRITE, session_on_dial, session);
	session->at = AT_DIAL;
	return STEP_WAIT;
}

/* ---- the user ---------------------------------------------------------- */

enum session_step
session_call(struct session *session)
{
	struct stream *near = session->sides[SIDE_NEAR];
	struct nodes_call call;
	struct slice line;
	enum session_step step = session_line(session, SIDE_NEAR,
	    NODES_LINE_BYTES_MAX, &line);

	if (step != STEP_NEXT)
		return step;
	if (session->is_denied)
		return session_refuse(session, NODES_DENIED " ask other "
		    "nodes");
	if (nodes_call_parse(line, &call) < 0)
		return session_refuse(session, "say: to NODE control|verb");
	session->want = call.want;
	session->node = conf_cluster_find(session->exchange->cluster, call.node);
	if (session->node >= session->exchange->cluster->node_count ||
	    session->node == session->exchange->self)
		return session->node == session->exchange->self ?
		    session_refuse(session, "this is that node") :
		    session_refuse(session, "there is no node " SLICE_FMT,
		    SLICE_ARG(call.node));
	stream_consume(near, line.n + 1);
	return session_dial(session);
}

enum session_step
session_reach(struct session *session)
{
	struct stream *far = session->sides[SIDE_FAR];
	char said[NODES_LINE_BYTES_MAX];
	struct slice line, words;
	uint64_t number;
	enum session_step step = session_line(session, SIDE_FAR,
	    NODES_LINE_BYTES_MAX, &line);

	if (stream_tls(far) == STREAM_TLS_FAILED) {
		strlcpy(said, stream_tls_trouble(far), sizeof(said));
		return session_refuse(session, "%s", said);
	}
	if (step == STEP_END)
		return session_refuse(session, "it hung up: it does not take "
		    "our certificate, or is busy");
	if (step == STEP_WAIT)
		return STEP_WAIT;
	switch (nodes_answer_parse(line, &number, &words)) {
	case NODES_OK:
		break;
	case NODES_NO:
		snprintf(said, sizeof(said), SLICE_FMT, SLICE_ARG(words));
		return session_refuse(session, "%s", said);
	case NODES_NONSENSE:
		return session_refuse(session, "it says nonsense");
	}
	stream_consume(far, line.n + 1);
	snprintf(said, sizeof(said), "ok %lld\n",
	    (long long)stream_tls_client_ends_s(far));
	stream_say(session->sides[SIDE_NEAR], slice_of(said));
	session_settle(session, AT_RELAY);
	return STEP_NEXT;
}

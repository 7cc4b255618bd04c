/* arriving.c - another node wants this one
 *
 * In     its certificate and its hello; for a verb its words
 * Out    a connection to our scheduler, or a verb that runs; "ok" or "no"
 * Holds  nothing of its own
 * Trusts a node whose certificate the cluster's authority signed to say who
 *        asks there, and what he may: it looked, as we would
 * Spec   session.h; doc/protocol/nodes.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/json.h"
#include "io/unix_socket.h"
#include "nodes/exchange/session.h"
#include "tls/link.h"

#include "base/banned.h"

enum { FOR_BYTES_MAX = 4096 };		/* of the scheduler's answer to it */

/* Is it any node of the cluster but ourselves? */
static bool
session_is_of_node(const struct session *session)
{
	const struct conf_cluster *cluster = session->exchange->cluster;

	for (size_t i = 0; i < cluster->node_count; i++)
		if (i != session->exchange->self && stream_tls_shows_name(
		    session->sides[SIDE_NEAR], cluster->nodes[i]))
			return true;
	return false;
}

enum session_step
session_shake(struct session *session)
{
	struct stream *near = session->sides[SIDE_NEAR];
	enum stream_got got = stream_fill(near);

	switch (stream_tls(near)) {
	case STREAM_SHAKING:
		return got < 0 ? STEP_END : STEP_WAIT;
	case STREAM_ENCRYPTED:
		break;
	case STREAM_PLAIN:
	case STREAM_TLS_FAILED:
		return STEP_END;
	}
	session->at = AT_HELLO;
	return session_is_of_node(session) ? STEP_NEXT : session_refuse(
	    session, "your certificate has the name of no other node");
}

/* ---- who asks ---------------------------------------------------------- */

/* NULL: nothing is wrong with it. */
static const char *
session_obstacle(const struct session *session,
    const struct nodes_hello *hello)
{
	const struct conf_cluster *cluster = session->exchange->cluster;
	size_t from = conf_cluster_find(cluster, hello->from);

	if (!slice_is(hello->cluster, cluster->name))
		return "this is a node of another cluster";
	if (!slice_is(hello->to, cluster->self))
		return "this is another node";
	if (from >= cluster->node_count || from == session->exchange->self)
		return "you are no other node of this cluster";
	if (!stream_tls_shows_name(session->sides[SIDE_NEAR],
	    cluster->nodes[from]))
		return "your certificate has another name";
	return NULL;
}

/* "for" of doc/protocol/control.md. */
static void
session_say_for(struct session *session)
{
	const char *node = session->exchange->cluster->nodes[session->node];
	struct str line = STR_INIT, who = STR_INIT;

	str_addf(&who, "%s@%s", session->who, node);
	json_open(&line);
	json_number(&line, "v", 1);
	json_text(&line, "op", SLICE("for"));
	json_text(&line, "who", str_slice(&who));
	json_text(&line, "right", session->may_write ? SLICE("write") :
	    SLICE("read"));
	json_close(&line);
	stream_say(session->sides[SIDE_FAR], str_slice(&line));
	str_release(&line);
	str_release(&who);
}

static enum session_step
session_reach_scheduler(struct session *session)
{
	struct err err;
	int fd = unix_socket_connect_in(session->exchange->process->conf->run_dir,
	    "scheduler.sock", SOCK_NONBLOCK, &err);

	if (fd < 0)
		return session_refuse(session, "its scheduler does not run, "
		    "or does not answer");
	session->sides[SIDE_FAR] = stream_new(session->exchange->process->loop,
	    fd, session_go, session);
	session_say_for(session);
	session->at = AT_FOR;
	return STEP_NEXT;
}

enum session_step
session_hello(struct session *session)
{
	struct stream *near = session->sides[SIDE_NEAR];
	struct nodes_hello hello;
	const char *obstacle;
	struct slice line;
	enum session_step step = session_line(session, SIDE_NEAR,
	    NODES_LINE_BYTES_MAX, &line);

	if (step != STEP_NEXT)
		return step;
	if (nodes_hello_parse(line, &hello) < 0)
		return session_refuse(session, "this is no hello of a node");
	obstacle = session_obstacle(session, &hello);
	if (obstacle != NULL)
		return session_refuse(session, "%s", obstacle);
	session->node = conf_cluster_find(session->exchange->cluster, hello.from);
	session->want = hello.want;
	session->may_write = hello.may_write;
	snprintf(session->who, sizeof(session->who), SLICE_FMT,
	    SLICE_ARG(hello.who));
	stream_consume(near, line.n + 1);
	if (session->want == NODES_CONTROL)
		return session_reach_scheduler(session);
	stream_say(near, SLICE("ok\n"));
	session->at = AT_WORDS;
	return STEP_NEXT;
}

/* ---- what for ---------------------------------------------------------- */

/* Lines of JSON and an empty one. */
enum session_step
session_for(struct session *session)
{
	struct stream *far = session->sides[SIDE_FAR];
	enum stream_got got = stream_fill(far);
	struct slice input = stream_input(far);
	struct str words = STR_INIT;
	enum session_step step;

	if (input.n < 2 || memcmp(input.p + input.n - 2, "\n\n", 2) != 0)
		return got < 0 || input.n > FOR_BYTES_MAX ? session_refuse(
		    session, "its scheduler hung up") : STEP_WAIT;
	if (json_get(input, "error", &words)) {
		step = session_refuse(session, "its scheduler: %s",
		    words.buf);
	} else {
		stream_consume(far, input.n);
		stream_say(session->sides[SIDE_NEAR], SLICE("ok\n"));
		session_settle(session, AT_RELAY);
		step = STEP_NEXT;
	}
	str_release(&words);
	return step;
}

enum session_step
session_words(struct session *session)
{
	struct stream *near = session->sides[SIDE_NEAR];
	struct slice line;
	struct err err;
	struct str frame = STR_INIT;
	enum session_step step = session_line(session, SIDE_NEAR,
	    NODES_WORDS_BYTES_MAX - 1, &line);

	if (step != STEP_NEXT)
		return step;
	session->answering = answering_new(session->exchange->process->loop,
	    session->exchange->process->conf->run_dir, line, near, session_go,
	    session, &err);
	if (session->answering != NULL) {
		stream_consume(near, line.n + 1);
		session_settle(session, AT_VERB);
		return STEP_NEXT;
	}
	strlcat(err.text, "\n", sizeof(err.text));
	nodes_frame_add(&frame, NODES_ERR, slice_of(err.text));
	str_adds(&frame, "exit 69\n");
	stream_say(near, str_slice(&frame));
	str_release(&frame);
	session->at = AT_CLOSING;
	return STEP_NEXT;
}

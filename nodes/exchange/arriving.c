/* arriving.c - another node wants this one
 *
 * In     its certificate and its hello; for a verb its words
 * Out    a connection to our scheduler, or a verb that runs; "ok" or "no"
 * Holds  nothing of its own
 * Trusts a node whose certificate the cluster's authority signed to say who
 *        asks there, and what he may: it looked, as we would
 * Spec   transit.h; doc/protocol/nodes.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/json.h"
#include "io/consult/nodes_ask.h"
#include "io/unix_socket.h"
#include "nodes/exchange/transit.h"
#include "tls/link.h"

#include "base/banned.h"

enum { FOR_BYTES_MAX = 4096 };		/* of the scheduler's answer to it */

/* Is it any node of the cluster but ourselves? */
static bool
transit_is_of_node(const struct transit *transit)
{
	const struct conf_cluster *cluster = transit->exchange->cluster;

	for (size_t i = 0; i < cluster->node_count; i++)
		if (i != transit->exchange->self && stream_tls_shows_name(
		    transit->sides[SIDE_NEAR], cluster->nodes[i]))
			return true;
	return false;
}

enum transit_step
transit_shake(struct transit *transit)
{
	struct stream *near = transit->sides[SIDE_NEAR];
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
	transit->at = AT_HELLO;
	return transit_is_of_node(transit) ? STEP_NEXT : transit_refuse(
	    transit, "your certificate has the name of no other node");
}

/* ---- who asks ---------------------------------------------------------- */

/* NULL: nothing is wrong with it. */
static const char *
transit_obstacle(const struct transit *transit,
    const struct nodes_hello *hello)
{
	const struct conf_cluster *cluster = transit->exchange->cluster;
	size_t from = conf_cluster_find(cluster, hello->from);

	if (!slice_is(hello->cluster, cluster->name))
		return "this is a node of another cluster";
	if (!slice_is(hello->to, cluster->self))
		return "this is another node";
	if (from >= cluster->node_count || from == transit->exchange->self)
		return "you are no other node of this cluster";
	if (!stream_tls_shows_name(transit->sides[SIDE_NEAR],
	    cluster->nodes[from]))
		return "your certificate has another name";
	return NULL;
}

/* "for" of doc/protocol/control.md. */
static void
transit_say_for(struct transit *transit)
{
	const char *node = transit->exchange->cluster->nodes[transit->node];
	struct str line = STR_INIT, who = STR_INIT;

	str_addf(&who, "%s@%s", transit->who, node);
	json_open(&line);
	json_number(&line, "v", 1);
	json_text(&line, "op", SLICE("for"));
	json_text(&line, "who", str_slice(&who));
	json_text(&line, "right", transit->may_write ? SLICE("write") :
	    SLICE("read"));
	json_close(&line);
	stream_say(transit->sides[SIDE_FAR], str_slice(&line));
	str_release(&line);
	str_release(&who);
}

static enum transit_step
transit_reach_scheduler(struct transit *transit)
{
	const struct conf *conf = transit->exchange->process->conf;
	struct err err;
	int fd = unix_socket_connect_in(conf->run_dir, "scheduler.sock",
	    SOCK_NONBLOCK, &err);

	if (fd < 0)
		return transit_refuse(transit, "its scheduler does not run, "
		    "or does not answer");
	transit->sides[SIDE_FAR] = stream_new(transit->exchange->process->loop,
	    fd, transit_go, transit);
	transit_say_for(transit);
	transit->at = AT_FOR;
	return STEP_NEXT;
}

/* The process that takes configurations hears from us for whom. */
static enum transit_step
transit_reach_taker(struct transit *transit)
{
	const struct exchange *exchange = transit->exchange;
	const struct conf_cluster *cluster = exchange->cluster;
	const char *node = cluster->nodes[transit->node];
	char line[NODES_LINE_BYTES_MAX];
	struct err err;
	int fd;

	if (!transit->may_write)
		return transit_refuse(transit, NODES_DENIED " publish: root "
		    "may");
	if (!conf_cluster_publishes(cluster, slice_of(node)))
		return transit_refuse(transit, "it takes no configuration "
		    "from %s: add to its cluster: publish from %s", node,
		    node);
	fd = unix_socket_connect_in(exchange->process->conf->run_dir,
	    TAKER_SOCKET, SOCK_NONBLOCK, &err);
	if (fd < 0)
		return transit_refuse(transit, "its process that takes "
		    "configurations does not run, or does not answer");
	transit->sides[SIDE_FAR] = stream_new(exchange->process->loop, fd,
	    transit_go, transit);
	snprintf(line, sizeof(line), "for %s %s\n", transit->who, node);
	stream_say(transit->sides[SIDE_FAR], slice_of(line));
	stream_say(transit->sides[SIDE_NEAR], SLICE("ok\n"));
	transit_settle(transit, AT_RELAY);
	return STEP_NEXT;
}

enum transit_step
transit_hello(struct transit *transit)
{
	struct stream *near = transit->sides[SIDE_NEAR];
	struct nodes_hello hello;
	const char *obstacle;
	struct slice line;
	enum transit_step step = transit_line(transit, SIDE_NEAR,
	    NODES_LINE_BYTES_MAX, &line);

	if (step != STEP_NEXT)
		return step;
	if (nodes_hello_parse(line, &hello) < 0)
		return transit_refuse(transit, "this is no hello of a node");
	obstacle = transit_obstacle(transit, &hello);
	if (obstacle != NULL)
		return transit_refuse(transit, "%s", obstacle);
	transit->node = conf_cluster_find(transit->exchange->cluster,
	    hello.from);
	transit->want = hello.want;
	transit->may_write = hello.may_write;
	snprintf(transit->who, sizeof(transit->who), SLICE_FMT,
	    SLICE_ARG(hello.who));
	stream_consume(near, line.n + 1);
	if (transit->want == NODES_CONTROL)
		return transit_reach_scheduler(transit);
	if (transit->want == NODES_CONFIG)
		return transit_reach_taker(transit);
	stream_say(near, SLICE("ok\n"));
	transit->at = AT_WORDS;
	return STEP_NEXT;
}

/* ---- what for ---------------------------------------------------------- */

/* Lines of JSON and an empty one. */
enum transit_step
transit_for(struct transit *transit)
{
	struct stream *far = transit->sides[SIDE_FAR];
	enum stream_got got = stream_fill(far);
	struct slice input = stream_input(far);
	struct str words = STR_INIT;
	enum transit_step step;

	if (input.n < 2 || memcmp(input.p + input.n - 2, "\n\n", 2) != 0)
		return got < 0 || input.n > FOR_BYTES_MAX ? transit_refuse(
		    transit, "its scheduler hung up") : STEP_WAIT;
	if (json_get(input, "error", &words)) {
		step = transit_refuse(transit, "its scheduler: %s",
		    words.buf);
	} else {
		stream_consume(far, input.n);
		stream_say(transit->sides[SIDE_NEAR], SLICE("ok\n"));
		transit_settle(transit, AT_RELAY);
		step = STEP_NEXT;
	}
	str_release(&words);
	return step;
}

enum transit_step
transit_words(struct transit *transit)
{
	struct stream *near = transit->sides[SIDE_NEAR];
	struct slice line;
	struct err err;
	struct str frame = STR_INIT;
	enum transit_step step = transit_line(transit, SIDE_NEAR,
	    NODES_WORDS_BYTES_MAX - 1, &line);

	if (step != STEP_NEXT)
		return step;
	transit->answering = answering_new(transit->exchange->process->loop,
	    transit->exchange->process->conf->run_dir, line, near, transit_go,
	    transit, &err);
	if (transit->answering != NULL) {
		stream_consume(near, line.n + 1);
		transit_settle(transit, AT_VERB);
		return STEP_NEXT;
	}
	strlcat(err.text, "\n", sizeof(err.text));
	nodes_frame_add(&frame, NODES_ERR, slice_of(err.text));
	str_adds(&frame, "exit 69\n");
	stream_say(near, str_slice(&frame));
	str_release(&frame);
	transit->at = AT_CLOSING;
	return STEP_NEXT;
}

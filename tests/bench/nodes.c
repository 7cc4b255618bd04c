/* nodes.c - many nodes of a cluster that count in one Redis
 *
 * Each node is the real thing: a ledger (share/ledger), its connection, its
 * batches and scripts; all of them in one process and one loop.  Messages come
 * at a steady rate, each at some node, with a key that is drawn by Zipf's law;
 * the time is the real one, for the nodes as for Redis.  What each key got is
 * compared with one limiter that sees all messages at once.
 *
 * usage: nodes --port PORT --nodes N --keys N --rate N --seconds N
 *	--count COUNT --span-s S [--fill]
 *
 * --fill: instead of that each key is taken once, as fast as it goes.  Says
 * `begin`, `end`, and a line of JSON.
 *
 * SPDX-License-Identifier: ISC
 */
#include <getopt.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "share/ledger/ledger.h"

enum { NODES_MAX = 256, TICK_MS = 2, WARM_MS = 7000, FLIGHT_MAX = 4000,
	LATENCY_MAX_MS = 1000 };

static struct {
	const char	*port;
	unsigned	 nodes;
	size_t		 keys;
	double		 rate, seconds;
	uint64_t	 count;
	int64_t		 span_ms;
	bool		 fills;
} option = { "6379", 100, 1000000, 10000, 60, 600, 60000, false };

struct node {
	struct process	 process;
	struct places	 places;
	struct store_goal goal;
	struct ledger	*ledger;
};

struct asked {			/* a message whose key waits */
	size_t		 key;
	int64_t		 at_us;
	struct asked	*next;		/* of those that are free */
};

static struct loop *loop;
static struct node nodes[NODES_MAX];
static struct asked *free_asks;
static double *up_to;			/* of a key: the part of all messages
					 * that it and those before it have */
static double *whole_us;		/* of a key, in the one limiter */
static uint32_t *got, *ideal, *wanted;
static struct timer tick;
static int64_t begun_us, last_us;
static size_t sent, answered, at_once, in_flight, filled;
static double lag_max_s;
static size_t latencies[LATENCY_MAX_MS + 1];	/* in tenths of a ms */
static uint64_t seed = 88172645463325252u;

static void
die(const char *what)
{
	fprintf(stderr, "nodes: %s\n", what);
	exit(1);
}

/* Between 0 and 1: xorshift. */
static double
random_part(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (double)(seed >> 11) / 9007199254740992.0;
}

/* ---- keys ------------------------------------------------------------- */

/* Zipf's law: the k-th key has a part of the messages like 1/k. */
static void
keys_make(void)
{
	double sum = 0;

	up_to = calloc(option.keys, sizeof(*up_to));
	whole_us = calloc(option.keys, sizeof(*whole_us));
	got = calloc(option.keys, sizeof(*got));
	ideal = calloc(option.keys, sizeof(*ideal));
	wanted = calloc(option.keys, sizeof(*wanted));
	if (up_to == NULL || whole_us == NULL || got == NULL ||
	    ideal == NULL || wanted == NULL)
		die("no memory");
	for (size_t k = 0; k < option.keys; k++)
		up_to[k] = sum += 1 / (double)(k + 1);
	for (size_t k = 0; k < option.keys; k++) {
		up_to[k] /= sum;
		/* touched: what grows later is the nodes' */
		got[k] = ideal[k] = wanted[k] = 0;
		whole_us[k] = 0;
	}
}

static size_t
key_draw(void)
{
	double part = random_part();
	size_t low = 0, high = option.keys - 1;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (up_to[middle] < part)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* One limiter for all: would it let this message pass? */
static void
ideal_take(size_t key, double now_us)
{
	double span_us = (double)option.span_ms * 1000;
	double each_us = span_us / (double)option.count;

	if (whole_us[key] < now_us)
		whole_us[key] = now_us;
	if (whole_us[key] + each_us > now_us + span_us + 0.5)
		return;
	whole_us[key] += each_us;
	ideal[key]++;
}

/* ---- messages --------------------------------------------------------- */

static void
asked_free(struct asked *asked)
{
	asked->next = free_asks;
	free_asks = asked;
}

/* ledger_answer_fn */
static void
message_answered(void *context, int64_t wait_s)
{
	struct asked *asked = context;
	int64_t tenths = (clock_real_us() - asked->at_us) / 100;

	got[asked->key] += wait_s == 0;
	latencies[tenths < LATENCY_MAX_MS ? tenths : LATENCY_MAX_MS]++;
	answered++;
	in_flight--;
	asked_free(asked);
}

static void
message_send(size_t key, int64_t now_us)
{
	struct node *node = &nodes[(size_t)(random_part() * option.nodes)];
	struct asked *asked = free_asks;
	char text[64];

	if (asked == NULL)
		asked = calloc(1, sizeof(*asked));
	else
		free_asks = asked->next;
	if (asked == NULL)
		die("no memory");
	*asked = (struct asked){ key, now_us, NULL };
	snprintf(text, sizeof(text), "4f1c9a52 user%zu@example.org", key);
	ideal_take(key, (double)now_us);
	wanted[key]++;
	sent++;
	in_flight++;
	if (ledger_take(node->ledger, slice_of(text), option.count,
	    option.span_ms, message_answered, asked) == NULL)
		at_once++;
}

static void nodes_end(void);

static void
messages_tick(void *context)
{
	int64_t now_us = clock_real_us();
	double due_s = (double)(now_us - begun_us) / 1e6, lag_s;

	timer_set(loop, &tick, clock_steady_ms() + TICK_MS, messages_tick,
	    context);
	if (due_s > option.seconds)
		due_s = option.seconds;
	lag_s = due_s - (double)sent / option.rate;
	if (lag_s > lag_max_s)
		lag_max_s = lag_s;
	while ((double)sent < due_s * option.rate && in_flight < FLIGHT_MAX)
		message_send(key_draw(), clock_real_us());
	if ((double)sent >= option.seconds * option.rate && in_flight == 0)
		nodes_end();
}

static void
fill_tick(void *context)
{
	timer_set(loop, &tick, clock_steady_ms() + 1, fill_tick, context);
	while (filled < option.keys && in_flight < FLIGHT_MAX)
		message_send(filled++, clock_real_us());
	if (filled == option.keys && in_flight == 0)
		nodes_end();
}

/* ---- nodes ------------------------------------------------------------ */

static struct conf *
node_conf(unsigned self)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct conf_report report;
	struct conf *conf;

	str_adds(&text, "host mx.example.org\ncluster bench { node");
	for (unsigned i = 0; i < option.nodes; i++)
		str_addf(&text, " mx%u", i);
	str_addf(&text, "; self mx%u; redis 127.0.0.1:%s; "
	    "password /dev/null; patience 10s }\n", self, option.port);
	conf = conf_parse("nodes", str_slice(&text), arena, &report);
	if (conf == NULL)
		die("its configuration is refused");
	str_release(&text);
	arena_free(&arena);
	return conf;
}

static void
node_open(unsigned self)
{
	struct node *node = &nodes[self];
	struct err err;

	node->process.conf = node_conf(self);
	node->process.loop = loop;
	if (places_find(&node->process.conf->cluster, &node->places,
	    &err) != 0)
		die(err.text);
	node->goal = (struct store_goal){ .places = &node->places,
	    .password = "pw" };
	node->ledger = ledger_new(&node->process, &node->goal);
}

static double
rss_kb(void)
{
	FILE *file = fopen("/proc/self/statm", "r");
	unsigned long pages = 0;

	if (file == NULL || fscanf(file, "%*u %lu", &pages) != 1)
		die("/proc/self/statm");
	fclose(file);
	return (double)pages * (double)sysconf(_SC_PAGESIZE) / 1024;
}

static double
latency_ms(double part)
{
	size_t left = (size_t)(part * (double)answered);

	for (size_t i = 0; i <= LATENCY_MAX_MS; i++) {
		if (latencies[i] >= left)
			return (double)i / 10;
		left -= latencies[i];
	}
	return LATENCY_MAX_MS / 10.0;
}

static double empty_kb;

/* Of the keys of which somebody was refused: what passed to what might have;
 * of all, the most that one passed beyond COUNT and COUNT/SPAN. */
static void
nodes_end(void)
{
	double took_s, beyond_max = 0;
	uint64_t hot = 0, hot_got = 0, hot_ideal = 0, beyond = 0, below = 0;
	uint64_t all = 0;

	last_us = clock_real_us();
	took_s = (double)(last_us - begun_us) / 1e6;
	printf("end\n");
	for (size_t k = 0; k < option.keys; k++) {
		double most = (double)option.count + (double)option.count *
		    (took_s + 1) * 1000 / (double)option.span_ms;

		all += got[k];
		if ((double)got[k] / most - 1 > beyond_max)
			beyond_max = (double)got[k] / most - 1;
		if (ideal[k] == wanted[k] && got[k] == wanted[k])
			continue;
		hot += ideal[k] < wanted[k];
		hot_got += got[k];
		hot_ideal += ideal[k];
		beyond += got[k] > ideal[k] ? got[k] - ideal[k] : 0;
		below += got[k] < ideal[k] ? ideal[k] - got[k] : 0;
	}
	printf("{\"messages\":%zu,\"seconds\":%.1f,\"at_once\":%zu,"
	    "\"passed\":%" PRIu64 ",\"hot_keys\":%" PRIu64 ","
	    "\"hot_passed\":%" PRIu64 ",\"hot_ideal\":%" PRIu64 ","
	    "\"beyond\":%" PRIu64 ",\"below\":%" PRIu64 ","
	    "\"beyond_max\":%.4f,\"lag_max_s\":%.3f,\"p50_ms\":%.1f,"
	    "\"p99_ms\":%.1f,\"node_kb\":%.1f}\n", sent, took_s, at_once, all,
	    hot, hot_got, hot_ideal, beyond, below, beyond_max, lag_max_s,
	    latency_ms(0.5), latency_ms(0.99),
	    (rss_kb() - empty_kb) / option.nodes);
	fflush(stdout);
	_exit(0);
}

/* Each has heard of the others by now. */
static void
nodes_begin(void *context)
{
	printf("begin\n");
	fflush(stdout);
	begun_us = clock_real_us();
	if (option.fills)
		fill_tick(context);
	else
		messages_tick(context);
}

static void
options_read(int argc, char **argv)
{
	static const struct option words[] = {
		{ "port", required_argument, NULL, 'p' },
		{ "nodes", required_argument, NULL, 'n' },
		{ "keys", required_argument, NULL, 'k' },
		{ "rate", required_argument, NULL, 'r' },
		{ "seconds", required_argument, NULL, 's' },
		{ "count", required_argument, NULL, 'c' },
		{ "span-s", required_argument, NULL, 't' },
		{ "fill", no_argument, NULL, 'f' },
		{ NULL, 0, NULL, 0 }
	};
	int letter;

	while ((letter = getopt_long(argc, argv, "", words, NULL)) >= 0)
		switch (letter) {
		case 'p':
			option.port = optarg;
			break;
		case 'n':
			option.nodes = (unsigned)atoi(optarg);
			break;
		case 'k':
			option.keys = (size_t)atol(optarg);
			break;
		case 'r':
			option.rate = atof(optarg);
			break;
		case 's':
			option.seconds = atof(optarg);
			break;
		case 'c':
			option.count = (uint64_t)atol(optarg);
			break;
		case 't':
			option.span_ms = (int64_t)atol(optarg) * 1000;
			break;
		case 'f':
			option.fills = true;
			break;
		default:
			die("usage: see the head of tests/bench/nodes.c");
		}
	if (option.nodes < 1 || option.nodes > NODES_MAX ||
	    option.keys < 1 || option.count < 1 || option.span_ms < 1 ||
	    option.rate <= 0)
		die("a number makes no sense");
}

int
main(int argc, char **argv)
{
	struct timer begin = { 0 };

	options_read(argc, argv);
	keys_make();
	loop = loop_new();
	empty_kb = rss_kb();
	for (unsigned i = 0; i < option.nodes; i++)
		node_open(i);
	timer_set(loop, &begin, clock_steady_ms() + WARM_MS, nodes_begin,
	    NULL);
	loop_run(loop);
	return 0;
}

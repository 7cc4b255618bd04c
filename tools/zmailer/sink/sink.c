/* sink.c - zmailer sink: take mail and do as the recipient says
 *
 * In     --port N, --lmtp, --dir DIR, --json, --count, --expect N,
 *        --timeout SPAN
 * Out    first its address; with --json a line for each message; with
 *        --count what came, at the end
 * Spec   zmailer-sink(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "grammar/units.h"
#include "tools/zmailer/sink/sink.h"
#include "tools/zmailer/verb.h"

#include "base/banned.h"

struct arguments {
	struct sink	 sink;
	unsigned	 port;
	bool		 wants_count;
	int64_t		 timeout_ms;	/* 0: none */
	int		 listener;
	bool		 is_late;
};

static int
sink_arguments_take(int argc, char **argv, struct arguments *out)
{
	static const struct option rows[] = {
		{ "port", required_argument, NULL, 'p' },
		{ "dir", required_argument, NULL, 'd' },
		{ "expect", required_argument, NULL, 'e' },
		{ "timeout", required_argument, NULL, 't' },
		{ "lmtp", no_argument, NULL, 'l' },
		{ "json", no_argument, NULL, 'j' },
		{ "count", no_argument, NULL, 'c' },
		{ NULL, 0, NULL, 0 },
	};
	uint64_t number = 0;
	bool is_good = true;
	struct err err;
	int letter;

	optind = 1;
	while ((letter = getopt_long(argc, argv, "", rows, NULL)) != -1) {
		struct slice value = slice_of(optarg);

		switch (letter) {
		case 'p':
			is_good = slice_number(value, 0, 65535, &number);
			out->port = (unsigned)number;
			break;
		case 'e':
			is_good = slice_number(value, 1, UINT32_MAX,
			    &out->sink.expect);
			break;
		case 't':
			is_good = units_span_ms(value, &out->timeout_ms,
			    &err) == 1;
			break;
		case 'd': out->sink.dir = optarg; break;
		case 'l': out->sink.is_lmtp = true; break;
		case 'j': out->sink.is_json = true; break;
		case 'c': out->wants_count = true; break;
		default:
			return -1;
		}
		if (!is_good) {
			verb_usage(argv[0], "'%s' cannot be that", optarg);
			return -1;
		}
	}
	if (optind == argc)
		return 0;
	verb_usage(argv[0], "'%s' is one word too many", argv[optind]);
	return -1;
}

static void
on_client(void *context, unsigned ready)
{
	struct arguments *arguments = context;

	sink_accept(&arguments->sink, arguments->listener);
}

static void
sink_on_signal(void *context)
{
	struct arguments *arguments = context;

	loop_stop(arguments->sink.loop);
}

static void
on_timeout(void *context)
{
	struct arguments *arguments = context;

	arguments->is_late = true;
	loop_stop(arguments->sink.loop);
}

static void
count_print(const struct sink *sink, bool is_json)
{
	struct str line = STR_INIT;

	if (is_json) {
		json_open(&line);
		json_number(&line, "messages", (int64_t)sink->messages);
		json_number(&line, "recipients", (int64_t)sink->recipients);
		json_number(&line, "bytes", (int64_t)sink->bytes);
		json_number(&line, "connections",
		    (int64_t)sink->connections);
		json_close(&line);
	} else {
		str_addf(&line, "%llu messages, %llu recipients, %llu bytes, "
		    "%llu connections\n",
		    (unsigned long long)sink->messages,
		    (unsigned long long)sink->recipients,
		    (unsigned long long)sink->bytes,
		    (unsigned long long)sink->connections);
	}
	fputs(line.buf, stdout);
	str_release(&line);
}

static void
sink_serve(struct arguments *arguments)
{
	struct sink *sink = &arguments->sink;
	struct timer timer = { 0 };
	struct watch *watch;

	signal(SIGPIPE, SIG_IGN);
	sink->loop = loop_new();
	watch = loop_watch(sink->loop, arguments->listener, LOOP_READ,
	    on_client, arguments);
	loop_signal(sink->loop, SIGTERM, sink_on_signal, arguments);
	loop_signal(sink->loop, SIGINT, sink_on_signal, arguments);
	if (arguments->timeout_ms > 0)
		timer_set(sink->loop, &timer, clock_steady_ms() +
		    arguments->timeout_ms, on_timeout, arguments);
	loop_run(sink->loop);
	watch_free(&watch);
	timer_clear(&timer);
	sink_release(sink);
	loop_free(&sink->loop);
}

int
verb_sink(int argc, char **argv, const char *conf_path)
{
	struct arguments arguments = { .port = 0 };
	unsigned port;
	struct err err;

	if (sink_arguments_take(argc, argv, &arguments) < 0)
		return EX_USAGE;
	arguments.listener = sink_listen(arguments.port, &port, &err);
	if (arguments.listener < 0) {
		warning("%s", err.text);
		return EX_UNAVAILABLE;
	}
	if (arguments.sink.is_json)
		printf("{\"listens\":\"127.0.0.1\",\"port\":%u}\n", port);
	else
		printf("sink on 127.0.0.1:%u\n", port);
	fflush(stdout);
	sink_serve(&arguments);
	close(arguments.listener);
	if (arguments.wants_count)
		count_print(&arguments.sink, arguments.sink.is_json);
	return arguments.is_late ? 1 : EX_OK;
}

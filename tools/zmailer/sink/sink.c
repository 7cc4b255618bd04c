/* sink.c - zmailer sink: accept mail and do as its recipient says
 *
 * In     --port N, --lmtp, --dir DIR, --json, --count, --expect N,
 *        --timeout SPAN
 * Out    first its address; with --json a line for each message; with
 *        --count what came, at the end
 * Spec   zmailer-sink(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>
#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "grammar/units.h"
#include "tools/zmailer/sink/sink.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

struct serving {
	struct sink	 sink;
	int64_t		 timeout_ms;	/* 0: none */
	int		 listener;
	bool		 is_late;
};

static void
on_client(void *context, unsigned ready)
{
	struct serving *serving = context;

	sink_accept(&serving->sink, serving->listener);
}

static void
sink_on_signal(void *context)
{
	struct serving *serving = context;

	loop_stop(serving->sink.loop);
}

static void
on_timeout(void *context)
{
	struct serving *serving = context;

	serving->is_late = true;
	loop_stop(serving->sink.loop);
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
sink_serve(struct serving *serving)
{
	struct sink *sink = &serving->sink;
	struct timer timer = { 0 };
	struct watch *watch;

	signal(SIGPIPE, SIG_IGN);
	sink->loop = loop_new();
	watch = loop_watch(sink->loop, serving->listener, LOOP_READ,
	    on_client, serving);
	loop_signal(sink->loop, SIGTERM, sink_on_signal, serving);
	loop_signal(sink->loop, SIGINT, sink_on_signal, serving);
	if (serving->timeout_ms > 0)
		timer_set(sink->loop, &timer, clock_steady_ms() +
		    serving->timeout_ms, on_timeout, serving);
	loop_run(sink->loop);
	watch_free(&watch);
	timer_clear(&timer);
	sink_release(sink);
	loop_free(&sink->loop);
}

int
verb_sink(struct arguments *arguments)
{
	struct serving serving = {
	    .timeout_ms = arguments_number(arguments, OPT_TIMEOUT, 0),
	    .sink = { .dir = arguments_text(arguments, OPT_DIR),
	    .expect = (uint64_t)arguments_number(arguments, OPT_EXPECT, 0),
	    .is_lmtp = arguments_has(arguments, OPT_LMTP),
	    .is_json = arguments_has(arguments, OPT_JSON) } };
	unsigned port;
	struct err err;

	serving.listener = sink_listen((unsigned)arguments_number(arguments,
	    OPT_PORT, 0), &port, &err);
	if (serving.listener < 0) {
		warning("%s", err.text);
		return EX_UNAVAILABLE;
	}
	if (serving.sink.is_json)
		printf("{\"listens\":\"127.0.0.1\",\"port\":%u}\n", port);
	else
		printf("sink on 127.0.0.1:%u\n", port);
	fflush(stdout);
	sink_serve(&serving);
	close(serving.listener);
	if (arguments_has(arguments, OPT_COUNTS))
		count_print(&serving.sink, serving.sink.is_json);
	return serving.is_late ? 1 : EX_OK;
}

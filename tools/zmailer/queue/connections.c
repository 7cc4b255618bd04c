/* connections.c - zmailer connections: who our agents are connected to
 *
 * In     a destination (globs); the scheduler's connections
 * Out    a line for each connection; or JSON lines; with -f again and again
 * Trusts nothing in the answers but their form
 * Spec   zmailer-queue(8); doc/protocol/control.md section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "grammar/units.h"
#include "tools/queue/control.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { CONNECTIONS_AGAIN_S = 2 };

struct connections {
	bool	is_json;
	int64_t	now_s;
	size_t	count;
};

/* "idle 4s", "warm 4s", or the message that it is at and for how long. */
static void
connections_add_work(struct str *out, struct slice line)
{
	int64_t more = json_get_number(line, "more");

	if (!json_is(line, "does", "busy")) {
		json_add_escaped(out, line, "does");
	} else {
		json_add_escaped(out, line, "id");
		if (more > 0)
			str_addf(out, " and %" PRId64 " more", more);
	}
	str_addc(out, ' ');
	units_add_span(out, json_get_number(line, "for_s") * 1000);
}

/* What ends it, or prevents others beside it. */
static void
connections_add_limits(struct str *out, struct slice line)
{
	int64_t uses = json_get_number(line, "uses_max");
	int64_t serving = json_get_number(line, "serving");
	int64_t limit = json_get_number(line, "limit");

	if (serving > 0)
		str_addf(out, "%" PRId64 " of %" PRId64 " sessions, ", serving,
		    limit);
	if (uses > 0)
		str_addf(out, "%" PRId64 " messages, ", uses);
	if (json_get_number(line, "warm") > 0)
		str_addf(out, "warm %" PRId64 ", ",
		    json_get_number(line, "warm"));
	str_adds(out, "idle ");
	units_add_span(out, json_get_number(line, "idle_max_s") * 1000);
}

static bool
connections_one(void *context, struct slice line)
{
	struct connections *connections = context;
	struct str peer = STR_INIT, text = STR_INIT, work = STR_INIT;
	struct str age = STR_INIT;
	int64_t age_s = connections->now_s - json_get_number(line, "since");

	if (connections->is_json) {
		control_put_line(line);
		return true;
	}
	if (connections->count++ == 0)
		printf("%-40s %8s %5s  %-28s %s\n", "PEER", "AGE", "USES",
		    "DOES", "LIMITS; TLS");
	json_add_escaped(&peer, line, "peer");
	units_add_span(&age, (age_s > 0 ? age_s : 0) * 1000);
	connections_add_work(&work, line);
	connections_add_limits(&text, line);
	str_adds(&text, "; ");
	if (json_is(line, "tls", ""))
		str_adds(&text, "no TLS");
	json_add_escaped(&text, line, "tls");
	printf("%-40s %8s %5" PRId64 "  %-28s %s\n", peer.buf, age.buf,
	    json_get_number(line, "uses"), work.buf, text.buf);
	str_release(&peer);
	str_release(&age);
	str_release(&work);
	str_release(&text);
	return true;
}

static int
connections_ask(struct connections *connections, const struct conf *conf,
    const char *dest)
{
	struct str request = STR_INIT, last = STR_INIT;
	struct control control;
	struct err err;
	enum control_reached reached = control_connect(conf->run_dir,
	    &control, &err);
	int status = EX_OK;

	connections->now_s = clock_wall_s();
	connections->count = 0;
	if (reached == CONTROL_ABSENT)
		return control_stopped("connections", conf->run_dir,
		    "nothing is connected");
	control_begin(&request, "connections");
	if (dest != NULL)
		control_add_dest(&request, dest);
	if (reached == CONTROL_REACHED && control_ask(&control, &request,
	    connections_one, connections, &last, &err) < 0)
		reached = CONTROL_BROKEN;
	if (reached == CONTROL_BROKEN)
		status = control_failed("connections", &control, &err);
	else if (connections->count == 0 && !connections->is_json)
		printf("No agent has a connection.\n");
	control_hang_up(&control);
	str_release(&request);
	str_release(&last);
	return status;
}

int
verb_connections(struct arguments *arguments)
{
	struct connections connections = {
	    .is_json = arguments_has(arguments, OPT_JSON) };
	bool goes_on = arguments_has(arguments, OPT_FOLLOW);
	struct conf *conf = verb_conf_spool(arguments->conf_path);
	struct timespec nap = { .tv_sec = CONNECTIONS_AGAIN_S };
	int status;

	for (;;) {
		if (goes_on && isatty(STDOUT_FILENO))
			printf("\033[H\033[2J");
		status = connections_ask(&connections, conf,
		    arguments_word(arguments, 0));
		fflush(stdout);
		if (!goes_on || status != EX_OK || ferror(stdout))
			break;
		(void)nanosleep(&nap, NULL);
		if (!connections.is_json)
			putchar('\n');
	}
	conf_free(&conf);
	return status;
}

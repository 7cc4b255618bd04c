/* demo.c - six messages with six fates through the real processes
 *
 * In     nothing: the demo makes its own instance, sink and mail
 * Out    a table of stages and times; exit 0 only if all six came out as
 *        expected
 * Holds  ./demo (or the directory named), removed and stopped at the end
 *        unless --keep
 * Spec   zmailer(8); the six rows are in fates[]
 *
 * SPDX-License-Identifier: ISC
 */
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "tools/zmailer/demo/demo.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { WAIT_MS = 60000, LOOK_EVERY_MS = 10 };

/* A message of the demo, and the event at its end. */
struct fate {
	const char	*name, *from, *to;
	const char	*last_event;	/* of this id: the fate is known */
	const char	*result;	/* what a reader is told */
};

static const struct fate fates[] = {
	{ "local", "bob@localhost", "alice@localhost", "rcpt.ok",
	    "delivered, mail/alice" },
	{ "remote", "alice@localhost", "bob@sink.example", "rcpt.ok",
	    "delivered to the sink" },
	{ "greylisted", "alice@localhost", "greylist@sink.example", "rcpt.ok",
	    "451 at first, delivered at try 2" },
	{ "refused", "alice@localhost", "550@sink.example", "dsn.sent",
	    "bounced, report in mail/alice" },
	{ "policy", "stranger@frozen.example", "alice@localhost",
	    "message.frozen", "waits in freezer/ for a person" },
	{ "routing", "alice@localhost", "bob@later.example", "rcpt.ok",
	    "deferred/, resubmitted, delivered" },
};
enum { FATES = sizeof(fates) / sizeof(fates[0]), POLICY = 4, ROUTING = 5 };

struct life {			/* what was seen of one message */
	char	id[STAGE_ID_BYTES];
	double	accepted_ms;	/* from connect to the 250 */
	char	t_accepted[64], t_routed[64], t_done[64];
	bool	is_deferred, is_over;
	unsigned tries;
};

struct demo {
	struct stage	stage;
	char		conf[STAGE_PATH_BYTES + 32];
	unsigned	port;
	struct life	lives[FATES];
};

static int
instance_start(struct demo *demo)
{
	struct str text = STR_INIT;
	int status;

	fputs("the table of the sixth message is missing on purpose; what "
	    "that looks like:\n", stderr);
	str_addf(&text, "freeze sender @frozen.example\n"
	    "route sink.example via 127.0.0.1:%u\n"
	    "table later file:%s/routes\n"
	    "routes <later>\n"
	    "schedule smtp/* { retry 2s }\n",
	    demo->stage.sink_port, demo->stage.dir);
	status = stage_start(&demo->stage, demo->stage.dir, text.buf,
	    &demo->port);
	str_release(&text);
	return status;
}

static int
demo_send(const struct demo *demo, const struct fate *fate,
    struct life *life)
{
	int64_t began_us = clock_wall_us();
	int status = stage_send(demo->port, &(struct stage_mail){ fate->name,
	    fate->from, fate->to }, life->id);

	life->accepted_ms = (double)(clock_wall_us() - began_us) / 1000;
	return status;
}

/* ---- watching ------------------------------------------------------- */

/* stage_line_fn */
static void
note_event(void *context, struct slice line)
{
	struct demo *demo = context;
	struct str id = STR_INIT, ev = STR_INIT, t = STR_INIT;

	json_get(line, "id", &id);
	json_get(line, "ev", &ev);
	json_get(line, "t", &t);
	for (int i = 0; i < FATES; i++) {
		struct life *life = &demo->lives[i];

		if (id.len == 0 || strcmp(life->id, id.buf) != 0)
			continue;
		if (strcmp(ev.buf, "message.accepted") == 0)
			snprintf(life->t_accepted, 64, "%s", t.buf);
		if (strcmp(ev.buf, "message.routed") == 0)
			snprintf(life->t_routed, 64, "%s", t.buf);
		if (strcmp(ev.buf, "message.deferred") == 0)
			life->is_deferred = true;
		if (strcmp(ev.buf, "rcpt.defer") == 0)
			life->tries++;
		if (strcmp(ev.buf, fates[i].last_event) == 0) {
			life->is_over = true;
			snprintf(life->t_done, 64, "%s", t.buf);
		}
	}
	str_release(&id);
	str_release(&ev);
	str_release(&t);
}

static void
demo_look(struct demo *demo)
{
	for (int i = 0; i < FATES; i++) {
		demo->lives[i].is_over = false;
		demo->lives[i].tries = 0;
	}
	stage_read_journal(demo->stage.dir, note_event, demo);
}

static bool
all_over(const struct demo *demo)
{
	for (int i = 0; i < FATES; i++)
		if (!demo->lives[i].is_over)
			return false;
	return true;
}

/* The sixth message waits in deferred/ because its table is missing: make
 * the table, and move the message back. */
static void
mend_routing(struct demo *demo)
{
	static const char *const resubmit[] = { "resubmit", NULL };
	char path[STAGE_PATH_BYTES + 16], text[128];

	snprintf(path, sizeof(path), "%s/routes", demo->stage.dir);
	snprintf(text, sizeof(text), "later.example [127.0.0.1]:%u\n",
	    demo->stage.sink_port);
	if (stage_write(path, text) == 0)
		stage_run(&demo->stage, demo->conf, resubmit, NULL);
}

static void
demo_watch(struct demo *demo)
{
	int64_t end_at_ms = clock_steady_ms() + WAIT_MS;
	bool is_mended = false;

	while (clock_steady_ms() < end_at_ms) {
		demo_look(demo);
		if (all_over(demo))
			return;
		if (!is_mended && demo->lives[ROUTING].is_deferred) {
			/* tables are looked at for change once a second */
			poll(NULL, 0, 1100);
			mend_routing(demo);
			is_mended = true;
		}
		poll(NULL, 0, LOOK_EVERY_MS);
	}
}

/* ---- telling -------------------------------------------------------- */

/* Milliseconds of the day of an RFC 3339 stamp; -1 when there is none. */
static double
day_ms(const char *stamp)
{
	int h, m, s, ms;

	if (sscanf(stamp, "%*4d-%*2d-%*2dT%2d:%2d:%2d.%3d", &h, &m, &s,
	    &ms) != 4)
		return -1;
	return ((h * 60 + m) * 60 + s) * 1000.0 + ms;
}

static void
print_span(const char *from, const char *to)
{
	double a = day_ms(from), b = day_ms(to);

	if (b >= 0 && b < a)
		b = a;		/* noted by two processes within a moment */
	if (a < 0 || b < 0)
		printf(" %9s", "-");
	else if (b - a >= 1000)
		printf(" %7.1f s", (b - a) / 1000);
	else
		printf(" %6.0f ms", b - a);
}

static int
demo_tell(const struct demo *demo)
{
	const char *green = verb_is_fancy() ? "\033[32m" : "";
	const char *red = verb_is_fancy() ? "\033[31m" : "";
	const char *plain = verb_is_fancy() ? "\033[0m" : "";
	int good = 0;

	printf("\n %-12s %9s %9s %9s  %s\n", "", "accepted", "routed",
	    "outcome", "result");
	for (int i = 0; i < FATES; i++) {
		const struct life *life = &demo->lives[i];
		bool is_good = life->is_over &&
		    (i != 2 || life->tries == 1) &&
		    (i != ROUTING || life->is_deferred);

		printf(" %d %-10s %6.0f ms", i + 1, fates[i].name,
		    life->accepted_ms);
		print_span(life->t_accepted, life->t_routed);
		print_span(i == POLICY ? "" : life->t_routed, life->t_done);
		printf("  %s%s%s  %s\n", is_good ? green : red,
		    is_good ? fates[i].result : "NOT as expected", plain,
		    life->id);
		good += is_good;
	}
	printf("\n%d of %d as expected.\n", good, (int)FATES);
	return good == FATES ? EX_OK : EX_SOFTWARE;
}

static void
demo_tell_how_to_go_on(const struct demo *demo)
{
	printf("\nIt goes on running.  Try:\n"
	    "  export ZMAILER_CONF=%s\n  zmailer status\n"
	    "  zmailer trace %s\n  zmailer list\n  zmailer stop\n",
	    demo->conf, demo->lives[2].id);
}

static void
demo_finish(struct demo *demo, bool is_kept, int status)
{
	static const char *const stop[] = { "stop", NULL };

	if (is_kept) {
		demo_tell_how_to_go_on(demo);
		return;
	}
	stage_run(&demo->stage, demo->conf, stop, NULL);
	stage_close(&demo->stage, status != EX_OK);
	if (status == EX_OK)
		printf("Next: %s demo --keep   (leaves it running to look "
		    "around)\n", demo->stage.self);
}

static int
demo_fates(struct demo *demo)
{
	if (instance_start(demo) < 0)
		return EX_UNAVAILABLE;
	printf("zmailer demo in %s (nothing outside it is touched)\n"
	    "smtpserver 127.0.0.1:%u   router   scheduler   "
	    "sink 127.0.0.1:%u\n", demo->stage.dir, demo->port,
	    demo->stage.sink_port);
	for (int i = 0; i < FATES; i++)
		if (demo_send(demo, &fates[i], &demo->lives[i]) < 0)
			return EX_SOFTWARE;
	demo_watch(demo);
	return demo_tell(demo);
}

int
verb_demo(struct arguments *arguments)
{
	const char *word = arguments_word(arguments, 0), *where =
	    word != NULL ? word : "demo";
	bool is_kept = arguments_has(arguments, OPT_KEEP);
	struct demo demo = { .port = 0 };
	int status;

	if (arguments_has(arguments, OPT_CLUSTER))
		return demo_cluster(where, is_kept);
	status = stage_open(&demo.stage, where);
	if (status != EX_OK)
		return status;
	snprintf(demo.conf, sizeof(demo.conf), "%s/zmailer.conf",
	    demo.stage.dir);
	status = demo_fates(&demo);
	demo_finish(&demo, is_kept && status == EX_OK, status);
	return status;
}

/* local.c - what mailq shows of this machine besides the list
 *
 * In     RUN/scheduler.sock, RUN/zmailer.state, the names in the spool
 * Out    ZMailer's words, or the scheduler's lines as they are
 * Holds  the connection
 * Trusts the scheduler's lines only as JSON; what is printed is made safe
 * Spec   mailq(1); doc/protocol/mailq.md section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "base/json.h"
#include "grammar/mailq_show.h"
#include "tools/mailq/local.h"
#include "tools/queue/control.h"
#include "tools/run/supervisor.h"

#include "base/banned.h"

/* ---- asking ------------------------------------------------------ */

struct asking {
	const struct mailq_flags *flags;
	struct control	 control;
	struct show	 show;
	show_fn		*fn;		/* NULL: its lines are not shown */
	struct err	 err;
};

static void
text_print(struct str *text)
{
	struct slice rest = str_slice(text), line;
	struct str safe = STR_INIT;

	while (rest.n > 0 && slice_cut(&rest, '\n', &line)) {
		str_reset(&safe);
		/* what the protocol doubles is a line of its own here */
		str_add_escaped(&safe, slice_from(line,
		    slice_starts(line, "..") ? 1 : 0));
		puts(safe.buf);
	}
	str_release(&safe);
}

static bool
line_show(void *context, struct slice line)
{
	struct asking *asking = context;
	struct str text = STR_INIT;

	if (asking->flags->is_raw) {
		printf(SLICE_FMT "\n", SLICE_ARG(line));
		return true;
	}
	str_adds(&text, "");
	if (asking->fn != NULL)
		asking->fn(&asking->show, line, &text);
	text_print(&text);
	str_release(&text);
	return true;
}

/* One operation; its last line, too, goes to fn when is_last. */
static int
mailq_ask(struct asking *asking, const char *op, show_fn *fn, bool is_last)
{
	const struct mailq_flags *flags = asking->flags;
	struct str request = STR_INIT, last = STR_INIT;
	int result;

	asking->fn = fn;
	control_begin(&request, op);
	if (flags->report == MAILQ_THREAD) {
		json_text(&request, "channel", slice_of(flags->channel));
		json_text(&request, "host", slice_of(flags->host));
	}
	result = control_ask(&asking->control, &request, line_show, asking,
	    &last, &asking->err);
	if (result == 0 && strcmp(op, "count") == 0)
		asking->show.recipients = (uint64_t)json_get_number(
		    str_slice(&last), "recipients");
	if (result == 0 && (is_last || flags->is_raw))
		(void)line_show(asking, str_slice(&last));
	str_release(&request);
	str_release(&last);
	return result;
}

static int
mailq_local_report(struct asking *asking)
{
	switch (asking->flags->report) {
	case MAILQ_THREADS:
		return mailq_ask(asking, "queue", show_thread, false);
	case MAILQ_GROUPS:
		return mailq_ask(asking, "groups", show_group, false);
	case MAILQ_TOTALS:
		return mailq_ask(asking, "count", NULL, false) < 0 ? -1 :
		    mailq_ask(asking, "queue", show_totals, true);
	case MAILQ_COUNTERS:
		return mailq_ask(asking, "count", NULL, false) < 0 ? -1 :
		    mailq_ask(asking, "queue", show_counters, true);
	case MAILQ_THREAD:
		return mailq_ask(asking, "queue", show_thread_head, false) < 0 ?
		    -1 : mailq_ask(asking, "list", show_rcpt, false);
	default:
		return mailq_ask(asking, "list", show_rcpt, false);
	}
}

int
mailq_threads(const struct mailq_flags *flags, const struct conf *conf)
{
	struct asking asking = { .flags = flags,
	    .show = { .now_s = clock_wall_s(), .channel = flags->channel,
	    .host = flags->host } };
	int result = -1;

	switch (control_connect(conf->run_dir, &asking.control, &asking.err)) {
	case CONTROL_ABSENT:
		err_set(&asking.err, "the scheduler does not run: nobody "
		    "listens at %s/scheduler.sock; `zmailer start` starts "
		    "it, mailq without -Q reads the files", conf->run_dir);
		break;
	case CONTROL_REACHED:
		result = mailq_local_report(&asking);
		break;
	case CONTROL_BROKEN:
		break;
	}
	if (result < 0)
		fprintf(stderr, "mailq: %s\n", asking.err.text);
	control_hang_up(&asking.control);
	return result == 0 ? EX_OK : EX_UNAVAILABLE;
}

/* ---- -s ---------------------------------------------------------- */

static bool
mailq_count_one(void *context, const char *name)
{
	const char *base = strrchr(name, '/');

	base = base != NULL ? base + 1 : name;
	*(uint64_t *)context += base[0] != '.';
	return true;
}

static const char *
mailq_state_of(const struct state *state, bool is_known, const char *name)
{
	for (unsigned i = 0; is_known && i < state->child_count; i++)
		if (strcmp(state->children[i].name, name) == 0)
			return strcmp(state->children[i].state, "ready") ==
			    0 ? "running" : state->children[i].state;
	return "not running";
}

static void
mailq_status_line(uint64_t count, const char *what, const char *state)
{
	printf("%ju entr%s in %s queue: %s\n", (uintmax_t)count,
	    count == 1 ? "y" : "ies", what, state);
}

int
mailq_status(const struct conf *conf, struct spool *spool, struct err *err)
{
	uint64_t router = 0, transport = 0, unread = 0;
	struct control control = { .fd = -1 };
	struct str request = STR_INIT, last = STR_INIT;
	struct state state;
	bool is_known = state_read(conf->run_dir, &state, err) ==
	    STATE_READ;
	bool is_up = control_connect(conf->run_dir, &control, err) ==
	    CONTROL_REACHED;

	for (unsigned i = 0; i < SPOOL_PRIORITIES; i++)
		if (spool_scan(spool, AREA_ROUTER, i, mailq_count_one, &router,
		    err) < 0)
			return -1;
	if (spool_scan(spool, AREA_TRANSPORT, 0, mailq_count_one, &transport,
	    err) < 0)
		return -1;
	control_begin(&request, "count");
	if (is_up && control_ask(&control, &request, NULL, NULL, &last,
	    err) == 0)
		unread = (uint64_t)json_get_number(str_slice(&last),
		    "unread");
	mailq_status_line(router, "router", mailq_state_of(&state, is_known,
	    "router"));
	/* files that it has not read yet */
	mailq_status_line(is_up ? unread : transport, "scheduler",
	    is_up ? "running" : "not running");
	mailq_status_line(transport, "transport", is_up ? "running" :
	    "not running");
	control_hang_up(&control);
	str_release(&request);
	str_release(&last);
	return 0;
}

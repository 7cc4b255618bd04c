/* queue.c - what the scheduler has, as metrics
 *
 * In     answers of the operator's socket
 * Out    recipients by channel and state, messages by state, the oldest of
 *        each channel, agents
 * Trusts nothing: a channel that is not ours is "other"
 * Spec   zmailer-metrics(8); doc/protocol/control.md (count, groups)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "journal/counters.h"
#include "base/json.h"
#include "mail/state.h"
#include "tools/zmailer/metrics/metrics.h"
#include "tools/queue/control.h"
#include "tools/queue/turns.h"

#include "base/banned.h"

/* Every state has a line, so that a graph has no gaps. */
static const enum mail_state states[] = { MAIL_STATE_READY, MAIL_STATE_WAITING,
	MAIL_STATE_ASKED, MAIL_STATE_DOWN, MAIL_STATE_SUSPENDED,
	MAIL_STATE_ACTIVE, MAIL_STATE_HELD, MAIL_STATE_FROZEN, MAIL_STATE_DONE,
	MAIL_STATE_DELETED };

enum { STATES = sizeof(states) / sizeof(states[0]), CHANNELS_MAX = 16 };

struct queue {
	int64_t	messages[STATES];
	int64_t	recipients[CHANNELS_MAX][STATES];
	int64_t	oldest_s[CHANNELS_MAX];
	int64_t	idle[CHANNELS_MAX], busy[CHANNELS_MAX];
	struct str	met, arrived;	/* lines, an objective each */
};

static unsigned
metrics_state_of(struct slice name)
{
	unsigned i = 0;

	while (i < STATES && !slice_is(name, mail_states[states[i]].name))
		i++;
	return i;
}

static unsigned
metrics_channel_of(struct slice name)
{
	const char *known = counters_channel(name), *this;
	unsigned i = 0;

	while (i < CHANNELS_MAX - 1 &&
	    (this = counters_channel_name(i)) != NULL &&
	    strcmp(this, known) != 0)
		i++;
	return i;
}

static bool
take_messages(void *context, struct slice line)
{
	struct queue *queue = context;
	struct str key = STR_INIT;
	unsigned state;

	(void)json_get(line, "key", &key);
	state = metrics_state_of(str_slice(&key));
	if (state < STATES)
		queue->messages[state] = json_get_number(line, "messages");
	str_release(&key);
	return true;
}

/* "smtp/waiting" */
static bool
take_recipients(void *context, struct slice line)
{
	struct queue *queue = context;
	struct str key = STR_INIT;
	struct slice rest, channel = { NULL, 0 };
	int64_t oldest_s = json_get_number(line, "oldest_s");
	unsigned state, at;

	(void)json_get(line, "key", &key);
	rest = str_slice(&key);
	(void)slice_cut(&rest, '/', &channel);
	state = metrics_state_of(rest);
	at = metrics_channel_of(channel);
	if (state < STATES) {
		queue->recipients[at][state] += json_get_number(line,
		    "recipients");
		if (oldest_s > queue->oldest_s[at])
			queue->oldest_s[at] = oldest_s;
	}
	str_release(&key);
	return true;
}

/* "smtp/.example.org/zone" */
static bool
take_agents(void *context, struct slice line)
{
	struct queue *queue = context;
	struct str group = STR_INIT;
	int64_t idle = json_get_number(line, "idle");
	struct slice rest, channel = { NULL, 0 };
	unsigned at;

	(void)json_get(line, "group", &group);
	rest = str_slice(&group);
	(void)slice_cut(&rest, '/', &channel);
	at = metrics_channel_of(channel);
	queue->idle[at] += idle;
	queue->busy[at] += json_get_number(line, "agents") - idle;
	str_release(&group);
	return true;
}

static void
objective_add(struct str *out, struct slice name, const char *result,
    int64_t number)
{
	str_adds(out, "zmailer_objective_");
	str_adds(out, result != NULL ? "recipients{" : "met{");
	counters_print_label(out, "objective", name);
	if (result != NULL)
		str_addf(out, ",result=\"%s\"", result);
	str_addf(out, "} %" PRId64 "\n", number);
}

static bool
take_objective(void *context, struct slice line)
{
	struct queue *queue = context;
	struct str name = STR_INIT;

	(void)json_get(line, "objective", &name);
	objective_add(&queue->met, str_slice(&name), NULL, json_is(line,
	    "met", "true"));
	objective_add(&queue->arrived, str_slice(&name), "in_time",
	    json_get_number(line, "in_time"));
	objective_add(&queue->arrived, str_slice(&name), "late",
	    json_get_number(line, "late"));
	objective_add(&queue->arrived, str_slice(&name), "waiting",
	    json_get_number(line, "late_waiting"));
	str_release(&name);
	return true;
}

static bool
metrics_ask(struct control *control, const char *op, const char *by,
    control_fn *take,
    struct queue *queue)
{
	struct str request = STR_INIT, last = STR_INIT;
	struct err err;
	bool is_good;

	control_begin(&request, op);
	if (by != NULL)
		json_text(&request, "by", slice_of(by));
	is_good = control_ask(control, &request, take, queue, &last,
	    &err) == 0;
	str_release(&request);
	str_release(&last);
	return is_good;
}

/* ---- text --------------------------------------------------------------- */

static void
add_channel(struct str *out, const char *metric, unsigned channel,
    const char *state, int64_t number)
{
	str_addf(out, "zmailer_%s{channel=\"%s\"", metric,
	    counters_channel_name(channel));
	if (state != NULL)
		str_addf(out, ",state=\"%s\"", state);
	str_addf(out, "} %" PRId64 "\n", number);
}

static void
metrics_add_mail(struct str *out, const struct queue *queue)
{
	counters_print_head(out, "queue_messages");
	for (unsigned i = 0; i < STATES; i++)
		str_addf(out, "zmailer_queue_messages{state=\"%s\"} %" PRId64
		    "\n", mail_states[states[i]].name, queue->messages[i]);
	counters_print_head(out, "queue_recipients");
	for (unsigned c = 0; counters_channel_name(c) != NULL; c++)
		for (unsigned i = 0; i < STATES; i++)
			add_channel(out, "queue_recipients", c,
			    mail_states[states[i]].name,
			    queue->recipients[c][i]);
	counters_print_head(out, "queue_oldest_seconds");
	for (unsigned c = 0; counters_channel_name(c) != NULL; c++)
		add_channel(out, "queue_oldest_seconds", c, NULL,
		    queue->oldest_s[c]);
}

static void
metrics_add_agents(struct str *out, const struct queue *queue)
{
	counters_print_head(out, "transport_agents");
	for (unsigned c = 0; counters_channel_name(c) != NULL; c++) {
		add_channel(out, "transport_agents", c, "busy",
		    queue->busy[c]);
		add_channel(out, "transport_agents", c, "idle",
		    queue->idle[c]);
	}
}

static void
metrics_add_objectives(struct str *out, const struct queue *queue)
{
	counters_print_head(out, "objective_met");
	str_add_slice(out, str_slice(&queue->met));
	counters_print_head(out, "objective_recipients");
	str_add_slice(out, str_slice(&queue->arrived));
}

void
metrics_add_queue(struct str *out, const char *run_dir)
{
	struct queue queue = { .met = STR_INIT, .arrived = STR_INIT };
	struct str turns = STR_INIT;
	struct control control;
	struct err err;
	bool is_up = control_connect(run_dir, &control, &err) ==
	    CONTROL_REACHED;
	bool has_agents = false;

	if (is_up)
		is_up = metrics_ask(&control, "count", "state", take_messages,
		    &queue) && metrics_ask(&control, "count", "channel-state",
		    take_recipients, &queue);
	if (is_up)
		has_agents = metrics_ask(&control, "groups", NULL, take_agents,
		    &queue) && metrics_ask(&control, "objectives", NULL,
		    take_objective, &queue);
	control_hang_up(&control);
	counters_print_head(out, "up");
	str_addf(out, "zmailer_up %d\n", is_up);
	if (is_up)
		metrics_add_mail(out, &queue);
	if (has_agents)		/* not everybody may ask for them */
		metrics_add_agents(out, &queue);
	if (has_agents)
		metrics_add_objectives(out, &queue);
	if (has_agents && turns_ask(run_dir, &turns))
		turns_add_metrics(out, str_slice(&turns));
	str_release(&turns);
	str_release(&queue.met);
	str_release(&queue.arrived);
}

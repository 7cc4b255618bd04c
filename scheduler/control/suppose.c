/* suppose.c - would mail that waits go, if the configuration were another?
 *
 * In     a line of the operation why; a configuration
 * Out    the constraint that would bind, and when it would be tried
 * Holds  a plan with one message, as long as a line is judged
 * Trusts no number of a line further than it is counted with
 * Spec   suppose.h; zmailer-whynot(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "base/mem.h"
#include "conf/show/show.h"
#include "mail/spool_id.h"
#include "scheduler/control/constraint.h"
#include "scheduler/control/suppose.h"
#include "scheduler/outcome/rules.h"
#include "scheduler/plan/retry.h"

#include "base/banned.h"

enum { COUNT_MAX = 1000000, SPAN_MAX_MS = 86400000 };

/* ---- a line ----------------------------------------------------------- */

/* Agents of rings that have something in common with this one. */
static unsigned
suppose_channel_agents(const struct agents *agents, const char *channel)
{
	const struct ring *ring;
	unsigned count = 0;

	TAILQ_FOREACH(ring, &agents->queue->threads.rings, entry)
		if (strcmp(ring->channel, channel) == 0)
			count += ring->agent_count;
	return count;
}

static int64_t
at_least_none(int64_t number)
{
	return number > 0 ? number : 0;
}

void
suppose_add_facts(const struct agents *agents, const struct thread *thread,
    struct str *out)
{
	const struct pace *pace;
	int64_t now_us = clock_steady_ms() * 1000;

	if (thread == NULL)
		return;
	pace = &thread->pace;
	json_number(out, "sessions", thread->serving);
	json_number(out, "allowed", plan_sessions(thread));
	json_number(out, "agents_clause", thread->ring->agent_count);
	json_number(out, "agents_channel", suppose_channel_agents(agents,
	    thread->channel));
	json_number(out, "agents_zone", thread->zone[0] != '\0' ?
	    ring_zone_agents(&agents->queue->threads, thread->ring) : 0);
	json_number(out, "agents_all", agents->count);
	if (thread->provider != NULL) {
		json_text(out, "provider", slice_of(thread->provider->name));
		json_number(out, "provider_sessions",
		    thread->provider->serving);
		json_number(out, "provider_learned",
		    thread->provider->learned);
	}
	json_number(out, "taken_ms", pace->taken_us == 0 ? SPAN_MAX_MS :
	    at_least_none(now_us - pace->taken_us) / 1000);
	json_number(out, "free_ms", (at_least_none(pace->free_us - now_us) +
	    999) / 1000);
	json_number(out, "slow_us", pace->slow_us);
}

static unsigned
supposed_count(struct slice line, const char *key)
{
	int64_t number = json_get_number(line, key);

	return number > COUNT_MAX ? COUNT_MAX : (unsigned)number;
}

static int64_t
supposed_span(struct slice line, const char *key)
{
	int64_t span = json_get_number(line, key);

	return span > SPAN_MAX_MS ? SPAN_MAX_MS : span;
}

static void
supposed_read_numbers(struct slice line, struct supposed *out)
{
	out->last_s = json_get_number(line, "last");
	out->wish_s = json_get_number(line, "wish");
	out->tries = supposed_count(line, "tries");
	out->sessions = supposed_count(line, "sessions");
	out->allowed = supposed_count(line, "allowed");
	out->agents_clause = supposed_count(line, "agents_clause");
	out->agents_channel = supposed_count(line, "agents_channel");
	out->agents_zone = supposed_count(line, "agents_zone");
	out->agents_all = supposed_count(line, "agents_all");
	out->provider_sessions = supposed_count(line, "provider_sessions");
	out->provider_learned = supposed_count(line, "provider_learned");
	out->taken_ms = supposed_span(line, "taken_ms");
	out->free_ms = supposed_span(line, "free_ms");
	out->slow_us = supposed_span(line, "slow_us");
	out->is_learned = json_is(line, "learned", "true");
	out->is_queue_only = json_is(line, "queue_only", "true");
}

int
supposed_read(struct slice line, struct supposed *out, struct err *err)
{
	struct str text = STR_INIT;
	const struct cause_row *row = NULL;

	*out = (struct supposed){ .channel = STR_INIT, .host = STR_INIT,
	    .zone = STR_INIT, .provider = STR_INIT, .words = STR_INIT,
	    .status = STR_INIT };
	if (json_get(line, "code", &text))
		row = cause_find(str_slice(&text));
	if (json_get(line, "id", &text))
		out->born_s = spool_id_time_us(str_slice(&text)) / 1000000;
	str_release(&text);
	(void)json_get(line, "zone", &out->zone);
	(void)json_get(line, "provider", &out->provider);
	(void)json_get(line, "text", &out->words);
	(void)json_get(line, "code_last", &out->status);
	if (row == NULL || !json_get(line, "channel", &out->channel) ||
	    !json_get(line, "host", &out->host))
		return err_set(err, "this is no line of why");
	out->cause = (enum cause)(row - cause_rows);
	supposed_read_numbers(line, out);
	return 0;
}

void
supposed_release(struct supposed *supposed)
{
	str_release(&supposed->channel);
	str_release(&supposed->host);
	str_release(&supposed->zone);
	str_release(&supposed->provider);
	str_release(&supposed->words);
	str_release(&supposed->status);
}

/* ---- its own time ------------------------------------------------------ */

static int64_t
suppose_wait(struct retry_waits waits, const struct supposed *supposed,
    int64_t now_s)
{
	waits.jitter_percent = 0;
	return now_s + (retry_left_ms(waits, supposed->tries,
	    supposed->last_s, 0, now_s, 0) + 999) / 1000;
}

/* What the clause says about words like the last ones.  false: its list
 * counts. */
static bool
suppose_rule(const struct conf_schedule *clause,
    const struct supposed *supposed, int64_t now_s, struct supposition *out)
{
	const struct answer answer = { .text = str_slice(&supposed->words),
	    .status = str_slice(&supposed->status) };
	const struct conf_retry_rule *rule;
	struct mail_finding finding;

	rules_classify(&answer, &finding);
	out->class = mail_class_name(finding.class);
	rule = rules_for_class(clause, finding.class);
	if (rule == NULL)
		return false;
	out->by = "rule";
	if (rule->action == RETRY_ON_WAIT) {
		out->at_s = suppose_wait((struct retry_waits){ rule->wait_s,
		    rule->wait_count, 0 }, supposed, now_s);
	} else if (rule->action == RETRY_ON_SUSPEND) {
		out->cause = CAUSE_RULE;
		out->at_s = supposed->last_s + rule->suspend_s;
	} else {
		out->is_known = false;
	}
	return true;
}

/* false: its time has not come. */
static bool
suppose_time_has_come(const struct thread *thread,
    const struct supposed *supposed, int64_t now_s, struct supposition *out)
{
	const struct conf_schedule *clause = &thread->ring->clause;

	out->cause = CAUSE_TIMER;
	out->by = "list";
	if (supposed->tries == 0) {
		if (!clause->is_queue_only && !supposed->is_queue_only)
			return true;
		out->cause = CAUSE_QUEUE_ONLY;
		out->at_s = supposed->born_s + retry_delay_ms(
		    (struct retry_waits){ clause->retry_s,
		    clause->retry_count, 0 }, 1, 0) / 1000;
	} else if (supposed->wish_s > supposed->last_s) {
		out->by = "wish";
		out->at_s = supposed->wish_s;
	} else if (!suppose_rule(clause, supposed, now_s, out)) {
		out->at_s = suppose_wait(retry_waits_of(clause), supposed,
		    now_s);
	}
	return out->is_known && out->at_s <= now_s;
}

/* ---- limits ------------------------------------------------------------ */

struct scene {			/* a planner, and one message */
	struct queue	 queue;
	struct agents	 agents;
	struct thread	*thread;
	struct job	*job;
	struct ring	 channel, zone;	/* who else has agents */
};

static void
scene_add_ring(struct scene *scene, struct ring *ring, const char *channel,
    const char *zone, unsigned agents)
{
	*ring = (struct ring){ .channel = channel, .zone = zone,
	    .agent_count = agents };
	TAILQ_INSERT_TAIL(&scene->queue.threads.rings, ring, entry);
}

static unsigned
count_less(unsigned all, unsigned part)
{
	return all > part ? all - part : 0;
}

static void
scene_set_agents(struct scene *scene, const struct supposed *supposed)
{
	struct ring *own = scene->thread->ring;

	own->agent_count = supposed->agents_clause;
	scene->agents.count = supposed->agents_all;
	scene->agents.fd_budget = 4 * COUNT_MAX;
	scene_add_ring(scene, &scene->channel, scene->thread->channel, "",
	    count_less(supposed->agents_channel, supposed->agents_clause));
	scene_add_ring(scene, &scene->zone, "", scene->thread->zone,
	    count_less(supposed->agents_zone, supposed->agents_clause));
}

/* What was learned holds under any configuration; else what its clause
 * allows once it has been served. */
static void
scene_set_sessions(struct scene *scene, const struct supposed *supposed,
    int64_t now_ms, struct supposition *out)
{
	struct thread *thread = scene->thread;
	unsigned most = thread->ring->clause.parallel, before;

	thread->serving = supposed->sessions;
	if (supposed->allowed == 0)	/* the line does not say */
		return;
	if (!thread->ring->clause.has_feedback && !supposed->is_learned)
		return;
	thread->limit = supposed->allowed;
	pace_rematch(thread);
	if (supposed->is_learned || thread->limit >= most ||
	    thread->serving < thread->limit)
		return;
	before = thread->limit;
	pace_good(thread, now_ms, now_ms);
	out->is_after_success = thread->limit > before;
}

static void
scene_set_provider(struct scene *scene, const struct supposed *supposed)
{
	struct thread *thread = scene->thread;

	if (supposed->provider.len == 0)
		return;
	provider_join(&scene->queue.providers, thread,
	    str_slice(&supposed->provider));
	thread->provider->serving = supposed->provider_sessions;
	thread->provider->learned = supposed->provider_learned;
}

static void
scene_set_pace(struct scene *scene, const struct supposed *supposed,
    int64_t now_ms)
{
	struct pace *pace = &scene->thread->pace;

	if (supposed->taken_ms >= SPAN_MAX_MS)
		return;
	pace->slow_us = supposed->slow_us;
	pace->taken_us = (now_ms - supposed->taken_ms) * 1000;
	pace->free_us = (now_ms + supposed->free_ms) * 1000;
	scene->thread->paced_ms = pace_again(scene->thread, now_ms);
}

static void
scene_open(struct scene *scene, const struct conf *conf,
    const struct supposed *supposed)
{
	struct vertex *vertex;

	memset(scene, 0, sizeof(*scene));
	scene->queue.conf = conf;
	scene->agents.queue = &scene->queue;
	thread_table_init(&scene->queue.threads);
	plan_init(&scene->queue.plan);
	scene->thread = thread_get(&scene->queue.threads, conf,
	    (struct thread_way){ str_slice(&supposed->channel),
	    str_slice(&supposed->host), str_slice(&supposed->zone) },
	    clock_steady_ms());
	scene->job = job_new(1, 1);
	vertex = &scene->job->vertices[0];
	vertex->job = scene->job;
	vertex->rcpt_count = 1;
	thread_take_vertex(scene->thread, vertex);
}

static void
scene_close(struct scene *scene)
{
	plan_forget(&scene->queue.plan, &scene->job->vertices[0]);
	thread_take_vertex(NULL, &scene->job->vertices[0]);
	job_free(&scene->job);
	TAILQ_REMOVE(&scene->queue.threads.rings, &scene->channel, entry);
	TAILQ_REMOVE(&scene->queue.threads.rings, &scene->zone, entry);
	scene->thread->ring->agent_count = 0;
	scene->thread->serving = 0;
	if (scene->thread->provider != NULL) {
		scene->thread->provider->serving = 0;
		provider_part(scene->thread);
	}
	plan_release(&scene->queue.plan);
	thread_table_release(&scene->queue.threads);
	provider_table_release(&scene->queue.providers);
}

/* In line: what `why` would say. */
static void
scene_ask(struct scene *scene, const struct supposed *supposed,
    struct supposition *out)
{
	int64_t now_ms = clock_steady_ms();
	struct constraint found;

	scene_set_sessions(scene, supposed, now_ms, out);
	scene_set_provider(scene, supposed);
	scene_set_pace(scene, supposed, now_ms);
	plan_ready(&scene->queue.plan, &scene->job->vertices[0]);
	constraint_of_vertex(&scene->agents, &scene->job->vertices[0],
	    &found);
	out->cause = found.cause;
	out->at_s = found.cause == CAUSE_LINE ? 0 : found.until_s;
	if (found.cause != CAUSE_LINE)
		out->is_after_success = false;
}

/* ---- the answer -------------------------------------------------------- */

/* What keeps it lies with others, or with an order about the message. */
static bool
suppose_can_say(const struct supposed *supposed)
{
	switch (supposed->cause) {
	case CAUSE_TIMER:
	case CAUSE_QUEUE_ONLY:
	case CAUSE_RULE:
	case CAUSE_RATE:
	case CAUSE_PROVIDER:
	case CAUSE_LIMIT:
	case CAUSE_ZONE:
	case CAUSE_AGENTS:
	case CAUSE_LINE:
		return true;
	default:
		return false;
	}
}

static bool
suppose_has_own_time(const struct supposed *supposed)
{
	return supposed->cause == CAUSE_TIMER ||
	    supposed->cause == CAUSE_QUEUE_ONLY ||
	    supposed->cause == CAUSE_RULE;
}

void
suppose_judge(const struct conf *conf, const struct supposed *supposed,
    int64_t now_s, struct supposition *out)
{
	struct scene scene;

	*out = (struct supposition){ .is_known = suppose_can_say(supposed),
	    .cause = supposed->cause, .class = "", .by = "" };
	if (!out->is_known)
		return;
	scene_open(&scene, conf, supposed);
	scene_set_agents(&scene, supposed);
	if (!suppose_has_own_time(supposed) ||
	    suppose_time_has_come(scene.thread, supposed, now_s, out))
		scene_ask(&scene, supposed, out);
	scene_close(&scene);
}

/* ---- the program ------------------------------------------------------- */

bool
suppose_is_meant(int argc, char **argv)
{
	return argc > 1 && strcmp(argv[1], "suppose") == 0;
}

static void
suppose_line(const struct conf *conf, struct slice line, struct str *out)
{
	struct supposition found;
	struct supposed supposed;
	struct err err;

	json_open(out);
	if (supposed_read(line, &supposed, &err) < 0) {
		json_text(out, "bad", slice_of(err.text));
	} else {
		suppose_judge(conf, &supposed, clock_wall_s(), &found);
		json_text(out, "code", slice_of(found.is_known ?
		    cause_rows[found.cause].code : "none"));
		json_number(out, "at", found.at_s);
		json_text(out, "class", slice_of(found.class));
		json_text(out, "by", slice_of(found.by));
		json_text(out, "after", slice_of(found.is_after_success ?
		    "success" : ""));
	}
	json_close(out);
	supposed_release(&supposed);
}

int
suppose_run(void)
{
	struct arena *arena = arena_new();
	struct str out = STR_INIT;
	struct conf_report report;
	struct conf *conf = conf_load(NULL, arena, &report);
	size_t capacity = 0;
	char *line = NULL;
	struct err err;
	ssize_t n;

	if (conf == NULL)
		conf_report_print(&report, NULL, &out);
	else if (conf_classes_load(conf, &err) < 0)
		str_addf(&out, "%s\n", err.text);
	fputs(out.buf, stderr);
	while (conf != NULL && (n = getline(&line, &capacity, stdin)) > 0) {
		str_reset(&out);
		suppose_line(conf, slice_trim((struct slice){ line,
		    (size_t)n }), &out);
		fputs(out.buf, stdout);
		fflush(stdout);
	}
	mem_free(&line);
	str_release(&out);
	arena_free(&arena);
	n = conf == NULL;
	conf_free(&conf);
	return (int)n;
}

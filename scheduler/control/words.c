/* words.c - the requests that are words: job INODE, and refusals
 *
 * In     a line
 * Out    JSON lines about threads and jobs, from memory
 * Holds  nothing
 * Trusts nobody; nothing can be changed here
 * Spec   doc/protocol/control.md section 1.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "scheduler/control/act.h"
#include "scheduler/control/control.h"
#include "scheduler/plan/provider.h"

#include "base/banned.h"

void
control_thread_name(const struct thread *thread, struct str *out)
{
	json_text(out, "channel", slice_of(thread->channel));
	json_text(out, "host", slice_of(thread->host));
	json_text(out, "zone", slice_of(thread->zone));
	json_number(out, "ready", thread->ready_count);
	json_number(out, "waiting", thread->wait_count);
}

void
control_thread(const struct thread *thread, struct str *out)
{
	const struct provider *provider = thread->provider;

	json_number(out, "threshold", thread->pace.threshold);
	json_number(out, "pause_ms", thread->pace.slow_us / 1000);
	json_number(out, "paced_until_ms", thread->paced_ms == 0 ? 0 :
	    thread->paced_ms - clock_steady_ms());
	json_number(out, "bulk", thread->lanes.count[LANE_BULK]);
	json_number(out, "urgent", thread->lanes.count[LANE_URGENT]);
	json_text(out, "provider", slice_of(provider != NULL ?
	    provider->name : ""));
	json_number(out, "provider_agents", provider != NULL ?
	    provider->serving : 0);
	json_number(out, "provider_limit", provider != NULL ?
	    provider->learned : 0);
	json_bool(out, "waits_for_provider", thread->is_blocked);
	json_bool(out, "suspended_by_rule", thread->is_firm);
}

static void
answer_job(const struct job *job, struct str *out)
{
	static const char *const states[] = {
		[VERTEX_IDLE] = "idle", [VERTEX_WAIT] = "waiting",
		[VERTEX_READY] = "ready", [VERTEX_FLIGHT] = "active",
		[VERTEX_DONE] = "done", [VERTEX_PARKED] = "parked"
	};

	for (size_t i = 0; i < job->vertex_count; i++) {
		const struct vertex *vertex = &job->vertices[i];
		int64_t next_ms = vertex->state == VERTEX_WAIT ?
		    vertex->moment_ms : vertex->state == VERTEX_READY ?
		    vertex->thread->wake_ms : 0;

		json_open(out);
		json_text(out, "id", slice_of(job->id));
		json_text(out, "channel", slice_of(vertex->thread->channel));
		json_text(out, "host", slice_of(vertex->thread->host));
		json_text(out, "state", slice_of(states[vertex->state]));
		json_number(out, "offset", vertex->rcpt_count > 0 ?
		    vertex_rcpts(vertex)->offset : 0);
		json_number(out, "rcpts", vertex->rcpt_count -
		    vertex->final_count);
		json_number(out, "tries", vertex->tries);
		json_number(out, "next", act_wall_s(next_ms));
		json_close(out);
	}
}

static void
answer_error(struct str *out, const char *text)
{
	json_open(out);
	json_text(out, "error", slice_of(text));
	json_close(out);
}

/* A message that the asker may see; NULL. */
static const struct job *
job_seen(struct scheduler *scheduler, const struct peer *peer,
    struct slice rest)
{
	struct visit visit = { .scheduler = scheduler,
	    .user = peer->right >= RIGHT_READ ? NULL : peer->name };
	struct slice word;
	uint64_t inode;
	struct job *job;
	bool is_seen;

	if (!slice_word(&rest, &word) ||
	    !slice_number(word, 1, UINT64_MAX, &inode) ||
	    slice_trim(rest).n > 0)
		return NULL;
	job = job_table_find(&scheduler->jobs, (ino_t)inode);
	if (job == NULL || visit.user == NULL)
		return job;
	is_seen = visit_open(&visit, job, false) == 1;
	visit_end(&visit);
	return is_seen ? job : NULL;
}

void
control_words(struct scheduler *scheduler, const struct peer *peer,
    struct slice line, struct str *out)
{
	struct slice rest = line, verb = SLICE("");
	bool is_alone, may_read = peer->right >= RIGHT_READ;
	const struct job *job;

	(void)slice_word(&rest, &verb);
	is_alone = slice_trim(rest).n == 0;
	if ((slice_is(verb, "queue") || slice_is(verb, "next") ||
	    slice_is(verb, "groups")) && is_alone && !may_read) {
		answer_error(out, "you may not see all mail");
	} else if (slice_is(verb, "job")) {
		job = job_seen(scheduler, peer, rest);
		if (job == NULL)
			answer_error(out, "no such message here");
		else
			answer_job(job, out);
	} else {
		answer_error(out, "unknown request; there are: queue, "
		    "groups, next, job INODE, and lines of JSON");
	}
}

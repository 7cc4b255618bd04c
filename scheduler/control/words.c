/* words.c - requests that are words, as ZMailer had them, and members of
 * threads
 *
 * In     a line
 * Out    the operation that the word stands for, or a refusal
 * Holds  nothing
 * Trusts nobody; nothing can be changed here
 * Spec   doc/protocol/control.md section 1.1
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "base/json.h"
#include "scheduler/control/control.h"
#include "scheduler/plan/shaping/pace.h"
#include "scheduler/plan/shaping/provider.h"

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
	json_bool(out, "throttled", pace_is_throttled(thread));
	json_text(out, "said", slice_of(control_thread_said(thread)));
}

const char *
control_thread_said(const struct thread *thread)
{
	bool matters = thread->trouble_count > 0 || thread->wait_count > 0 ||
	    pace_is_throttled(thread);

	return matters && thread->reason != NULL ? thread->reason : "";
}

static void
words_answer_error(struct str *out, const char *text)
{
	json_open(out);
	json_text(out, "error", slice_of(text));
	json_close(out);
}

/* "job INODE". */
static bool
words_job_line(struct slice rest, struct str *out)
{
	struct slice verb, word;
	uint64_t inode;

	if (!slice_word(&rest, &verb) || !slice_is(verb, "job") ||
	    !slice_word(&rest, &word) ||
	    !slice_number(word, 1, INT64_MAX, &inode) ||
	    slice_trim(rest).n > 0)
		return false;
	str_addf(out, "{\"v\":1,\"op\":\"job\",\"brief\":true,\"file\":%llu}",
	    (unsigned long long)inode);
	return true;
}

bool
control_word(const struct rights_peer *peer, struct slice line, struct str *out)
{
	static const char *const words[] = { "next", "queue", "groups" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]) &&
	    peer->right >= RIGHT_READ; i++)
		if (slice_is(line, words[i])) {
			str_addf(out, "{\"v\":1,\"op\":\"%s\","
			    "\"brief\":true}", words[i]);
			return true;
		}
	return words_job_line(line, out);
}

void
control_refuse_word(const struct rights_peer *peer, struct slice line,
    struct str *out)
{
	struct slice rest = line, verb = SLICE("");
	bool is_alone;

	(void)slice_word(&rest, &verb);
	is_alone = slice_trim(rest).n == 0;
	if ((slice_is(verb, "queue") || slice_is(verb, "next") ||
	    slice_is(verb, "groups")) && is_alone &&
	    peer->right < RIGHT_READ)
		words_answer_error(out, "you may not see all mail");
	else if (slice_is(verb, "job"))
		words_answer_error(out, "no such message here");
	else
		words_answer_error(out, "unknown request; there are: queue, "
		    "groups, next, job INODE, and lines of JSON");
}

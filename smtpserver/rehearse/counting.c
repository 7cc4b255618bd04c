/* counting.c - questions of counters, as they were put and recorded
 *
 * In     questions of the policy; facts of a record
 * Out    whether what was answered then holds for the terms of now
 * Holds  nothing
 * Spec   base/buckets.h, peers.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "smtpserver/rehearse/counting.h"

#include "base/banned.h"

bool
counting_parse(struct slice question, struct counting *out)
{
	struct slice word;

	if (!slice_word(&question, &word))
		return false;
	out->is_rate = slice_is(word, "take");
	out->span_ms = 0;
	if (!slice_word(&question, &word) ||
	    !slice_number(word, 1, UINT32_MAX, &out->count))
		return false;
	if (out->is_rate && (!slice_word(&question, &word) ||
	    !slice_number(word, 1, INT64_MAX / 2, &out->span_ms)))
		return false;
	out->line_key = slice_trim(question);
	return slice_word(&question, &word) &&
	    (out->key = slice_trim(question)).n > 0;
}

bool
counting_agrees(const struct counting *now, const struct fact *then)
{
	struct counting was;
	bool is_wider, is_narrower;

	if (!counting_parse(then->question, &was) ||
	    was.is_rate != now->is_rate || !slice_equal(was.key, now->key))
		return false;
	is_wider = now->count >= was.count && now->span_ms <= was.span_ms;
	is_narrower = now->count <= was.count && now->span_ms >= was.span_ms;
	return slice_starts(then->answer, "over") ? is_narrower :
	    is_wider || then->state == ASK_TROUBLE;
}

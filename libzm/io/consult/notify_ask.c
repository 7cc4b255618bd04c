/* notify_ask.c - ask the process that posts events (notify) how it stands
 *
 * In     nothing
 * Out    what the process answers
 * Holds  nothing
 * Trusts nothing: answers are bounded, in time too
 * Spec   notify_ask.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "io/consult/consult_ask.h"
#include "io/consult/notify_ask.h"
#include "io/peer.h"

#include "base/banned.h"

static const char *const state_words[] = { "good", "failing", "over" };

int
notify_ask_status(const char *run_dir, int64_t for_ms, struct str *out,
    struct err *err)
{
	static const struct consult_question question = {
		.socket = NOTIFY_SOCKET, .token = "", .end = ".",
		.who = "the process that posts events",
		.where = "where there is a notify", .line = "list\n",
		.bytes_max = PEER_IN_BYTES_MAX };

	return consult_ask(&question, run_dir, for_ms, out, err);
}

/* ---- its lines --------------------------------------------------------- */

void
notify_line_add(struct str *out, const struct notify_line *line)
{
	str_addf(out, "%s %lld " SLICE_FMT " ", state_words[line->state],
	    (long long)line->since_s, SLICE_ARG(line->name));
	str_add_escaped(out, line->words);
	str_addc(out, '\n');
}

bool
notify_line_parse(struct slice text, struct notify_line *out)
{
	struct slice state, since;
	uint64_t since_s;
	unsigned i = 0;

	*out = (struct notify_line){ .state = NOTIFY_GOOD };
	if (!slice_word(&text, &state) || !slice_word(&text, &since) ||
	    !slice_number(since, 0, INT64_MAX / 2, &since_s) ||
	    !slice_word(&text, &out->name))
		return false;
	while (i <= NOTIFY_OVER && !slice_is(state, state_words[i]))
		i++;
	out->state = (enum notify_state)i;
	out->since_s = (int64_t)since_s;
	out->words = slice_trim(text);
	return i <= NOTIFY_OVER;
}

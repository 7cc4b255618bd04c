/* share_ask.c - ask the process that counts with other machines (share)
 *
 * In     nothing
 * Out    what the process answers
 * Holds  nothing
 * Trusts nothing: answers are bounded, in time too
 * Spec   doc/protocol/share.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "io/consult/consult_ask.h"
#include "io/consult/share_ask.h"

#include "base/banned.h"

enum { STATUS_BYTES_MAX = 131072 };

int
share_ask_status(const char *run_dir, int64_t for_ms, struct str *out,
    struct err *err)
{
	static const struct consult_question question = {
		.socket = SHARE_SOCKET, .token = "s ", .end = "ok",
		.who = "the process that counts with other machines",
		.where = "where a cluster has a redis", .line = "s status\n",
		.bytes_max = STATUS_BYTES_MAX };

	return consult_ask(&question, run_dir, for_ms, out, err);
}

/* ---- its lines ----------------------------------------------------------- */

/* "NAME SECONDS|- self|other|stranger" */
static bool
share_node_parse(struct slice rest, struct share_line *out)
{
	struct slice ago;

	if (!slice_word(&rest, &out->name) || !slice_word(&rest, &ago) ||
	    !slice_word(&rest, &out->whose))
		return false;
	out->is_known = slice_number(ago, 0, UINT32_MAX, &out->seconds);
	out->is_trouble = (!out->is_known || out->seconds > SHARE_MISSING_S) &&
	    !slice_is(out->whose, "stranger");
	return true;
}

/* "ADDRESS up|away SECONDS WORDS" */
static bool
share_redis_parse(struct slice rest, struct share_line *out)
{
	struct slice state, since;

	if (!slice_word(&rest, &out->name) || !slice_word(&rest, &state) ||
	    !slice_word(&rest, &since) ||
	    !slice_number(since, 0, UINT32_MAX, &out->seconds))
		return false;
	out->is_known = true;
	out->is_trouble = !slice_is(state, "up");
	out->words = slice_trim(rest);
	return true;
}

enum share_line_kind
share_line_parse(struct slice line, struct share_line *out)
{
	struct slice word;

	*out = (struct share_line){ .is_known = false };
	if (!slice_word(&line, &word))
		return SHARE_OTHER;
	if (slice_is(word, "node") && share_node_parse(line, out))
		return SHARE_NODE;
	if (slice_is(word, "redis") && share_redis_parse(line, out))
		return SHARE_REDIS;
	return SHARE_OTHER;
}

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

enum { STATUS_BYTES_MAX = 131072, BLOCKS_BYTES_MAX = 4 << 20 };

int
share_ask_status(const char *run_dir, int64_t for_ms, struct str *out,
    struct err *err)
{
	static const struct consult_question question = {
		.socket = SHARE_SOCKET, .token = "s ", .end = "ok",
		.who = "the process that counts with other machines",
		.where = "where a cluster has a redis or a postgres",
		.line = "s status\n",
		.bytes_max = STATUS_BYTES_MAX };

	return consult_ask(&question, run_dir, for_ms, out, err);
}

int
share_ask_blocks(const char *run_dir, struct str *out, struct err *err)
{
	static const struct consult_question question = {
		.socket = SHARE_SOCKET, .token = "b ", .end = "ok",
		.who = "the process that counts with other machines",
		.where = "where a cluster has a redis or a postgres",
		.line = "b blocks\n",
		.bytes_max = BLOCKS_BYTES_MAX };

	if (consult_ask(&question, run_dir, SHARE_ASK_FOR_MS, out, err) != 0)
		return -1;
	if (slice_starts(str_slice(out), "away "))
		return err_set(err, "Redis is %.*s",
		    (int)slice_find(str_slice(out), '\n'), out->buf);
	return 0;
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

/* "up|away SECONDS WAITING WORDS" */
static bool
share_copies_parse(struct slice rest, struct share_line *out)
{
	struct slice state, since, waiting;

	if (!slice_word(&rest, &state) || !slice_word(&rest, &since) ||
	    !slice_word(&rest, &waiting) ||
	    !slice_number(since, 0, UINT32_MAX, &out->seconds) ||
	    !slice_number(waiting, 0, UINT32_MAX, &out->count))
		return false;
	out->is_known = true;
	out->is_trouble = !slice_is(state, "up");
	out->words = slice_trim(rest);
	return true;
}

/* "NODE EPOCH LEASE_SECONDS|- COUNT BYTES TAKER|-" */
static bool
share_owner_parse(struct slice rest, struct share_line *out)
{
	struct slice words[5];

	if (!slice_word(&rest, &out->name))
		return false;
	for (int i = 0; i < 5; i++)
		if (!slice_word(&rest, &words[i]))
			return false;
	out->is_known = slice_number(words[1], 0, UINT32_MAX, &out->seconds);
	if (!slice_is(words[4], "-"))
		out->whose = words[4];
	if (!slice_number(words[0], 0, INT64_MAX, &out->epoch) ||
	    !slice_number(words[2], 0, INT64_MAX, &out->count) ||
	    !slice_number(words[3], 0, INT64_MAX, &out->bytes))
		return false;
	/* nobody delivers them until it comes back or a person decides */
	out->is_trouble = out->is_known && out->seconds == 0 && out->count > 0;
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
	if (slice_is(word, "copies") && share_copies_parse(line, out))
		return SHARE_COPIES;
	if (slice_is(word, "owner") && share_owner_parse(line, out))
		return SHARE_OWNER;
	return SHARE_OTHER;
}

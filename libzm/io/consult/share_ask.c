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
#include "base/clock.h"
#include "io/peer.h"
#include "io/consult/share_ask.h"
#include "io/unix_socket.h"

#include "base/banned.h"

enum { STATUS_BYTES_MAX = 131072 };

static const char status_question[] = "s status\n", token[] = "s ";

static int
share_connect(struct peer *peer, const char *run_dir, struct err *err)
{
	int fd = unix_socket_connect_in(run_dir, SHARE_SOCKET, 0, err);

	if (fd < 0)
		return err_prefix(err, "the process that counts with other "
		    "machines does not answer (zmailer run keeps it where a "
		    "cluster has a redis)");
	peer_adopt(peer, fd);
	return 0;
}

/* The whole lines that have come, without their token.  true: "ok". */
static bool
share_lines(struct peer *peer, struct str *out)
{
	struct slice unread = peer_unread(peer), line;
	size_t end;

	while ((end = slice_find(unread, '\n')) < unread.n) {
		line = slice_first(unread, end);
		if (slice_starts(line, token))
			line = slice_from(line, sizeof(token) - 1);
		if (slice_is(line, "ok"))
			return true;
		str_add_slice(out, line);
		str_addc(out, '\n');
		peer_consume(peer, end + 1);
		unread = peer_unread(peer);
	}
	return false;
}

static int
share_read(struct peer *peer, int64_t deadline_ms, struct str *out,
    struct err *err)
{
	enum peer_result got;

	while (!share_lines(peer, out)) {
		got = out->len > STATUS_BYTES_MAX ? PEER_ERROR :
		    peer_fill(peer, deadline_ms, err);
		if (got != PEER_OK)
			return err_set(err, "the process that counts with "
			    "other machines %s", got == PEER_TIMEOUT ?
			    "has no answer yet" : "went away");
	}
	return 0;
}

int
share_ask_status(const char *run_dir, int64_t for_ms, struct str *out,
    struct err *err)
{
	int64_t deadline_ms = clock_steady_ms() + for_ms;
	struct peer peer;
	int result;

	peer_init(&peer);
	result = share_connect(&peer, run_dir, err);
	if (result == 0) {
		str_adds(&peer.out, status_question);
		result = peer_flush(&peer, deadline_ms, err) == PEER_OK ?
		    share_read(&peer, deadline_ms, out, err) : -1;
	}
	peer_release(&peer);
	return result;
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

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
#include "base/clock.h"
#include "io/consult/notify_ask.h"
#include "io/peer.h"
#include "io/unix_socket.h"

#include "base/banned.h"

static const char *const state_words[] = { "good", "failing", "over" };

static int
notify_connect(struct peer *peer, const char *run_dir, struct err *err)
{
	int fd = unix_socket_connect_in(run_dir, NOTIFY_SOCKET, 0, err);

	if (fd < 0)
		return err_prefix(err, "the process that posts events does "
		    "not answer (zmailer run keeps it where there is a "
		    "notify)");
	peer_adopt(peer, fd);
	return 0;
}

/* The whole lines that have come.  true: the last one. */
static bool
notify_lines(struct peer *peer, struct str *out)
{
	struct slice unread = peer_unread(peer), line;
	size_t end;

	while ((end = slice_find(unread, '\n')) < unread.n) {
		line = slice_first(unread, end);
		if (slice_is(line, "."))
			return true;
		str_add_slice(out, line);
		str_addc(out, '\n');
		peer_consume(peer, end + 1);
		unread = peer_unread(peer);
	}
	return false;
}

static int
notify_read(struct peer *peer, int64_t deadline_ms, struct str *out,
    struct err *err)
{
	enum peer_result got;

	while (!notify_lines(peer, out)) {
		got = out->len > PEER_IN_BYTES_MAX ? PEER_ERROR :
		    peer_fill(peer, deadline_ms, err);
		if (got != PEER_OK)
			return err_set(err, "the process that posts events "
			    "%s", got == PEER_TIMEOUT ?
			    "has no answer yet" : "went away");
	}
	return 0;
}

int
notify_ask_status(const char *run_dir, int64_t for_ms, struct str *out,
    struct err *err)
{
	int64_t deadline_ms = clock_steady_ms() + for_ms;
	struct peer peer;
	int result;

	peer_init(&peer);
	result = notify_connect(&peer, run_dir, err);
	if (result == 0) {
		str_adds(&peer.out, "list\n");
		result = peer_flush(&peer, deadline_ms, err) == PEER_OK ?
		    notify_read(&peer, deadline_ms, out, err) : -1;
	}
	peer_release(&peer);
	return result;
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

/* sts_ask.c - ask the process that knows MTA-STS policies (sts)
 *
 * In     domains
 * Out    what the process answers
 * Holds  nothing
 * Trusts nothing: answers are bounded, in time too
 * Spec   doc/protocol/sts.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "base/clock.h"
#include "io/peer.h"
#include "io/consult/sts_ask.h"
#include "io/unix_socket.h"

#include "base/banned.h"

enum { PATH_BYTES = 4200, LINE_BYTES_MAX = 16384 };

static int
sts_connect(struct peer *peer, const char *run_dir, struct err *err)
{
	char path[PATH_BYTES];
	int fd;

	snprintf(path, sizeof(path), "%s/" STS_SOCKET, run_dir);
	fd = unix_socket_connect(path, 0, err);
	if (fd < 0)
		return err_prefix(err, "the process that knows policies does "
		    "not answer (zmailer run keeps it where tls-to says sts)");
	peer_adopt(peer, fd);
	return 0;
}

/* The next line, which stays the peer's; taken by peer_consume.  0 or -1. */
static int
sts_line(struct peer *peer, int64_t deadline_ms, struct slice *out,
    struct err *err)
{
	struct slice unread;
	enum peer_result got;

	for (;;) {
		unread = peer_unread(peer);
		*out = slice_first(unread, slice_find(unread, '\n'));
		if (out->n < unread.n)
			return 0;
		got = unread.n > LINE_BYTES_MAX ? PEER_ERROR :
		    peer_fill(peer, deadline_ms, err);
		if (got != PEER_OK)
			return err_set(err, "the process that knows policies "
			    "%s", got == PEER_TIMEOUT ?
			    "has no answer yet" : "went away");
	}
}

/* Read an answer's line; as sts_ask. */
static enum sts_answer
sts_answer_read(struct slice line, struct sts_policy *out, struct err *err)
{
	if (slice_is(line, "none")) {
		err_set(err, "the domain has no policy");
		return STS_ANSWER_NONE;
	}
	if (slice_starts(line, "trouble ")) {
		err_set(err, SLICE_FMT, SLICE_ARG(slice_from(line,
		    sizeof("trouble"))));
		return STS_ANSWER_TROUBLE;
	}
	if (slice_starts(line, "policy ") && sts_policy_read_words(
	    slice_from(line, sizeof("policy")), out, err) == 0)
		return STS_ANSWER_POLICY;
	err_set(err, "the answer of the process that knows policies is none");
	return STS_ANSWER_NOBODY;
}

static int
sts_question(struct peer *peer, const char *run_dir, const char *verb,
    const char *domain, int64_t deadline_ms, struct err *err)
{
	if (sts_connect(peer, run_dir, err) < 0)
		return -1;
	str_addf(&peer->out, "%s%s%s\n", verb, domain[0] != '\0' ? " " : "",
	    domain);
	return peer_flush(peer, deadline_ms, err) == PEER_OK ? 0 : -1;
}

enum sts_answer
sts_ask(const char *run_dir, const char *verb, const char *domain,
    int64_t for_ms, struct sts_policy *out, struct err *err)
{
	int64_t deadline_ms = clock_steady_ms() + for_ms;
	enum sts_answer answer = STS_ANSWER_NOBODY;
	struct slice line;
	struct peer peer;

	peer_init(&peer);
	if (sts_question(&peer, run_dir, verb, domain, deadline_ms,
	    err) == 0 && sts_line(&peer, deadline_ms, &line, err) == 0)
		answer = sts_answer_read(line, out, err);
	peer_release(&peer);
	return answer;
}

int
sts_ask_list(const char *run_dir, struct str *out, struct err *err)
{
	int64_t deadline_ms = clock_steady_ms() + STS_ASK_FOR_MS;
	struct slice line = SLICE("");
	struct peer peer;
	int result;

	peer_init(&peer);
	result = sts_question(&peer, run_dir, "list", "", deadline_ms, err);
	while (result == 0) {
		result = sts_line(&peer, deadline_ms, &line, err);
		if (result < 0 || slice_is(line, "."))
			break;
		str_add_slice(out, line);
		str_addc(out, '\n');
		peer_consume(&peer, line.n + 1);
	}
	peer_release(&peer);
	return result;
}

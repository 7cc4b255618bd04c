/* consult_ask.c - ask a process that daemons consult, and wait
 *
 * In     a question
 * Out    the lines of the answer
 * Holds  a connection, as long as it takes
 * Trusts nothing: answers are bounded, in time too
 * Spec   consult_ask.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "io/consult/consult_ask.h"
#include "io/peer.h"
#include "io/unix_socket.h"

#include "base/banned.h"

static int
consult_connect(const struct consult_question *question, struct peer *peer,
    const char *run_dir, struct err *err)
{
	int fd = unix_socket_connect_in(run_dir, question->socket, 0, err);

	if (fd < 0)
		return err_prefix(err, "%s does not answer (zmailer run "
		    "keeps it %s)", question->who, question->where);
	peer_adopt(peer, fd);
	return 0;
}

/* Take the whole lines that have come.  true: the last one was among them. */
static bool
consult_lines(const struct consult_question *question, struct peer *peer,
    struct str *out)
{
	struct slice unread = peer_unread(peer), line;
	size_t end;

	while ((end = slice_find(unread, '\n')) < unread.n) {
		line = slice_first(unread, end);
		if (slice_starts(line, question->token))
			line = slice_from(line, strlen(question->token));
		if (slice_is(line, question->end))
			return true;
		str_add_slice(out, line);
		str_addc(out, '\n');
		peer_consume(peer, end + 1);
		unread = peer_unread(peer);
	}
	return false;
}

static int
consult_read(const struct consult_question *question, struct peer *peer,
    int64_t deadline_ms, struct str *out, struct err *err)
{
	enum peer_result got;

	while (!consult_lines(question, peer, out)) {
		got = out->len > question->bytes_max ? PEER_ERROR :
		    peer_fill(peer, deadline_ms, err);
		if (got != PEER_OK)
			return err_set(err, "%s %s", question->who,
			    got == PEER_TIMEOUT ? "has no answer yet" :
			    "went away");
	}
	return 0;
}

int
consult_ask(const struct consult_question *question, const char *run_dir,
    int64_t for_ms, struct str *out, struct err *err)
{
	int64_t deadline_ms = clock_steady_ms() + for_ms;
	struct peer peer;
	int result;

	peer_init(&peer);
	result = consult_connect(question, &peer, run_dir, err);
	if (result == 0) {
		str_adds(&peer.out, question->line);
		result = peer_flush(&peer, deadline_ms, err) == PEER_OK ?
		    consult_read(question, &peer, deadline_ms, out, err) : -1;
	}
	peer_release(&peer);
	return result;
}

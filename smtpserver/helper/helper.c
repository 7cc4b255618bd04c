/* helper.c - the frame of a process that answers one question at a time
 *
 * In     lines of questions from the listener
 * Out    lines of answers
 * Holds  what has come and is not answered yet
 * Trusts the listener, who made it; no question
 * Spec   helper.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "journal/event.h"
#include "io/ipc.h"
#include "smtpserver/helper/ask.h"
#include "smtpserver/helper/helper.h"

#include "base/banned.h"

void
helper_add_answer(struct str *out, struct slice token, bool is_ok,
    struct slice text)
{
	size_t start;

	if (text.n > ASK_TEXT_BYTES_MAX) {
		is_ok = false;
		text = SLICE("the answer is too long");
	}
	str_add_slice(out, token);
	str_adds(out, is_ok ? " ok " : " trouble ");
	start = out->len;
	str_add_slice(out, text);
	for (size_t i = start; i < out->len; i++)
		if (out->buf[i] == '\n')
			out->buf[i] = ' ';
	str_addc(out, '\n');
}

/* returns false when the listener has gone */
static bool
helper_answer_all(int socket, struct ipc_inbox *inbox, helper_fn *fn,
    void *state)
{
	struct str text = STR_INIT, line = STR_INIT;
	struct slice rest, token;
	size_t cursor = 0;
	bool is_there = true;

	while (is_there && ipc_line(inbox, &cursor, &rest) == IPC_LINE) {
		bool is_ok;

		if (!slice_word(&rest, &token))
			continue;
		str_reset(&text);
		str_reset(&line);
		is_ok = fn(state, slice_from(rest, rest.n > 0), &text);
		helper_add_answer(&line, token, is_ok, str_slice(&text));
		is_there = ipc_send(socket, str_slice(&line), NULL, 0) >= 0;
		event_flush();
	}
	ipc_inbox_consume(inbox, cursor);
	str_release(&text);
	str_release(&line);
	return is_there;
}

void
helper_serve(int socket, helper_fn *fn, void *state)
{
	struct ipc_inbox inbox;
	int got;

	signal(SIGHUP, SIG_IGN);	/* the listener makes a new one */
	(void)fcntl(socket, F_SETFL, 0);	/* blocking */
	ipc_inbox_init(&inbox);
	while ((got = ipc_receive(socket, &inbox)) == IPC_GOT)
		if (!helper_answer_all(socket, &inbox, fn, state))
			break;
	if (got < 0)
		warning("cannot hear the listener: error %d", errno);
	ipc_inbox_release(&inbox);
}

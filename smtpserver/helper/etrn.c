/* etrn.c - the helper that tells the scheduler to start a queue
 *
 * In     a node or a queue, as the client named it
 * Out    whether mail waits there, and how much
 * Holds  nothing: a connection for each question
 * Trusts the scheduler, but not for ever: its answer has a bound and a time
 * Spec   doc/protocol/control.md, operation etrn; RFC 1985
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "io/unix_socket.h"
#include "smtpserver/helper/etrn.h"
#include "smtpserver/helper/helper.h"

#include "base/banned.h"

const char etrn_kind[] = "etrn";

enum {
	SCHEDULER_FOR_MS = 10000, ANSWER_BYTES_MAX = 65536,
	AWAIT_MS = 4000,	/* another one may be started just now */
	AWAIT_LOOK_MS = 50
};

/* Its socket, or that of the one after it.  -1 with err. */
static int
scheduler_connect_soon(const char *run_dir, struct err *err)
{
	int64_t end_ms = clock_steady_ms() + AWAIT_MS;
	const struct timespec nap = { .tv_nsec = AWAIT_LOOK_MS * 1000000L };
	int fd;

	while ((fd = unix_socket_connect_in(run_dir, "scheduler.sock", 0,
	    err)) < 0 && clock_steady_ms() < end_ms)
		(void)nanosleep(&nap, NULL);
	return fd;
}

/* Everything up to the empty line. */
static int
etrn_answer_read(int fd, struct str *out, struct err *err)
{
	int64_t end_ms = clock_steady_ms() + SCHEDULER_FOR_MS;

	while (out->len < 2 ||
	    memcmp(out->buf + out->len - 2, "\n\n", 2) != 0) {
		struct pollfd wait = { fd, POLLIN, 0 };
		int64_t left_ms = end_ms - clock_steady_ms();
		ssize_t n;

		if (out->len > ANSWER_BYTES_MAX)
			return err_set(err, "the scheduler says too much");
		if (left_ms <= 0 || poll(&wait, 1, (int)left_ms) == 0)
			return err_set(err, "the scheduler does not answer");
		n = recv(fd, str_room(out, 4096), 4096, MSG_DONTWAIT);
		if (n > 0)
			out->len += (size_t)n;
		else if (n == 0)
			return err_set(err, "the scheduler has closed");
		else if (errno != EAGAIN && errno != EINTR)
			return err_sys(err, "recv from the scheduler");
	}
	return 0;
}

/* The last line says it. */
static bool
etrn_judge(const struct str *text, struct str *out)
{
	struct slice rest = str_slice(text), line, last = rest;

	while (slice_cut(&rest, '\n', &line))
		if (line.n > 0)
			last = line;
	if (!json_is(last, "done", "true")) {
		if (!json_get(last, "error", out))
			str_adds(out, "the scheduler talks nonsense");
		return false;
	}
	if (!json_is(last, "known", "true"))
		str_adds(out, "none");
	else if (json_get_number(last, "suspended") >=
	    json_get_number(last, "messages"))
		str_adds(out, "suspended");
	else
		str_addf(out, "started %lld",
		    (long long)json_get_number(last, "messages"));
	return true;
}

bool
etrn_ask(const char *run_dir, struct slice host, struct str *out)
{
	struct str request = STR_INIT, answer = STR_INIT;
	struct err err = { "" };
	int fd = scheduler_connect_soon(run_dir, &err);
	bool is_good = fd >= 0;

	json_open(&request);
	json_number(&request, "v", 1);
	json_text(&request, "op", SLICE("etrn"));
	json_text(&request, "host", host);
	json_close(&request);
	if (is_good && send(fd, request.buf, request.len, MSG_NOSIGNAL) !=
	    (ssize_t)request.len) {
		err_sys(&err, "send to the scheduler");
		is_good = false;
	}
	is_good = is_good && etrn_answer_read(fd, &answer, &err) == 0;
	if (is_good)
		is_good = etrn_judge(&answer, out);
	else
		str_adds(out, err.text);
	if (fd >= 0)
		close(fd);
	str_release(&request);
	str_release(&answer);
	return is_good;
}

static bool
etrn_answer(void *state, struct slice question, struct str *out)
{
	const struct process *process = state;

	return etrn_ask(process->conf->run_dir, question, out);
}

void
etrn_serve(struct process *process, int socket)
{
	helper_serve(socket, etrn_answer, process);
}

/* control.c - a client of the operator's socket
 *
 * In     a request; the lines of the scheduler's answer
 * Out    each line to its reader; the server's words when it refuses
 * Holds  a connection and what was read ahead
 * Trusts nothing: lines are bounded, silence has an end
 * Spec   doc/protocol/control.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "io/consult/nodes_ask.h"
#include "journal/progress.h"
#include "tools/queue/control.h"
#include "tools/queue/process.h"
#include "tools/verb/verb.h"

#include "base/banned.h"

enum {
	LINE_BYTES_MAX = 1 << 20,
	READ_BYTES = 65536,
	LOOK_EVERY_MS = 1000	/* whether it still goes on */
};

static struct {
	const char	*name;		/* NULL: the one of this machine */
	int		 fd;		/* -1: to be made */
} control_of_node = { NULL, -1 };

void
control_set_node(const char *node, int fd)
{
	control_of_node.name = node;
	control_of_node.fd = fd;
}

const char *
control_node(void)
{
	return control_of_node.name;
}

static enum control_reached
control_connect_node(const char *run_dir, struct control *out,
    struct err *err)
{
	out->fd = control_of_node.fd;
	control_of_node.fd = -1;
	if (out->fd < 0)
		out->fd = nodes_ask(run_dir, control_of_node.name,
		    NODES_CONTROL, NULL, err);
	if (out->fd >= 0)
		return CONTROL_REACHED;
	out->is_denied = err_is_denied(err);
	return err_prefix(err, "%s does not answer", control_of_node.name);
}

/* returns -1 with why there is no use in waiting */
static int
control_is_still(const struct control *control, struct err *err)
{
	char span[CLOCK_TEXT_BYTES];
	struct progress progress;

	if (!progress_stands(control->run_dir, "scheduler", &progress))
		return err_set(err, "the scheduler does not answer");
	clock_span(progress.turn_ms / 1000, span);
	return err_set(err, "the scheduler does not answer: it stands still "
	    "for %s (pid %ld is stopped, or busy); zmailer status", span,
	    (long)progress.pid);
}

enum control_reached
control_connect(const char *run_dir, struct control *out, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	const struct timeval patience = { CONTROL_LOOK_MS / 1000, 0 };
	int n = snprintf(address.sun_path, sizeof(address.sun_path),
	    "%s/scheduler.sock", run_dir);

	*out = (struct control){ .fd = -1, .in = STR_INIT,
	    .answer_ms = CONTROL_ANSWER_MS };
	if (control_of_node.name != NULL)
		return control_connect_node(run_dir, out, err);
	if (n < 0 || (size_t)n >= sizeof(address.sun_path))
		return err_set(err, "%s/scheduler.sock is too long a name "
		    "for a socket", run_dir);
	out->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (out->fd < 0)
		return err_sys(err, "socket");
	snprintf(out->run_dir, sizeof(out->run_dir), "%s", run_dir);
	/* connect and send wait for one that takes nothing */
	(void)setsockopt(out->fd, SOL_SOCKET, SO_SNDTIMEO, &patience,
	    sizeof(patience));
	do	/* who stops us with ctrl-Z, and goes on, interrupts it */
		n = connect(out->fd, (struct sockaddr *)&address,
		    sizeof(address)) == 0 ? 0 : errno;
	while (n == EINTR);
	if (n == 0)
		return CONTROL_REACHED;
	close(out->fd);
	out->fd = -1;
	if (n == ENOENT || n == ECONNREFUSED)
		return CONTROL_ABSENT;
	if (n == EAGAIN)
		return control_is_still(out, err);
	errno = n;
	out->is_denied = n == EACCES || n == EPERM;
	return err_sys(err, "%s", address.sun_path);
}

int
control_stopped(const char *verb, const char *run_dir, const char *instead)
{
	fprintf(stderr, "zmailer: %s: the scheduler does not run: nobody "
	    "listens at %s/scheduler.sock; `zmailer start` starts it%s%s\n",
	    verb, run_dir, instead != NULL ? ", " : "",
	    instead != NULL ? instead : "");
	return EX_UNAVAILABLE;
}

int
control_failed(const char *verb, const struct control *control,
    const struct err *err)
{
	fprintf(stderr, "zmailer: %s: %s%s%s\n", verb, err->text,
	    control->is_denied ? ": " : "",
	    control->is_denied ? verb_readers : "");
	return control->is_denied ? EX_NOPERM : 1;
}

void
control_hang_up(struct control *control)
{
	if (control->fd >= 0)
		close(control->fd);
	control->fd = -1;
	str_release(&control->in);
	control->in_used = 0;
}

void
control_begin(struct str *request, const char *op)
{
	str_reset(request);
	json_open(request);
	json_number(request, "v", 1);
	json_text(request, "op", slice_of(op));
}

void
control_add_dest(struct str *request, const char *dest)
{
	const char *slash = strchr(dest, '/');

	if (slash != NULL && slash > dest)
		json_text(request, "channel", (struct slice){ dest,
		    (size_t)(slash - dest) });
	json_text(request, "host", slice_of(slash != NULL ? slash + 1 : dest));
}

static int
control_send_all(const struct control *control, struct slice bytes,
    struct err *err)
{
	while (bytes.n > 0) {
		ssize_t n = send(control->fd, bytes.p, bytes.n, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 && errno == EAGAIN)
			return control_is_still(control, err);
		if (n < 0)
			return err_sys(err, "send to the scheduler");
		bytes = slice_from(bytes, (size_t)n);
	}
	return 1;
}

/* Who was stopped by a signal, or does not turn its loop, will not answer,
 * however long one waits. */
static int
control_look(const struct control *control, struct err *err)
{
	struct ucred peer = { .pid = 0 };
	socklen_t length = sizeof(peer);
	struct process_look look;
	struct progress progress;

	if (control_of_node.name != NULL)
		return 0;		/* it is on another machine */
	if (getsockopt(control->fd, SOL_SOCKET, SO_PEERCRED, &peer,
	    &length) == 0 && peer.pid > 0 && process_look(peer.pid, &look) &&
	    look.is_stopped)
		return err_set(err, "the scheduler does not answer: it was "
		    "stopped by a signal; kill -CONT %ld lets it go on",
		    (long)peer.pid);
	if (progress_stands(control->run_dir, "scheduler", &progress))
		return control_is_still(control, err);
	return 0;
}

/* Written over itself, and away when there is an answer. */
static void
control_show_wait(struct control *control, int waited_ms)
{
	char line[80];

	if (control->waits_as == NULL || isatty(STDERR_FILENO) != 1)
		return;
	snprintf(line, sizeof(line), "%s: the scheduler is at it, %ds so far",
	    control->waits_as, waited_ms / 1000);
	fprintf(stderr, "\r%-79s", line);
	fflush(stderr);
	control->is_wait_shown = true;
}

static void
control_hide_wait(struct control *control)
{
	if (control->is_wait_shown)
		fprintf(stderr, "\r%79s\r", "");
	control->is_wait_shown = false;
}

static int
control_wait(struct control *control, struct err *err)
{
	struct pollfd fd = { .fd = control->fd, .events = POLLIN };
	int left_ms = control->answer_ms;

	while (left_ms > 0) {
		int wait_ms = left_ms < LOOK_EVERY_MS ? left_ms :
		    LOOK_EVERY_MS;
		int ready = poll(&fd, 1, wait_ms);

		if (ready > 0 || (ready < 0 && errno != EINTR))
			return 0;
		if (ready == 0) {
			left_ms -= wait_ms;
			control_show_wait(control, control->answer_ms -
			    left_ms);
		}
		if (ready == 0 && control_look(control, err) < 0)
			return -1;
	}
	return err_set(err, "the scheduler does not answer");
}

static int
read_more(struct control *control, struct err *err)
{
	bool is_ready;
	ssize_t n;

	is_ready = control_wait(control, err) == 0;
	control_hide_wait(control);
	if (!is_ready)
		return -1;
	str_consume(&control->in, control->in_used);
	control->in_used = 0;
	n = read(control->fd, str_room(&control->in, READ_BYTES),
	    READ_BYTES);
	if (n <= 0)
		return n == 0 ? err_set(err, "the scheduler hung up") :
		    err_sys(err, "read from the scheduler");
	control->in.len += (size_t)n;
	control->in.buf[control->in.len] = '\0';
	return 1;
}

/* One line without its LF; good until the next call. */
static int
control_read_line(struct control *control, struct slice *out, struct err *err)
{
	for (;;) {
		struct slice rest = slice_from(str_slice(&control->in),
		    control->in_used);
		size_t n = slice_find(rest, '\n');

		if (n < rest.n) {
			*out = slice_first(rest, n);
			control->in_used += n + 1;
			return 1;
		}
		if (rest.n > LINE_BYTES_MAX)
			return err_set(err, "the scheduler's line has no "
			    "end");
		if (read_more(control, err) < 0)
			return -1;
	}
}

static int
control_judge(struct control *control, struct slice last, struct err *err)
{
	struct str words = STR_INIT, shown = STR_INIT;
	int result = 0;

	control->is_denied = json_get(last, "code", &words) &&
	    slice_is(str_slice(&words), "denied");
	control->is_unknown = slice_is(str_slice(&words), "no-such");
	if (json_get(last, "error", &words))
		str_add_escaped(&shown, str_slice(&words));
	if (shown.len > 0)	/* another machine may have said it */
		result = err_set(err, "%s", shown.buf);
	else if (!json_get(last, "done", &words))
		result = err_set(err, "the scheduler's answer has no end");
	str_release(&shown);
	str_release(&words);
	return result;
}

int
control_ask(struct control *control, struct str *request,
    control_fn *line, void *context, struct str *out_last, struct err *err)
{
	struct slice got;

	json_close(request);
	str_reset(out_last);
	if (control_send_all(control, str_slice(request), err) < 0)
		return -1;
	for (;;) {
		if (control_read_line(control, &got, err) < 0)
			return -1;
		if (got.n == 0)
			return control_judge(control, str_slice(out_last), err);
		/* the line before was no last one: a result */
		if (out_last->len > 0 && line != NULL &&
		    !line(context, str_slice(out_last)))
			line = NULL;
		str_reset(out_last);
		str_add_slice(out_last, got);
	}
}

void
control_put_line(struct slice line)
{
	struct str out = STR_INIT;

	json_add_answer(&out, line);
	fputs(out.buf, stdout);
	str_release(&out);
}

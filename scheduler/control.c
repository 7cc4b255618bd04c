/* control.c - the operator's socket: RUN/scheduler.sock
 *
 * In     lines of clients on the machine
 * Out    JSON lines about threads and jobs, from memory
 * Holds  a buffer a client; an answer is made whole and sent as the client
 *        reads it
 * Trusts nobody: lines, clients and their life are bounded; nothing can be
 *        changed here
 * Spec   control.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "scheduler/agents.h"
#include "scheduler/control.h"

#include "base/banned.h"

struct client {
	struct control	*control;
	int		 socket;
	struct watch	*watch;
	struct str	 in, out;
	struct timer	 end;
	bool		 is_last;	/* it sends no more */
	struct client	*next;
};

struct control {
	struct scheduler *scheduler;
	int		 socket;
	struct watch	*watch;
	struct client	*clients;
	unsigned	 count;
};

/* ---- answers ----------------------------------------------------- */

/* A steady moment as wall seconds; 0 stays 0. */
static int64_t
wall_s(int64_t at_ms)
{
	if (at_ms == 0)
		return 0;
	return clock_wall_s() + (at_ms - clock_steady_ms()) / 1000;
}

static void
answer_thread(const struct thread *thread, struct str *out)
{
	json_open(out);
	json_text(out, "channel", slice_of(thread->channel));
	json_text(out, "host", slice_of(thread->host));
	json_number(out, "ready", thread->ready_count);
	json_number(out, "waiting", thread->wait_count);
	json_number(out, "flight", thread->flight_count);
	json_number(out, "agents", thread->serving);
	json_number(out, "limit", thread->limit);
	json_number(out, "troubles", thread->trouble_count);
	json_number(out, "threshold", thread->pace.threshold);
	json_number(out, "pause_ms", thread->pace.slow_us / 1000);
	json_number(out, "paced_until_ms", thread->paced_ms == 0 ? 0 :
	    thread->paced_ms - clock_steady_ms());
	json_number(out, "bulk", thread->lanes.count[LANE_BULK]);
	json_number(out, "urgent", thread->lanes.count[LANE_URGENT]);
	json_text(out, "provider", slice_of(thread->provider ?
	    thread->provider->name : ""));
	json_number(out, "provider_agents", thread->provider ?
	    thread->provider->serving : 0);
	json_number(out, "provider_limit", thread->provider ?
	    thread->provider->learned : 0);
	json_bool(out, "waits_for_provider", thread->is_blocked);
	json_bool(out, "suspended_by_rule", thread->is_firm);
	json_number(out, "held_until", wall_s(thread->wake_ms));
	json_text(out, "reason",
	    slice_of(thread->trouble_count > 0 ? thread->reason : ""));
	json_close(out);
}

static void
answer_queue(const struct scheduler *scheduler, struct str *out)
{
	struct thread *thread = NULL;
	size_t bucket = 0;

	while (thread_next(&scheduler->threads, &bucket, &thread))
		if (thread->ready_count + thread->wait_count +
		    thread->flight_count > 0)
			answer_thread(thread, out);
	json_open(out);
	json_number(out, "messages", (int64_t)scheduler->jobs.count);
	json_number(out, "unread", (int64_t)scheduler->intake.count);
	json_number(out, "agents", scheduler->agents.count);
	json_number(out, "busy", agents_busy(scheduler));
	json_number(out, "delivered", (int64_t)scheduler->total.delivered);
	json_number(out, "deferred", (int64_t)scheduler->total.deferred);
	json_number(out, "failed", (int64_t)scheduler->total.failed);
	json_close(out);
}

static void
answer_job(const struct job *job, struct str *out)
{
	static const char *const states[] = {
		[VERTEX_IDLE] = "idle", [VERTEX_WAIT] = "waiting",
		[VERTEX_READY] = "ready", [VERTEX_FLIGHT] = "active",
		[VERTEX_DONE] = "done"
	};

	for (size_t i = 0; i < job->vertex_count; i++) {
		const struct vertex *vertex = &job->vertices[i];
		int64_t next_ms = vertex->state == VERTEX_WAIT ?
		    vertex->moment_ms : vertex->state == VERTEX_READY ?
		    vertex->thread->wake_ms : 0;

		json_open(out);
		json_text(out, "id", slice_of(job->id));
		json_text(out, "channel", slice_of(vertex->thread->channel));
		json_text(out, "host", slice_of(vertex->thread->host));
		json_text(out, "state", slice_of(states[vertex->state]));
		json_number(out, "offset", vertex->rcpt_count > 0 ?
		    vertex_rcpts(vertex)->offset : 0);
		json_number(out, "rcpts", vertex->rcpt_count -
		    vertex->final_count);
		json_number(out, "tries", vertex->tries);
		json_number(out, "next", wall_s(next_ms));
		json_close(out);
	}
}

static void
answer_next(const struct scheduler *scheduler, struct str *out)
{
	const struct plan_heap *due = &scheduler->plan.due;

	for (size_t i = 0; i < due->count; i++) {
		const struct vertex *vertex = due->slots[i].object;

		if (vertex->rcpt_count == 0)
			continue;
		json_open(out);
		json_number(out, "file", (int64_t)vertex->job->inode);
		json_number(out, "offset", vertex_rcpts(vertex)->offset);
		json_number(out, "next", wall_s(vertex->next_ms > 0 ?
		    vertex->next_ms : vertex->moment_ms));
		json_close(out);
	}
}

static void
answer_error(struct str *out, const char *text)
{
	json_open(out);
	json_text(out, "error", slice_of(text));
	json_close(out);
}

void
control_answer(const struct scheduler *scheduler, struct slice line,
    struct str *out)
{
	struct slice rest = line, verb = SLICE(""), word;
	const struct job *job;
	uint64_t inode;

	(void)slice_word(&rest, &verb);
	if (slice_is(verb, "queue") && slice_trim(rest).n == 0) {
		answer_queue(scheduler, out);
	} else if (slice_is(verb, "next") && slice_trim(rest).n == 0) {
		answer_next(scheduler, out);
	} else if (slice_is(verb, "job")) {
		job = slice_word(&rest, &word) &&
		    slice_number(word, 1, UINT64_MAX, &inode) &&
		    slice_trim(rest).n == 0 ?
		    job_table_find(&scheduler->jobs, (ino_t)inode) : NULL;
		if (job == NULL)
			answer_error(out, "no such message here");
		else
			answer_job(job, out);
	} else {
		answer_error(out, "unknown request; there are: queue, "
		    "next, job INODE");
	}
	str_addc(out, '\n');
}

/* ---- clients ----------------------------------------------------- */

static void
client_free(struct client *client)
{
	struct client **link = &client->control->clients;

	while (*link != client)
		link = &(*link)->next;
	*link = client->next;
	client->control->count--;
	timer_clear(&client->end);
	watch_free(&client->watch);
	close(client->socket);
	str_release(&client->in);
	str_release(&client->out);
	mem_free(&client);
}

static void
client_over(void *context)
{
	client_free(context);
}

/* One answer at a time: the next line waits until it is out, so a client
 * that does not read costs one answer. */
static void
client_lines(struct client *client)
{
	struct slice in = str_slice(&client->in);
	size_t at = slice_find(in, '\n');

	if (client->out.len > 0 || at == in.n)
		return;
	control_answer(client->control->scheduler, slice_first(in, at),
	    &client->out);
	str_consume(&client->in, at + 1);
}

/* False: it is gone. */
static bool
client_write(struct client *client)
{
	ssize_t n;

	if (client->out.len == 0)
		return true;
	n = write(client->socket, client->out.buf, client->out.len);
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return false;
	if (n > 0)
		str_consume(&client->out, (size_t)n);
	return true;
}

static bool
client_read(struct client *client)
{
	char buffer[CONTROL_LINE_BYTES_MAX];
	ssize_t n = read(client->socket, buffer, sizeof(buffer));

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		client->is_last = true;
	str_add(&client->in, buffer, (size_t)n);
	return slice_find(str_slice(&client->in), '\n') <=
	    CONTROL_LINE_BYTES_MAX;
}

static void
client_ready(void *context, unsigned ready)
{
	struct client *client = context;

	if ((client->out.len == 0 && !client->is_last &&
	    !client_read(client)) || (ready & LOOP_HANGUP && ready ==
	    LOOP_HANGUP)) {
		client_free(client);
		return;
	}
	client_lines(client);
	if (!client_write(client)) {
		client_free(client);
		return;
	}
	client_lines(client);
	if (client->out.len > 0)
		watch_set(client->watch, LOOP_WRITE);
	else if (client->is_last)
		client_free(client);
	else
		watch_set(client->watch, LOOP_READ);
}

static void
client_new(void *context, unsigned ready)
{
	struct control *control = context;
	struct client *client;
	int socket = accept(control->socket, NULL, NULL);

	if (socket < 0)
		return;
	if (control->count >= CONTROL_CLIENTS_MAX) {
		close(socket);
		return;
	}
	(void)fcntl(socket, F_SETFL, O_NONBLOCK);
	(void)fcntl(socket, F_SETFD, FD_CLOEXEC);
	client = mem_alloc(1, sizeof(*client));
	client->control = control;
	client->socket = socket;
	str_init(&client->in);
	str_init(&client->out);
	client->next = control->clients;
	control->clients = client;
	control->count++;
	client->watch = loop_watch(control->scheduler->loop, socket,
	    LOOP_READ, client_ready, client);
	timer_set(control->scheduler->loop, &client->end,
	    clock_steady_ms() + CONTROL_CLIENT_MS, client_over, client);
}

/* ---- the socket -------------------------------------------------- */

int
control_bind(const char *run_dir, struct err *err)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, n;

	n = snprintf(address.sun_path, sizeof(address.sun_path),
	    "%s/scheduler.sock", run_dir);
	if (n < 0 || (size_t)n >= sizeof(address.sun_path))
		return err_set(err, "%s/scheduler.sock: too long for a "
		    "socket's name; choose a shorter run directory", run_dir);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_sys(err, "socket");
	/* the spool's lock says that we are the only one */
	(void)unlink(address.sun_path);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
	    chmod(address.sun_path, 0660) < 0 || listen(fd, 16) < 0) {
		err_sys(err, "%s", address.sun_path);
		close(fd);
		return -1;
	}
	return fd;
}

void
control_open(struct scheduler *scheduler, int socket)
{
	struct control *control = mem_alloc(1, sizeof(*control));

	control->scheduler = scheduler;
	control->socket = socket;
	control->watch = loop_watch(scheduler->loop, socket, LOOP_READ,
	    client_new, control);
	scheduler->control = control;
}

void
control_close(struct scheduler *scheduler)
{
	struct control *control = scheduler->control;

	if (control == NULL)
		return;
	while (control->clients != NULL)
		client_free(control->clients);
	watch_free(&control->watch);
	close(control->socket);
	mem_free(&scheduler->control);
}

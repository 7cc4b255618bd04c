/* live.c - what the running scheduler knows besides the files
 *
 * In     RUN/scheduler.sock
 * Out    its threads: who is held and until when, who is active
 * Holds  nothing
 * Trusts the answer only as lines of JSON
 * Spec   scheduler/control/control.h: request "queue"
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/json.h"
#include "io/unix_socket.h"
#include "tools/queue/view.h"

#include "base/banned.h"

#define DONE "{\"done\":true"	/* how an answer's last line begins */

enum { ANSWER_WAIT_MS = 5000, ANSWER_BYTES_MAX = 256 << 20 };

static int
thread_compare(const void *pa, const void *pb)
{
	const struct live_thread *a = pa, *b = pb;
	int order = strcmp(a->channel, b->channel);

	return order != 0 ? order : strcmp(a->host, b->host);
}

static const char *
live_member(struct slice line, const char *key, struct arena *arena)
{
	struct str value = STR_INIT;
	const char *text = "";

	if (json_get(line, key, &value))
		text = arena_dup(arena, value.buf, value.len);
	str_release(&value);
	return text;
}

void
live_parse(struct slice text, struct arena *arena, struct live *out)
{
	struct slice rest = text, line;
	size_t room = 0;

	out->count = 0;
	while (slice_cut(&rest, '\n', &line))
		room++;
	out->threads = arena_alloc(arena, room * sizeof(*out->threads));
	rest = text;
	while (slice_cut(&rest, '\n', &line)) {
		struct live_thread *thread = &out->threads[out->count];

		thread->channel = live_member(line, "channel", arena);
		if (*thread->channel == '\0')
			continue;
		thread->host = live_member(line, "host", arena);
		thread->reason = live_member(line, "reason", arena);
		thread->state = live_member(line, "state", arena);
		thread->held_until_s = json_get_number(line, "held_until");
		thread->flight = (unsigned)json_get_number(line, "flight");
		thread->is_suspended = strcmp(live_member(line, "suspended",
		    arena), "true") == 0;
		out->count++;
	}
	if (out->count > 1)
		qsort(out->threads, out->count, sizeof(*out->threads),
		    thread_compare);
}

static int
next_compare(const void *pa, const void *pb)
{
	const struct live_next *a = pa, *b = pb;

	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (a->offset > b->offset) - (a->offset < b->offset);
}

void
live_parse_next(struct slice text, struct arena *arena, struct live *out)
{
	struct slice rest = text, line;
	size_t room = 0;

	while (slice_cut(&rest, '\n', &line))
		room++;
	out->nexts = arena_alloc(arena, room * sizeof(*out->nexts));
	out->next_count = 0;
	rest = text;
	while (slice_cut(&rest, '\n', &line)) {
		struct live_next *next = &out->nexts[out->next_count];

		next->file = (uint64_t)json_get_number(line, "file");
		next->offset = (uint32_t)json_get_number(line, "offset");
		next->next_s = json_get_number(line, "next");
		out->next_count += next->file != 0;
	}
	if (out->next_count > 1)
		qsort(out->nexts, out->next_count, sizeof(*out->nexts),
		    next_compare);
}

int64_t
live_next_s(const struct live *live, ino_t file, uint32_t offset)
{
	struct live_next key = { .file = (uint64_t)file, .offset = offset };
	const struct live_next *found = live->next_count == 0 ? NULL :
	    bsearch(&key, live->nexts, live->next_count, sizeof(key),
	    next_compare);

	return found == NULL ? 0 : found->next_s;
}

/* Up to the empty line.  False: no answer. */
static bool
live_answer_read(int fd, struct str *out)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	char buffer[65536];

	while (out->len < ANSWER_BYTES_MAX) {
		ssize_t n;

		if (poll(&poll_fd, 1, ANSWER_WAIT_MS) <= 0)
			return false;
		n = read(fd, buffer, sizeof(buffer));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		str_add(out, buffer, (size_t)n);
		if (slice_is(str_slice(out), "\n") ||
		    slice_ends(str_slice(out), "\n\n"))
			return true;
	}
	return false;
}

/* One request, one answer. */
static bool
queue_live_ask(int fd, const char *request, struct str *answer)
{
	str_reset(answer);
	return write(fd, request, strlen(request)) ==
	    (ssize_t)strlen(request) && live_answer_read(fd, answer);
}

static void
ask_nexts(int fd, const char *request, struct arena *arena, struct live *out)
{
	struct str answer = STR_INIT;

	if (queue_live_ask(fd, request, &answer))
		live_parse_next(str_slice(&answer), arena, out);
	str_release(&answer);
}

/* Its lines have the same members as those of `next`; the last one says that
 * nothing was refused. */
static void
ask_page(int fd, const char *request, struct arena *arena, struct live *out)
{
	struct str answer = STR_INIT;

	out->is_page = queue_live_ask(fd, request, &answer) &&
	    (slice_starts(str_slice(&answer), DONE) ||
	    strstr(answer.buf, "\n" DONE) != NULL);
	if (out->is_page)
		live_parse_next(str_slice(&answer), arena, out);
	str_release(&answer);
}

static void
live_fill(const char *run_dir, struct arena *arena, const char *page,
    struct live *out)
{
	struct str answer = STR_INIT;
	struct err err;
	int fd = unix_socket_connect_in(run_dir, "scheduler.sock", 0, &err);

	memset(out, 0, sizeof(*out));
	if (fd < 0)
		return;
	out->is_up = queue_live_ask(fd, "queue\n", &answer);
	if (out->is_up) {
		live_parse(str_slice(&answer), arena, out);
		if (page != NULL)
			ask_page(fd, page, arena, out);
		if (!out->is_page)
			ask_nexts(fd, "next\n", arena, out);
	}
	close(fd);
	str_release(&answer);
}

void
live_ask(const char *run_dir, struct arena *arena, struct live *out)
{
	live_fill(run_dir, arena, NULL, out);
}

void
live_ask_page(const char *run_dir, struct arena *arena, int64_t limit,
    const char *after, const char *select, struct live *out)
{
	struct str request = STR_INIT;

	json_open(&request);
	json_number(&request, "v", 1);
	json_text(&request, "op", SLICE("list"));
	json_number(&request, "limit", limit);
	if (after != NULL)
		json_text(&request, "after", slice_of(after));
	if (select != NULL)
		json_text(&request, "select", slice_of(select));
	json_close(&request);
	live_fill(run_dir, arena, request.buf, out);
	str_release(&request);
}

const struct live_thread *
live_find(const struct live *live, struct slice channel, struct slice host)
{
	size_t low = 0, high = live->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct live_thread *thread = &live->threads[middle];
		struct slice name = slice_of(thread->channel);
		int order = strncmp(name.p, channel.n ? channel.p : "",
		    channel.n < name.n ? channel.n : name.n);

		if (order == 0)
			order = (name.n > channel.n) - (name.n < channel.n);
		if (order == 0) {
			name = slice_of(thread->host);
			order = strncmp(name.p, host.n ? host.p : "",
			    host.n < name.n ? host.n : name.n);
			if (order == 0)
				order = (name.n > host.n) - (name.n < host.n);
		}
		if (order == 0)
			return thread;
		if (order < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

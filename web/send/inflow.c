/* inflow.c - what connections bring, counted before it is a request
 *
 * In     bytes, as they come into a connection's buffer
 * Out    413 or 503, at once, from here
 * Holds  the head of a request, at most INFLOW_HEADER_BYTES_MAX
 * Trusts no length that is said: what counts is what came
 * Spec   inflow.h; RFC 9112 section 9.6
 *
 * SPDX-License-Identifier: ISC
 */
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "base/ascii.h"
#include "base/err.h"
#include "base/str.h"
#include "web/send/inflow.h"

#include "base/banned.h"

enum { OTHER_BYTES_MAX = INFLOW_SMALL_BYTES + INFLOW_HEADER_BYTES_MAX + 4096 };

struct inflow {
	struct bufferevent *bev;
	struct evbuffer_cb_entry *entry;
	struct event	*drain;
	struct str	 head;
	bool		 is_head_whole, is_send, is_refused;
	size_t		 bytes;		/* that came and are kept */
	uint64_t	 most;		/* of them */
};
static size_t inflow_all_bytes, inflow_body_bytes_max;

void
inflow_allow(size_t body_bytes_max)
{
	inflow_body_bytes_max = body_bytes_max < INFLOW_BODY_BYTES_MAX ?
	    body_bytes_max : INFLOW_BODY_BYTES_MAX;
}

bool
inflow_is_allowed(void)
{
	return inflow_body_bytes_max > 0;
}

bool
inflow_is_send(const struct inflow *inflow)
{
	return inflow != NULL && inflow->is_send && !inflow->is_refused;
}

/* ---- a refusal ---------------------------------------------------------- */

/* Past the library: it waits for a body that never becomes whole. */
static void
inflow_refuse(struct inflow *inflow, int status)
{
	struct str out = STR_INIT;
	const char *body = status == 413 ?
	    "{\"v\":1,\"error\":\"The body is larger than is taken here.\"}\n" :
	    "{\"v\":1,\"error\":\"There is no room for this body now.\"}\n";

	inflow->is_refused = true;
	str_addf(&out, "HTTP/1.1 %s\r\nContent-Type: application/json\r\n"
	    "X-Content-Type-Options: nosniff\r\nCache-Control: no-store\r\n"
	    "%sConnection: close\r\nContent-Length: %zu\r\n\r\n%s",
	    status == 413 ? "413 Content Too Large" :
	    "503 Service Unavailable", status == 413 ? "" :
	    "Retry-After: 10\r\n", strlen(body), body);
	(void)bufferevent_write(inflow->bev, out.buf, out.len);
	(void)bufferevent_enable(inflow->bev, EV_WRITE);
	str_release(&out);
	event_active(inflow->drain, EV_TIMEOUT, 0);
}

/* Who still sends reads the answer afterwards, or never. */
static void
inflow_on_drain(evutil_socket_t fd, short what, void *context)
{
	struct inflow *inflow = context;
	struct evbuffer *in = bufferevent_get_input(inflow->bev);

	(void)evbuffer_drain(in, evbuffer_get_length(in));
	if (inflow->bytes > 2 * (size_t)INFLOW_BODY_BYTES_MAX)
		(void)shutdown(bufferevent_getfd(inflow->bev), SHUT_RDWR);
}

/* ---- the head ----------------------------------------------------------- */

/* Where it ends, lines as the library takes them; 0: not yet. */
static size_t
inflow_head_end(struct slice head)
{
	for (size_t i = 0; i < head.n; i++) {
		struct slice rest = slice_from(head, i);

		if (slice_starts(rest, "\n\n"))
			return i + 2;
		if (slice_starts(rest, "\n\r\n"))
			return i + 3;
	}
	return 0;
}

static uint64_t
inflow_length(struct slice head)
{
	static const char name[] = "Content-Length:";
	struct slice line;
	uint64_t length = 0;

	while (slice_cut(&head, '\n', &line))
		if (slice_is_nocase(slice_first(line, sizeof(name) - 1),
		    name))
			(void)slice_number(slice_trim(slice_from(line,
			    sizeof(name) - 1)), 0, INT64_MAX, &length);
	return length;
}

static void
inflow_take_head(struct inflow *inflow, size_t end)
{
	struct slice head = slice_first(str_slice(&inflow->head), end);
	uint64_t length = inflow_length(head);

	inflow->is_head_whole = true;
	inflow->is_send = slice_starts(head, "POST /send ") ||
	    slice_starts(head, "POST /send?");
	inflow->most = OTHER_BYTES_MAX;
	if (inflow->is_send) {
		inflow->most = end + inflow_body_bytes_max + 4096;
		if (length > inflow_body_bytes_max)
			inflow_refuse(inflow, 413);
	} else if (length > INFLOW_SMALL_BYTES) {
		inflow_refuse(inflow, 413);
	}
	str_release(&inflow->head);
}

static void
inflow_read_head(struct inflow *inflow, struct evbuffer *in, size_t n)
{
	size_t before = evbuffer_get_length(in) - n, room, end;
	struct evbuffer_ptr at;

	room = INFLOW_HEADER_BYTES_MAX + 4096 - inflow->head.len;
	n = n < room ? n : room;
	if (evbuffer_ptr_set(in, &at, before, EVBUFFER_PTR_SET) < 0 ||
	    evbuffer_copyout_from(in, &at, str_room(&inflow->head, n), n) !=
	    (ev_ssize_t)n)
		return;
	inflow->head.len += n;
	inflow->head.buf[inflow->head.len] = '\0';
	end = inflow_head_end(str_slice(&inflow->head));
	if (end > 0)
		inflow_take_head(inflow, end);
	else if (n == room)
		inflow->is_head_whole = true;	/* the library refuses it */
}

static void
inflow_on_bytes(struct evbuffer *in, const struct evbuffer_cb_info *info,
    void *context)
{
	struct inflow *inflow = context;
	size_t n = info->n_added;

	if (n == 0)
		return;
	inflow->bytes += n;
	if (inflow->is_refused) {
		event_active(inflow->drain, EV_TIMEOUT, 0);
		return;
	}
	inflow_all_bytes += n;
	if (!inflow->is_head_whole)
		inflow_read_head(inflow, in, n);
	if (!inflow->is_refused && inflow->bytes > inflow->most)
		inflow_refuse(inflow, 413);
	if (!inflow->is_refused && inflow_all_bytes > INFLOW_ALL_BYTES_MAX &&
	    inflow->bytes > INFLOW_SMALL_BYTES)
		inflow_refuse(inflow, 503);
	if (inflow->is_refused)
		inflow_all_bytes -= inflow->bytes;
}

/* ---- a connection ------------------------------------------------------- */

struct inflow *
inflow_new(struct event_base *base, struct bufferevent *bev)
{
	struct inflow *inflow;

	if (!inflow_is_allowed())
		return NULL;
	inflow = mem_alloc(1, sizeof(*inflow));
	*inflow = (struct inflow){ .bev = bev, .head = STR_INIT,
	    .most = OTHER_BYTES_MAX };
	inflow->drain = event_new(base, -1, 0, inflow_on_drain, inflow);
	inflow->entry = evbuffer_add_cb(bufferevent_get_input(bev),
	    inflow_on_bytes, inflow);
	if (inflow->drain == NULL || inflow->entry == NULL)
		panic("no memory for a connection");
	return inflow;
}

void
inflow_free(struct inflow **inflow)
{
	struct inflow *one = *inflow;

	if (one == NULL)
		return;
	(void)evbuffer_remove_cb_entry(bufferevent_get_input(one->bev),
	    one->entry);
	if (!one->is_refused)
		inflow_all_bytes -= one->bytes;
	event_free(one->drain);
	str_release(&one->head);
	mem_free(inflow);
}

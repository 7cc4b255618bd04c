/* ipc_link.c - our end of a socket on which lines come and go, in a loop
 *
 * In     lines of the other side
 * Out    lines of the owner
 * Holds  what is no whole line yet, what the socket has not taken yet
 * Trusts nobody: a line has an end, and what waits has a limit where the
 *        owner says so
 * Spec   ipc_link.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/ipc.h"
#include "io/ipc_link.h"

#include "base/banned.h"

enum { PARCEL_FDS_MAX = 2 };

struct parcel {			/* descriptors of a line that waits */
	size_t	at;			/* bytes of out before that line */
	int	fds[PARCEL_FDS_MAX];
	size_t	count;
};

struct ipc_link {
	int				 socket;
	struct watch			*watch;	/* NULL: it has ended */
	const struct ipc_link_kind	*kind;
	void				*context;
	struct ipc_inbox		 inbox;
	struct str			 out;
	struct parcel			*parcels;	/* as their lines */
	size_t				 parcel_count, parcel_room;
	bool				 is_paused;
};

static void
ipc_link_end(struct ipc_link *link)
{
	watch_free(&link->watch);
	if (link->kind->ended != NULL)
		link->kind->ended(link->context);
}

/* A link that waits for nothing still hears that the other side is gone. */
static void
ipc_link_await(struct ipc_link *link, bool is_writing)
{
	unsigned events = is_writing ? LOOP_WRITE : 0;

	if (!link->is_paused && (!is_writing || link->kind->reads_on))
		events |= LOOP_READ;
	watch_set(link->watch, events != 0 ? events : LOOP_HANGUP);
}

/* What waits after the first line is foreseen, too. */
static void
ipc_link_foresee(struct ipc_link *link, size_t most)
{
	struct slice line;
	size_t cursor = 0;

	while (ipc_line(&link->inbox, &cursor, &line) == IPC_LINE)
		if (line.n <= most)
			link->kind->foresee(link->context, line);
}

/* False: it talks nonsense. */
static bool
ipc_link_take(struct ipc_link *link)
{
	size_t most = link->kind->line_bytes_max != 0 ?
	    link->kind->line_bytes_max : IPC_LINE_BYTES_MAX;
	enum ipc_link_taken taken = IPC_LINK_NEXT;
	enum ipc_line_answer got = IPC_LINE_NONE;
	struct slice line;
	size_t cursor = 0;

	if (link->kind->foresee != NULL && !link->is_paused)
		ipc_link_foresee(link, most);
	while (!link->is_paused && taken == IPC_LINK_NEXT &&
	    (got = ipc_line(&link->inbox, &cursor, &line)) == IPC_LINE) {
		taken = line.n > most ? IPC_LINK_NONSENSE :
		    link->kind->take(link->context, line);
		link->is_paused = taken == IPC_LINK_PAUSE;
	}
	ipc_inbox_consume(&link->inbox, cursor);
	return taken != IPC_LINK_NONSENSE && got != IPC_LINE_TOO_LONG &&
	    (link->is_paused || link->inbox.bytes.len <= most) &&
	    (link->kind->out_bytes_max == 0 ||
	    link->out.len <= link->kind->out_bytes_max);
}

/* ---- sending ------------------------------------------------------------ */

static void
parcel_close(struct parcel *parcel)
{
	for (size_t i = 0; i < parcel->count; i++)
		close(parcel->fds[i]);
}

/* So many bytes of out were sent, with the first parcel if it was their
 * first. */
static void
ipc_link_sent(struct ipc_link *link, size_t bytes)
{
	struct parcel *parcels = link->parcels;

	if (link->parcel_count > 0 && parcels[0].at == 0) {
		parcel_close(&parcels[0]);
		memmove(parcels, parcels + 1, --link->parcel_count *
		    sizeof(*parcels));
	}
	for (size_t i = 0; i < link->parcel_count; i++)
		parcels[i].at -= bytes;
	str_consume(&link->out, bytes);
}

/* What has the same descriptors, or none, in one call.  returns as ipc_send */
static ssize_t
ipc_link_send_next(struct ipc_link *link, size_t *out_bytes)
{
	struct slice text = str_slice(&link->out);
	const struct parcel *with = NULL, *next = link->parcels;

	if (link->parcel_count > 0 && next->at == 0)
		with = next++;
	if (link->parcel_count > (with != NULL ? 1u : 0u))
		text = slice_first(text, next->at);
	*out_bytes = text.n;
	return ipc_send(link->socket, text, with != NULL ? with->fds : NULL,
	    with != NULL ? with->count : 0);
}

/* An error is no end yet: it is read next. */
static void
ipc_link_flush(struct ipc_link *link)
{
	ssize_t sent = 0;
	size_t bytes = 0;

	while (link->out.len > 0) {
		sent = ipc_link_send_next(link, &bytes);
		if (sent > 0)
			ipc_link_sent(link, (size_t)sent);
		if (sent < (ssize_t)bytes)
			break;
	}
	ipc_link_await(link, sent >= 0 && link->out.len > 0);
}

void
ipc_link_attach(struct ipc_link *link, const int *fds, size_t count)
{
	struct parcel *parcel;

	if (link->parcel_count == link->parcel_room) {
		link->parcel_room = link->parcel_room * 2 + 16;
		link->parcels = mem_grow(link->parcels, link->parcel_room,
		    sizeof(*link->parcels));
	}
	parcel = &link->parcels[link->parcel_count++];
	parcel->at = link->out.len;
	parcel->count = count < PARCEL_FDS_MAX ? count : PARCEL_FDS_MAX;
	memcpy(parcel->fds, fds, parcel->count * sizeof(*fds));
}

/* ---- a link ------------------------------------------------------------- */

static void
ipc_link_on_ready(void *context, unsigned ready)
{
	struct ipc_link *link = context;

	if (ready & (LOOP_READ | LOOP_HANGUP)) {
		enum ipc_answer got = ipc_receive(link->socket, &link->inbox);

		if (got == IPC_END || (got == IPC_TROUBLE &&
		    errno != EAGAIN)) {
			ipc_link_end(link);
			return;
		}
	}
	if (!ipc_link_take(link)) {
		ipc_link_end(link);
		return;
	}
	ipc_link_flush(link);
	if (link->out.len == 0 && link->kind->idle != NULL)
		link->kind->idle(link->context);
}

struct ipc_link *
ipc_link_new(struct loop *loop, int socket, const struct ipc_link_kind *kind,
    void *context)
{
	struct ipc_link *link = mem_alloc(1, sizeof(*link));

	(void)fcntl(socket, F_SETFL, O_NONBLOCK);
	link->socket = socket;
	link->kind = kind;
	link->context = context;
	ipc_inbox_init(&link->inbox);
	str_init(&link->out);
	link->watch = loop_watch(loop, socket, LOOP_READ, ipc_link_on_ready,
	    link);
	return link;
}

void
ipc_link_free(struct ipc_link **plink)
{
	struct ipc_link *link = *plink;

	if (link == NULL)
		return;
	watch_free(&link->watch);
	close(link->socket);
	ipc_inbox_release(&link->inbox);
	for (size_t i = 0; i < link->parcel_count; i++)
		parcel_close(&link->parcels[i]);
	mem_free(&link->parcels);
	str_release(&link->out);
	mem_free(plink);
}

struct str *
ipc_link_out(struct ipc_link *link)
{
	return &link->out;
}

void
ipc_link_send(struct ipc_link *link)
{
	if (link->watch != NULL && link->out.len > 0)
		ipc_link_flush(link);
}

void
ipc_link_resume(struct ipc_link *link)
{
	link->is_paused = false;
	if (link->watch != NULL)
		ipc_link_await(link, true);
}

void
ipc_link_turn(struct ipc_link *link)
{
	if (link->watch != NULL)
		ipc_link_on_ready(link, LOOP_READ);
}

int
ipc_link_take_fd(struct ipc_link *link)
{
	return ipc_take_fd(&link->inbox);
}

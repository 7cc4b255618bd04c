/* events.c - the journal as it grows
 *
 * In     LOGDIR/events-DAY.jsonl, of all processes
 * Out    the lines asked for, and a sign of life with the place
 * Holds  one descriptor and less than a piece of the file
 * Trusts nothing in a line
 * Spec   doc/protocol/control.md section 4; zmailer-events(5)
 *
 * Nothing is handed over in memory: a client that is slow, or was cut off,
 * reads on where it was, and what no client reads costs nothing.
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/json.h"
#include "grammar/units.h"
#include "scheduler/control/act/act.h"

#include "base/banned.h"

enum {
	LOOK_MS = 200,
	LATE_MS = 2000,			/* a closed file: the last lines may
					 * just be written */
	PING_MS = 10000,
	PIECE_BYTES = 65536,
	LINE_BYTES_MAX = 65536,		/* longer ones are left out */
	DAY_BYTES = 11
};

struct tail {
	char		 day[DAY_BYTES];	/* "2026-11-20" */
	int		 fd;		/* -1: that day has no file yet */
	uint64_t	 offset;	/* of pending's first byte */
	uint64_t	 inode;		/* of the file; 0: not known */
	int64_t		 over_ms;	/* it was closed: when seen; 0 */
	struct str	 pending;
	int64_t		 ping_ms;
};

void
tail_free(struct tail **tail)
{
	if (*tail == NULL)
		return;
	if ((*tail)->fd >= 0)
		close((*tail)->fd);
	str_release(&(*tail)->pending);
	mem_free(tail);
}

static void
tail_today(char out[DAY_BYTES])
{
	char now[CLOCK_TEXT_BYTES];

	clock_rfc3339(clock_wall_us(), now);
	snprintf(out, DAY_BYTES, "%.10s", now);
}

static bool
tail_is_day(struct slice text)
{
	if (text.n != DAY_BYTES - 1)
		return false;
	for (size_t i = 0; i < text.n; i++)
		if (i == 4 || i == 7 ? text.p[i] != '-' :
		    !ascii_is_digit(text.p[i]))
			return false;
	return true;
}

/* The file of the day; whoever was in another of that day, which is closed
 * now, begins with this one. */
static void
tail_open_file(struct tail *tail, const char *log_dir)
{
	struct stat st;
	char path[4200];

	if (tail->fd >= 0)
		return;
	snprintf(path, sizeof(path), "%s/events-%s.jsonl", log_dir,
	    tail->day);
	tail->fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (tail->fd < 0 || fstat(tail->fd, &st) < 0)
		return;
	if ((tail->inode != 0 && tail->inode != (uint64_t)st.st_ino) ||
	    tail->offset > (uint64_t)st.st_size)
		tail->offset = 0;
	tail->inode = (uint64_t)st.st_ino;
}

/* Was it closed (doc/INTERNALS.md section 9), and read to its end? */
static bool
tail_turn_file(struct tail *tail, const char *log_dir)
{
	int64_t now_ms = clock_steady_ms();
	struct stat st;
	char path[4200];

	if (tail->fd < 0)
		return false;
	if (tail->over_ms == 0) {
		snprintf(path, sizeof(path), "%s/events-%s.jsonl", log_dir,
		    tail->day);
		if (lstat(path, &st) == 0 &&
		    (uint64_t)st.st_ino != tail->inode)
			tail->over_ms = now_ms;
		return false;
	}
	if (now_ms < tail->over_ms + LATE_MS)
		return false;
	close(tail->fd);
	tail->fd = -1;
	tail->over_ms = 0;
	str_reset(&tail->pending);
	return true;
}

/* "DAY:OFFSET[:FILE]", or from now on.  False: it makes no sense. */
static bool
tail_begin(struct act *act)
{
	struct slice rest = slice_of(act->request.from), day, offset;
	struct tail *tail = mem_alloc(1, sizeof(*tail));
	off_t end;

	act->tail = tail;
	tail->fd = -1;
	str_init(&tail->pending);
	tail->ping_ms = clock_steady_ms() + PING_MS;
	if (act->request.from != NULL) {
		if (!slice_cut(&rest, ':', &day) || !tail_is_day(day) ||
		    !slice_cut(&rest, ':', &offset) ||
		    !slice_number(offset, 0, INT64_MAX, &tail->offset) ||
		    (rest.n > 0 && !slice_number(rest, 0, INT64_MAX,
		    &tail->inode)))
			return false;
		snprintf(tail->day, sizeof(tail->day), SLICE_FMT,
		    SLICE_ARG(day));
		return true;
	}
	tail_today(tail->day);
	tail_open_file(tail, act->queue->conf->log_dir);
	end = tail->fd >= 0 ? lseek(tail->fd, 0, SEEK_END) : 0;
	tail->offset = end > 0 ? (uint64_t)end : 0;
	return true;
}

static bool
tail_wants(const struct request *request, struct slice line)
{
	struct str value = STR_INIT;
	bool tail_wants = request->ev == NULL ||
	    (json_get(line, "ev", &value) && glob_match(slice_of(request->ev),
	    str_slice(&value)));

	if (tail_wants && request->id_count > 0) {
		str_reset(&value);
		tail_wants = false;
		if (json_get(line, "id", &value))
			for (size_t i = 0; i < request->id_count &&
			    !tail_wants; i++)
				tail_wants = slice_equal(request->ids[i],
				    str_slice(&value));
	}
	str_release(&value);
	return tail_wants;
}

static void
tail_take_lines(struct act *act, struct str *out)
{
	struct tail *tail = act->tail;
	struct slice rest = str_slice(&tail->pending);
	size_t end;

	while ((end = slice_find(rest, '\n')) < rest.n) {
		struct slice line = slice_first(rest, end);

		if (tail_wants(&act->request, line)) {
			str_add_slice(out, line);
			str_addc(out, '\n');
		}
		rest = slice_from(rest, end + 1);
	}
	if (rest.n > LINE_BYTES_MAX)
		rest = slice_from(rest, rest.n);
	tail->offset += tail->pending.len - rest.n;
	str_consume(&tail->pending, tail->pending.len - rest.n);
}

/* True: something was there. */
static bool
tail_read_piece(struct tail *tail)
{
	ssize_t n = tail->fd < 0 ? 0 : pread(tail->fd,
	    str_room(&tail->pending, PIECE_BYTES), PIECE_BYTES,
	    (off_t)(tail->offset + tail->pending.len));

	if (n <= 0)
		return false;
	tail->pending.len += (size_t)n;
	tail->pending.buf[tail->pending.len] = '\0';
	return true;
}

/* A day is over: what follows it is today (days without mail have no
 * file). */
static bool
tail_turn_day(struct tail *tail)
{
	char now[DAY_BYTES];

	tail_today(now);
	if (strcmp(tail->day, now) >= 0)
		return false;
	if (tail->fd >= 0)
		close(tail->fd);
	tail->fd = -1;
	tail->offset = tail->inode = 0;
	tail->over_ms = 0;
	str_reset(&tail->pending);
	memcpy(tail->day, now, sizeof(now));
	return true;
}

enum act_step
act_events(struct act *act, struct str *out)
{
	int64_t now_ms = clock_steady_ms();
	struct tail *tail;

	if (act->tail == NULL && !tail_begin(act)) {
		act_refuse(out, act->request.tag, "bad-request",
		    "from is what a ping said, or \"DAY:OFFSET\"");
		return ACT_DONE;
	}
	tail = act->tail;
	tail_open_file(tail, act->queue->conf->log_dir);
	if (tail_read_piece(tail)) {
		tail_take_lines(act, out);
		tail->ping_ms = now_ms + PING_MS;
		return ACT_MORE;
	}
	if (tail_turn_day(tail) ||
	    tail_turn_file(tail, act->queue->conf->log_dir))
		return ACT_MORE;
	if (now_ms >= tail->ping_ms) {
		char place[DAY_BYTES + 48];

		snprintf(place, sizeof(place), "%s:%ju:%ju", tail->day,
		    (uintmax_t)tail->offset, (uintmax_t)tail->inode);
		json_open(out);
		json_text(out, "ping", slice_of(place));
		json_close(out);
		tail->ping_ms = now_ms + PING_MS;
	}
	act->wake_ms = now_ms + LOOK_MS;
	return ACT_WAIT;
}

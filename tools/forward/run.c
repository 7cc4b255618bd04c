/* run.c - the process that sends events on
 *
 * In     LOGDIR/events-DAY.jsonl as it grows
 * Out    a datagram a line
 * Holds  a piece of the file; its place in memory of the supervisor's
 * Trusts nobody at the other end: what does not take a line at once is asked
 *        again later
 * Spec   forward.h; doc/INTERNALS.md section 9
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sysexits.h>
#include <unistd.h>
#ifdef HAVE_SYS_PRCTL_H
#include <sys/prctl.h>
#endif

#include "base/title.h"
#include "base/clock.h"
#include "daemon/sandbox.h"
#include "daemon/skeleton.h"
#include "journal/event.h"
#include "tools/forward/forward.h"
#include "tools/journal/journal.h"
#include "past/names.h"

#include "base/banned.h"

enum { LOOK_MS = 200, FULL_MS = 20, LATE_MS = 2000, FORWARD_NICE = 5,
	PIECE_BYTES = 65536 };

struct forwarding {
	const struct conf_log_to *to;
	struct forward_place *place;
	int		 lifeline, dir_fd, socket;
	int		 fd;		/* of the file; -1: none */
	int64_t		 over_ms;	/* it has another name: since when */
	struct sockaddr_un address;
	struct str	 pending;	/* from place->offset on */
	struct str	 datagram;
	int64_t		 again_ms;	/* nothing is sent before */
	bool		 is_stalled;	/* told */
	uint64_t	 dropped;
};

/* ---- the file ----------------------------------------------------------- */

static bool
forwarding_is(const struct forwarding *f, const char *name, uint64_t inode)
{
	struct stat st;

	return fstatat(f->dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    (uint64_t)st.st_ino == inode;
}

static void
forwarding_open(struct forwarding *f, const char *name, bool at_end)
{
	struct stat st;

	f->fd = openat(f->dir_fd, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (f->fd < 0 || fstat(f->fd, &st) != 0)
		return;
	if (f->place->inode != (uint64_t)st.st_ino)
		f->place->offset = at_end ? (uint64_t)st.st_size : 0;
	f->place->inode = (uint64_t)st.st_ino;
	(void)lseek(f->fd, (off_t)f->place->offset, SEEK_SET);
	str_reset(&f->pending);
	f->over_ms = 0;
}

/* The file that it was in; else (is_next) the one after it; else the last
 * one.  What was packed meanwhile is left out. */
static void
forwarding_find(struct forwarding *f, bool is_next)
{
	struct journal_names names;
	const char *found = NULL;
	bool is_passed = false, at_end = f->place->inode == 0;
	struct err err;

	if (names_list(f->dir_fd, &names, &err) < 0)
		return;
	for (size_t i = 0; i < names.count; i++) {
		const char *name = names.rows[i].text;

		if (names.rows[i].is_packed)
			continue;
		if (forwarding_is(f, name, f->place->inode)) {
			is_passed = true;
			found = is_next ? NULL : name;
			if (is_next)
				continue;
			break;
		}
		found = name;
		if (is_passed)
			break;
	}
	if (found != NULL)
		forwarding_open(f, found, at_end);
	else if (at_end)
		f->place->inode = 1;	/* the first one is all new */
	names_release(&names);
}

/* Has it another name, for a while, and is it read to its end? */
static void
forwarding_turn(struct forwarding *f)
{
	char now[CLOCK_TEXT_BYTES], name[64];

	clock_rfc3339(clock_wall_us(), now);
	snprintf(name, sizeof(name), "events-%.10s.jsonl", now);
	if (forwarding_is(f, name, f->place->inode))
		return;
	if (f->over_ms == 0)
		f->over_ms = clock_steady_ms();
	if (clock_steady_ms() < f->over_ms + LATE_MS)
		return;
	close(f->fd);
	f->fd = -1;
	forwarding_find(f, true);
	if (f->fd < 0)			/* there is no next one yet */
		forwarding_find(f, false);
}

static bool
forwarding_read(struct forwarding *f)
{
	ssize_t n;

	if (f->fd < 0)
		forwarding_find(f, false);
	if (f->fd < 0 || f->pending.len > PIECE_BYTES)
		return false;
	n = read(f->fd, str_room(&f->pending, PIECE_BYTES), PIECE_BYTES);
	if (n <= 0) {
		forwarding_turn(f);
		return false;
	}
	f->pending.len += (size_t)n;
	f->pending.buf[f->pending.len] = '\0';
	return true;
}

/* ---- sending ------------------------------------------------------------ */

static void
forwarding_stalled(struct forwarding *f, const char *reason)
{
	f->again_ms = clock_steady_ms() + FORWARD_AGAIN_MS;
	if (f->is_stalled)
		return;
	f->is_stalled = true;
	event(EV_LOG_STALLED, NULL, "to", slice_of(f->address.sun_path),
	    "reason", slice_of(reason), NULL);
	event_flush();
}

static void
forwarding_dropped(struct forwarding *f)
{
	if (f->dropped == 0)
		return;
	event(EV_LOG_DROPPED, NULL, "to", slice_of(f->address.sun_path),
	    "lines", event_number((int64_t)f->dropped), NULL);
	event_flush();
	f->dropped = 0;
}

/* Too far behind?  What waits longest is worth least. */
static bool
forwarding_is_behind(const struct forwarding *f)
{
	struct stat st;

	return f->is_stalled && fstat(f->fd, &st) == 0 &&
	    (uint64_t)st.st_size > f->place->offset + FORWARD_BEHIND_BYTES;
}

/* False: not now. */
static bool
forwarding_send(struct forwarding *f, struct slice line)
{
	forward_line(f->to, line, &f->datagram);
	for (;;) {
		if (sendto(f->socket, f->datagram.buf, f->datagram.len,
		    MSG_DONTWAIT | MSG_NOSIGNAL, (struct sockaddr *)&f->address,
		    sizeof(f->address)) >= 0) {
			f->is_stalled = false;
			return true;
		}
		if (errno == EMSGSIZE && f->datagram.len > 1000) {
			str_truncate(&f->datagram, 1000);
			continue;
		}
		if (errno == EMSGSIZE || errno == EINVAL) {
			f->dropped++;
			return true;
		}
		if (errno != EINTR)
			break;
	}
	if (errno == EAGAIN || errno == ENOBUFS)	/* it is at work */
		f->again_ms = clock_steady_ms() + FULL_MS;
	else
		forwarding_stalled(f, strerror(errno));
	return false;
}

/* Whole lines, in order, as far as they are taken. */
static void
forwarding_send_all(struct forwarding *f)
{
	struct slice rest = str_slice(&f->pending), line;
	bool is_dropping = forwarding_is_behind(f);
	size_t n;

	if (!is_dropping && clock_steady_ms() < f->again_ms)
		return;
	while ((n = slice_find(rest, '\n')) < rest.n) {
		line = slice_first(rest, n);
		if (is_dropping)
			f->dropped++;
		else if (!forwarding_send(f, journal_line_whole(line)))
			break;
		rest = slice_from(rest, n + 1);
		f->place->offset += n + 1;
	}
	if (rest.n == f->pending.len && rest.n > PIECE_BYTES) {
		f->place->offset += rest.n;	/* a line without end */
		rest.n = 0;
	}
	str_consume(&f->pending, f->pending.len - rest.n);
	if (!f->is_stalled)
		forwarding_dropped(f);
}

/* ---- the process -------------------------------------------------------- */

static void
forwarding_lock_in(const struct conf *conf)
{
	const struct sandbox rules = { .readable = { conf->log_dir },
	    .readable_count = 1, .may_list = true,
	    .appended = { conf->log_dir }, .appended_count = 1,
	    .sockets = SOCKETS_LOCAL };
	struct err err;

	if (sandbox_enter(&rules, &err) < 0)
		fatal("log-to: %s", err.text);
}

void
forward_run(const struct conf *conf, struct forward_place *place,
    int lifeline)
{
	struct forwarding f = { .to = &conf->log_to, .place = place,
	    .lifeline = lifeline, .fd = -1, .pending = STR_INIT,
	    .datagram = STR_INIT, .address = { .sun_family = AF_UNIX } };
	struct pollfd wait = { .fd = lifeline, .events = POLLIN };
	struct err err;

	err_program("log-to");
	title_set("log-to");
#ifdef HAVE_SYS_PRCTL_H
	(void)prctl(PR_SET_NAME, "zmailer-log-to", 0, 0, 0);
#endif
	(void)setpriority(PRIO_PROCESS, 0, FORWARD_NICE);
	strlcpy(f.address.sun_path, conf->log_to.path,
	    sizeof(f.address.sun_path));
	f.dir_fd = open(conf->log_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	f.socket = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (event_open(conf->log_dir) < 0 || f.dir_fd < 0 || f.socket < 0)
		fatal("log-to: %s: %s", conf->log_dir, strerror(errno));
	if (daemon_drop(conf, ROLE_AGENT, &err) < 0)
		fatal("%s", err.text);
	forwarding_lock_in(conf);
	while (wait.revents == 0) {
		bool has_more = forwarding_read(&f);

		forwarding_send_all(&f);
		event_flush();		/* and lets go of a closed file */
		if (poll(&wait, 1, f.pending.len > 0 && f.again_ms >
		    clock_steady_ms() ? FULL_MS : has_more ? 0 : LOOK_MS) < 0 &&
		    errno != EINTR)
			fatal("poll: %s", strerror(errno));
	}
	forwarding_dropped(&f);
	_exit(EX_OK);
}

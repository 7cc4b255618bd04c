/* event.c - the journal of what happened to each message
 *
 * In     an event kind, a spool id, keys and values
 * Out    lines in LOGDIR/events-YYYY-MM-DD.jsonl, by one write a turn
 * Holds  the lines of this turn, and those that could not be written yet; the
 *        descriptor of today's file and a shared lock on it; all that under
 *        one lock among threads
 * Spec   zmailer-events(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "journal/counters.h"
#include "base/err.h"
#include "journal/event.h"
#include "base/json.h"
#include "base/pid.h"

#include "base/banned.h"

enum {
	PENDING_BYTES_MAX = 256 * 1024,	/* written at once when exceeded */
	KEPT_BYTES_MAX = 1024 * 1024,	/* while they cannot be written */
	VALUE_BYTES_MAX = 1000,		/* longer values are cut */
	PAIRS_COUNTED = 24,		/* of an event, for metrics */
	LOOK_EVERY_MS = 1000,		/* at the name, while we write */
	OPEN_TRIES = 10,
	COMPLAINT_EVERY_MS = 60000
};

#define LINK_NAME "events.jsonl"

const struct event_row event_rows[EV_COUNT] = {
#define EVENT(symbol, name, level, keys, text) \
	{ name, EVENT_##level, keys, text },
#include "journal/events.h"
#undef EVENT
};

static pthread_mutex_t event_lock = PTHREAD_MUTEX_INITIALIZER;
static int log_dir_fd = -1, file_fd = -1;
static char file_day[16];
static struct stat file_st;		/* of file_fd, when it was opened */
static int64_t look_at_ms;
static struct str pending = STR_INIT;
static bool is_failing;		/* the last write did */
static struct {			/* there was no more memory for */
	uint64_t	 lines;
	char		 since[CLOCK_TEXT_BYTES];
} lost;
static int64_t next_complaint_at_ms;

int
event_open(const char *log_dir)
{
	int fd = -1;

	if (log_dir != NULL) {
		fd = open(log_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			return -1;
	}
	event_open_fd(fd);
	return 0;
}

static void
event_file_close(void)
{
	if (file_fd >= 0)
		close(file_fd);
	file_fd = -1;
}

/* What the parent could not write yet, it still has. */
static void
event_forked(void)
{
	if (is_failing)
		str_reset(&pending);
	is_failing = false;
	lost.lines = 0;
}

void
event_open_fd(int fd)
{
	static bool is_told;

	if (!is_told)
		(void)pthread_atfork(NULL, NULL, event_forked);
	is_told = true;
	if (log_dir_fd >= 0)
		close(log_dir_fd);
	event_file_close();
	log_dir_fd = fd;
	counters_open(fd);
}

struct slice
event_number(int64_t number)
{
	static _Thread_local char ring[16][1 + DECIMAL_BYTES];
	static _Thread_local unsigned next;
	char *room = ring[next++ % 16];
	struct slice digits = slice_decimal(number < 0 ? -(uint64_t)number :
	    (uint64_t)number, room + 1);

	if (number >= 0)
		return digits;
	room[digits.p - room - 1] = '-';
	return (struct slice){ digits.p - 1, digits.n + 1 };
}


bool
event_is_kept(void)
{
	return log_dir_fd >= 0;
}

int
event_dir(void)
{
	return log_dir_fd;
}

static bool
row_has_key(const struct event_row *row, const char *key)
{
	struct slice rest = slice_of(row->keys), word;

	while (slice_word(&rest, &word))
		if (slice_is(word, key))
			return true;
	return false;
}

static void
event_complain(const char *what)
{
	int64_t now_ms = clock_steady_ms();

	if (now_ms < next_complaint_at_ms)
		return;
	next_complaint_at_ms = now_ms + COMPLAINT_EVERY_MS;
	warning("event journal: %s: %s; events wait in memory, at most %d "
	    "bytes of them, until this is mended", what, strerror(errno),
	    KEPT_BYTES_MAX);
}

/* Does the name still lead to the file that is open?  A part that grew too
 * large was renamed (INTERNALS 10). */
static bool
name_is_ours(const char *name)
{
	struct stat st;

	return fstatat(log_dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    st.st_dev == file_st.st_dev && st.st_ino == file_st.st_ino;
}

/* The shared lock, held as long as the file is open, keeps it from being
 * packed; whoever packs it first has us look at the name again. */
static bool
event_file_open(const char *name)
{
	for (int left = OPEN_TRIES; left > 0; left--) {
		file_fd = openat(log_dir_fd, name,
		    O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW,
		    0660);
		if (file_fd < 0)
			break;
		if (flock(file_fd, LOCK_SH | LOCK_NB) == 0 &&
		    fstat(file_fd, &file_st) == 0 && name_is_ours(name)) {
			if ((file_st.st_mode & 0777) != 0660)	/* new */
				(void)fchmod(file_fd, 0660);
			return true;
		}
		event_file_close();
	}
	event_complain(name);
	return false;
}

static bool
open_today(void)
{
	char now_text[CLOCK_TEXT_BYTES], name[64];
	int64_t now_ms = clock_steady_ms();

	clock_rfc3339(clock_wall_us(), now_text);
	snprintf(name, sizeof(name), "events-%.10s.jsonl", now_text);
	if (file_fd >= 0 && strncmp(file_day, now_text, 10) == 0) {
		if (now_ms < look_at_ms)
			return true;
		look_at_ms = now_ms + LOOK_EVERY_MS;
		if (name_is_ours(name))
			return true;
	}
	event_file_close();
	snprintf(file_day, sizeof(file_day), "%.10s", now_text);
	look_at_ms = now_ms + LOOK_EVERY_MS;
	return event_file_open(name);
}

void
event_link_today(void)
{
	char now_text[CLOCK_TEXT_BYTES], name[64], there[64] = "", fresh[64];
	ssize_t n;

	if (log_dir_fd < 0)
		return;
	clock_rfc3339(clock_wall_us(), now_text);
	snprintf(name, sizeof(name), "events-%.10s.jsonl", now_text);
	n = readlinkat(log_dir_fd, LINK_NAME, there, sizeof(there) - 1);
	if (n > 0 && strcmp(there, name) == 0)
		return;
	/* left by one that was killed, and nobody else's: there is one
	 * supervisor */
	snprintf(fresh, sizeof(fresh), ".%s.new", LINK_NAME);
	(void)unlinkat(log_dir_fd, fresh, 0);
	if (symlinkat(name, log_dir_fd, fresh) != 0 ||
	    renameat(log_dir_fd, fresh, log_dir_fd, LINK_NAME) != 0)
		event_complain(LINK_NAME);
}

/* With nothing to write: let go of a file that is closed, so that it can be
 * packed. */
static void
event_file_look(void)
{
	char now_text[CLOCK_TEXT_BYTES], name[64];
	int64_t now_ms = clock_steady_ms();

	if (file_fd < 0 || now_ms < look_at_ms)
		return;
	look_at_ms = now_ms + LOOK_EVERY_MS;
	clock_rfc3339(clock_wall_us(), now_text);
	snprintf(name, sizeof(name), "events-%.10s.jsonl", now_text);
	if (!name_is_ours(name))
		event_file_close();
}

/* n bytes of what is pending were written: the rest waits, from the begin of
 * the line that was cut (tools/journal/journal.h). */
static void
pending_written(size_t n)
{
	while (n > 0 && pending.buf[n - 1] != '\n')
		n--;
	str_consume(&pending, n);
}

static bool
pending_try(void)
{
	ssize_t n;

	if (!open_today())
		return false;
	n = write(file_fd, pending.buf, pending.len);
	if (n == (ssize_t)pending.len)
		return true;
	if (n >= 0)
		errno = ENOSPC;
	event_complain("write");
	if (n > 0)
		pending_written((size_t)n);
	return false;
}

static void
event_flush_locked(void)
{
	bool was_failing = is_failing;

	counters_flush();
	is_failing = pending.len > 0 && log_dir_fd >= 0 && !pending_try();
	if (is_failing)
		return;
	if (pending.len == 0)
		event_file_look();
	if (was_failing)
		str_release(&pending);		/* it had grown */
	else
		str_reset(&pending);
}

/* The line just made, which begins at begin, finds no room among those that
 * wait. */
static void
event_lose(size_t begin, const char *now_text)
{
	str_truncate(&pending, begin);
	if (lost.lines++ == 0)
		strlcpy(lost.since, now_text, sizeof(lost.since));
}

static void
event_tell_lost(void)
{
	typeof(lost) told;

	pthread_mutex_lock(&event_lock);
	told = lost;
	lost.lines = 0;
	pthread_mutex_unlock(&event_lock);
	if (told.lines > 0)
		event(EV_JOURNAL_LOST, NULL, "lines", event_number(
		    (int64_t)told.lines), "since", slice_of(told.since), NULL);
}

void
event_flush(void)
{
	bool has_lost;

	pthread_mutex_lock(&event_lock);
	event_flush_locked();
	has_lost = !is_failing && lost.lines > 0;
	pthread_mutex_unlock(&event_lock);
	if (!has_lost)
		return;
	event_tell_lost();
	pthread_mutex_lock(&event_lock);
	event_flush_locked();
	pthread_mutex_unlock(&event_lock);
}

static void
say_on_stderr(const struct event_row *row, const char *id, va_list ap)
{
	struct str line = STR_INIT;
	const char *key;

	str_addf(&line, "%s: %s %s", err_program_name(), id ? id : "-",
	    row->name);
	while ((key = va_arg(ap, const char *)) != NULL) {
		struct slice value = va_arg(ap, struct slice);

		str_addf(&line, " %s=\"", key);
		str_add_escaped(&line, slice_first(value, VALUE_BYTES_MAX));
		str_addc(&line, '"');
	}
	str_addc(&line, '\n');
	if (write(STDERR_FILENO, line.buf, line.len) < 0)
		event_complain("stderr");
	str_release(&line);
}

void
event(enum event_kind kind, const char *id, ...)
{
	const struct event_row *row = &event_rows[kind];
	struct counters_pair pairs[PAIRS_COUNTED];
	char now_text[CLOCK_TEXT_BYTES];
	size_t pair_count = 0, begin;
	const char *key;
	va_list ap;

	clock_rfc3339(clock_wall_us(), now_text);
	pthread_mutex_lock(&event_lock);
	begin = pending.len;
	json_open(&pending);
	json_text(&pending, "t", slice_of(now_text));
	if (id != NULL && *id != '\0')
		json_text(&pending, "id", slice_of(id));
	json_text(&pending, "ev", slice_of(row->name));
	json_text(&pending, "d", slice_of(err_program_name()));
	json_number(&pending, "pid", pid_own());
	va_start(ap, id);
	while ((key = va_arg(ap, const char *)) != NULL) {
		struct slice value = va_arg(ap, struct slice);

		if (!row_has_key(row, key))
			panic("event %s has no key %s", row->name, key);
		if (pair_count < PAIRS_COUNTED)
			pairs[pair_count++] = (struct counters_pair){ key,
			    value };
		json_text(&pending, key, slice_first(value, VALUE_BYTES_MAX));
	}
	va_end(ap);
	counters_event(kind, pairs, pair_count);
	json_close(&pending);
	if (row->level == EVENT_WARN) {
		va_start(ap, id);
		say_on_stderr(row, id, ap);
		va_end(ap);
	}
	if (pending.len > PENDING_BYTES_MAX && !is_failing)
		event_flush_locked();
	else if (pending.len > KEPT_BYTES_MAX)
		event_lose(begin, now_text);
	pthread_mutex_unlock(&event_lock);
}

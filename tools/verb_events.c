/* verb_events.c - zmailer events: the journal, as it was and as it grows
 *
 * In     the journal; with -f also what is written from now on
 * Out    a line an event, for people or (--json) as it stands there
 * Spec   zmailer(8), zmailer-events(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/journal/journal.h"
#include "tools/verb.h"

#include "base/banned.h"

enum { SHOWN = 50, LOOK_EVERY_MS = 200, READ_BYTES = 64 * 1024 };

struct wish {
	const char	*id;		/* NULL: all */
	bool		 is_json, follows;
	uint64_t	 count;		/* of the last lines; UINT64_MAX: all */
};

static bool
line_is_meant(const struct wish *wish, struct slice line)
{
	return wish->id == NULL || slice_is(journal_line_id(line), wish->id);
}

static void
line_put(const struct wish *wish, struct slice line)
{
	struct str text = STR_INIT;

	if (wish->is_json) {
		str_add_slice(&text, line);
		str_addc(&text, '\n');
	} else {
		journal_line_print(line, &text);
	}
	fputs(text.buf, stdout);
	str_release(&text);
}

struct past_line {
	struct slice	line;
	int64_t		at_ms;
	size_t		order;
};

static int
past_compare(const void *left, const void *right)
{
	const struct past_line *a = left, *b = right;

	if (a->at_ms != b->at_ms)
		return a->at_ms < b->at_ms ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

/* Processes write at the end of their turns: lines of one moment may stand
 * in any order, and are put right here. */
static void
past_put(const struct journal *journal, const struct wish *wish)
{
	struct journal_cursor cursor = { 0, 0 };
	struct past_line *lines = NULL;
	size_t total = 0, count = 0, skip, room = 0;
	struct slice line;

	while (journal_next(journal, &cursor, &line))
		total += line_is_meant(wish, line);
	skip = wish->count < total ? total - (size_t)wish->count : 0;
	cursor = (struct journal_cursor){ 0, 0 };
	while (journal_next(journal, &cursor, &line)) {
		if (!line_is_meant(wish, line) || (skip > 0 && skip--))
			continue;
		if (count == room) {
			room = room ? room * 2 : 64;
			lines = mem_grow(lines, room, sizeof(*lines));
		}
		lines[count] = (struct past_line){ line,
		    journal_line_ms(line), count };
		count++;
	}
	if (count > 0)
		qsort(lines, count, sizeof(*lines), past_compare);
	for (size_t i = 0; i < count; i++)
		line_put(wish, lines[i].line);
	mem_free(&lines);
}

/* Today's file, at its end when `at_end`; -1: there is none yet. */
static int
today_open(const char *log_dir, char day[16], bool at_end)
{
	char now[CLOCK_TEXT_BYTES], path[4200];
	int fd;

	clock_rfc3339(clock_wall_us(), now);
	snprintf(day, 16, "%.10s", now);
	snprintf(path, sizeof(path), "%s/events-%s.jsonl", log_dir, day);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && at_end)
		(void)lseek(fd, 0, SEEK_END);
	return fd;
}

/* Read what was added; false: nothing was. */
static bool
added_put(int fd, const struct wish *wish, struct str *pending)
{
	ssize_t n = fd < 0 ? 0 : read(fd, str_room(pending, READ_BYTES),
	    READ_BYTES);
	struct slice rest, line;
	size_t end;

	if (n <= 0)
		return false;
	pending->len += (size_t)n;
	pending->buf[pending->len] = '\0';
	rest = str_slice(pending);
	while ((end = slice_find(rest, '\n')) != rest.n) {
		line = slice_first(rest, end);
		if (line_is_meant(wish, line))
			line_put(wish, line);
		rest = slice_from(rest, end + 1);
	}
	str_consume(pending, pending->len - rest.n);
	fflush(stdout);
	return true;
}

/* Until the reader goes away: SIGPIPE or ^C end it. */
static void
follow(const char *log_dir, const struct wish *wish, int fd, char day[16])
	__attribute__((noreturn));
static void
follow(const char *log_dir, const struct wish *wish, int fd, char day[16])
{
	const struct timespec nap = { .tv_nsec = LOOK_EVERY_MS * 1000000L };
	struct str pending = STR_INIT;
	char now[CLOCK_TEXT_BYTES];

	for (;;) {
		if (added_put(fd, wish, &pending))
			continue;
		clock_rfc3339(clock_wall_us(), now);
		if (fd >= 0 && strncmp(now, day, 10) == 0) {
			(void)nanosleep(&nap, NULL);
			continue;
		}
		if (fd >= 0)
			close(fd);
		str_reset(&pending);
		fd = today_open(log_dir, day, false);
		if (fd < 0)
			(void)nanosleep(&nap, NULL);
	}
}

static int
arguments(int argc, char **argv, struct wish *wish)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--json") == 0)
			wish->is_json = true;
		else if (strcmp(argv[i], "-f") == 0)
			wish->follows = true;
		else if (strcmp(argv[i], "-n") == 0 && i + 1 < argc &&
		    slice_number(slice_of(argv[i + 1]), 0, UINT32_MAX,
		    &wish->count))
			i++;
		else if (wish->id == NULL && argv[i][0] != '-')
			wish->id = argv[i];
		else
			return verb_usage(argv[0], "what is %s?", argv[i]);
	}
	return EX_OK;
}

int
verb_events(int argc, char **argv, const char *conf_path)
{
	struct wish wish = { .count = SHOWN };
	struct journal *journal;
	struct conf *conf;
	struct err err;
	char day[16];
	int fd = -1;
	int status = arguments(argc, argv, &wish);

	if (status != EX_OK)
		return status;
	if (wish.id != NULL && wish.count == SHOWN)
		wish.count = UINT64_MAX;
	conf = verb_conf(conf_path);
	if (wish.follows)	/* first: what comes in between shows twice
				 * rather than never */
		fd = today_open(conf->log_dir, day, true);
	if (journal_open(conf->log_dir, JOURNAL_DAYS, &journal, &err) < 0) {
		fprintf(stderr, "zmailer: events: %s\n", err.text);
		return EX_NOINPUT;
	}
	past_put(journal, &wish);
	journal_close(&journal);
	fflush(stdout);
	if (wish.follows)
		follow(conf->log_dir, &wish, fd, day);
	conf_free(&conf);
	return EX_OK;
}

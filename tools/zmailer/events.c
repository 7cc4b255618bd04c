/* events.c - zmailer events: the journal, as it was and as it grows
 *
 * In     the journal; with -f also what is written from now on
 * Out    a line for each event, for people or (--json) as it is there, but
 *        beginning with "v":1
 * Spec   zmailer(8), zmailer-events(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "tools/answers/answers.h"
#include "tools/selection/selection.h"
#include "tools/journal/facts.h"
#include "tools/journal/journal.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum {
	SHOWN = 50,			/* when nothing is asked */
	COUNT_MAX = 1000000,		/* -n: kept in memory */
	LOOK_EVERY_MS = 200,
	LATE_MS = 2000,			/* who writes looks at the name once
					 * a second */
	READ_BYTES = 64 * 1024
};

struct wish {
	struct selection_options options;	/* the words of the selector */
	struct selector	*selector;	/* NULL: all */
	struct facts	*facts;
	bool		 is_json, follows;
	uint64_t	 count;		/* of the last lines; 0: not said */
};

static void
events_line_put(const struct wish *wish, struct slice line)
{
	struct str text = STR_INIT;

	if (wish->is_json)
		json_add_answer(&text, line);
	else
		journal_line_print(line, &text);
	fputs(text.buf, stdout);
	str_release(&text);
}

/* ---- what there is ----------------------------------------------------- */

struct past_line {
	struct str	line;
	int64_t		at_ms;
	size_t		order;
};

struct past {			/* a ring of the last `room` lines */
	struct past_line *lines;
	size_t		 room, total;
};

static int
past_compare(const void *left, const void *right)
{
	const struct past_line *a = left, *b = right;

	if (a->at_ms != b->at_ms)
		return a->at_ms < b->at_ms ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static void
past_add(struct past *past, struct slice line, bool grows)
{
	struct past_line *row;

	if (past->total == past->room && grows && past->room < COUNT_MAX) {
		size_t room = past->room * 2;

		past->lines = mem_grow(past->lines, room,
		    sizeof(*past->lines));
		for (size_t i = past->room; i < room; i++)
			past->lines[i].line = (struct str)STR_INIT;
		past->room = room;
	}
	row = &past->lines[past->total % past->room];
	str_reset(&row->line);
	str_add_slice(&row->line, line);
	row->at_ms = journal_line_ms(line);
	row->order = past->total++;
}

/* Processes write at the end of their turns: lines of one moment may be in any
 * order, and are sorted here. */
static void
past_put(struct journal *journal, const struct wish *wish)
{
	bool takes_all = wish->count == 0 && wish->selector != NULL;
	struct past past = { .room = wish->count ? (size_t)wish->count :
	    SHOWN };
	struct journal_cursor cursor = { 0, 0, 0 };
	struct slice line;
	size_t count;

	past.lines = mem_alloc(past.room, sizeof(*past.lines));
	for (size_t i = 0; i < past.room; i++)
		str_init(&past.lines[i].line);
	while (journal_next(journal, &cursor, &line))
		if (facts_fit(wish->facts, line))
			past_add(&past, line, takes_all);
	count = past.total < past.room ? past.total : past.room;
	if (count > 0)
		qsort(past.lines, count, sizeof(*past.lines), past_compare);
	for (size_t i = 0; i < count; i++)
		events_line_put(wish, str_slice(&past.lines[i].line));
	for (size_t i = 0; i < past.room; i++)
		str_release(&past.lines[i].line);
	mem_free(&past.lines);
}

/* ---- what comes -------------------------------------------------------- */

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
added_read(int fd, struct str *pending)
{
	ssize_t n = fd < 0 ? 0 : read(fd, str_room(pending, READ_BYTES),
	    READ_BYTES);

	if (n <= 0)
		return false;
	pending->len += (size_t)n;
	pending->buf[pending->len] = '\0';
	return true;
}

/* What is whole of it. */
static void
events_lines_put(const struct wish *wish, struct str *pending)
{
	struct slice rest = str_slice(pending), line;
	size_t end;

	while ((end = slice_find(rest, '\n')) != rest.n) {
		line = slice_first(rest, end);
		if (facts_fit(wish->facts, line))
			events_line_put(wish, line);
		rest = slice_from(rest, end + 1);
	}
	str_consume(pending, pending->len - rest.n);
	fflush(stdout);
}

/* Has the file another name now: is its day over, or was it closed? */
static bool
today_is_over(const char *log_dir, int fd, const char *day)
{
	char now[CLOCK_TEXT_BYTES], path[4200];
	struct stat open_st, named_st;

	clock_rfc3339(clock_wall_us(), now);
	snprintf(path, sizeof(path), "%s/events-%s.jsonl", log_dir, day);
	return strncmp(now, day, 10) != 0 || fstat(fd, &open_st) < 0 ||
	    lstat(path, &named_st) < 0 || open_st.st_dev != named_st.st_dev ||
	    open_st.st_ino != named_st.st_ino;
}

/* The next file.  It is read first, because it may say which messages the late
 * lines of the one before belong to. */
static int
next_open(const char *log_dir, const struct wish *wish, char day[16],
    struct str *late)
{
	struct str begin = STR_INIT;
	int fd = today_open(log_dir, day, false);

	while (added_read(fd, &begin))
		events_lines_put(wish, &begin);
	events_lines_put(wish, late);
	str_reset(late);
	str_add_slice(late, str_slice(&begin));
	str_release(&begin);
	return fd;
}

/* Until the reader goes away: SIGPIPE or ^C end it.  A file that is over is
 * read for a while longer: the last lines may just be written. */
static void
events_follow(const char *log_dir, const struct wish *wish, int fd,
    char day[16])
	__attribute__((noreturn));
static void
events_follow(const char *log_dir, const struct wish *wish, int fd,
    char day[16])
{
	const struct timespec nap = { .tv_nsec = LOOK_EVERY_MS * 1000000L };
	struct str pending = STR_INIT;
	int64_t over_at_ms = -1;

	for (;;) {
		bool has_more = added_read(fd, &pending);

		if (fd >= 0 && over_at_ms < 0 &&
		    today_is_over(log_dir, fd, day))
			over_at_ms = clock_steady_ms();
		if (over_at_ms < 0)
			events_lines_put(wish, &pending);
		if (has_more)
			continue;
		if (fd < 0 || (over_at_ms >= 0 &&
		    clock_steady_ms() >= over_at_ms + LATE_MS)) {
			if (fd >= 0)
				close(fd);
			over_at_ms = -1;
			fd = next_open(log_dir, wish, day, &pending);
		}
		(void)nanosleep(&nap, NULL);
	}
}

static int
events_list(const char *log_dir, const struct wish *wish)
{
	struct journal *journal;
	struct err err;
	char day[16];
	int fd = -1;

	if (wish->follows)	/* first: what comes in between shows twice
				 * rather than never */
		fd = today_open(log_dir, day, true);
	if (journal_open_all(log_dir, &journal, &err) < 0) {
		if (fd >= 0)
			close(fd);
		return verb_failed("events", &err, EX_NOINPUT);
	}
	past_put(journal, wish);
	journal_close(&journal);
	fflush(stdout);
	if (wish->follows)
		events_follow(log_dir, wish, fd, day);
	return EX_OK;
}

int
verb_events(struct arguments *arguments)
{
	struct wish wish = {
	    .is_json = arguments_has(arguments, OPT_JSON),
	    .follows = arguments_has(arguments, OPT_FOLLOW),
	    .count = (uint64_t)arguments_number(arguments, OPT_COUNT, 0) };
	struct arena *arena = arena_new();
	int status = selection_options_take(arguments, &wish.options);
	struct conf *conf;

	if (status == EX_OK)
		status = selection_selector(&wish.options, arena,
		    &wish.selector);
	if (status == EX_OK) {
		conf = verb_conf_spool(arguments->conf_path);
		wish.facts = facts_new(wish.selector, conf->host);
		if (!answers_have(conf, conf->log_dir, arguments, &status))
			status = events_list(conf->log_dir, &wish);
		facts_free(&wish.facts);
		conf_free(&conf);
	}
	selection_options_release(&wish.options);
	arena_free(&arena);
	return status;
}

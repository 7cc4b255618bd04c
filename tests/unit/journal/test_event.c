/* test_event.c - the journal
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "journal/event.h"
#include "base/json.h"

static char dir[] = "/tmp/zm-event-XXXXXX";
static char file[128];

static void
open_journal(void)
{
	char now_text[CLOCK_TEXT_BYTES];

	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(event_open(dir), 0);
	err_program("tester");
	clock_rfc3339(clock_wall_us(), now_text);
	snprintf(file, sizeof(file), "%s/events-%.10s.jsonl", dir, now_text);
}

static void
remove_dir(void)
{
	char command[200];

	snprintf(command, sizeof(command), "rm -r '%s'", dir);
	cr_assert_eq(system(command), 0);
}

static void
close_journal(void)
{
	event_open(NULL);
	remove_dir();
}

static struct slice
read_journal(void)
{
	static char text[8192];
	int fd = open(file, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text));

	if (fd >= 0)
		close(fd);
	cr_assert_geq(n, 0);
	return (struct slice){ text, (size_t)n };
}

static const char *
last_line(void)
{
	static char text[500];
	char command[200];
	FILE *pipe;

	snprintf(command, sizeof(command), "tail -n 1 %s", file);
	pipe = popen(command, "r");
	cr_assert_not_null(pipe);
	cr_assert_not_null(fgets(text, sizeof(text), pipe));
	pclose(pipe);
	return text;
}

static void
expect_member(struct slice line, const char *key, const char *want)
{
	struct str value = STR_INIT;

	cr_expect(json_get(line, key, &value), "%s", key);
	cr_expect_str_eq(value.buf, want);
	str_release(&value);
}

Test(event, one_line_with_every_key, .init = open_journal,
    .fini = close_journal)
{
	struct slice rest, line;

	event(EV_RCPT_OK, "id1", "to", SLICE("a@b\n\"x\""), "code",
	    SLICE("2.0.0"), "ms", event_number(12), NULL);
	event(EV_DAEMON_STOP, NULL, NULL);
	cr_expect_eq(read_journal().n, 0, "nothing before the flush");
	event_flush();
	rest = read_journal();
	cr_assert(slice_cut(&rest, '\n', &line));
	expect_member(line, "id", "id1");
	expect_member(line, "ev", "rcpt.ok");
	expect_member(line, "d", "tester");
	expect_member(line, "to", "a@b\n\"x\"");
	expect_member(line, "code", "2.0.0");
	expect_member(line, "ms", "12");
	cr_assert(slice_cut(&rest, '\n', &line));
	expect_member(line, "ev", "daemon.stop");
	cr_expect_not(json_get(line, "id", &(struct str)STR_INIT));
	cr_expect_eq(rest.n, 0);
}

Test(event, a_second_flush_appends, .init = open_journal,
    .fini = close_journal)
{
	size_t first;

	event(EV_DAEMON_STOP, NULL, NULL);
	event_flush();
	first = read_journal().n;
	event(EV_DAEMON_STOP, NULL, NULL);
	event_flush();
	cr_expect_eq(read_journal().n, 2 * first);
	event_flush();
	cr_expect_eq(read_journal().n, 2 * first);
}

Test(event, long_values_are_cut, .init = open_journal, .fini = close_journal)
{
	static char words[5000];
	struct str value = STR_INIT;

	memset(words, 'w', sizeof(words));
	event(EV_RCPT_OK, "id", "reply",
	    (struct slice){ words, sizeof(words) }, NULL);
	event_flush();
	cr_expect(json_get(read_journal(), "reply", &value));
	cr_expect_eq(value.len, 1000);
	str_release(&value);
}

Test(event, a_key_its_row_does_not_name_is_a_panic, .init = open_journal,
    .signal = SIGABRT)
{
	rmdir(dir);
	event(EV_DAEMON_STOP, NULL, "colour", SLICE("blue"), NULL);
}

Test(event, warnings_go_to_stderr_as_well)
{
	static const char want[] =
	    "tester: id1 spool.trouble file=\"h\\x0A\\x1B[1m\"\n";
	char got[200] = "";
	int kept = dup(STDERR_FILENO), pipe_fds[2];

	err_program("tester");
	event_open(NULL);
	cr_assert_eq(pipe(pipe_fds), 0);
	dup2(pipe_fds[1], STDERR_FILENO);
	close(pipe_fds[1]);
	event(EV_SPOOL_TROUBLE, "id1", "file", SLICE("h\n\x1b[1m"), NULL);
	event(EV_DAEMON_STOP, NULL, NULL);
	dup2(kept, STDERR_FILENO);
	cr_assert_geq(read(pipe_fds[0], got, sizeof(got) - 1), 0);
	cr_expect_str_eq(got, want);
}

/* A journal that cannot be written says so once a minute, and stops
 * nothing. */
Test(event, a_journal_that_cannot_be_written)
{
	int kept = dup(STDERR_FILENO), pipe_fds[2];
	char got[500] = "";

	err_program("tester");
	cr_assert_not_null(mkdtemp(dir));
	cr_assert_eq(event_open(dir), 0);
	remove_dir();		/* with what is in it */
	cr_assert_eq(pipe(pipe_fds), 0);
	dup2(pipe_fds[1], STDERR_FILENO);
	close(pipe_fds[1]);
	for (int i = 0; i < 3; i++) {
		event(EV_DAEMON_STOP, NULL, NULL);
		event_flush();
	}
	dup2(kept, STDERR_FILENO);
	cr_assert_gt(read(pipe_fds[0], got, sizeof(got) - 1), 0);
	cr_expect_eq(strncmp(got, "tester: warning: event journal: events-",
	    39), 0, "%s", got);
	cr_expect_eq(strchr(got, '\n'), got + strlen(got) - 1, "%s", got);
}

/* As full as a disk: no file of this process grows beyond bytes. */
static void
disk_full_at(rlim_t bytes)
{
	struct rlimit limit;

	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes == 0 ? limit.rlim_max : bytes;
	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	signal(SIGXFSZ, SIG_IGN);
}

static int
lines_of(const char *event_name, size_t *out_bytes)
{
	char command[300], got[64] = "";
	struct stat st;
	FILE *pipe;

	snprintf(command, sizeof(command), "grep -c '\"ev\":\"%s\".*}$' %s",
	    event_name, file);
	pipe = popen(command, "r");
	cr_assert_not_null(pipe);
	if (fgets(got, sizeof(got), pipe) == NULL)
		got[0] = '\0';
	pclose(pipe);
	if (out_bytes != NULL && stat(file, &st) == 0)
		*out_bytes = (size_t)st.st_size;
	return atoi(got);
}

/* Cut in the middle of a line, and at its begin: nothing is missing when
 * there is room again, and the half line is followed by the whole one. */
Test(event, lines_wait_for_a_full_disk, .init = open_journal,
    .fini = close_journal)
{
	size_t one;

	event(EV_DAEMON_STOP, NULL, NULL);
	event_flush();
	one = read_journal().n;
	for (int part = 0; part < 4; part++) {
		/* the last one lacks its LF alone */
		size_t cut = part < 3 ? part * (one / 3) : one - 1;
		size_t before, after;
		int count = lines_of("daemon.stop", &before);

		disk_full_at(before + one + cut);
		for (int i = 0; i < 3; i++) {
			event(EV_DAEMON_STOP, NULL, NULL);
			if (i > 0)
				event_flush();
		}
		cr_expect_eq(lines_of("daemon.stop", &after), count + 1 +
		    (cut == one - 1));
		cr_expect_eq(after, before + one + cut);
		disk_full_at(0);
		event_flush();
		cr_expect_eq(lines_of("daemon.stop", &after), count + 3);
		cr_expect_eq(after, before + 3 * one + cut);
		event_flush();
		cr_expect_eq(lines_of("daemon.stop", NULL), count + 3);
	}
}

/* What waits is bounded, and what found no room is told. */
Test(event, lines_beyond_a_mebibyte_are_counted, .init = open_journal,
    .fini = close_journal)
{
	static char words[1000];
	struct slice line;
	size_t bytes;
	int kept;

	memset(words, 'w', sizeof(words));
	event(EV_DAEMON_STOP, NULL, NULL);
	event_flush();
	disk_full_at(read_journal().n);
	for (int i = 0; i < 2000; i++) {
		event(EV_RCPT_OK, "id", "reply",
		    (struct slice){ words, sizeof(words) }, NULL);
		event_flush();
	}
	disk_full_at(0);
	event_flush();
	kept = lines_of("rcpt.ok", &bytes);
	cr_expect_gt(kept, 900);
	cr_expect_lt(bytes, 1100 * 1024);
	cr_expect_eq(lines_of("journal.lost", NULL), 1);
	line = slice_of(last_line());
	expect_member(line, "ev", "journal.lost");
	cr_expect_eq(json_get_number(line, "lines"), 2000 - kept);
}

/* A child does not write what its parent still has. */
Test(event, lines_that_wait_are_the_parents, .init = open_journal,
    .fini = close_journal)
{
	int status;
	pid_t pid;

	event(EV_DAEMON_STOP, NULL, NULL);
	event_flush();
	disk_full_at(read_journal().n);
	event(EV_DAEMON_STOP, NULL, NULL);
	event_flush();
	pid = fork();
	if (pid == 0) {
		disk_full_at(0);
		event_flush();
		_exit(0);
	}
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	disk_full_at(0);
	event_flush();
	cr_expect_eq(lines_of("daemon.stop", NULL), 2);
}

Test(event, very_many_lines_are_written_before_the_flush,
    .init = open_journal, .fini = close_journal)
{
	static char words[1000];
	struct stat st;

	memset(words, 'w', sizeof(words));
	for (int i = 0; i < 300; i++)
		event(EV_RCPT_OK, "id", "reply",
		    (struct slice){ words, sizeof(words) }, NULL);
	cr_assert_eq(stat(file, &st), 0);
	cr_expect_gt(st.st_size, 256 * 1024);
}

/* The process's own count of write(2) and its kin; -1: this kernel has
 * none. */
static long
writes_so_far(void)
{
	char text[512], *found;
	int fd = open("/proc/self/io", O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	found = strstr(text, "syscw: ");
	return found == NULL ? -1 : strtol(found + 7, NULL, 10);
}

/* What it costs: at most one write an event, one for all of a turn, none
 * for a turn without any. */
Test(event, a_turn_is_one_write, .init = open_journal, .fini = close_journal)
{
	static const struct { int events, writes; } rows[] = {
		{ 0, 0 }, { 1, 1 }, { 2, 1 }, { 100, 1 }, { 0, 0 }
	};

	if (writes_so_far() < 0)
		cr_skip_test("the kernel does not count writes");
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		long before = writes_so_far();

		for (int k = 0; k < rows[i].events; k++)
			event(EV_RCPT_OK, "id", "to", SLICE("a@b"), NULL);
		event_flush();
		cr_expect_eq(writes_so_far() - before, rows[i].writes,
		    "%d events", rows[i].events);
	}
}

/* Midnight, by the clock that a test can move. */
Test(event, a_day_has_its_file)
{
	char clock_path[] = "/tmp/zm-clock-XXXXXX", other[128];
	int fd = mkstemp(clock_path);
	char now_text[CLOCK_TEXT_BYTES];
	int64_t day_s = 0;

	cr_assert_eq(write(fd, &day_s, sizeof(day_s)), sizeof(day_s));
	setenv("ZMAILER_TEST_CLOCK", clock_path, 1);
	open_journal();
	event(EV_DAEMON_STOP, NULL, NULL);
	event_flush();
	day_s = 86400;
	cr_assert_eq(pwrite(fd, &day_s, sizeof(day_s), 0), sizeof(day_s));
	event(EV_DAEMON_STOP, NULL, NULL);
	event_flush();
	clock_rfc3339(clock_wall_us(), now_text);
	snprintf(other, sizeof(other), "%s/events-%.10s.jsonl", dir, now_text);
	cr_expect_str_neq(other, file);
	cr_expect_eq(unlink(other), 0);
	cr_expect_gt(read_journal().n, 0);
	close(fd);
	unlink(clock_path);
	close_journal();
}

Test(event, a_missing_directory_is_said)
{
	cr_expect_eq(event_open("/nonexistent/log"), -1);
}

Test(event, sixteen_numbers_at_once)
{
	struct slice numbers[16];

	for (int i = 0; i < 16; i++)
		numbers[i] = event_number(-i);
	cr_expect(slice_is(numbers[0], "0"));
	cr_expect(slice_is(numbers[15], "-15"));
	cr_expect(slice_is(event_number(INT64_MAX), "9223372036854775807"));
	cr_expect(slice_is(event_number(INT64_MIN), "-9223372036854775808"));
}

Test(event, rows_are_sound)
{
	for (int i = 0; i < EV_COUNT; i++) {
		const struct event_row *row = &event_rows[i];

		cr_expect_neq(row->name[0], '\0');
		cr_expect_eq(row->text[strlen(row->text) - 1], '.', "%s",
		    row->name);
		for (int k = 0; k < i; k++)
			cr_expect_str_neq(row->name, event_rows[k].name);
	}
}

/* What a crash left beside it, or in its place, is replaced. */
Test(event, one_name_leads_to_the_file_of_today, .init = open_journal,
    .fini = close_journal)
{
	static const char *const before[] = { NULL, "events-2001-01-01.jsonl",
	    "/etc/passwd" };
	char link[160], fresh[160], there[64];

	snprintf(link, sizeof(link), "%s/events.jsonl", dir);
	snprintf(fresh, sizeof(fresh), "%s/.events.jsonl.new", dir);
	for (size_t i = 0; i < sizeof(before) / sizeof(before[0]); i++) {
		ssize_t n;

		if (before[i] != NULL) {
			cr_assert_eq(unlink(link), 0);
			cr_assert_eq(symlink(before[i], link), 0);
			cr_assert_eq(symlink(before[i], fresh), 0);
		}
		event_link_today();
		event_link_today();
		n = readlink(link, there, sizeof(there) - 1);
		cr_assert_gt(n, 0);
		there[n] = '\0';
		cr_expect_str_eq(there, strrchr(file, '/') + 1);
		cr_expect_neq(access(fresh, F_OK), 0);
	}
	event(EV_CONF_RELOAD, NULL, "file", SLICE("x"), NULL);
	event_flush();
	cr_expect_eq(access(link, R_OK), 0);
}

/* test_asked.c - whatever the process that asks databases answers
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "io/unix_socket.h"
#include "mail/table/table.h"

static char dir[] = "/tmp/zm-asked-XXXXXX";

/* Answer the first question of each of two connections with text, %s its
 * token, and end. */
static pid_t
answer_with(const char *text)
{
	char path[128], line[512], token[64], answer[512];
	struct err err;
	int listener, fd;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/" TABLES_SOCKET, dir);
	listener = unix_socket_listen(path, 0600, &err);
	cr_assert_geq(listener, 0, "%s", err.text);
	pid = fork();
	if (pid > 0) {
		close(listener);
		return pid;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	for (int i = 0; i < 2; i++) {
		struct timespec nap = { .tv_nsec = 1000000 };
		ssize_t n;

		while ((fd = accept(listener, NULL, NULL)) < 0)
			(void)nanosleep(&nap, NULL);
		n = read(fd, line, sizeof(line) - 1);
		line[n > 0 ? n : 0] = '\0';
		sscanf(line, "%63s", token);
		snprintf(answer, sizeof(answer), text, token);
		(void)!write(fd, answer, strlen(answer));
		close(fd);
	}
	_exit(0);
}

static enum table_result
asked_once(const char *text, struct slice *out_value, struct err *err)
{
	static struct table *table;
	enum table_result result;
	pid_t pid;

	memcpy(dir, "/tmp/zm-asked-XXXXXX", sizeof(dir));
	cr_assert_not_null(mkdtemp(dir));
	table_ask_at(dir);
	pid = answer_with(text);
	table_free(&table);
	table = table_new("people", "socketmap:/nowhere");
	result = table_lookup(table, SLICE("Alice@v.test"), out_value, NULL,
	    err);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return result;
}

Test(tables_asked, is_found_or_not_or_in_trouble)
{
	struct slice value = SLICE("");
	struct err err = { "" };

	cr_expect_eq(asked_once("%s ok found a b\n", &value, &err),
	    TABLE_FOUND);
	cr_expect(slice_is(value, "a b"));
	cr_expect_eq(asked_once("%s ok none\n", &value, &err), TABLE_NONE);
	cr_expect_eq(asked_once("%s trouble it burns\n", &value, &err),
	    TABLE_TROUBLE);
	cr_expect_not_null(strstr(err.text, "table people: it burns"), "%s",
	    err.text);
}

/* What is no answer is never "not found". */
Test(tables_asked, nonsense_is_trouble)
{
	static const char *const nonsense[] = { "", "\n", "%s\n", "%s ok\n",
		"%s ok nothing\n", "x%s ok none\n", "%s0 ok none\n",
		"%s ok none", "ok none\n", "%s okay none\n", "%s ok 5\n",
		"%s ok x5 none\n", "%s ok 5 5 none\n", "%s lent 5 none\n" };
	struct slice value;

	for (size_t i = 0; i < sizeof(nonsense) / sizeof(nonsense[0]); i++) {
		struct err err = { "" };

		cr_expect_eq(asked_once(nonsense[i], &value, &err),
		    TABLE_TROUBLE, "%s", nonsense[i]);
		cr_expect_neq(err.text[0], '\0', "%s", nonsense[i]);
	}
}

Test(tables_asked, nobody_there_is_trouble)
{
	struct table *table = table_new("people", "socketmap:/nowhere");
	struct slice value;
	struct err err;

	table_ask_at("/nowhere-at-all");
	cr_expect_eq(table_lookup(table, SLICE("a"), &value, NULL, &err),
	    TABLE_TROUBLE);
	cr_expect_not_null(strstr(err.text, "zmailer run"), "%s", err.text);
	cr_expect_eq(table_lookup(table, SLICE("a\nb"), &value, NULL, &err),
	    TABLE_NONE);
	table_free(&table);
}

/* ---- answers that are lent, questions that are sent ahead --------------- */

enum { TOGETHER_MAX = 4 };

/* One answer, to a line "TOKEN lend TABLE KEY": text has %s twice, the token
 * and the key, and then %u, how many were asked by now. */
static void
answer_line(int fd, const char *line, const char *text, unsigned number)
{
	char token[64], key[64], answer[512];

	cr_assert_eq(sscanf(line, "%63s lend people %63s", token, key), 2,
	    "%s", line);
	snprintf(answer, sizeof(answer), text, token, key, number);
	(void)!write(fd, answer, strlen(answer));
}

/* Answer together questions at once, the last of them first; a connection
 * ends after each_ends of them. */
static pid_t
answer_all(const char *text, unsigned together, unsigned each_ends)
{
	char path[128], lines[TOGETHER_MAX][256];
	unsigned asked = 0, waiting;
	struct err err;
	int listener, fd;
	FILE *in;
	pid_t pid;

	memcpy(dir, "/tmp/zm-asked-XXXXXX", sizeof(dir));
	cr_assert_not_null(mkdtemp(dir));
	table_ask_at(dir);
	snprintf(path, sizeof(path), "%s/" TABLES_SOCKET, dir);
	listener = unix_socket_listen(path, 0600, &err);
	cr_assert_geq(listener, 0, "%s", err.text);
	pid = fork();
	if (pid > 0) {
		close(listener);
		return pid;
	}
	(void)signal(SIGPIPE, SIG_IGN);
	(void)fcntl(listener, F_SETFL, 0);
	while ((fd = accept(listener, NULL, NULL)) >= 0) {
		in = fdopen(fd, "r");
		waiting = 0;
		for (unsigned i = 0; i < each_ends && fgets(lines[waiting],
		    sizeof(lines[0]), in) != NULL; i++) {
			asked++;
			if (++waiting < together)
				continue;
			while (waiting > 0)
				answer_line(fd, lines[--waiting], text,
				    asked);
		}
		fclose(in);
	}
	_exit(0);
}

static const char *
asked_value(struct table *table, const char *key)
{
	static char text[64];
	struct err err = { "" };
	struct slice value;

	if (table_lookup(table, slice_of(key), &value, NULL, &err) !=
	    TABLE_FOUND)
		return err.text[0] != '\0' ? "trouble" : "none";
	snprintf(text, sizeof(text), SLICE_FMT, SLICE_ARG(value));
	return text;
}

static void
answer_end(pid_t pid, struct table **table)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	table_free(table);
}

Test(tables_asked, what_was_lent_is_not_asked_again, .timeout = 60)
{
	pid_t pid = answer_all("%s ok 60000 found %s %u\n", 1, 100);
	struct table *table = table_new("people", "socketmap:/nowhere");

	cr_expect_str_eq(asked_value(table, "a"), "a 1");
	cr_expect_str_eq(asked_value(table, "A"), "a 1");
	cr_expect_str_eq(asked_value(table, "b"), "b 2");
	cr_expect_str_eq(asked_value(table, "a"), "a 1");
	answer_end(pid, &table);
}

Test(tables_asked, what_may_not_be_kept_is_asked_again, .timeout = 60)
{
	pid_t pid = answer_all("%s ok 0 found %s %u\n", 1, 100);
	struct table *table = table_new("people", "socketmap:/nowhere");

	cr_expect_str_eq(asked_value(table, "a"), "a 1");
	cr_expect_str_eq(asked_value(table, "a"), "a 2");
	answer_end(pid, &table);
}

/* A reload ends the process that lent it. */
Test(tables_asked, another_connection_is_asked_anew, .timeout = 60)
{
	pid_t pid = answer_all("%s ok 60000 found %s %u\n", 1, 2);
	struct table *table = table_new("people", "socketmap:/nowhere");
	const struct timespec nap = { .tv_nsec = 1000000 };

	cr_expect_str_eq(asked_value(table, "a"), "a 1");
	cr_expect_str_eq(asked_value(table, "b"), "b 2");
	/* until its end has come here */
	while (strcmp(asked_value(table, "a"), "a 1") == 0)
		(void)nanosleep(&nap, NULL);
	cr_expect_str_eq(asked_value(table, "a"), "a 3");
	answer_end(pid, &table);
}

Test(tables_asked, expected_ones_are_asked_at_once, .timeout = 60)
{
	pid_t pid = answer_all("%s ok 60000 found %s %u\n", 3, 100);
	struct table *table = table_new("people", "socketmap:/nowhere");

	table_expect(table, SLICE("a"));
	table_expect(table, SLICE("B"));
	table_expect(table, SLICE("a"));
	/* nobody is answered before the third question */
	cr_expect_str_eq(asked_value(table, "c"), "c 3");
	cr_expect_str_eq(asked_value(table, "a"), "a 3");
	cr_expect_str_eq(asked_value(table, "b"), "b 3");
	answer_end(pid, &table);
}

Test(tables_asked, trouble_that_was_expected_is_asked_again, .timeout = 60)
{
	pid_t pid = answer_all("%s trouble %s %u\n", 2, 100);
	struct table *table = table_new("people", "socketmap:/nowhere");

	table_expect(table, SLICE("a"));
	cr_expect_str_eq(asked_value(table, "b"), "trouble");
	table_expect(table, SLICE("c"));
	cr_expect_str_eq(asked_value(table, "a"), "trouble");
	answer_end(pid, &table);
}

/* More than can be on their way are not sent; all are answered. */
Test(tables_asked, many_are_expected, .timeout = 60)
{
	pid_t pid = answer_all("%s ok 60000 found %s %u\n", 1, 1000);
	struct table *table = table_new("people", "socketmap:/nowhere");
	char key[16];

	for (unsigned i = 0; i < 200; i++) {
		snprintf(key, sizeof(key), "k%u", i);
		table_expect(table, slice_of(key));
	}
	for (unsigned i = 0; i < 200; i++) {
		snprintf(key, sizeof(key), "k%u", i);
		cr_expect(slice_starts(slice_of(asked_value(table, key)),
		    key), "%s", key);
	}
	answer_end(pid, &table);
}

/* An answer that was expected and that nobody wanted lies unread: its life is
 * counted from the question. */
Test(tables_asked, what_lay_unread_is_old, .timeout = 60)
{
	pid_t pid = answer_all("%s ok 300 found %s %u\n", 1, 1000);
	struct table *table = table_new("people", "socketmap:/nowhere");
	const struct timespec nap = { .tv_nsec = 400 * 1000000 };

	table_expect(table, SLICE("a"));
	cr_expect_str_eq(asked_value(table, "b"), "b 2");
	(void)nanosleep(&nap, NULL);
	cr_expect_str_eq(asked_value(table, "a"), "a 3");
	answer_end(pid, &table);
}

/* All tables of a process share a connection: what is expected of one is sent
 * with the question to another, and a table that is closed has no answer. */
Test(tables_asked, tables_share_a_connection, .timeout = 60)
{
	pid_t pid = answer_all("%s ok 60000 found %s %u\n", 3, 100);
	struct table *table = table_new("people", "socketmap:/nowhere");
	struct table *other = table_new("people", "socketmap:/elsewhere");
	struct table *gone = table_new("people", "socketmap:/gone");

	/* a table is opened by its first question */
	table_expect(table, SLICE("a"));
	table_expect(gone, SLICE("b"));
	table_free(&gone);
	cr_expect_str_eq(asked_value(other, "c"), "c 3");
	cr_expect_str_eq(asked_value(table, "a"), "a 3");
	table_free(&other);
	answer_end(pid, &table);
}

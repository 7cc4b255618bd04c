/* test_asked.c - whatever the process that asks databases answers
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
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
		"%s ok none", "ok none\n", "%s okay none\n" };
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

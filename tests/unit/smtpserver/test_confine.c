/* test_confine.c - a session that was taken over, at each of its steps
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "daemon/sandbox.h"
#include "house.h"
#include "smtpserver/session/confine.h"

static struct house house;
static int client, outside = -1;

static void
setup(void)
{
	char path[200];
	struct err err;
	int walls;

	house_open(&house, "limit errors 100\n");
	house.conf->spool_dir = house.conf->run_dir = house.dir;
	client = house_connect(&house, "192.0.2.7:4711");
	/* somebody else's message, and what lies beside */
	snprintf(path, sizeof(path), "%s/router/4711", house.conf->spool_dir);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	walls = session_confine(house.conf, NULL, &err);
	cr_assert_geq(walls, 0, "%s", err.text);
	if (walls != (SANDBOX_FILES | SANDBOX_CALLS))
		outside = 1;
}

TestSuite(confine, .init = setup);

static bool
can(const char *what, int flags)
{
	char path[200];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", house.conf->spool_dir, what);
	fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static bool
can_rename(const char *from, const char *to)
{
	char paths[2][200];

	snprintf(paths[0], sizeof(paths[0]), "%s/%s", house.conf->spool_dir,
	    from);
	snprintf(paths[1], sizeof(paths[1]), "%s/%s", house.conf->spool_dir,
	    to);
	return rename(paths[0], paths[1]) == 0;
}

static void
try_all(const char *step)
{
#if !defined(__SANITIZE_ADDRESS__)
	cr_expect_eq(sandbox_try_escape(), 0, "%s", step);
#endif
	cr_expect(!can("router/4711", O_RDONLY), "%s: reads router/", step);
	cr_expect(!can("router/4711", O_WRONLY), "%s: writes router/", step);
	cr_expect(!can("queue/1", O_WRONLY | O_CREAT), "%s: queue/", step);
	cr_expect(!can("transport/1", O_WRONLY | O_CREAT), "%s: transport/",
	    step);
	cr_expect(!can("deferred/1", O_WRONLY | O_CREAT), "%s: deferred/",
	    step);
	cr_expect(!can_rename("router/4711", "public/4711"),
	    "%s: takes what is in router/", step);
	cr_expect(!can_rename("router/4711", "freezer/4711"),
	    "%s: moves what is in router/", step);
}

static void
say(const char *line, const char *want)
{
	struct str out = STR_INIT, reply = STR_INIT;

	house_send(&house, client, line, strlen(line), 1000, &out);
	(void)house_hear(&house, client, &out);
	replies_short(str_slice(&out), &reply);
	cr_expect(strstr(reply.buf, want) != NULL, "%s: %s", line, out.buf);
	str_release(&out);
	str_release(&reply);
}

Test(confine, no_way_out_at_any_step)
{
	static const struct { const char *line, *want; } steps[] = {
		{ "EHLO c1.test\r\n", "250" },
		{ "NONSENSE\r\n", "500" },
		{ "MAIL FROM:<a@src.test>\r\n", "250" },
		{ "RCPT TO:<bob@example.org>\r\n", "250" },
		{ "RCPT TO:<bob@elsewhere.test>\r\n", "550" },
		{ "DATA\r\n", "354" },
		{ "Subject: x\r\n\r\nhalf of it\r\n", "" },
		{ ".\r\n", "250" },
		{ "RSET\r\n", "250" },
		{ "MAIL FROM:<a@src.test>\r\n", "250" },
		{ "RCPT TO:<bob@example.org>\r\n", "250" },
		{ "BDAT 14 LAST\r\nSubject: x\r\n\r\n", "250" },
		{ "QUIT\r\n", "221" },
	};

	if (outside == 1)
		cr_skip("this system lacks a wall");
	try_all("greeting");
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		say(steps[i].line, steps[i].want);
		try_all(steps[i].line);
	}
}

Test(confine, tables_elsewhere_need_a_fresh_process)
{
	static const struct { const char *spec; bool want; } rows[] = {
		{ "file:/a/one", true }, { "file:/a/two", true },
		{ "file:/b/one", false }, { "passwd:", false },
		{ "inline:x", true },
	};
	struct conf_table was = { .name = "t", .spec = "file:/a/one" };
	struct conf before = { .log_dir = "/l", .spool_dir = "/s",
	    .run_dir = "/r", .tables = &was, .table_count = 1 };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conf_table now = { .name = "t",
		    .spec = rows[i].spec };
		struct conf after = before;

		after.tables = &now;
		cr_expect_eq(session_may_read(&before, &after), rows[i].want,
		    "%s", rows[i].spec);
	}
}

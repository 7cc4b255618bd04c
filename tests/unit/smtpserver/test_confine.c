/* test_confine.c - a session that was taken over, at each of its steps
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/sandbox.h"
#include "house.h"
#include "smtpserver/worker/confine.h"

static struct house house;
static int client, outside = -1;

static void
lock_in(const char *address)
{
	char path[200];
	struct err err;
	int walls;

	house.conf->spool_dir = house.conf->run_dir = house.dir;
	client = house_connect(&house, address);
	/* somebody else's message, and what lies beside */
	snprintf(path, sizeof(path), "%s/router/4711", house.conf->spool_dir);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	snprintf(path, sizeof(path), "%s/public/4712", house.conf->spool_dir);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	walls = session_confine(house.conf, NULL, &err);
	cr_assert_geq(walls, 0, "%s", err.text);
	if (walls != (SANDBOX_FILES | SANDBOX_CALLS))
		outside = 1;
}

static void
setup(void)
{
	house_open(&house, "limit errors 100\n");
	lock_in("192.0.2.7:4711");
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
	cr_expect(!can("public/4712", O_RDONLY), "%s: reads public/", step);
	cr_expect(!can("public/4712", O_RDWR), "%s: reads public/", step);
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

/* A link into record/ is for those who began with it. */
Test(confine, bodies_need_a_fresh_process)
{
	struct conf none = { .log_dir = "/l", .spool_dir = "/s",
	    .run_dir = "/r" }, bodies = none;

	bodies.record_ms = bodies.record_bodies_max_bytes = 1;
	cr_expect(!session_may_read(&none, &bodies));
	cr_expect(session_may_read(&bodies, &none));
	cr_expect(session_may_read(&bodies, &bodies));
}

/* ---- with messages that are kept ----------------------------------------- */

static void
setup_keeping(void)
{
	char path[200];

	house_open(&house, "record for 1d bodies\n");
	snprintf(path, sizeof(path), "%s/record", house.dir);
	cr_assert_eq(mkdir(path, 0700), 0);
	snprintf(path, sizeof(path), "%s/record/kept", house.dir);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	snprintf(path, sizeof(path), "%s/freezer/4713.held", house.dir);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	lock_in("192.0.2.7:4711");
}

TestSuite(confine_keeping, .init = setup_keeping);

static bool
can_link(const char *from, const char *to)
{
	char old[200], new[200];

	snprintf(old, sizeof(old), "%s/%s", house.conf->spool_dir, from);
	snprintf(new, sizeof(new), "%s/%s", house.conf->spool_dir, to);
	return link(old, new) == 0;
}

/* What is set aside cannot be let go, nor what is kept come again. */
Test(confine_keeping, a_second_name_is_for_drafts_alone)
{
	if (outside > 0)
		cr_skip_test("the kernel has no such walls");
	cr_expect(can_link("public/4712", "record/4712"));
	cr_expect_not(can_link("freezer/4713.held", "router/1.x"));
	cr_expect_not(can_link("freezer/4713.held", "public/x"));
	cr_expect_not(can_link("record/kept", "router/1.y"));
	cr_expect_not(can_link("record/kept", "public/y"));
	cr_expect(can("public/5000", O_WRONLY | O_CREAT));
}

/* ---- while it waits for somebody ---------------------------------------- */

static void
setup_waiting(void)
{
	house_open_clocked(&house, "limit errors 100\n"
	    "tarpit first 2s\n"
	    "listen 127.0.0.1:587 submission\n"
	    "table passwords file:/nowhere/x\n"
	    "auth users <passwords> clear loopback senders any\n"
	    "content-filter unix:/nowhere fail tempfail\n");
	house.conf->verify = VERIFY_REJECT;
	worker_equip(house.worker, NULL, NULL, true);
	lock_in("127.0.0.1:4711");
}

TestSuite(confine_waiting, .init = setup_waiting);

/* Say it: nothing comes back, the session waits in that step. */
static void
waits(const char *bytes, const char *step)
{
	struct str out = STR_INIT;

	house_send(&house, client, bytes, strlen(bytes), 1000, &out);
	(void)house_hear(&house, client, &out);
	cr_expect_eq(out.len, 0, "%s: %s", step, out.buf);
	try_all(step);
	str_release(&out);
}

static void
hears(const char *want)
{
	struct str out = STR_INIT, reply = STR_INIT;

	(void)house_hear(&house, client, &out);
	replies_short(str_slice(&out), &reply);
	cr_expect_str_eq(reply.buf, want, "%s, not %s", reply.buf, want);
	str_release(&out);
	str_release(&reply);
}

static void
says(const char *bytes, const char *want)
{
	house_send(&house, client, bytes, strlen(bytes), 1000, NULL);
	hears(want);
}

/* The listener answers what was asked of a helper, in the end. */
static void
answered(const char *kind, enum ask_state state, const char *answer)
{
	struct str lines = STR_INIT;
	struct slice rest, line, word = { NULL, 0 };
	uint64_t token = 0;

	worker_take_lines(house.worker, &lines);
	rest = str_slice(&lines);
	while (token == 0 && slice_cut(&rest, '\n', &line))
		if (slice_word(&line, &word) && slice_is(word, "ask") &&
		    slice_word(&line, &word))
			(void)slice_number(word, 1, UINT64_MAX, &token);
	cr_expect(slice_word(&line, &word) && slice_is(word, kind),
	    "asked %s, not %s", lines.buf, kind);
	worker_answer(house.worker, token, state, slice_of(answer));
	str_release(&lines);
}

static void
try_while_it_logs_in(const char *long_line)
{
	hears("220");
	says("EHLO c1.test\r\n", "250");
	says(long_line, "");
	try_all("skip");
	waits("\r\n", "hold (a long line)");
	*house.clock += 3;
	hears("500/5.5.2");
	waits("MAIL FROM:<a@src.test>\r\n", "hold");
	*house.clock += 5;
	hears("530/5.7.0");
	says("AUTH LOGIN\r\n", "334");
	waits("Ym", "auth");
	says("9i\r\n", "334");
	waits("d29uZGVy\r\n", "ask (a password)");
	answered("auth", ASK_ANSWERED, "no");
	waits("", "pause");
	*house.clock += 10;
	waits("", "hold (a refused login)");
	*house.clock += 20;
	hears("535/5.7.8");
	says("AUTH PLAIN AGJvYgB3b25kZXI=\r\n", "");
	answered("auth", ASK_ANSWERED, "ok Ym9i");
	hears("235/2.7.0");
}

static void
try_while_it_sends(const char *long_line)
{
	says("MAIL FROM:<a@src.test>\r\n", "250/2.1.0");
	waits("RCPT TO:<bob@example.org>\r\n", "ask (a recipient)");
	answered("router", ASK_ANSWERED, "served");
	hears("250/2.1.5");
	says("DATA\r\n", "354");
	waits("Subject: x\r\n\r\nbody\r\n.\r\n", "filter");
	answered("content", ASK_TROUBLE, "it is not there");
	waits("", "hold (the end of data)");
	*house.clock += 60;
	hears("451/4.7.1");
	says("MAIL FROM:<a@src.test>\r\nRCPT TO:<bob@example.org>\r\n",
	    "250/2.1.0");
	answered("router", ASK_ANSWERED, "served");
	hears("250/2.1.5");
	waits("BDAT 3013 LAST\r\nSubject: x\r\n\r\n", "chunk");
	waits(long_line, "filter (a chunk)");
}

Test(confine_waiting, no_way_out_while_a_session_waits)
{
	char long_line[3000];

	if (outside == 1)
		cr_skip("this system lacks a wall");
	memset(long_line, 'x', sizeof(long_line) - 1);
	long_line[sizeof(long_line) - 1] = '\0';
	try_while_it_logs_in(long_line);
	try_while_it_sends(long_line);
	answered("content", ASK_TROUBLE, "it is not there");
	waits("", "hold (the last chunk)");
	*house.clock += 60;
	hears("451/4.7.1");
	says("QUIT\r\n", "221/2.0.0");
	try_all("linger");
}

/* ---- with a last word that its client does not take ---------------------- */

static void
setup_deaf(void)
{
	house_open(&house, "limit errors 100\n");
	house.send_bytes = 1;		/* as little as the system gives */
	lock_in("192.0.2.7:4711");
}

TestSuite(confine_deaf, .init = setup_deaf);

Test(confine_deaf, no_way_out_while_a_last_reply_waits)
{
	struct str heard = STR_INIT;
	int taken = 0;

	if (outside == 1)
		cr_skip("this system lacks a wall");
	for (int i = 0; i < 100; i++)
		house_send(&house, client, "NONSENSE\r\n", 10, 1000, NULL);
	for (int i = 0; i < 10; i++)
		loop_turn(house.loop, 0);
	cr_assert_eq(worker_session_count(house.worker), 1);
	cr_assert_eq(ioctl(client, FIONREAD, &taken), 0);
	try_all("last");
	(void)house_hear(&house, client, &heard);
	cr_expect_gt(heard.len, (size_t)taken, "nothing waited");
	cr_expect(strstr(heard.buf, "\n421 4.7.0 ") != NULL, "%s", heard.buf);
	str_release(&heard);
}

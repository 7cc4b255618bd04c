/* test_handover.c - what is handed over comes back, and nothing else does
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/run/handover/handover.h"
#include "tools/run/unit.h"

static struct handover in, out;

static void
fill(int file, const int sockets[2], const int pipes[2])
{
	memset(&in, 0, sizeof(in));
	in.instance_count = 1;
	in.instances[0] = (struct handover_instance){ 1700000000, 3, 2, 1,
	    file };
	handover_set(&in, "spool", "/var/spool/a spool with blanks ");
	handover_set(&in, "log", "");
	in.child_count = 1;
	in.children[0] = (struct handover_child){ .name = "router",
	    .state = "ready", .pid = 4711, .lifeline = sockets[0],
	    .restarts = 2, .conf = 3, .was_ready = true,
	    .program = "/usr/libexec/zmailer/router" };
	in.before_count = 1;
	in.before[0] = (struct handover_before){ .name = "router",
	    .pid = 4710, .lifeline = sockets[1], .is_told = true };
	in.beside_count = 1;
	in.beside[0] = (struct handover_beside){ .name = "tables",
	    .pid = 0, .lifeline = pipes[1], .socket = -1, .place = -1,
	    .second = -1 };
}

Test(handover, comes_back_as_it_was)
{
	int file = memfd_create("a file", MFD_CLOEXEC), sockets[2], pipes[2];
	struct err err = { "" };
	int fd;

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	cr_assert_eq(pipe(pipes), 0);
	fill(file, sockets, pipes);
	fd = handover_write(&in, &err);
	cr_assert_geq(fd, 0, "%s", err.text);
	cr_assert_eq(handover_read(fd, &out, &err), 0, "%s", err.text);
	cr_expect_eq(memcmp(&in, &out, sizeof(in)), 0);
	cr_expect_str_eq(handover_setting(&out, "spool"),
	    "/var/spool/a spool with blanks ");
	cr_expect_str_eq(handover_setting(&out, "nothing"), "");

	handover_keep(&out, fd, true);
	cr_expect_eq(fcntl(sockets[0], F_GETFD), 0);
	cr_expect_eq(fcntl(fd, F_GETFD), 0);
	handover_keep(&out, fd, false);
	cr_expect_eq(fcntl(pipes[1], F_GETFD), FD_CLOEXEC);
	cr_expect_eq(fcntl(file, F_GETFD), FD_CLOEXEC);
}

Test(handover, a_descriptor_is_what_it_is_said_to_be)
{
	int file = memfd_create("a file", MFD_CLOEXEC), sockets[2], pipes[2];
	struct err err = { "" };

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	cr_assert_eq(pipe(pipes), 0);
	fill(file, sockets, pipes);
	in.children[0].lifeline = pipes[0];
	cr_expect_eq(handover_check(&in, &err), -1);
	cr_expect(strstr(err.text, "of a child is not open"), "%s", err.text);
	fill(file, sockets, pipes);
	in.before[0].lifeline = sockets[0];
	cr_expect_eq(handover_check(&in, &err), -1);
	cr_expect(strstr(err.text, "named 2 times"), "%s", err.text);
	fill(file, sockets, pipes);
	in.beside[0].socket = sockets[1];	/* it does not listen */
	in.before_count = 0;
	cr_expect_eq(handover_check(&in, &err), -1);
	cr_expect(strstr(err.text, "of a beside is not open"), "%s",
	    err.text);
	fill(file, sockets, pipes);
	close(file);
	cr_expect_eq(handover_check(&in, &err), -1);
	cr_expect(strstr(err.text, "of a instance"), "%s", err.text);
}

Test(handover, a_name_is_one_line)
{
	struct str text = STR_INIT;
	struct err err = { "" };

	memset(&in, 0, sizeof(in));
	handover_set(&in, "spool", "/two\nlines");
	cr_expect_eq(handover_add(&text, &in, &err), -1);
	cr_expect(strstr(err.text, "a line's end"), "%s", err.text);
	str_release(&text);
}

#define GOOD "zmailer-handover 1\ninstance 1 1 0 0 3\n"

Test(handover, what_cannot_be_is_refused)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ GOOD, NULL },
		{ GOOD "setting spool /var/spool/zmailer\n", NULL },
		{ GOOD "setting spool\n", NULL },
		{ GOOD "before smtpserver 12 7 1 0 0\n", NULL },
		{ "", "cut off" },
		{ "\n", "no record" },
		{ "zmailer-handover 1\ninstance 1 1 0 0 3", "cut off" },
		{ "zmailer-handover 1\n", "not speak of an instance" },
		{ "zmailer-handover 2\ninstance 1 1 0 0 3\n",
		    "version 2, this program takes version 1" },
		{ "zmailer-handover 0\n", "version 0" },
		{ "zmailer-handover one\n", "no record" },
		{ "zmailer-handover 1 1\n", "no record" },
		{ "zmailer-snapshot 1\n", "no record" },
		{ GOOD "instance 1 1 0 0 3\n", "line 3 of the record: more" },
		{ GOOD "\n", "line 3 of the record: it is not known" },
		{ GOOD "cousin 1\n", "not known" },
		{ GOOD "room 0\n", "field 2" },
		{ GOOD "room 0 2\n", "field 2" },	/* standard error */
		{ GOOD "room 0 -\n", "field 2" },
		{ GOOD "room 0 -1\n", "field 2" },
		{ GOOD "room 0 99999999999\n", "field 2" },
		{ GOOD "room 0 x\n", "field 2" },
		{ GOOD "room -1 4\n", "field 1" },
		{ GOOD "room 9223372036854775808 4\n", "field 1" },
		{ GOOD "room 0 4 5\n", "more fields" },
		{ GOOD "before smtpserver 12 7 2 0 0\n", "field 4" },
		{ GOOD "before a-name-that-is-longer-than-any-of-ours 12 7 "
		    "1 0 0\n", "field 1" },
		{ GOOD "given\n", "field 1" },
		/* signals would go to a group, or to somebody else */
		{ GOOD "before smtpserver 0 7 1 0 0\n", "cannot be" },
		{ GOOD "before smtpserver 4294967297 7 1 0 0\n",
		    "cannot be" },
		{ GOOD "beside sts 4294967297 - - - -\n", "cannot be" },
		{ GOOD "beside sts 12 - - - -\n", NULL },
		{ GOOD "child router ready 0 7 0 0 0 0 1 0 0 /p\n",
		    "cannot be" },
		{ GOOD "child router ready 12 - 0 0 0 0 1 0 0 /p\n",
		    "cannot be" },
		{ GOOD "child router ready 12 7 0 0 0 0 1 0 0 /p\n", NULL },
	};
	struct err err;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		int got = handover_parse(slice_of(rows[i].text), &out, &err);

		cr_expect_eq(got, rows[i].why == NULL ? 0 : -1, "%s",
		    rows[i].text);
		cr_expect(rows[i].why == NULL || strstr(err.text,
		    rows[i].why) != NULL, "%s: %s", rows[i].text, err.text);
	}
	cr_expect_eq(handover_parse((struct slice){ GOOD
	    "setting spool a\0b\n", sizeof(GOOD) + 18 }, &out, &err), -1);
}

Test(handover, lists_are_bounded)
{
	struct str text = STR_INIT;
	struct err err;

	str_adds(&text, GOOD);
	for (int i = 0; i < HANDOVER_BEFORE_MAX; i++)
		str_addf(&text, "before smtpserver 12 %d 1 0 0\n", 10 + i);
	cr_expect_eq(handover_parse(str_slice(&text), &out, &err), 0);
	cr_expect_eq(out.before_count, HANDOVER_BEFORE_MAX);
	str_adds(&text, "before smtpserver 12 9 1 0 0\n");
	cr_expect_eq(handover_parse(str_slice(&text), &out, &err), -1);
	cr_expect(strstr(err.text, "more than 64 of them"), "%s", err.text);
	str_release(&text);
}

/* ---- the unit ------------------------------------------------------ */

Test(unit, a_cgroup_names_its_service)
{
	static const struct {
		const char *text, *want;	/* NULL: no service */
	} rows[] = {
		{ "0::/system.slice/zmailer.service\n", "zmailer.service" },
		{ "0::/system.slice/system-zmailer.slice/zmailer@b.service\n",
		    "zmailer@b.service" },
		{ "13:pids:/system.slice/x.service\n"
		    "1:name=systemd:/system.slice/zmailer.service\n0::/\n",
		    "zmailer.service" },
		{ "13:pids:/system.slice/x.service\n0::/\n"
		    "1:name=systemd:/system.slice/zmailer.service\n",
		    "zmailer.service" },
		{ "0::/user.slice/user-0.slice/session-3.scope\n", NULL },
		{ "0::/system.slice/-x.service\n", NULL },
		{ "0::/system.slice/.service", NULL },
		{ "0::/\n", NULL }, { "0::", NULL }, { "", NULL },
		{ "4:cpu:/system.slice/zmailer.service\n", NULL },
	};
	struct str name = STR_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool found = unit_in_cgroup(slice_of(rows[i].text), &name);

		cr_expect_eq(found, rows[i].want != NULL, "row %zu", i);
		if (found && rows[i].want != NULL)
			cr_expect_str_eq(name.buf, rows[i].want, "row %zu",
			    i);
	}
	str_release(&name);
}

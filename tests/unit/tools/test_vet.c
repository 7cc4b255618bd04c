/* test_vet.c - recipients with ways, in a control file of another node
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/mem.h"
#include "mail/control_file/control_file.h"
#include "tools/copies/vet.h"

#define ID "0123456789abcu2d"

/* What becomes of that recipient. */
static void
vet_show_rcpt(struct control_rcpt rcpt, struct control_rcpt *out,
    struct str *text, struct arena *arena)
{
	struct control_group group = { .sender = SLICE("s@s.test"),
	    .header = SLICE("A: 1\n"), .rcpts = &rcpt, .rcpt_count = 1 };
	struct control_file in = { .id = ID, .inode = 1, .body_offset = 100,
	    .size_bytes = 200, .groups = &group, .group_count = 1 };
	struct conf conf = { .path = NULL, .read_from = "" };
	struct vet *vet = vet_new(&conf);
	struct err err;

	cr_assert_eq(control_file_format(&in, text, &err), 0, "%s", err.text);
	cr_assert_eq(vet_control(vet, ID, "mx1", text), 0);
	cr_assert_eq(control_file_parse(arena, str_slice(text), &in, &err),
	    0, "%s", err.text);
	cr_assert_eq(in.rcpt_total, 1);
	*out = in.groups[0].rcpts[0];
	vet_free(&vet);
}

/* What becomes of a recipient by SMTP whose second way is that. */
static void
vet_show(struct control_way way, struct control_rcpt *out, struct str *text,
    struct arena *arena)
{
	vet_show_rcpt((struct control_rcpt){ .channel = SLICE("smtp"),
	    .host = SLICE("a.test"), .user = SLICE("u@a.test"),
	    .uid = CONTROL_UID_NOBODY, .ways = &way, .way_count = 1 }, out,
	    text, arena);
}

/* Nobody is asked: no router runs here. */
Test(vet, ways_to_other_machines_stay)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct control_rcpt got;

	vet_show((struct control_way){ .channel = SLICE("smtp"),
	    .host = SLICE("b.test"), .user = SLICE("u@a.test"),
	    .uid = CONTROL_UID_NOBODY, .after_s = 90 }, &got, &text, arena);
	cr_expect(slice_is(got.channel, "smtp") && slice_is(got.host,
	    "a.test"));
	cr_assert_eq(got.way_count, 1);
	cr_expect(slice_is(got.ways[0].host, "b.test"));
	cr_expect_eq(got.ways[0].after_s, 90);
	str_release(&text);
	arena_free(&arena);
}

/* Also when this node would give it the same: the router's answer has no ways
 * after the first. */
Test(vet, a_way_that_stays_on_this_machine_is_routed_again)
{
	static const struct control_way rows[] = {
		{ .channel = SLICE("mailbox"), .user = SLICE("u"), .uid = 0 },
		{ .channel = SLICE("smtp"), .host = SLICE("b.test"),
		    .user = SLICE("u@a.test"), .uid = 0 },
		{ .channel = SLICE("pipe"), .user = SLICE("|/bin/true"),
		    .uid = CONTROL_UID_NOBODY },
	};
	struct control_rcpt got;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		struct str text = STR_INIT;

		vet_show(rows[i], &got, &text, arena);
		cr_expect(slice_is(got.channel, "reroute"), "row %zu", i);
		cr_expect(slice_is(got.user, "u@a.test"), "row %zu", i);
		cr_expect_eq(got.way_count, 0, "row %zu", i);
		cr_expect_eq(got.uid, CONTROL_UID_NOBODY, "row %zu", i);
		str_release(&text);
		arena_free(&arena);
	}
}

/* ---- a router that thinks --------------------------------------- */

static void
on_alarm(int signo)
{
}

static void
router_put(char directory[])
{
	char path[100];
	FILE *file;

	cr_assert_not_null(mkdtemp(directory));
	snprintf(path, sizeof(path), "%s/router", directory);
	file = fopen(path, "w");
	cr_assert_not_null(file);
	fputs("#!/bin/sh\nwhile read -r asked; do sleep 0.2; echo '{\"channel\""
	    ":\"mailbox\",\"host\":\"\",\"user\":\"u\",\"uid\":12}'; "
	    "sleep 0.2; echo; done\n", file);
	cr_assert_eq(fclose(file), 0);
	cr_assert_eq(chmod(path, 0755), 0);
	cr_assert_eq(setenv("ZMAILER_LIBEXEC", directory, 1), 0);
}

/* A signal, or who is stopped and goes on, is no silence of the router. */
Test(vet, an_answer_is_waited_for_through_signals)
{
	const struct sigaction act = { .sa_handler = on_alarm };
	const struct itimerval often = { { 0, 20000 }, { 0, 20000 } },
	    never = { { 0, 0 }, { 0, 0 } };
	char directory[] = "/tmp/zm-vet-XXXXXX", path[100];
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct control_rcpt got;

	router_put(directory);
	cr_assert_eq(sigaction(SIGALRM, &act, NULL), 0);
	cr_assert_eq(setitimer(ITIMER_REAL, &often, NULL), 0);
	vet_show_rcpt((struct control_rcpt){ .channel = SLICE("mailbox"),
	    .user = SLICE("u"), .uid = 12, .orcpt = SLICE("rfc822;u@a.test")
	    }, &got, &text, arena);
	cr_assert_eq(setitimer(ITIMER_REAL, &never, NULL), 0);
	cr_expect(slice_is(got.channel, "mailbox"));
	cr_expect_eq(got.uid, 12);
	snprintf(path, sizeof(path), "%s/router", directory);
	unlink(path);
	rmdir(directory);
	str_release(&text);
	arena_free(&arena);
}

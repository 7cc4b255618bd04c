/* test_mailq_flags.c - every flag of mailq(1) acts, is ignored, or is refused
 * by name
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tools/mailq/local.h"

enum { WORDS_MAX = 12 };

static int
read_words(const char *line, struct mailq_flags *flags, struct err *err)
{
	static char copy[256];
	static char *argv[WORDS_MAX + 1];
	char *rest = copy;
	int argc = 0;

	cr_assert_lt(strlcpy(copy, line, sizeof(copy)), sizeof(copy));
	memset(argv, 0, sizeof(argv));
	while (argc < WORDS_MAX && rest != NULL)
		argv[argc++] = strsep(&rest, " ");
	optind = 0;		/* of the C library: begin anew */
	return mailq_flags_read(argc, argv, flags, err);
}

static const struct {
	const char *in;
	enum mailq_report report;
	const char *server, *command;
} good[] = {
	{ "mailq", MAILQ_LIST, NULL, NULL },
	{ "mailq -Ac", MAILQ_LIST, NULL, NULL },
	{ "mailq -Am -q -v", MAILQ_LIST, NULL, NULL },
	{ "mailq -vv -t", MAILQ_LIST, NULL, NULL },
	{ "mailq -S", MAILQ_SUMS, NULL, NULL },
	{ "mailq -Q", MAILQ_THREADS, NULL, NULL },
	{ "mailq -QQ", MAILQ_GROUPS, NULL, NULL },
	{ "mailq -Q -Q -Q", MAILQ_TOTALS, NULL, NULL },
	{ "mailq -QQQQ", MAILQ_COUNTERS, NULL, NULL },
	{ "mailq -QQQQQ", MAILQ_COUNTERS, NULL, NULL },
	{ "mailq -M", MAILQ_COUNTERS, NULL, NULL },
	{ "mailq -c smtp -h x.test", MAILQ_THREAD, NULL, NULL },
	{ "mailq -c smtp -h x.test far.test", MAILQ_THREAD, "far.test", NULL },
	{ "mailq -h far.test -k f -Q", MAILQ_THREADS, "far.test", NULL },
	{ "mailq -h far.test -k f ETRN x", MAILQ_LIST, "far.test", "ETRN" },
	{ "mailq far.test", MAILQ_LIST, "far.test", NULL },
	{ "mailq -QQ far.test", MAILQ_GROUPS, "far.test", NULL },
	{ "mailq -U a/b far.test KILL MSG 1", MAILQ_LIST, "far.test", "KILL" },
	{ "mailq -p /run/x", MAILQ_LIST, "localhost", NULL },
	{ "mailq -4 -p 1174 far.test", MAILQ_LIST, "far.test", NULL },
};

Test(mailq_flags, what_each_asks_for)
{
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		struct mailq_flags flags;
		struct err err;
		int got = read_words(good[i].in, &flags, &err);

		cr_assert_eq(got, 0, "%s: %s", good[i].in,
		    got < 0 ? err.text : "");
		cr_expect_eq(flags.report, good[i].report, "%s", good[i].in);
		cr_expect_str_eq(flags.server ? flags.server : "-",
		    good[i].server ? good[i].server : "-", "%s", good[i].in);
		if (flags.server != NULL)
			cr_expect_str_eq(*flags.words ? *flags.words : "-",
			    good[i].command ? good[i].command : "-", "%s",
			    good[i].in);
	}
}

/* Each says which flag it is about, and most what to say instead. */
static const struct { const char *in, *words; } bad[] = {
	{ "mailq -m", "no option -m" },
	{ "mailq -x", "no option -x" },
	{ "mailq -Ax", "-A x: sendmail's are -Ac and -Am" },
	{ "mailq -qL", "-qL: this mailq selects nothing" },
	{ "mailq -qIabc", "zmailer list SELECTOR" },
	{ "mailq -u", "-u wants a value" },
	{ "mailq -c smtp", "-c CHANNEL wants -h HOST" },
	{ "mailq -k f", "-k is for another machine" },
	{ "mailq -U a/b -Q", "-U is for another machine" },
	{ "mailq -s far.test", "read this machine's files" },
	{ "mailq -i far.test", "read this machine's files" },
	{ "mailq -u joe -Q", "the list of messages alone" },
	{ "mailq -i -d", "the list of messages alone" },
	{ "mailq -k f -U a/b far.test", "-k or -U, not both" },
};

Test(mailq_flags, what_is_refused_is_named)
{
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct mailq_flags flags;
		struct err err;

		cr_assert_eq(read_words(bad[i].in, &flags, &err), -1, "%s",
		    bad[i].in);
		cr_expect_not_null(strstr(err.text, bad[i].words),
		    "%s: %s", bad[i].in, err.text);
	}
}

Test(mailq_flags, the_rest_of_them)
{
	struct mailq_flags flags;
	struct err err;

	cr_assert_eq(read_words("mailq -6 -d -k f -C a -Z b h", &flags,
	    &err), 0);
	cr_expect_eq(flags.family, AF_INET6);
	cr_expect(flags.is_raw);
	cr_expect_str_eq(flags.conf, "b", "the last one");
	cr_assert_eq(read_words("mailq -s -i", &flags, &err), 0);
	cr_expect_eq(flags.status, 1);
	cr_expect(flags.is_mine);
	cr_assert_eq(read_words("mailq -ss -u joe", &flags, &err), 0);
	cr_expect_eq(flags.status, 2);
	cr_expect_str_eq(flags.user, "joe");
}

Test(mailq_flags, an_identity_has_a_name_and_a_password)
{
	static const struct { const char *in, *name, *password; } rows[] = {
		{ "a/b", "a", "b" }, { "boss:se/same", "boss", "se/same" },
		{ "x,y", "x", "y" }, { "a", NULL, NULL }, { "a/", NULL, NULL },
		{ "/b", NULL, NULL }, { "", NULL, NULL },
		{ "aaaaaaaaaaaaaaaa/b", NULL, NULL },
		{ "a/bbbbbbbbbbbbbbbb", NULL, NULL },
	};
	char name[16], password[16];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool is = mailq_identity(rows[i].in, name, password,
		    sizeof(name));

		cr_assert_eq(is, rows[i].name != NULL, "%s", rows[i].in);
		if (!is)
			continue;
		cr_expect_str_eq(name, rows[i].name);
		cr_expect_str_eq(password, rows[i].password);
	}
}

Test(mailq_flags, sums_count_a_message_once_a_destination)
{
	struct view_rcpt rcpts[] = {
		{ .channel = SLICE("smtp"), .host = SLICE("x.test"),
		    .state = "waiting" },
		{ .channel = SLICE("smtp"), .host = SLICE("a.test"),
		    .state = "waiting" },
		{ .channel = SLICE("smtp"), .host = SLICE("x.test"),
		    .state = "queued" },
		{ .channel = SLICE("smtp"), .host = SLICE("gone.test"),
		    .state = "delivered" },
		{ .state = "routing" },
	};
	struct view view = { .rcpts = rcpts, .rcpt_count = 5,
	    .size_bytes = 100 };
	struct mailq_sums sums = { NULL, 0, 0 };
	struct str out = STR_INIT;

	mailq_sums_add(&sums, &view);
	view.size_bytes = 200;
	view.rcpt_count = 1;
	mailq_sums_add(&sums, &view);
	mailq_sums_print(&sums, &out);
	cr_expect_str_eq(out.buf,
	    "   FILES        BYTES       MEAN  CHANNEL/HOST\n"
	    "       1          100        100  smtp/a.test\n"
	    "       2          300        150  smtp/x.test\n", "%s", out.buf);
	mailq_sums_release(&sums);
	str_release(&out);
}

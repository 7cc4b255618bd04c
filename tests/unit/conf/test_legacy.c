/* test_legacy.c - ZMailer's scheduler.conf, keyword by keyword
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "conf_case.h"
#include "conf/legacy/legacy.h"

/* A configuration that includes these lines. */
static void
legacy_open(struct conf_case *c, const char *lines)
{
	char dir[] = "/tmp/zm-legacy-XXXXXX", path[2][64];
	FILE *file;

	cr_assert_not_null(mkdtemp(dir));
	snprintf(path[0], sizeof(path[0]), "%s/zmailer.conf", dir);
	snprintf(path[1], sizeof(path[1]), "%s/scheduler.conf", dir);
	file = fopen(path[0], "w");
	fputs("include-legacy scheduler.conf\n", file);
	fclose(file);
	file = fopen(path[1], "w");
	fputs(lines, file);
	fclose(file);
	c->arena = arena_new();
	str_init(&c->shown);
	c->conf = conf_load(path[0], c->arena, &c->report);
	conf_report_print(&c->report, path[0], &c->shown);
	unlink(path[0]);
	unlink(path[1]);
	rmdir(dir);
}

/* Keywords that become items: what the clause shows afterwards. */
static const struct { const char *in, *want; } honoured[] = {
	{ "interval=5m", "; retry 5m 5m 10m 15m 25m 40m 65m 105m 170m; " },
	{ "interval=1h retries=\"12\"", "; retry 12h; " },
	{ "retries=\"1 3\" interval=90", "; retry 90s 270s; " },
	{ "idlemax=9m", "; idle 9m; " },
	{ "expiry=3d12h", "; expire 84h; " },
	{ "expiry2=1d", "; expire-untried 1d; " },
	{ "reporttimes=\"1d,4h\"", "; warn 4h 1d; " },
	{ "reporttimes=4h", "; warn 4h; " },
	{ "maxchannel=15", "; channel-agents 15; " },
	{ "MaxChannels=15", "; channel-agents 15; " },
	{ "maxring=5", "; agents 5; " },
	{ "maxthr=10", "{ parallel 10; " },
	{ "maxthr=0", "{ parallel 20; " },
	{ "overfeed=2", "; overfeed 2; " },
	{ "overfeed=0", "; overfeed 0; " },
	{ "ageorder", "; order age; " },
	{ "queueonly", "; queue-only yes; " },
	{ "command=\"/opt/agents/fax -q\"",
	    "; command \"/opt/agents/fax -q\" }" },
	{ "command=smtp", "; idle 30s; " },
	{ "command=\"sm -c $channel uucp\"", "; command \"sm uucp\" }" },
	{ "command=\"ta/sm -8c $channel $channel\"",
	    "; command \"sm smtpx\" }" },
	{ "command=\"sm -8 -f /etc/my.conf -c $channel procm\"",
	    "; command \"sm -f /etc/my.conf procm\" }" },
	{ "bychannel wakeuprestartonly ageorder", "; order age; " },
};

Test(conf_legacy, keywords_that_are_taken_over)
{
	for (size_t i = 0; i < sizeof(honoured) / sizeof(honoured[0]); i++) {
		struct str text = STR_INIT, shown = STR_INIT;
		struct conf_case c;

		str_addf(&text, "smtpx/*.example\n\t%s\n", honoured[i].in);
		legacy_open(&c, text.buf);
		cr_assert_not_null(c.conf, "row %zu: %s", i, c.shown.buf);
		cr_expect_eq(c.report.warnings, 0, "row %zu: %s", i,
		    c.shown.buf);
		cr_expect_str_eq(c.conf->schedules[0].host, "*.example");
		conf_show_clause(&c.conf->schedules[0], &shown);
		cr_expect(strstr(shown.buf, honoured[i].want) != NULL,
		    "row %zu: %s", i, shown.buf);
		case_close(&c);
		str_release(&text);
		str_release(&shown);
	}
}

/* Those that are named: line, column and words; an error or not. */
static const struct { const char *in, *want; bool is_error; } named[] = {
	{ "x/*\n\tskew=5\n", "conf:2:2: warning: 'skew' is not taken over",
	    false },
	{ "x/*\n\texpiryform=a\n", "'expiryform' is not taken over", false },
	{ "x/*\n\tdeliveryform=a\n", "'deliveryform' is not", false },
	{ "x/*\n\tageorder maxta=9\n", "conf:2:11: warning: 'maxta' is not",
	    false },
	{ "x/*\n\tmaxta=9\n", "write: limit agents N", false },
	{ "x/*\n\tmaxtransport=9\n", "'maxtransport' is not", false },
	{ "x/*\n\tmaxtransports=9\n", "'maxtransports' is not", false },
	{ "x/*\n\tuser=root\n", "'user' is not", false },
	{ "x/*\n\tgroup=daemon\n", "'group' is not", false },
	{ "x/*\n\tnice=5\n", "'nice' is not", false },
	{ "x/*\n\tpriority=5\n", "'priority' is not", false },
	{ "x/*\n\tsysnice=5\n", "'sysnice' is not", false },
	{ "x/*\n\tsyspriority=5\n", "'syspriority' is not", false },
	{ "x/*\n\tcommand=\"smtp -s -l log\"\n",
	    "the flags of 'smtp -s -l log' are left out", false },
	{ "x/*\n\tcommand=\"/usr/lib/ta/mailbox -8\"\n",
	    "the flags of '/usr/lib/ta/mailbox -8'", false },
	{ "PARAMauthfile = \"/x\"\n",
	    "conf:1:6: warning: PARAMauthfile is "
	    "not taken over",
	    false },
	{ "PARAMmailqsock=\"UNIX:/x\"\n", "PARAMmailqsock", false },
	{ "PARAMmailqpath=\"UNIX:/x\"\n", "mailq [ADDRESS:]PORT", false },
	{ "PARAMnotifysock=\"UNIX:/x\"\n", "PARAMnotifysock", false },
	{ "PARAMmsgwriteasync=1\n", "PARAMmsgwriteasync", false },
	{ "PARAMglobal-report-interval=15m\n", "PARAMglobal-report-interval",
	    false },
	{ "PARAMstore-error-on-error\n", "PARAMstore-error-on-error", false },
	{ "PARAMother=1\n", "unknown PARAM 'other'", true },
	{ "x/*\n\tbyhost\n", "'byhost' is not taken over", true },
	{ "x/*\n\tmaxhost=4\n", "'maxhost' is not taken over", true },
	{ "x/*\n\tgangschedule\n", "'gangschedule' is not", true },
	{ "x/*\n\tintervall=5m\n", "unknown keyword 'intervall'", true },
	{ "x/*\n\tintervall=5m\n", "did you mean 'interval'?", true },
	{ "x/*\n\tinterval=5y\n", "'5y' is no value for interval", true },
	{ "x/*\n\tinterval=0\n", "'0' is no value for interval", true },
	{ "x/*\n\tretries=\"1 x\"\n", "'1 x' is no value for retries", true },
	{ "x/*\n\tmaxthr=many\n", "'many' is no value for maxthr", true },
	{ "x/*\n\tageorder=1\n", "'1' is no value for ageorder", true },
	{ "x/*\n\tcommand=\"/x/ta $host\"\n", "is no command of ours", true },
	{ "x/*\n\tcommand=\"sm -c uucp\"\n", "no mailer of sm.conf", true },
	{ "x-*/*\n\tcommand=\"sm -8c $channel $channel\"\n",
	    "$channel of 'sm $channel' would be many", true },
	{ "\tinterval=5m\n", "these settings belong to no pattern", true },
	{ "x/[ab\n\tageorder\n", "the brackets of this pattern", true },
	{ "/y\n\tageorder\n", "this is not a channel and host", true },
};

Test(conf_legacy, everything_else_is_named)
{
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++) {
		struct conf_case c;

		legacy_open(&c, named[i].in);
		cr_expect_eq(c.conf == NULL, named[i].is_error, "row %zu: %s",
		    i, c.shown.buf);
		cr_expect(strstr(c.shown.buf, named[i].want) != NULL,
		    "row %zu: %s", i, c.shown.buf);
		case_close(&c);
	}
}

Test(conf_legacy, the_first_entry_for_all_is_what_the_others_inherit)
{
	struct conf_case c;
	const struct conf_schedule *s;

	legacy_open(&c,
	    "# as shipped\n"
	    "*/*\n"
	    "\tinterval=1m expiry=5d\t# comment\n"
	    "\tretries=\"1 1 2\" maxring=20\n"
	    "local/file*\n"
	    "local/pipe*\n"
	    "\tinterval=5m\n"
	    "\tmaxring=5\n"
	    "smtp/*.{fi,se}\n"
	    "\tmaxring=30\n"
	    "hold\n"
	    "\tmaxchannel=1\n");
	cr_assert_not_null(c.conf, "%s", c.shown.buf);
	cr_expect_eq(c.report.warnings, 0, "%s", c.shown.buf);
	s = conf_schedule_for(c.conf, SLICE("local"), SLICE("pipe:x"));
	cr_expect_eq(s->agents, 5);
	cr_expect_eq(s->retry_count, 3);
	cr_expect_eq(s->retry_s[2], 600);
	s = conf_schedule_for(c.conf, SLICE("smtp"), SLICE("a.SE"));
	cr_expect_eq(s->agents, 30);
	cr_expect_eq(s->retry_s[2], 120);
	cr_expect_eq(s->expire_s, 5 * 86400);
	s = conf_schedule_for(c.conf, SLICE("hold"), SLICE("x"));
	cr_expect_eq(s->channel_agents, 1);
	cr_expect_eq(s->agents, 20);
	s = conf_schedule_for(c.conf, SLICE("smtp"), SLICE("a.org"));
	cr_expect_null(s->at.file, "the entry for all is no clause");
	case_close(&c);
}

Test(conf_legacy, patterns_with_brackets)
{
	static const struct { const char *in, *want; } rows[] = {
		{ "smtp", "smtp/* " },
		{ "smtp/a.example", "smtp/a.example " },
		{ "smtp/*.{de,at,ch}", "smtp/*.de smtp/*.at smtp/*.ch " },
		{ "a[1-3]/x", "a1/x a2/x a3/x " },
		{ "[ab]{c,d}/*", "ac/* ad/* bc/* bd/* " },
		{ "a/{}", "a/ " },
		{ "a/[", "" }, { "a/{b", "" },
		{ "[a-z][a-z][a-z]/x", "" },
		{ "[z-a]/x", "" },
		{ "[a][a][a][a][a][a][a][a][a]/x", "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		const char *out[LEGACY_PATTERNS_MAX];
		struct str got = STR_INIT;
		size_t count = legacy_patterns(arena, slice_of(rows[i].in),
		    out);

		for (size_t k = 0; k < count; k++)
			str_addf(&got, "%s ", out[k]);
		cr_expect_str_eq(got.buf, rows[i].want);
		str_release(&got);
		arena_free(&arena);
	}
}

/* The clauses that ZMailer ships, in its order and with its commands: each is
 * taken, flags of our agents' namesakes with a warning. */
Test(conf_legacy, the_shipped_file_has_no_error)
{
	static const char shipped[] =
	    "*/*\n\tinterval=5m expiry=3d\n"
	    "\tretries=\"1 1 2 3 5 8 13 21 34\"\n"
	    "\tmaxta=0 maxchannel=15 maxring=5 skew=5 idlemax=9m\n"
	    "hold/*\n\tinterval=5m maxchannel=1 command=hold\n"
	    "local/file*\nlocal/pipe*\n\tinterval=5m idlemax=9m\n"
	    "\tmaxchannel=15 maxring=5 command=\"mailbox -8\"\n"
	    "local/*\n\tinterval=5m command=mailbox\n"
	    "smtp/*.fi\n\tmaxchannel=199 maxring=30 command=\"smtp -s\"\n"
	    "smtp/*\n\tmaxchannel=199 maxring=50 command=\"smtp -s\"\n"
	    "smtp-etrn/*\n\tinterval=1h retries=\"12\" queueonly\n"
	    "\tcommand=\"smtp -c $channel -s\"\n"
	    "smtpx/*\n\tcommand=\"smtp -c $channel -x -s\"\n"
	    "error/*\n\tidlemax=2m maxchannel=5 command=errormail\n"
	    "uucp/*\n\tcommand=\"sm -c $channel uucp\"\n"
	    "usenet/*\n\tcommand=\"sm -c $channel usenet\"\n"
	    "smtpgw-bitnet/*\n\tmaxchannel=30\n"
	    "\tcommand=\"sm -8c $channel $channel\"\n";
	struct conf_case c;

	legacy_open(&c, shipped);
	cr_assert_not_null(c.conf, "%s", c.shown.buf);
	cr_expect_eq(c.report.errors, 0, "%s", c.shown.buf);
	cr_assert_geq(c.conf->schedule_count, 12);
	cr_expect_str_eq(c.conf->schedules[11].channel, "smtpgw-bitnet");
	cr_expect_str_eq(c.conf->schedules[11].command, "sm smtpgw-bitnet");
	case_close(&c);
}

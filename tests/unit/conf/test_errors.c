/* test_errors.c - what is said about a bad configuration
 *
 * Each row is a whole file and the whole report: file, line, column, the
 * caret under the word, and what to do.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "conf_case.h"

#define COUNT_1 "t.conf: 1 error; the running configuration is unchanged\n"

static const struct row { const char *in, *want; } rows[] = {
	{ "tls-to example.org always\n",
	    "t.conf:1:20: error: 'always' is not a choice\n"
	    "    1 | tls-to example.org always\n"
	    "      |                    ^~~~~~\n"
	    "      = one of: none,may,dane,sts,encrypt,verify,dane-only\n"
	    COUNT_1 },
	{ "tls-to example.org verify key /etc/key\n",
	    "t.conf:1:31: error: a key is of no use without its certificate\n"
	    "    1 | tls-to example.org verify key /etc/key\n"
	    "      |                               ^~~~~~~~\n"
	    "      = write cert FILE before it\n" COUNT_1 },
	{ "listen submision   # users\n",
	    "t.conf:1:8: error: 'submision' is not a port\n"
	    "    1 | listen submision   # users\n"
	    "      |        ^~~~~~~~~\n"
	    "      = did you mean 'submission'?\n" COUNT_1 },
	{ "\ndomian example.org\n",
	    "t.conf:2:1: error: unknown statement 'domian'\n"
	    "    2 | domian example.org\n"
	    "      | ^~~~~~\n"
	    "      = did you mean 'domain'?\n" COUNT_1 },
	{ "dikm sign x",
	    "t.conf:1:1: error: unknown statement 'dikm'\n"
	    "    1 | dikm sign x\n"
	    "      | ^~~~\n"
	    "      = zmailer.conf(5) has all statements\n" COUNT_1 },
	{ "timeout helo 30sec\n",
	    "t.conf:1:14: error: '30sec' is not a length of time for helo\n"
	    "    1 | timeout helo 30sec\n"
	    "      |              ^~~~~\n"
	    "      = write 30s\n" COUNT_1 },
	{ "timeout hello 30s\n",
	    "t.conf:1:9: error: there is no timeout 'hello'\n"
	    "    1 | timeout hello 30s\n"
	    "      |         ^~~~~\n"
	    "      = did you mean 'helo'?\n" COUNT_1 },
	{ "size 10MB\n",
	    "t.conf:1:6: error: '10MB' is not a size\n"
	    "    1 | size 10MB\n"
	    "      |      ^~~~\n"
	    "      = write 10M\n" COUNT_1 },
	{ "size 1B\n",
	    "t.conf:1:6: error: '1B' is not a size\n"
	    "    1 | size 1B\n"
	    "      |      ^~\n"
	    "      = from 1K to 16G\n" COUNT_1 },
	{ "hash 3\n",
	    "t.conf:1:6: error: '3' is not a number\n"
	    "    1 | hash 3\n"
	    "      |      ^\n"
	    "      = from 0 to 2\n" COUNT_1 },
	{ "table customers file:/x\naccept from <custmers> for any\n",
	    "t.conf:2:13: error: no table is called <custmers>\n"
	    "    2 | accept from <custmers> for any\n"
	    "      |             ^~~~~~~~~~\n"
	    "      = did you mean 'customers'?\n" COUNT_1 },
	{ "accept from <nobody> for any\n",
	    "t.conf:1:13: error: no table is called <nobody>\n"
	    "    1 | accept from <nobody> for any\n"
	    "      |             ^~~~~~~~\n"
	    "      = table nobody file:/PATH makes one\n" COUNT_1 },
	{ "host a.example\nhost b.example\n",
	    "t.conf:2:1: error: 'host' is said twice\n"
	    "    2 | host b.example\n"
	    "      | ^~~~\n"
	    "      = the first is in line 1; keep one of them\n" COUNT_1 },
	{ "size 1M\nlimit size 2M\n",
	    "t.conf:2:1: error: 'limit size' is said twice\n"
	    "    2 | limit size 2M\n"
	    "      | ^~~~~\n"
	    "      = the first is in line 1; keep one of them\n" COUNT_1 },
	{ "domain a.example b.example\ndomain c.example A.example\n",
	    "t.conf:2:18: error: domain a.example stands here and before\n"
	    "    2 | domain c.example A.example\n"
	    "      |                  ^~~~~~~~~\n"
	    "      = the first is in line 1; keep one of them\n" COUNT_1 },
	{ "domain a.example { aliasse <x> }\n",
	    "t.conf:1:20: error: unknown item 'aliasse'\n"
	    "    1 | domain a.example { aliasse <x> }\n"
	    "      |                    ^~~~~~~\n"
	    "      = did you mean 'aliases'?\n" COUNT_1 },
	{ "domain a.example { users any\nhost x.example\n",
	    "t.conf:1:18: error: this block has no end\n"
	    "    1 | domain a.example { users any\n"
	    "      |                  ^\n"
	    "      = put a } before line 2\n" COUNT_1 },
	{ "host a.example }\n",
	    "t.conf:1:16: error: this } closes nothing\n"
	    "    1 | host a.example }\n"
	    "      |                ^\n"
	    "      = delete it, or write the { of its block at the end of the "
	    "statement\n" COUNT_1 },
	{ "{ users any }\n",
	    "t.conf:1:1: error: this block belongs to no statement\n"
	    "    1 | { users any }\n"
	    "      | ^\n"
	    "      = write the { on the line of its statement, at "
	    "its end\n" COUNT_1 },
	{ "domain a.example { users any } size 1M\n",
	    "t.conf:1:32: error: a statement ends after its block\n"
	    "    1 | domain a.example { users any } size 1M\n"
	    "      |                                ^~~~\n"
	    "      = begin the next statement on a line of its own\n" COUNT_1 },
	{ "host a.example { }\n",
	    "t.conf:1:1: error: 'host' takes no block\n"
	    "    1 | host a.example { }\n"
	    "      | ^~~~\n"
	    "      = write: host NAME\n" COUNT_1 },
	{ "host\n",
	    "t.conf:1:1: error: 'host' needs a host name\n"
	    "    1 | host\n"
	    "      | ^~~~\n"
	    "      = write: host NAME\n" COUNT_1 },
	{ "host a.example b.example\n",
	    "t.conf:1:16: error: 'host' knows no 'b.example'\n"
	    "    1 | host a.example b.example\n"
	    "      |                ^~~~~~~~~\n"
	    "      = write: host NAME\n" COUNT_1 },
	{ "host=a.example\n",
	    "t.conf:1:1: error: unknown statement 'host=a.example'\n"
	    "    1 | host=a.example\n"
	    "      | ^~~~~~~~~~~~~~\n"
	    "      = write 'host' and a blank, without '='\n" COUNT_1 },
	{ "route x.example vai mx\n",
	    "t.conf:1:17: error: 'route' knows no 'vai'\n"
	    "    1 | route x.example vai mx\n"
	    "      |                 ^~~\n"
	    "      = did you mean 'via'?\n" COUNT_1 },
	{ "route x.example\n",
	    "t.conf:1:1: error: 'route' needs 'via'\n"
	    "    1 | route x.example\n"
	    "      | ^~~~~\n"
	    "      = write: route PATTERN [from SENDER] [as USER] via TARGET "
	    "[login NAME] [else [after SPAN] TARGET]... "
	    "[zone NAME] [cut-through]\n" COUNT_1 },
	{ "route x.example via\n",
	    "t.conf:1:17: error: 'via' needs a target after it\n"
	    "    1 | route x.example via\n"
	    "      |                 ^~~\n"
	    "      = write: route PATTERN [from SENDER] [as USER] via TARGET "
	    "[login NAME] [else [after SPAN] TARGET]... "
	    "[zone NAME] [cut-through]\n" COUNT_1 },
	{ "route x.example via 2001:db8::1\n",
	    "t.conf:1:21: error: '2001:db8::1' is not a target for via\n"
	    "    1 | route x.example via 2001:db8::1\n"
	    "      |                     ^~~~~~~~~~~\n"
	    "      = write [2001:db8::1]\n" COUNT_1 },
	{ "route x.example via h.example:0\n",
	    "t.conf:1:21: error: 'h.example:0' is not a target for via\n"
	    "    1 | route x.example via h.example:0\n"
	    "      |                     ^~~~~~~~~~~\n"
	    "      = a port is a number from 1 to 65535\n" COUNT_1 },
	{ "accept from 10.0.0.1/8 from any\n",
	    "t.conf:1:13: error: '10.0.0.1/8' is not a network for from\n"
	    "    1 | accept from 10.0.0.1/8 from any\n"
	    "      |             ^~~~~~~~~~\n"
	    "      = '10.0.0.1/8' has bits after its mask; "
	    "the network is 10.0.0.0/8\n" COUNT_1 },
	{ "reject to\t@a.example\tto @b.example\n",
	    "t.conf:1:22: error: 'to' stands here twice\n"
	    "    1 | reject to\t@a.example\tto @b.example\n"
	    "      |          \t          \t^~\n"
	    "      = keep one of them\n" COUNT_1 },
	{ "sync stric\n",
	    "t.conf:1:6: error: 'stric' is not a choice\n"
	    "    1 | sync stric\n"
	    "      |      ^~~~~\n"
	    "      = did you mean 'strict'?\n" COUNT_1 },
	{ "spool here\n",
	    "t.conf:1:7: error: 'here' is not an absolute path\n"
	    "    1 | spool here\n"
	    "      |       ^~~~\n"
	    "      = write the whole path, from / on\n" COUNT_1 },
	{ "reject text \"no end\nsize 1M\n",
	    "t.conf:1:13: error: this string has no end\n"
	    "    1 | reject text \"no end\n"
	    "      |             ^~~~~~~\n"
	    "      = put a \" where the text ends, on the same "
	    "line\n" COUNT_1 },
	{ "reject text \"a\\n\"\n",
	    "t.conf:1:13: error: this string has an unknown escape or control "
	    "character in it\n"
	    "    1 | reject text \"a\\n\"\n"
	    "      |             ^~~~~\n"
	    "      = write \\\\ for a backslash and \\\" for a "
	    "quote\n" COUNT_1 },
	{ "table t /etc/aliases\n",
	    "t.conf:1:9: error: '/etc/aliases' is not the source of a table\n"
	    "    1 | table t /etc/aliases\n"
	    "      |         ^~~~~~~~~~~~\n"
	    "      = write file:/etc/aliases\n" COUNT_1 },
	{ "domain a.example { aliases aliases }\n",
	    "t.conf:1:28: error: 'aliases' is not a table\n"
	    "    1 | domain a.example { aliases aliases }\n"
	    "      |                            ^~~~~~~\n"
	    "      = write <aliases> for a table of that name\n" COUNT_1 },
	{ "parallel 3\n",
	    "t.conf:1:1: error: unknown statement 'parallel'\n"
	    "    1 | parallel 3\n"
	    "      | ^~~~~~~~\n"
	    "      = this belongs into the { } of 'schedule': schedule "
	    "CHANNEL/HOST { parallel ...; retry ...; ... }\n" COUNT_1 },
	{ "POSTOFFICE=spool\n",
	    "t.conf:1:1: error: 'spool' is not an absolute path "
	    "for POSTOFFICE\n"
	    "    1 | POSTOFFICE=spool\n"
	    "      | ^~~~~~~~~~~~~~~~\n"
	    "      = it begins with /\n" COUNT_1 },
	{ "LOGDIR='x\n",
	    "t.conf:1:1: error: the value of LOGDIR has no end\n"
	    "    1 | LOGDIR='x\n"
	    "      | ^~~~~~~~~\n"
	    "      = the closing quote belongs on the same line\n" COUNT_1 },
	/* columns are characters: the caret stands under the word */
	{ "reject text \"\xc3\xa4\xc3\xb6\xc3\xbc\" form any\n",
	    "t.conf:1:19: error: 'reject' knows no 'form'\n"
	    "    1 | reject text \"\xc3\xa4\xc3\xb6\xc3\xbc\" form any\n"
	    "      |                   ^~~~\n"
	    "      = did you mean 'from'?\n" COUNT_1 },
	{ "host a\x01z.example\n",
	    "t.conf:1:7: error: byte \\x01 has no place here\n"
	    "    1 | host a?z.example\n"
	    "      |       ^\n"
	    "      = delete it: this is a file of text lines\n" COUNT_1 },
	{ "include x.conf\n",
	    "t.conf:1:9: error: only a file can include files\n"
	    "    1 | include x.conf\n"
	    "      |         ^~~~~~\n" COUNT_1 },
};

Test(conf_errors, every_word_of_the_report)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct conf_case c;

		case_open(&c, rows[i].in);
		cr_expect_null(c.conf);
		cr_expect_str_eq(c.shown.buf, rows[i].want,
		    "row %zu\n--- said\n%s--- wanted\n%s", i, c.shown.buf,
		    rows[i].want);
		case_close(&c);
	}
}

Test(conf_errors, all_of_a_file_in_one_run_sorted_and_none_that_follows)
{
	struct conf_case c;

	case_open(&c,
	    "accept from <late> for any\n"		/* found last */
	    "listen x\n"
	    "table t \"broken\n"
	    "size 5\n"
	    "timeout helo 1 x\n"
	    "\n"
	    "domain d.example { users <t>; aliases <t> }\n"
	    "}\n");
	cr_assert_null(c.conf);
	cr_log_info("%s", c.shown.buf);
	cr_assert_eq(c.report.errors, 6);
	cr_assert_eq(c.report.count, 6);
	static const unsigned want[] = { 1, 2, 3, 4, 5, 8 };
	for (size_t i = 0; i < 6; i++)
		cr_expect_eq(c.report.complaints[i].at.line, want[i],
		    "%zu: line %u", i, c.report.complaints[i].at.line);
	case_close(&c);
}

Test(conf_errors, two_in_one_statement)
{
	struct conf_case c;

	case_open(&c, "domain a.example { users pass; deliver lmtp x:y }\n");
	cr_expect_eq(c.report.errors, 2, "%s", c.shown.buf);
	cr_expect(strstr(c.shown.buf,
		      "t.conf:1:26: error: 'pass' is not a "
		      "kind of users") != NULL,
	    "%s", c.shown.buf);
	cr_expect(strstr(c.shown.buf,
		      "t.conf:1:45: error: this is not where "
		      "LMTP is spoken") != NULL,
	    "%s", c.shown.buf);
	case_close(&c);
}

/* Items of a clause: position, words and hint. */
static const struct row items[] = {
	{ "retry on graylist 5m",
	    "t.conf:1:28: error: 'graylist' is no class "
	    "of replies" },
	{ "retry on graylist 5m", "did you mean 'greylist'?" },
	{ "retry on rate", "'retry on' needs classes and what to do" },
	{ "retry on 5m", "'retry on' needs classes and what to do" },
	{ "retry on rate suspend", "'suspend' needs one length of time" },
	{ "retry on rate end 5m", "'5m' stands after 'end'" },
	{ "retry on rate expo(1s,2)", "'expo(1s,2)' is no list of waits" },
	{ "retry expo(1s,0,5)", "expo(12s,5,5)" },
	{ "retry expo(1s,1.123,5)", "is no list of waits" },
	{ "retry expo(1s,2,99)", "is no list of waits" },
	{ "retry stop", "'stop' is not a length of time" },
	{ "retry 5m stop 1h", "'stop' is not a length of time" },
	{ "retry 500ms", "'500ms' is not a length of time" },
	{ "retry expo(1m,1,60) expo(1m,1,5)", "more than 64 waits" },
	{ "retry on rate expo(1m,1,17)", "more than 16 waits" },
	{ "retry 1m; retry 2m", "'retry' is said twice" },
	{ "warn 1d 4h", "this is not later than the one before it" },
	{ "warn 0 4h", "this is not later than the one before it" },
	{ "warn 1h 2h 3h 4h 5h 6h 7h 8h 9h", "more than 8 notices" },
	{ "rate 600", "'600' is not a rate" },
	{ "rate 0/1m", "from 1/1d to 1000000/1s" },
	{ "rate 1/2d", "from 1/1d to 1000000/1s" },
	{ "jitter 10", "'10' is not a share" },
	{ "jitter 95%", "from 0 to 90" },
	{ "order oldest", "one of: arrival,age" },
	{ "on-exhaust drop", "one of: bounce,freeze" },
	{ "on-exhaust frees", "did you mean 'freeze'?" },
};

Test(conf_errors, items_of_a_clause)
{
	for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
		struct str text = STR_INIT;
		struct conf_case c;

		str_addf(&text, "schedule smtp/* { %s }\n", items[i].in);
		case_open(&c, text.buf);
		cr_expect_null(c.conf, "row %zu", i);
		cr_expect_eq(c.report.errors, 1, "row %zu: %s", i,
		    c.shown.buf);
		cr_expect(strstr(c.shown.buf, items[i].want) != NULL,
		    "row %zu: %s", i, c.shown.buf);
		case_close(&c);
		str_release(&text);
	}
}

static const struct row warnings[] = {
	{ "schedule smtp/* {\nretry on rate,block 1h\nretry on block end\n}\n",
	    "t.conf:3:1: warning: 'retry' can never match" },
	{ "route * via mx\nroute a.example via mx\n",
	    "line 2 can never match: line 1 matches everything" },
	{ "route .a.example via mx\nroute b.a.example via mx\n",
	    "line 2 can never match: line 1 matches all that it does" },
	{ "reject from 10.0.0.0/8\naccept from 10.1.0.0/16 for any\n",
	    "line 2 can never match: line 1 matches all that it does" },
	{ "reject\naccept from 10.1.0.0/16 for any\n",
	    "line 2 can never match: line 1 matches everything" },
	{ "reject sender *@a.example\nfreeze sender x@a.example\n",
	    "line 2 can never match: line 1 matches all that it does" },
	{ "schedule smtp/* { parallel 2 }\n"
	  "schedule smtp/gmail.com { parallel 4 }\n",
	    "line 2 can never match: line 1 matches all that it does" },
	{ "accept for any\n", "this is an open relay" },
	{ "accept from 0.0.0.0/0 to *@x.example for any\n"
	  "accept from any for any\n",
	    "this is an open relay" },
	{ "accept to *\n", "this is an open relay" },
	{ "accept to *@backup.example\n", "'backup.example' is no domain of "
	    "ours" },
	{ "accept sender @a.example for any\n",
	    "anybody who writes this sender may relay" },
	{ "MAILBOX=/var/mail/%u\n", "is not a directory for MAILBOX" },
	{ "mailbox mbox /var/mail/%u\n", "t.conf:1:14: warning: all users "
	    "have this one mailbox" },
	{ "mailbox maildir /var/mail/{domain}/\n",
	    "all users have this one mailbox" },
};

Test(conf_errors, warnings_leave_the_configuration_valid)
{
	for (size_t i = 0; i < sizeof(warnings) / sizeof(warnings[0]); i++) {
		struct conf_case c;

		case_open(&c, warnings[i].in);
		cr_expect_not_null(c.conf, "row %zu: %s", i, c.shown.buf);
		cr_expect_eq(c.report.errors, 0);
		cr_expect_eq(c.report.warnings, 1, "row %zu: %s", i,
		    c.shown.buf);
		cr_expect(strstr(c.shown.buf, warnings[i].want) != NULL,
		    "row %zu: %s", i, c.shown.buf);
		case_close(&c);
	}
}

static const char *const silent[] = {
	"", "\n\n# nothing\n", "accept from 10.0.0.0/8 for any\nreject\n",
	"accept\nreject to x@y.example\naccept from 10.0.0.0/8 for any\n",
	"freeze sender @a.example\nreject sender @a.example\n",
	"route a.example via mx\nroute .a.example via hold\nroute * via mx\n",
	"accept to *@backup.example for any\n",
	"schedule smtp/gmail.com { parallel 4 }\nschedule smtp/* { }\n",
	"accept from 10.1.0.0/16 for any\nreject from 10.0.0.0/8\n",
};

Test(conf_errors, nothing_is_said_about_a_sound_file)
{
	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
		struct conf_case c;

		case_good(&c, silent[i]);
		cr_expect_str_empty(c.shown.buf, "row %zu: %s", i,
		    c.shown.buf);
		case_close(&c);
	}
}

Test(conf_errors, a_flood_of_errors_is_counted_not_kept)
{
	struct str text = STR_INIT;
	struct conf_case c;

	for (int i = 0; i < 1000; i++)
		str_adds(&text, "what\n");
	case_open(&c, text.buf);
	cr_expect_eq(c.report.errors, 1000);
	cr_expect_eq(c.report.count, 200);
	cr_expect(strstr(c.shown.buf, "800 more are not shown") != NULL);
	case_close(&c);
	str_release(&text);
}

Test(conf_errors, json_has_a_line_an_error)
{
	struct conf_case c;
	struct str json = STR_INIT;

	case_open(&c, "hots a\n");
	conf_report_json(&c.report, &json);
	cr_expect_str_eq(json.buf,
	    "{\"v\":1,\"file\":\"t.conf\",\"line\":1,"
	    "\"column\":1,\"width\":4,\"level\":\"error\",\"text\":\"unknown "
	    "statement 'hots'\",\"hint\":\"did you mean 'host'?\"}\n");
	str_release(&json);
	case_close(&c);
}

/* test_import_queue.c - messages as other mailers' queues have them
 *
 * Rows: what lies there, what is read of it or what is wrong with it.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "tools/zmailer/import/queue/queue.h"

TestSuite(import_queue);

static int
text_put(void *context, struct slice bytes, struct err *err)
{
	(void)err;
	str_add_slice(context, bytes);
	return 0;
}

/* "from|to,to|words|done=1|held|text", or "! what is wrong". */
static void
old_told(const struct old_kind *kind, const struct old_files *files,
    struct str *out)
{
	struct arena *arena = arena_new();
	struct old_message message = { .lost = STR_INIT };
	struct envelope *envelope = &message.envelope;
	struct str text = STR_INIT;
	struct old_sink sink = { .put = text_put, .context = &text };
	struct err err = { "" };

	str_reset(out);
	if (kind->read(arena, files, &message, &err) != 0 ||
	    kind->copy(files, &message, &sink, &err) != 0) {
		str_addf(out, "! %s", err.text);
		goto done;
	}
	path_add(out, &envelope->from);
	for (size_t i = 0; i < envelope->rcpt_count; i++) {
		const struct envelope_rcpt *rcpt = &envelope->rcpts[i];

		str_addc(out, i == 0 ? '|' : ',');
		path_add(out, &rcpt->path);
		if (rcpt->notify != DSN_NOTIFY_DEFAULT) {
			str_adds(out, " NOTIFY=");
			dsn_notify_add(out, rcpt->notify);
		}
		if (rcpt->orcpt.n > 0)
			str_addf(out, " ORCPT=" SLICE_FMT,
			    SLICE_ARG(rcpt->orcpt));
	}
	if (envelope->ret != DSN_RET_DEFAULT)
		str_addf(out, "|RET=%s", dsn_ret_name(envelope->ret));
	if (envelope->envid.n > 0)
		str_addf(out, "|ENVID=" SLICE_FMT,
		    SLICE_ARG(envelope->envid));
	if (envelope->user.n > 0)
		str_addf(out, "|user=" SLICE_FMT, SLICE_ARG(envelope->user));
	str_adds(out, envelope->terms.is_utf8 ? "|utf8" : "");
	str_adds(out, envelope->terms.is_verp ? "|verp" : "");
	str_adds(out, envelope->is_external ? "" : "|local");
	if (message.done > 0)
		str_addf(out, "|done=%zu", message.done);
	if (message.lost.len > 0)
		str_addf(out, "|lost %s", message.lost.buf);
	str_adds(out, message.is_held ? "|held" : "");
	str_addf(out, "|%jd|%s", (intmax_t)message.arrived_us, text.buf);
done:
	str_release(&message.lost);
	str_release(&text);
	arena_free(&arena);
}

/* ---- Postfix ----------------------------------------------------------- */

/* Records as "TYPE DATA", lines that end in LF. */
static void
postfix_make(const char *rows, struct str *out)
{
	struct slice rest = slice_of(rows), line;

	while (rest.n > 0 && slice_cut(&rest, '\n', &line)) {
		str_addc(out, line.p[0]);
		str_addc(out, (char)(line.n - 1));
		str_add_slice(out, slice_from(line, 1));
	}
}

#define FRONT "C              1\nT1763600000 42\nSa@x.test\n"
#define TEXT "M\nNSubject: s\nN\nNhello\nX\nE\n"

static const struct {
	const char *in, *want;
} postfix_rows[] = {
	{ FRONT "Rb@y.test\n" TEXT, "a@x.test|b@y.test|1763600000000042|"
	    "Subject: s\n\nhello\n" },
	{ FRONT "Db@y.test\nRc@y.test\n/d@y.test\n" TEXT, "a@x.test|c@y.test|"
	    "done=2|1763600000000042|Subject: s\n\nhello\n" },
	{ "C 1\nT1763600000\nS\nRb@y.test\n" TEXT,
	    "|b@y.test|1763600000000000|Subject: s\n\nhello\n" },
	{ FRONT "Anotify_flags=10\nAdsn_orig_rcpt=rfc822;o+x@y\nOo@y\n"
	    "Rb@y.test\nRc@y.test\n" TEXT, "a@x.test|b@y.test "
	    "NOTIFY=SUCCESS,DELAY ORCPT=rfc822;o+2Bx@y,c@y.test|"
	    "1763600000000042|Subject: s\n\nhello\n" },
	{ FRONT "n1\norfc822;o@y\nie+v\n<2\nRb@y.test\n" TEXT,
	    "a@x.test|b@y.test NOTIFY=NEVER ORCPT=rfc822;o@y|RET=HDRS|"
	    "ENVID=e+2Bv|1763600000000042|Subject: s\n\nhello\n" },
	{ FRONT "Asasl_username=ann\nRb@y.test\n" TEXT, "a@x.test|b@y.test|"
	    "user=ann|1763600000000042|Subject: s\n\nhello\n" },
	{ "C 1 2 3 4 5 1\nT1763600000 0\nSa@x.test\nRb@y.test\n" TEXT,
	    "a@x.test|b@y.test|utf8|1763600000000000|Subject: s\n\nhello\n" },
	{ FRONT "V+=\nRb@y.test\n" TEXT, "a@x.test|b@y.test|verp|"
	    "1763600000000042|Subject: s\n\nhello\n" },
	{ FRONT "Lsmtp:filter\nRb@y.test\n" TEXT, "a@x.test|b@y.test|lost the "
	    "content filter that it was to pass|1763600000000042|"
	    "Subject: s\n\nhello\n" },
	{ FRONT "Ra b@y.test\nRlocal\n" TEXT, "a@x.test|\"a b\"@y.test,local|"
	    "1763600000000042|Subject: s\n\nhello\n" },
	{ FRONT ">r@z.test\nRb@y.test\nRc@y.test\n" TEXT,
	    "a@x.test|r@z.test|1763600000000042|Subject: s\n\nhello\n" },
	{ FRONT "M\nNSubject: s\nN\nLhe\nNllo\nLend\nX\nRb@y.test\nE\n",
	    "a@x.test|b@y.test|1763600000000042|Subject: s\n\nhello\nend" },
	{ "T1763600000 1\nSa@x.test\nRb@y.test\n" TEXT, "a@x.test|b@y.test|"
	    "local|1763600000000001|Subject: s\n\nhello\n" },
	{ FRONT "Rb@y.test\nM\nNa\rb\r\nLc\r\nX\nE\n", "a@x.test|b@y.test|"
	    "1763600000000042|a\nb\nc\n" },
	/* bad ones */
	{ "", "! it ends without its end record" },
	{ FRONT, "! it ends without its end record" },
	{ FRONT "Rb@y.test\nM\nNx\n", "! it ends without its end record" },
	{ FRONT "Rb@y.test\nM\nX\n", "! it ends without its end record" },
	{ "C 1\nT1 1\nRb@y.test\nM\nX\nE\n", "! it has no sender" },
	{ FRONT "Sb@x.test\n" TEXT, "! it has two senders" },
	{ FRONT "Z\n" TEXT, "! the record at 42 has the type \\x5a, which is "
	    "not known there" },
	{ FRONT "M\nRb@y.test\nX\nE\n", "! the record at 44 has the type "
	    "\\x52, which is not known there" },
	{ "Cx\n" TEXT, "! its first record has no sizes" },
	{ "C 1\nTnow\nSa@x.test\n" TEXT, "! the time of its arrival is none" },
	{ "C 1\nT1 9999999\nSa@x.test\n" TEXT,
	    "! the time of its arrival is none" },
	{ FRONT "n16\nRb@y.test\n" TEXT, "! NOTIFY is none" },
	{ FRONT "<9\nRb@y.test\n" TEXT, "! RET is none" },
	{ FRONT "R\n" TEXT, "! recipient: '' is no address" },
	{ FRONT "Ra@b@\n" TEXT, "! recipient: '\"a@b\"@' is no address" },
	{ FRONT "Ra\tb@y.test\n" TEXT,
	    "! recipient: '\"a\\x09b\"@y.test' is no address" },
	{ "C 1\nT1 1\nSx@\n" TEXT, "! sender: 'x@' is no address" },
	{ FRONT "p99999\n" TEXT, "! the pointer at 42 leads nowhere" },
	{ FRONT "px\n" TEXT, "! the pointer at 42 leads nowhere" },
	{ FRONT "p42\n" TEXT, "! its pointers lead in circles" },
};

Test(import_queue, postfix)
{
	struct str file = STR_INIT, out = STR_INIT;

	for (size_t i = 0; i < sizeof(postfix_rows) / sizeof(postfix_rows[0]);
	    i++) {
		struct old_files files = { .id = "41979E72AEC",
		    .mtime_s = 1763600000 };

		str_reset(&file);
		postfix_make(postfix_rows[i].in, &file);
		files.main = str_slice(&file);
		old_told(&old_postfix, &files, &out);
		cr_expect_str_eq(out.buf, postfix_rows[i].want,
		    "row %zu: got '%s'\nwant '%s'", i, out.buf,
		    postfix_rows[i].want);
	}
	str_release(&file);
	str_release(&out);
}

/* No byte less is a message, and a length that lies is none. */
Test(import_queue, postfix_cut)
{
	struct str file = STR_INIT, out = STR_INIT;
	struct old_files files = { .id = "41979E72AEC" };

	postfix_make(FRONT "Rb@y.test\n" TEXT, &file);
	for (size_t n = 0; n < file.len; n++) {
		files.main = slice_first(str_slice(&file), n);
		old_told(&old_postfix, &files, &out);
		cr_expect(slice_starts(str_slice(&out), "! "), "%zu: %s", n,
		    out.buf);
	}
	file.buf[1] = (char)0xff;
	files.main = str_slice(&file);
	old_told(&old_postfix, &files, &out);
	cr_expect(slice_starts(str_slice(&out), "! the record at 0 has "),
	    "%s", out.buf);
	str_reset(&file);
	str_adds(&file, "N\xff\xff\xff\xff\xff\x01");
	files.main = str_slice(&file);
	old_told(&old_postfix, &files, &out);
	cr_expect_str_eq(out.buf, "! the record at 0 has no length");
	str_release(&file);
	str_release(&out);
}

/* ---- Exim -------------------------------------------------------------- */

#define NAME "1xWcdl-0003l1-1R"
#define HEAD NAME "-H\nroot 0 0\n<a@x.test>\n1763600000 0\n"
#define FIELDS "\n011  Subject: s\n005* Old:\n"

static const struct {
	const char *main, *body, *journal, *want;
} exim_rows[] = {
	{ HEAD "XX\n1\nb@y.test\n" FIELDS, "hello\n", NULL,
	    "a@x.test|b@y.test|1763600000000000|Subject: s\n\nhello\n" },
	{ HEAD "-received_time_usec .000042\n-ident root\nXX\n1\nb@y.test\n"
	    FIELDS, "", NULL, "a@x.test|b@y.test|1763600000000042|"
	    "Subject: s\n\n" },
	{ HEAD "YN c@y.test\nNN b@y.test\n3\nb@y.test\nc@y.test\nd@y.test\n"
	    FIELDS, "", NULL, "a@x.test|d@y.test|done=2|1763600000000000|"
	    "Subject: s\n\n" },
	{ HEAD "XX\n2\nb@y.test\nc@y.test\n" FIELDS, "",
	    "b@Y.test\nc@y.tes", "a@x.test|c@y.test|done=1|1763600000000000|"
	    "Subject: s\n\n" },
	{ HEAD "NN child@y.test\n1\nb@y.test\n" FIELDS, "", NULL,
	    "a@x.test|b@y.test|lost that an alias or list of a recipient was "
	    "served in part|1763600000000000|Subject: s\n\n" },
	{ HEAD "--dsn_envid e+2Bv\n-dsn_ret 2\nXX\n1\nb@y.test "
	    "rfc822;o@y 10,20  0,-1#3\n" FIELDS, "", NULL,
	    "a@x.test|b@y.test NOTIFY=SUCCESS,DELAY ORCPT=rfc822;o@y|"
	    "RET=HDRS|ENVID=e+2Bv|1763600000000000|Subject: s\n\n" },
	{ HEAD "XX\n1\nb@y.test e@x.test 8,0#1\n" FIELDS, "", NULL,
	    "a@x.test|b@y.test|lost where errors of a recipient go|"
	    "1763600000000000|Subject: s\n\n" },
	{ HEAD "XX\n2\nb@y.test 0\nc@y.test 0,1,0\n" FIELDS, "", NULL,
	    "a@x.test|b@y.test,c@y.test|1763600000000000|Subject: s\n\n" },
	{ HEAD "-frozen 1763600001\n-auth_id ann\n-smtputf8\n"
	    "--(sqlite)host_name h.test\n--host_address 1.2.3.4.25\n"
	    "XX\n1\nb@y.test\n" FIELDS, "", NULL, "a@x.test|b@y.test|user=ann|"
	    "utf8|held|1763600000000000|Subject: s\n\n" },
	{ HEAD "-aclm 0 5\na\nb\nc\n--aclc _x 0\n\nXX\n1\nb@y.test\n" FIELDS,
	    "", NULL, "a@x.test|b@y.test|1763600000000000|Subject: s\n\n" },
	{ HEAD "-spool_file_wireformat\nXX\n1\nb@y.test\n" FIELDS,
	    "x\r\n.y\r\n", NULL, "a@x.test|b@y.test|1763600000000000|"
	    "Subject: s\n\nx\n.y\n" },
	/* bad ones */
	{ "", "", NULL, "! -H line 1 is not there: the file is not whole" },
	{ "x-H\n", "", NULL, "! -H does not begin with its name" },
	{ NAME "-H\nroot 0 0\n", "", NULL,
	    "! -H line 3 is not there: the file is not whole" },
	{ NAME "-H\nroot 0 0\na@x.test\n", "", NULL,
	    "! -H line 3 has no <sender>" },
	{ NAME "-H\nroot 0 0\n<a@x.test>\nnow\n", "", NULL,
	    "! -H line 4 has no time of arrival" },
	{ NAME "-H\nroot 0 0\n<a b@x.test>\n1 0\n", "", NULL,
	    "! sender: 'a b@x.test' is no address" },
	{ HEAD, "", NULL, "! -H line 5 is not there: the file is not whole" },
	{ HEAD "-aclm 0 99\nx\n", "", NULL,
	    "! -H line 5 has a variable of another length" },
	{ HEAD "-aclm 0 1\nxy\n", "", NULL,
	    "! -H line 5 has a variable of another length" },
	{ HEAD "-dsn_ret 7\nXX\n", "", NULL,
	    "! -H line 5 has no number where one belongs" },
	{ HEAD "-N\nXX\n", "", NULL,
	    "! -H line 5 says that it is not to be delivered (-N)" },
	{ HEAD "YQ b@y.test\n", "", NULL,
	    "! -H line 5 is no line of who has it" },
	{ HEAD "YY b@y.test\nNN c@y.test\n", "", NULL,
	    "! -H line 7 is not there: the file is not whole" },
	{ HEAD "XX\nmany\n", "", NULL,
	    "! -H line 6 has no number of recipients" },
	{ HEAD "XX\n99999999\n", "", NULL,
	    "! -H line 6 has no number of recipients" },
	{ HEAD "XX\n2\nb@y.test\n" FIELDS, "", NULL,
	    "! -H line 8: '' is no address" },
	{ HEAD "XX\n1\nb@y.test\nx\n", "", NULL,
	    "! -H line 8 should be empty, before the header" },
	{ HEAD "XX\n1\nb@y.test 9#9\n" FIELDS, "", NULL,
	    "! -H line 7 has a recipient of a kind that is not known" },
	{ HEAD "XX\n1\nb@y.test 99,0#1\n" FIELDS, "", NULL,
	    "! -H line 7 is no recipient" },
	{ HEAD "XX\n1\nb@y.test\n\n099  x\n", "", NULL,
	    "! -H has a field of another length than it says" },
	{ HEAD "XX\n1\nb@y.test\n\n01  x\n", "", NULL,
	    "! -H has a field of another length than it says" },
};

Test(import_queue, exim)
{
	struct str body = STR_INIT, out = STR_INIT;

	for (size_t i = 0; i < sizeof(exim_rows) / sizeof(exim_rows[0]); i++) {
		struct old_files files = { .id = NAME,
		    .main = slice_of(exim_rows[i].main),
		    .journal = slice_of(exim_rows[i].journal) };

		str_reset(&body);
		str_addf(&body, NAME "-D\n%s", exim_rows[i].body);
		files.body = str_slice(&body);
		old_told(&old_exim, &files, &out);
		cr_expect_str_eq(out.buf, exim_rows[i].want,
		    "row %zu: got '%s'\nwant '%s'", i, out.buf,
		    exim_rows[i].want);
	}
	str_release(&body);
	str_release(&out);
}

Test(import_queue, exim_body)
{
	struct str out = STR_INIT;
	struct old_files files = { .id = NAME,
	    .main = slice_of(HEAD "XX\n1\nb@y.test\n" FIELDS),
	    .body = slice_of("other-D\nx") };

	old_told(&old_exim, &files, &out);
	cr_expect_str_eq(out.buf, "! -D does not begin with its name");
	files.body = SLICE(NAME "-D\na\n\0b\n");
	old_told(&old_exim, &files, &out);
	cr_expect_str_eq(out.buf, "! line 4 has a NUL byte, which mail cannot "
	    "have");
	str_release(&out);
}

/* ---- sendmail ---------------------------------------------------------- */

#define QF "V8\nT1763600000\nS<a@x.test>\n"
#define HS "H??Subject: s\n.\n"

static const struct {
	const char *main, *body, *want;
} sendmail_rows[] = {
	{ QF "RPFD:<b@y.test>\n" HS, "hello\n", "a@x.test|b@y.test|"
	    "1763600000000000|Subject: s\n\nhello\n" },
	{ "V8\nT1763600000\nS<>\nRPFD:b@y.test\n" HS, "", "|b@y.test|"
	    "1763600000000000|Subject: s\n\n" },
	{ QF "K1\nN3\nP1\nI1/2/3\nFwbs\n$_c.test [192.0.2.1]\n$rESMTP\n"
	    "${daemon_flags}\n${auth_authen}ann\nMDeferred: x\nA<a>\n"
	    "rRFC822; b@y.test\nRPFD:<b@y.test>\n" HS, "",
	    "a@x.test|b@y.test|user=ann|1763600000000000|Subject: s\n\n" },
	{ QF "Ze+2Bv\nFdn\nQrfc822;o@y\nRNS:<b@y.test>\nRN:<c@y.test>\n" HS,
	    "", "a@x.test|b@y.test NOTIFY=SUCCESS ORCPT=rfc822;o@y,c@y.test "
	    "NOTIFY=NEVER|RET=HDRS|ENVID=e+2Bv|1763600000000000|"
	    "Subject: s\n\n" },
	{ QF "Fd\nRPFD:<b@y.test>\n" HS, "", "a@x.test|b@y.test|RET=FULL|"
	    "1763600000000000|Subject: s\n\n" },
	{ QF "qheld by me\nRPFD:<b@y.test>\n" HS, "", "a@x.test|b@y.test|held|"
	    "1763600000000000|Subject: s\n\n" },
	{ QF "RPFD:<b@y.test>\nH?P?Return-Path: <g>\nH?D?Date: d\n"
	    "H?x?Full-Name: n\nH??X: a\n\tb\n c\n.\n", ".\n..\n",
	    "a@x.test|b@y.test|1763600000000000|Date: d\nX: a\n\tb\n c\n\n"
	    ".\n..\n" },
	{ "V1\nT1763600000\nSa@x.test\nRb@y.test\nHX: y\n.\n", "",
	    "a@x.test|b@y.test|1763600000000000|X: y\n\n" },
	{ QF "Cbob:list\n!99\nRPFD:<b@y.test>\n" HS, "", "a@x.test|b@y.test|"
	    "lost the rights that an alias gave a recipient; DELIVERBY|"
	    "1763600000000000|Subject: s\n\n" },
	/* bad ones */
	{ "", "", "! qf ends without the line \".\": it is not whole" },
	{ QF, "", "! qf ends without the line \".\": it is not whole" },
	{ QF "RPFD:<b@y.test>\nH??Subject: s\n", "",
	    "! qf ends without the line \".\": it is not whole" },
	{ QF "RPFD:<b@y.test>\nH??Subject: s\n.", "",
	    "! qf ends without the line \".\": it is not whole" },
	{ "V9\n" HS, "", "! qf line 1 has a version that is not known" },
	{ "V\n" HS, "", "! qf line 1 has a version that is not known" },
	{ "V8\nTnow\n" HS, "", "! qf line 2 has no time of creation" },
	{ "V8\nT0\n" HS, "", "! qf line 2 has no time of creation" },
	{ "V8\nS<a@x.test>\nRPFD:<b@y.test>\n" HS, "",
	    "! qf has no time of creation (T)" },
	{ "V8\nT1763600000\nRPFD:<b@y.test>\n" HS, "",
	    "! qf has no sender (S)" },
	{ QF "S<b@x.test>\n" HS, "", "! qf line 4 is a second sender" },
	{ "V8\nT1\nS<a b>\n" HS, "", "! sender: '<a b>' is no address" },
	{ QF "RPX:<b@y.test>\n" HS, "", "! qf line 4 has a flag of a recipient "
	    "that is not known" },
	{ QF "RPFD:\n" HS, "", "! qf line 4: '' is no address" },
	{ QF "RPFD:<b@y.test\n" HS, "", "! qf line 4: '<b@y.test' is no "
	    "address" },
	{ QF "R\n" HS, "", "! qf line 4: '' is no address" },
	{ QF "RPFD:\"|/bin/sh\"\n" HS, "", "! qf line 4 is a program or a file "
	    "and no address" },
	{ QF "\n" HS, "", "! qf line 4 begins with a letter that is not "
	    "known" },
	{ QF "Ux\n" HS, "", "! qf line 4 begins with a letter that is not "
	    "known" },
};

Test(import_queue, sendmail)
{
	struct str out = STR_INIT;

	for (size_t i = 0; i < sizeof(sendmail_rows) /
	    sizeof(sendmail_rows[0]); i++) {
		struct old_files files = { .id = "4AQGxyz0012345",
		    .main = slice_of(sendmail_rows[i].main),
		    .body = slice_of(sendmail_rows[i].body) };

		old_told(&old_sendmail, &files, &out);
		cr_expect_str_eq(out.buf, sendmail_rows[i].want,
		    "row %zu: got '%s'\nwant '%s'", i, out.buf,
		    sendmail_rows[i].want);
	}
	str_release(&out);
}

/* TRIES/WORDS of what lies beside a message. */
Test(import_queue, words)
{
	static const struct {
		const struct old_kind *kind;
		const char *in, *want;
	} said[] = {
		{ &old_postfix, "", "0/" }, { &old_exim, "", "0/" },
		{ &old_sendmail, "", "0/" },
		{ &old_postfix, "\nrecipient=a@b.example\nstatus=4.4.1\n"
		    "reason=no route\n\nrecipient=c@d.example\n"
		    "reason=connect: refused\n", "0/connect: refused" },
		{ &old_postfix, "reason=", "0/" },
		{ &old_exim, "2026-11-27 09:10:11 Received from x\n"
		    "2026-11-27 09:10:12 a@b.example R=r T=t defer (111)\n"
		    "2026-11-27 09:10:13 == a@b.example defer (-1): late\n",
		    "1/a@b.example defer (-1): late" },
		{ &old_exim, "2026-11-27 09:10:12 == a@b.example defer: x\n"
		    "2026-11-27 09:10:13 == c@b.example defer: x\n"
		    "2026-11-27 09:10:14 == a@b.example defer (-52): retry "
		    "time not reached for any host\n"
		    "2026-11-27 09:10:15 == a@b.example defer: y\n",
		    "2/a@b.example defer: y" },
		{ &old_exim, "2026-11-27 09:10:13 == ", "0/" },
		{ &old_sendmail, "V8\nT1\nN7\nMDeferred: refused\nSa\n",
		    "7/Deferred: refused" },
		{ &old_sendmail, "Nx\nM\n", "0/" },
	};

	for (size_t i = 0; i < sizeof(said) / sizeof(said[0]); i++) {
		struct str text = STR_INIT;
		struct old_words words;

		old_words(said[i].kind, slice_of(said[i].in), &words);
		str_addf(&text, "%zu/" SLICE_FMT, words.tries, SLICE_ARG(
		    words.said));
		cr_expect_str_eq(text.buf, said[i].want, "%s", text.buf);
		str_release(&text);
	}
}

Test(import_queue, words_paths)
{
	static const struct {
		const struct old_kind *kind;
		const char *in, *want;
	} paths[] = {
		{ &old_postfix, "deferred/A/ABC", "defer/A/ABC" },
		{ &old_postfix, "active/ABC", "-" },
		{ &old_exim, "input/x/1abc-H", "msglog/x/1abc" },
		{ &old_exim, "slow/input/1abc-H", "slow/msglog/1abc" },
		{ &old_sendmail, "qfabc", "-" },
	};

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		struct arena *arena = arena_new();
		const char *path = old_words_path(arena, paths[i].kind,
		    paths[i].in);

		cr_expect_str_eq(path == NULL ? "-" : path, paths[i].want);
		arena_free(&arena);
	}
}

/* test_session.c - what a client says and what it is told, by rows
 *
 * Each row is run three ways: all bytes at once, a line a turn, a byte a
 * turn.  The replies and the messages that came of it are the same.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "house.h"

#include "base/banned.h"

struct row {
	const char	*name;
	const char	*in;
	size_t		 n;
	const char	*want;		/* replies after the greeting */
	unsigned	 messages;	/* in router/ afterwards */
};

#define ROW(name, in, want, messages) \
	{ name, in, sizeof(in) - 1, want, messages }

#define E "EHLO c1.test\r\n"
#define H "HELO c1.test\r\n"
#define M "MAIL FROM:<a@src.test>\r\n"
#define R "RCPT TO:<bob@example.org>\r\n"
#define D "DATA\r\n"
#define Q "QUIT\r\n"
#define MAIL(path) "MAIL FROM:" path "\r\n"
#define RCPT(path) "RCPT TO:" path "\r\n"
#define X8 "xxxxxxxx"
#define X63 X8 X8 X8 X8 X8 X8 X8 "xxxxxxx"
#define X64 X63 "x"
#define X256 X64 X64 X64 X64
#define X1024 X256 X256 X256 X256

static void
run_row(const struct row *row, size_t piece, const char *how)
{
	struct str replies = STR_INIT, got = STR_INIT, want = STR_INIT;
	struct house house;
	int client;

	house_open(&house, "");
	client = house_connect(&house, "192.0.2.7:4711");
	if (piece == 0) {	/* line by line */
		struct slice rest = { row->in, row->n };

		while (rest.n > 0) {
			size_t n = slice_find(rest, '\n');

			n += n < rest.n;
			house_send(&house, client, rest.p, n, n, &replies);
			rest = slice_from(rest, n);
		}
	} else {
		house_send(&house, client, row->in, row->n, piece, &replies);
	}
	(void)house_hear(&house, client, &replies);
	replies_short(str_slice(&replies), &got);
	str_addf(&want, "220%s%s", *row->want ? " " : "", row->want);
	cr_expect_str_eq(got.buf, want.buf, "%s, %s:\n got  %s\n want %s\n%s",
	    row->name, how, got.buf, want.buf, replies.buf);
	cr_expect_eq(house_count(&house, "router"), row->messages,
	    "%s, %s: %u messages", row->name, how,
	    house_count(&house, "router"));
	close(client);
	loop_turn(house.loop, 0);
	cr_expect_eq(worker_session_count(house.worker), 0);
	cr_expect_eq(house_count(&house, "public"), 0,
	    "%s, %s: a draft is left", row->name, how);
	house_close(&house);
	str_release(&replies);
	str_release(&got);
	str_release(&want);
}

static void
run_rows(const struct row *rows, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		run_row(&rows[i], rows[i].n, "at once");
		run_row(&rows[i], 0, "by lines");
		run_row(&rows[i], 1, "by bytes");
	}
}

#define RUN(rows) run_rows(rows, sizeof(rows) / sizeof((rows)[0]))

/* Greeting, EHLO, HELO, and what is no command at all. */
Test(session, a_hello_and_nonsense)
{
	static const struct row rows[] = {
		ROW("greeting", "", "", 0),
		ROW("EHLO", E, "250", 0),
		ROW("HELO", H, "250", 0),
		ROW("EHLO without a name", "EHLO\r\n", "501/5.5.4", 0),
		ROW("HELO without a name", "HELO \r\n", "501/5.5.4", 0),
		ROW("IPv4 literal", "EHLO [127.0.0.1]\r\n", "250", 0),
		ROW("IPv6 literal", "EHLO [IPv6:::1]\r\n", "250", 0),
		ROW("bad literal", "EHLO [999.1.1.1]\r\n", "501/5.5.4", 0),
		ROW("underscore", "EHLO my_pc\r\n", "250", 0),
		ROW("256 bytes", "EHLO " X256 "\r\n", "501/5.5.4", 0),
		ROW("trailing blanks", "EHLO c1.test   \r\n", "250", 0),
		ROW("EHLO twice ends a transaction", E M E R,
		    "250 250/2.1.0 250 503/5.5.1", 0),
		ROW("HELO: no parameters",
		    H MAIL("<a@src.test> SIZE=100") MAIL("<a@src.test>"),
		    "250 555/5.5.4 250/2.1.0", 0),
		ROW("mixed case", "eHlO c1.test\r\nmail from:<a@b.test>\r\n",
		    "250 250/2.1.0", 0),
		ROW("leading blank", " EHLO c1.test\r\n", "500/5.5.2", 0),
		ROW("tab after the verb", "EHLO\tc1.test\r\n", "500/5.5.2",
		    0),
		ROW("NUL", "EHLO c1\0test\r\n", "500/5.5.2", 0),
		ROW("UTF-8 name", "EHLO m\303\274ller.test\r\n", "501/5.5.4",
		    0),
		ROW("two words", "EHLO a b\r\n", "501/5.5.4", 0),
		ROW("empty line", "\r\n" E, "500/5.5.2 250", 0),
		ROW("unknown verb", "HUGO\r\n" E, "500/5.5.2 250", 0),
		ROW("three letters", "FOO\r\n", "500/5.5.2", 0),
		ROW("1000 letters", X256 X256 X256 X64 "\r\n" E,
		    "500/5.5.2 250", 0),
		ROW("line too long", X1024 X1024 X1024 "\r\n" E,
		    "500/5.5.2 250", 0),
		ROW("LHLO", "LHLO c1.test\r\n", "500/5.5.1", 0),
		ROW("HELP", "HELP\r\nHELP MAIL\r\n", "214/2.0.0 214/2.0.0",
		    0),
		ROW("NOOP", "NOOP\r\nNOOP hello there\r\n",
		    "250/2.0.0 250/2.0.0", 0),
		ROW("RSET", "RSET\r\n", "250/2.0.0", 0),
		ROW("RSET with argument", "RSET now\r\n", "501/5.5.4", 0),
		ROW("QUIT", Q, "221/2.0.0", 0),
		ROW("after QUIT", Q "NOOP\r\n", "221/2.0.0", 0),
		ROW("QUIT with argument", "QUIT now\r\n", "501/5.5.4", 0),
		ROW("MAIL first", M, "503/5.5.1", 0),
		ROW("RCPT first", R, "503/5.5.1", 0),
		ROW("DATA first", D, "503/5.5.1", 0),
		ROW("STARTTLS", E "STARTTLS\r\n", "250 502/5.5.1", 0),
		ROW("AUTH", E "AUTH PLAIN AHgAeQ==\r\n", "250 502/5.5.1", 0),
		ROW("BDAT", E "BDAT 0 LAST\r\n", "250 503/5.5.1", 0),
		ROW("TURN", "TURN\r\n", "502/5.5.1", 0),
		ROW("ETRN", "ETRN example.org\r\n", "503/5.5.1", 0),
		ROW("GET", "GET / HTTP/1.1\r\nHost: x\r\n" E, "421/4.7.0", 0),
		ROW("POST", "POST /x HTTP/1.1\r\n\r\n" E M R D,
		    "421/4.7.0", 0),
		ROW("GET later is a bad verb", E "GET /\r\n",
		    "250 500/5.5.2", 0),
		ROW("LF alone ends nothing", "EHLO c1.test\n" E,
		    "500/5.5.2 421/4.7.0", 0),
		ROW("CR within", "NOOP a\rb\r\n", "500/5.5.2", 0),
		ROW("DEL", "NOOP \177\r\n", "500/5.5.2", 0),
		ROW("VRFY", "VRFY bob\r\n", "252/2.5.0", 0),
		ROW("VRFY alone", "VRFY\r\n", "501/5.5.4", 0),
		ROW("EXPN", "EXPN list\r\n", "502/5.5.1", 0),
		ROW("VRFY with UTF-8", "VRFY m\303\274ller\r\n", "553/5.6.7",
		    0),
	};

	RUN(rows);
}

#define MAIL_ROW(name, path, want) ROW(name, E MAIL(path), "250 " want, 0)

Test(session, b_mail)
{
	static const struct row rows[] = {
		MAIL_ROW("plain", "<a@b.test>", "250/2.1.0"),
		MAIL_ROW("null", "<>", "250/2.1.0"),
		MAIL_ROW("blank after the colon", " <a@b.test>",
		    "250/2.1.0"),
		MAIL_ROW("no brackets", "a@b.test", "501/5.1.7"),
		MAIL_ROW("not closed", "<a@b.test", "501/5.1.7"),
		MAIL_ROW("closed twice", "<a@b.test>>", "501/5.1.7"),
		MAIL_ROW("opened twice", "<<a@b.test>>", "501/5.1.7"),
		MAIL_ROW("source route", "<@r1.test,@r2.test:a@b.test>",
		    "250/2.1.0"),
		MAIL_ROW("quoted local part", "<\"a b\"@c.test>",
		    "250/2.1.0"),
		MAIL_ROW("quoted quote", "<\"a\\\"b\"@c.test>",
		    "250/2.1.0"),
		MAIL_ROW("quoted at", "<\"a\\@b\"@c.test>", "250/2.1.0"),
		MAIL_ROW("local of 64", "<" X64 "@b.test>", "250/2.1.0"),
		MAIL_ROW("path of 256",
		    "<a@" X63 "." X63 "." X63 ".xxxxxxxxxxxxxxxxxxxxxxxxxx"
		    X8 X8 X8 "xxxxx.test>", "250/2.1.0"),
		MAIL_ROW("path of 257",
		    "<ab@" X63 "." X63 "." X63 ".xxxxxxxxxxxxxxxxxxxxxxxxxx"
		    X8 X8 X8 "xxxxx.test>", "501/5.1.7"),
		MAIL_ROW("label of 63", "<a@" X63 ".test>", "250/2.1.0"),
		MAIL_ROW("label of 64", "<a@" X64 ".test>", "501/5.1.7"),
		MAIL_ROW("two dots", "<a..b@c.test>", "501/5.1.7"),
		MAIL_ROW("dot first", "<.a@c.test>", "501/5.1.7"),
		MAIL_ROW("dot last", "<a.@c.test>", "501/5.1.7"),
		MAIL_ROW("IPv4 literal", "<a@[192.0.2.1]>", "250/2.1.0"),
		MAIL_ROW("IPv6 literal", "<a@[IPv6:2001:db8::1]>",
		    "250/2.1.0"),
		MAIL_ROW("percent", "<a%b@c.test>", "250/2.1.0"),
		MAIL_ROW("bang", "<a!b@c.test>", "250/2.1.0"),
		MAIL_ROW("UTF-8", "<m\303\274ller@c.test>", "553/5.6.7"),
		MAIL_ROW("no domain", "<a>", "501/5.1.7"),
		MAIL_ROW("postmaster is no sender", "<postmaster>",
		    "501/5.1.7"),
		ROW("two MAILs", E M M, "250 250/2.1.0 503/5.5.1", 0),
		MAIL_ROW("unknown parameter", "<a@b.test> FOO=1",
		    "555/5.5.4"),
		MAIL_ROW("unknown without value", "<a@b.test> FOO",
		    "555/5.5.4"),
		MAIL_ROW("REQUIRETLS is not offered", "<a@b.test> REQUIRETLS",
		    "555/5.5.4"),
		MAIL_ROW("AUTH is not offered", "<a@b.test> AUTH=<>",
		    "555/5.5.4"),
		MAIL_ROW("SIZE twice", "<a@b.test> SIZE=1 SIZE=1",
		    "501/5.5.4"),
		MAIL_ROW("SIZE without value", "<a@b.test> SIZE",
		    "501/5.5.4"),
		MAIL_ROW("SIZE of nothing", "<a@b.test> SIZE=", "501/5.5.4"),
		MAIL_ROW("SIZE=0", "<a@b.test> SIZE=0", "250/2.1.0"),
		MAIL_ROW("SIZE at the limit", "<a@b.test> SIZE=52428800",
		    "250/2.1.0"),
		MAIL_ROW("SIZE over it", "<a@b.test> SIZE=52428801",
		    "552/5.3.4"),
		MAIL_ROW("SIZE of 21 digits",
		    "<a@b.test> SIZE=000000000000000000001", "501/5.5.4"),
		MAIL_ROW("SIZE hexadecimal", "<a@b.test> SIZE=0x10",
		    "501/5.5.4"),
		MAIL_ROW("SIZE negative", "<a@b.test> SIZE=-1", "501/5.5.4"),
		MAIL_ROW("8BITMIME", "<a@b.test> BODY=8BITMIME",
		    "250/2.1.0"),
		MAIL_ROW("7bit", "<a@b.test> body=7bit", "250/2.1.0"),
		MAIL_ROW("BODY of no kind", "<a@b.test> BODY=9BIT",
		    "501/5.5.4"),
		MAIL_ROW("BODY=FOO", "<a@b.test> BODY=FOO", "501/5.5.4"),
		MAIL_ROW("control character", "<a\001@b.test>", "500/5.5.2"),
		MAIL_ROW("NUL", "<a\0@b.test>", "500/5.5.2"),
		MAIL_ROW("trailing blank", "<a@b.test> ", "250/2.1.0"),
		MAIL_ROW("junk after", "<a@b.test>junk", "501/5.1.7"),
		MAIL_ROW("quote after", "<a@b.test>\"x\"", "501/5.1.7"),
		ROW("two blanks", E "MAIL  FROM:<a@b.test>\r\n",
		    "250 501/5.5.4", 0),
		ROW("blank before the colon", E "MAIL FROM :<a@b.test>\r\n",
		    "250 501/5.5.4", 0),
		ROW("MAIL alone", E "MAIL\r\n", "250 501/5.5.4", 0),
		ROW("MAIL TO", E "MAIL TO:<a@b.test>\r\n", "250 501/5.5.4",
		    0),
		ROW("a refused MAIL begins nothing", E MAIL("<a") R M,
		    "250 501/5.1.7 503/5.5.1 250/2.1.0", 0),
	};

	RUN(rows);
}

#define RCPT_ROW(name, path, want) \
	ROW(name, E M RCPT(path), "250 250/2.1.0 " want, 0)

Test(session, c_rcpt)
{
	static const struct row rows[] = {
		RCPT_ROW("ours", "<bob@example.org>", "250/2.1.5"),
		RCPT_ROW("ours, other case", "<Bob@EXAMPLE.Org>",
		    "250/2.1.5"),
		RCPT_ROW("bare postmaster", "<postmaster>", "250/2.1.5"),
		RCPT_ROW("bare Postmaster", "<PostMaster>", "250/2.1.5"),
		RCPT_ROW("postmaster of ours", "<POSTMASTER@example.org>",
		    "250/2.1.5"),
		RCPT_ROW("postmaster of others", "<postmaster@else.test>",
		    "550/5.7.1"),
		RCPT_ROW("relaying", "<x@else.test>", "550/5.7.1"),
		RCPT_ROW("subdomain is not ours", "<x@sub.example.org>",
		    "550/5.7.1"),
		RCPT_ROW("source route to others", "<@example.org:x@else.test>",
		    "550/5.7.1"),
		RCPT_ROW("source route to us", "<@else.test:bob@example.org>",
		    "250/2.1.5"),
		RCPT_ROW("percent stays local", "<x%else.test@example.org>",
		    "250/2.1.5"),
		RCPT_ROW("bang stays local", "<else.test!x@example.org>",
		    "250/2.1.5"),
		RCPT_ROW("quoted at stays local",
		    "<\"x@else.test\"@example.org>", "250/2.1.5"),
		RCPT_ROW("literal is not ours", "<x@[192.0.2.9]>",
		    "550/5.7.1"),
		RCPT_ROW("UTF-8", "<m\303\274@example.org>", "553/5.6.7"),
		RCPT_ROW("quoted local", "<\"bob smith\"@example.org>",
		    "250/2.1.5"),
		RCPT_ROW("null", "<>", "501/5.1.3"),
		RCPT_ROW("no brackets", "bob@example.org", "501/5.1.3"),
		RCPT_ROW("no domain", "<bob>", "501/5.1.3"),
		RCPT_ROW("two addresses", "<bob@example.org>,<x@else.test>",
		    "501/5.1.3"),
		RCPT_ROW("second at", "<bob@example.org@else.test>",
		    "501/5.1.3"),
		RCPT_ROW("domain with a dot after", "<x@else.test.>",
		    "501/5.1.3"),
		RCPT_ROW("unknown parameter", "<bob@example.org> FOO=1",
		    "555/5.5.4"),
		RCPT_ROW("pipe is a name", "<|prog@example.org>",
		    "250/2.1.5"),
		RCPT_ROW("file is a name", "</tmp/x@example.org>",
		    "250/2.1.5"),
		RCPT_ROW("include is no name", "<:include:/x@example.org>",
		    "501/5.1.3"),
		RCPT_ROW("option is a name", "<-froot@example.org>",
		    "250/2.1.5"),
		RCPT_ROW("subaddress", "<bob+x@example.org>", "250/2.1.5"),
		RCPT_ROW("nothing", "", "501/5.1.3"),
		ROW("RCPT FROM", E M "RCPT FROM:<bob@example.org>\r\n",
		    "250 250/2.1.0 501/5.5.4", 0),
		ROW("same one twice", E M R R,
		    "250 250/2.1.0 250/2.1.5 250/2.1.5", 0),
		ROW("all refused, then DATA", E M RCPT("<x@else.test>") D
		    "NOOP\r\n", "250 250/2.1.0 550/5.7.1 554/5.5.1 250/2.0.0",
		    0),
		ROW("some refused, then DATA", E M RCPT("<x@else.test>") R D
		    "hi\r\n.\r\n",
		    "250 250/2.1.0 550/5.7.1 250/2.1.5 354 250/2.0.0", 1),
		ROW("RCPT after the message", E M R D ".\r\n" R,
		    "250 250/2.1.0 250/2.1.5 354 250/2.0.0 503/5.5.1", 1),
		/* RFC 3461 */
		RCPT_ROW("NOTIFY=NEVER", "<bob@example.org> NOTIFY=NEVER",
		    "250/2.1.5"),
		RCPT_ROW("NOTIFY list",
		    "<bob@example.org> NOTIFY=success,delay,FAILURE",
		    "250/2.1.5"),
		RCPT_ROW("NEVER is alone",
		    "<bob@example.org> NOTIFY=NEVER,SUCCESS", "501/5.5.4"),
		RCPT_ROW("NOTIFY=FOO", "<bob@example.org> NOTIFY=FOO",
		    "501/5.5.4"),
		RCPT_ROW("NOTIFY empty", "<bob@example.org> NOTIFY=",
		    "501/5.5.4"),
		RCPT_ROW("NOTIFY twice",
		    "<bob@example.org> NOTIFY=DELAY NOTIFY=DELAY",
		    "501/5.5.4"),
		RCPT_ROW("ORCPT", "<bob@example.org> ORCPT=rfc822;b+2Bx@y.z",
		    "250/2.1.5"),
		RCPT_ROW("ORCPT without type", "<bob@example.org> ORCPT=b@y",
		    "501/5.5.4"),
		RCPT_ROW("ORCPT bad hex",
		    "<bob@example.org> ORCPT=rfc822;b+2gx", "501/5.5.4"),
		MAIL_ROW("RET=FULL", "<a@b.test> RET=FULL", "250/2.1.0"),
		MAIL_ROW("RET=hdrs", "<a@b.test> RET=hdrs", "250/2.1.0"),
		MAIL_ROW("RET=foo", "<a@b.test> RET=foo", "501/5.5.4"),
		MAIL_ROW("RET twice", "<a@b.test> RET=FULL RET=FULL",
		    "501/5.5.4"),
		MAIL_ROW("ENVID", "<a@b.test> ENVID=a+2Bb", "250/2.1.0"),
		MAIL_ROW("ENVID with NUL", "<a@b.test> ENVID=a+00",
		    "501/5.5.4"),
		MAIL_ROW("ENVID of 101", "<a@b.test> ENVID=" X64
		    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "501/5.5.4"),
	};

	RUN(rows);
}

#define DATA_ROW(name, data, want, messages) \
	ROW(name, E M R D data, "250 250/2.1.0 250/2.1.5 354 " want, messages)

Test(session, d_data)
{
	static const struct row rows[] = {
		DATA_ROW("plain", "Subject: x\r\n\r\nhello\r\n.\r\n",
		    "250/2.0.0", 1),
		DATA_ROW("nothing but a dot", ".\r\n", "250/2.0.0", 1),
		DATA_ROW("header only", "Subject: x\r\n.\r\n", "250/2.0.0",
		    1),
		DATA_ROW("dots doubled", "..\r\n..x\r\n...\r\n.\r\n",
		    "250/2.0.0", 1),
		DATA_ROW("line of 998", X256 X256 X256 X64 X64 X64
		    "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n.\r\n",
		    "250/2.0.0", 1),
		DATA_ROW("NUL", "a\0b\r\n.\r\n", "550/5.6.0", 0),
		DATA_ROW("8-bit without BODY", "\303\274\r\n.\r\n",
		    "250/2.0.0", 1),
		ROW("DATA with argument", E M R "DATA now\r\n" D ".\r\n",
		    "250 250/2.1.0 250/2.1.5 501/5.5.4 354 250/2.0.0", 1),
		DATA_ROW("no colon", "no header\r\n.\r\n", "250/2.0.0", 1),
		DATA_ROW("blank before the colon",
		    "Subject : x\r\n\r\nb\r\n.\r\n", "250/2.0.0", 1),
		DATA_ROW("no blank line", "A: b\r\nbody\r\n.\r\n",
		    "250/2.0.0", 1),
		DATA_ROW("a command after the dot", ".\r\nNOOP\r\n",
		    "250/2.0.0 250/2.0.0", 1),
		DATA_ROW("MAIL after the dot", "1\r\n.\r\n" M R D
		    "2\r\n.\r\n",
		    "250/2.0.0 250/2.1.0 250/2.1.5 354 250/2.0.0", 2),
		DATA_ROW("QUIT after the dot", ".\r\n" Q,
		    "250/2.0.0 221/2.0.0", 1),
		DATA_ROW("MAIL again after a refusal",
		    "\0\r\n.\r\n" R M R D ".\r\n",
		    "550/5.6.0 503/5.5.1 250/2.1.0 250/2.1.5 354 250/2.0.0",
		    1),
		DATA_ROW("NUL and bare CR", "a\0\r\nb\rc\r\n.\r\n" M,
		    "550/5.5.2 421/4.7.0", 0),
		DATA_ROW("bare CR", "a\rb\r\n.\r\n" M,
		    "550/5.5.2 421/4.7.0", 0),
		DATA_ROW("bare LF", "a\nb\r\n.\r\n" M,
		    "550/5.5.2 421/4.7.0", 0),
		DATA_ROW("From line", "From x\r\nA: b\r\n\r\n.\r\n",
		    "250/2.0.0", 1),
		ROW("RSET between", E M R "RSET\r\n" D M R D ".\r\n",
		    "250 250/2.1.0 250/2.1.5 250/2.0.0 503/5.5.1 250/2.1.0 "
		    "250/2.1.5 354 250/2.0.0", 1),
		ROW("null sender", E MAIL("<>") R D ".\r\n",
		    "250 250/2.1.0 250/2.1.5 354 250/2.0.0", 1),
		ROW("HELO", H M R D ".\r\n",
		    "250 250/2.1.0 250/2.1.5 354 250/2.0.0", 1),
		/* pipelining */
		ROW("one of a group is bad", E M RCPT("<x@else.test>") R
		    RCPT("<") R D ".\r\n" Q,
		    "250 250/2.1.0 550/5.7.1 250/2.1.5 501/5.1.3 250/2.1.5 "
		    "354 250/2.0.0 221/2.0.0", 1),
		ROW("all of a group are bad", E M RCPT("<x@else.test>") D
		    ".\r\n" Q,
		    "250 250/2.1.0 550/5.7.1 554/5.5.1 500/5.5.2 221/2.0.0",
		    0),
		ROW("three messages in a row", E M R D "1\r\n.\r\n" M R D
		    "2\r\n.\r\n" M R D "3\r\n.\r\n" Q,
		    "250 250/2.1.0 250/2.1.5 354 250/2.0.0 250/2.1.0 "
		    "250/2.1.5 354 250/2.0.0 250/2.1.0 250/2.1.5 354 "
		    "250/2.0.0 221/2.0.0", 3),
		ROW("without EHLO's PIPELINING", H M R D ".\r\n" M R D
		    ".\r\n", "250 250/2.1.0 250/2.1.5 354 250/2.0.0 "
		    "250/2.1.0 250/2.1.5 354 250/2.0.0", 2),
		ROW("RSET, MAIL in a group", E M "RSET\r\n" M R "VRFY x\r\n"
		    "NOOP\r\n", "250 250/2.1.0 250/2.0.0 250/2.1.0 250/2.1.5 "
		    "252/2.5.0 250/2.0.0", 0),
	};

	RUN(rows);
}

/* test_talk.c - the conversation with one milter, packet by packet
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "smtpserver/milter/filter.h"
#include "smtpserver/milter/talk.h"

static struct filter_facts facts;
static struct filter_result result;
static struct talk talk;

static void
setup(void)
{
	filter_facts_init(&facts);
	filter_facts_take(&facts, SLICE("{\"host\":\"mx.test\",\"addr\":"
	    "\"2001:db8::1\",\"port\":\"2525\",\"name\":\"c.test\",\"helo\":"
	    "\"c1.test\",\"sender\":\"a@b.test\",\"sender_host\":\"b.test\","
	    "\"sender_params\":\"SIZE=3 BODY=8BITMIME\",\"nonsense\":\"x\","
	    "\"user\":\"alice\",\"auth_type\":\"SCRAM-SHA-256\"}"));
	filter_result_init(&result);
	talk_init(&talk, &facts);
}

static void
teardown(void)
{
	talk_release(&talk);
	filter_result_release(&result);
	filter_facts_release(&facts);
}

TestSuite(talk, .init = setup, .fini = teardown);

/* One packet of the milter. */
static void
hear(const char *bytes, size_t n)
{
	struct str packet = STR_INIT;
	size_t start = packet_begin(&packet, (enum milter_command)bytes[0]);

	str_add(&packet, bytes + 1, n - 1);
	packet_end(&packet, start);
	for (size_t i = 0; i < packet.len; i++)	/* byte by byte */
		talk_hear(&talk, (struct slice){ packet.buf + i, 1 });
	str_release(&packet);
}

#define HEAR(text) hear(text, sizeof(text) - 1)

static void
negotiate(uint32_t version, uint32_t protocol)
{
	char bytes[13] = { 'O' };

	bytes[4] = (char)version;
	bytes[10] = (char)(protocol >> 16);
	bytes[11] = (char)(protocol >> 8);
	bytes[12] = (char)protocol;
	hear(bytes, sizeof(bytes));
}

/* The letters of the packets that it has said since; macros in small. */
static const char *
said(void)
{
	static char letters[64];
	struct slice rest = str_slice(&talk.out);
	struct packet packet;
	struct err err;
	size_t used, n = 0;

	while (n < sizeof(letters) - 1 &&
	    packet_read(rest, &packet, &used, &err) == PACKET_WHOLE) {
		letters[n++] = packet.letter == 'D' ?
		    (char)(packet.data.p[0] + 32) : packet.letter;
		rest = slice_from(rest, used);
	}
	letters[n] = '\0';
	str_reset(&talk.out);
	talk_sent(&talk);
	return letters;
}

static bool
begin(enum talk_step goal)
{
	talk_begin(&talk, goal, NULL, &result);
	if (talk.state == TALK_SHUT)
		talk_opened(&talk);
	return talk.state == TALK_DONE;
}

Test(talk, says_what_is_missing_on_the_way)
{
	cr_expect(!begin(TALK_MAIL));
	cr_expect_str_eq(said(), "O");
	negotiate(6, 0);
	cr_expect_str_eq(said(), "cC");
	HEAR("c");
	cr_expect_str_eq(said(), "H");	/* no TLS: nothing to tell */
	HEAR("c");
	cr_expect_str_eq(said(), "mM");
	cr_expect_eq(talk.state, TALK_BUSY);
	HEAR("c");
	cr_expect_eq(talk.state, TALK_DONE);
	cr_expect_eq(result.word, FILTER_PASS);
	cr_expect(!begin(TALK_MAIL));
	cr_expect_str_eq(said(), "AmM");
}

Test(talk, parameters_and_macros_as_bytes)
{
	static const char want[] = "\0\0\0\x21M<a@b.test>\0SIZE=3\0"
	    "BODY=8BITMIME\0";
	struct slice out;

	begin(TALK_MAIL);
	(void)said();
	negotiate(6, MILTER_NO_CONNECT | MILTER_NO_HELO);
	out = str_slice(&talk.out);
	cr_expect(out.n > sizeof(want) && memcmp(out.p + out.n -
	    (sizeof(want) - 1), want, sizeof(want) - 1) == 0,
	    "its end is MAIL");
	cr_expect(memmem(out.p, out.n, "{auth_type}\0SCRAM-SHA-256", 25) !=
	    NULL);
	cr_expect(memmem(out.p, out.n, "8BITMIME", 9) != NULL);
}

Test(talk, bits_leave_out_steps_and_answers)
{
	begin(TALK_RCPT);
	cr_expect_eq(result.word, FILTER_TROUBLE, "no MAIL before");
	begin(TALK_MAIL);
	(void)said();
	negotiate(6, MILTER_NO_CONNECT | MILTER_NR_HELO | MILTER_NR_MAIL);
	cr_expect_str_eq(said(), "HmM");
	cr_expect_eq(talk.state, TALK_DONE);
	cr_expect(!talk_wants(&talk, TALK_CONNECT));
	cr_expect(talk_wants(&talk, TALK_RCPT));
	cr_expect(!begin(TALK_RCPT));
	HEAR("s");
	cr_expect_eq(talk.state, TALK_DONE);
	cr_expect(!talk_wants(&talk, TALK_RCPT), "it skips them");
}

Test(talk, an_old_one_hears_no_new_commands)
{
	begin(TALK_CONNECT);
	negotiate(2, 0);
	cr_expect(!talk_wants(&talk, TALK_DATA));
	cr_expect(!talk_wants(&talk, TALK_UNKNOWN));
	cr_expect(talk_wants(&talk, TALK_RCPT));
}

Test(talk, words)
{
	static const struct {
		enum talk_step	 goal;
		struct slice	 packet;
		enum filter_word want;
		unsigned	 code;
		bool		 is_off, is_off_message;
	} rows[] = {
		{ TALK_CONNECT, SLICE("a"), FILTER_PASS, 0, true, false },
		{ TALK_CONNECT, SLICE("d"), FILTER_TROUBLE, 0, false, false },
		{ TALK_HELO, SLICE("r"), FILTER_REFUSE, 550, false, false },
		{ TALK_MAIL, SLICE("a"), FILTER_PASS, 0, false, true },
		{ TALK_MAIL, SLICE("r"), FILTER_REFUSE, 550, false, false },
		{ TALK_MAIL, SLICE("d"), FILTER_DISCARD, 0, false, true },
		{ TALK_MAIL, SLICE("4"), FILTER_REFUSE, 421, false, false },
		{ TALK_MAIL, SLICE("f"), FILTER_REFUSE, 421, false, false },
		{ TALK_MAIL, SLICE("y452 4.2.2 full\0"), FILTER_REFUSE, 452,
		    false, false },
		{ TALK_MAIL, SLICE("ynonsense\0"), FILTER_REFUSE, 550, false,
		    false },
		{ TALK_MAIL, SLICE("!"), FILTER_TROUBLE, 0, false, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		teardown();
		setup();
		begin(rows[i].goal);
		negotiate(6, rows[i].goal == TALK_CONNECT ? 0 :
		    rows[i].goal == TALK_HELO ? MILTER_NO_CONNECT :
		    MILTER_NO_CONNECT | MILTER_NO_HELO);
		HEAR("p");
		cr_expect_eq(talk.state, TALK_BUSY, "row %zu", i);
		hear(rows[i].packet.p, rows[i].packet.n);
		cr_expect_eq(talk.state, TALK_DONE, "row %zu", i);
		cr_expect_eq(result.word, rows[i].want, "row %zu: %d", i,
		    (int)result.word);
		if (rows[i].code != 0)
			cr_expect_eq(result.code, rows[i].code, "row %zu", i);
		cr_expect_eq(talk.is_off, rows[i].is_off, "row %zu", i);
		cr_expect_eq(talk.is_off_message, rows[i].is_off_message,
		    "row %zu", i);
	}
}

Test(talk, what_comes_unasked_ends_it)
{
	begin(TALK_CONNECT);
	negotiate(6, MILTER_NO_CONNECT);
	cr_expect_eq(talk.state, TALK_DONE);
	cr_expect_eq(talk.where, TALK_CONNECTED);
	HEAR("c");
	cr_expect_eq(talk.where, TALK_NOWHERE);
	cr_expect_eq(result.word, FILTER_PASS, "nobody asked");
}

Test(talk, macros_that_it_asked_for)
{
	struct str out = STR_INIT;

	macros_add(&out, MILTER_MAIL, SLICE("auth_type {mail_addr} x"),
	    &facts);
	cr_expect_eq(out.len, 5 + sizeof("M{auth_type}\0SCRAM-SHA-256\0"
	    "{mail_addr}\0a@b.test") - 0, "%zu", out.len);
	str_reset(&out);
	macros_add(&out, MILTER_MAIL, SLICE("nonsense"), &facts);
	cr_expect_eq(out.len, 0);
	macros_add(&out, MILTER_BODY, SLICE(""), &facts);
	cr_expect_eq(out.len, 0);
	str_release(&out);
}

Test(talk, keys_of_answers)
{
	static const struct { const char *in; int want; unsigned wants; }
	    rows[] = {
		{ "123-1-0f 3ff pass", 0, 0x3ff }, { "k 0 pass", 0, 0 },
		{ "k", -1, 0 }, { "k xyz pass", -1, 0 },
		{ "k 123456789 pass", -1, 0 }, { "", -1, 0 },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct slice answer = slice_of(rows[i].in);
		char key[FILTER_KEY_BYTES];
		unsigned wants;

		cr_expect_eq(filter_answer_key(&answer, key, &wants),
		    rows[i].want, "row %zu", i);
		if (rows[i].want == 1) {
			cr_expect_eq(wants, rows[i].wants, "row %zu", i);
			cr_expect(slice_is(slice_trim(answer), "pass"));
		}
	}
}

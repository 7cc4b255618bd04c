/* test_smuggling.c - one message never becomes two
 *
 * Each candidate for an end of data is followed by a second transaction.
 * It must end nothing: the message is refused, the session is over, and no
 * second message comes of it.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "house.h"

#include "base/banned.h"

static const char *const bad_ends[] = {
	"\n.\n", "\n.\r\n", "\r.\r", "\r.\r\n", "\r.\n", "\n.\r", "\r\n.\n",
	"\r\n.\r", "\r\r\n.\r\r\n", "\r\n.\r\r\n", "\r\r\n.\r\n.", "\n..\n",
	"\r\n.\n\r\n", "\n\r\n.\n\r\n", "\r\n.\r \n",
};

/* Lines of another alphabet, and a dot that is not alone: content. */
static const char *const harmless[] = {
	"\r\n. \r\n", "\r\n..\r\n", "\r\n .\r\n", "\v.\v", "\f.\f",
	"\302\205.\302\205", "\342\200\250.\342\200\250", "\r\n.x\r\n",
};

#define FIRST "EHLO c1.test\r\nMAIL FROM:<a@src.test>\r\n" \
	"RCPT TO:<bob@example.org>\r\nDATA\r\nA: b\r\n\r\nfirst"
#define SECOND "MAIL FROM:<x@evil.test>\r\nRCPT TO:<bob@example.org>\r\n" \
	"DATA\r\nsecond"
#define END "\r\n.\r\n"

static void
run(const char *end, size_t piece, const char *want_replies,
    unsigned want_messages)
{
	struct str in = STR_INIT, out = STR_INIT, got = STR_INIT,
	    want = STR_INIT, escaped = STR_INIT;
	struct house house;
	int client;

	house_open(&house, "");
	client = house_connect(&house, "192.0.2.7:4711");
	str_addf(&in, FIRST "%s" SECOND END "NOOP\r\n", end);
	str_addf(&want, "220 250 250/2.1.0 250/2.1.5 354 %s",
	    want_replies);
	house_send(&house, client, in.buf, in.len, piece ? piece : in.len,
	    &out);
	(void)house_hear(&house, client, &out);
	replies_short(str_slice(&out), &got);
	str_add_escaped(&escaped, slice_of(end));
	cr_expect_str_eq(got.buf, want.buf, "%s (%zu): %s", escaped.buf,
	    piece, got.buf);
	cr_expect_eq(house_count(&house, "router"), want_messages, "%s",
	    escaped.buf);
	close(client);
	house_close(&house);
	str_release(&in);
	str_release(&out);
	str_release(&got);
	str_release(&want);
	str_release(&escaped);
}

Test(smuggling, no_other_end_of_data_ends_a_message)
{
	for (size_t i = 0; i < sizeof(bad_ends) / sizeof(bad_ends[0]); i++)
		for (size_t piece = 0; piece < 4; piece++)
			run(bad_ends[i], piece, "550/5.5.2 421/4.7.0", 0);
}

Test(smuggling, what_only_looks_like_an_end_is_content)
{
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		for (size_t piece = 0; piece < 2; piece++)
			run(harmless[i], piece, "250/2.0.0 250/2.0.0", 1);
}

/* The end in a packet of its own, cut at every place. */
Test(smuggling, the_end_may_be_cut_anywhere)
{
	for (size_t cut = 1; cut < strlen(END); cut++) {
		struct str out = STR_INIT, got = STR_INIT, file = STR_INIT;
		struct house house;
		int client;

		house_open(&house, "");
		client = house_connect(&house, "192.0.2.7:4711");
		house_send(&house, client, FIRST, strlen(FIRST), 1000, &out);
		house_send(&house, client, END, cut, cut, &out);
		(void)house_hear(&house, client, &out);
		cr_expect_eq(house_count(&house, "router"), 0);
		house_send(&house, client, &END[cut], strlen(END) - cut, 10,
		    &out);
		(void)house_hear(&house, client, &out);
		replies_short(str_slice(&out), &got);
		cr_expect_str_eq(got.buf,
		    "220 250 250/2.1.0 250/2.1.5 354 250/2.0.0");
		house_first(&house, "router", &file);
		cr_expect(slice_ends(str_slice(&file), "A: b\n\nfirst\n"),
		    "%s", file.buf);
		close(client);
		house_close(&house);
		str_release(&out);
		str_release(&got);
		str_release(&file);
	}
}

/* Byte for byte what was sent, dots undone, LF line ends. */
Test(smuggling, stored_bytes)
{
	static const struct { const char *wire, *stored; } rows[] = {
		{ "..\r\n", ".\n" }, { "..x\r\n", ".x\n" },
		{ "...\r\n", "..\n" }, { ".x\r\n", "x\n" },
		{ "a\r\n..\r\nb\r\n", "a\n.\nb\n" },
		{ "a\r\n\r\n\r\n", "a\n\n\n" }, { "\r\n", "\n" },
		{ "From a\r\n>From b\r\n", "From a\n>From b\n" },
		{ "\377\200\r\n", "\377\200\n" }, { " .\r\n", " .\n" },
		{ "", "" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str in = STR_INIT, file = STR_INIT, want = STR_INIT;
		struct house house;
		int client;

		house_open(&house, "");
		client = house_connect(&house, "192.0.2.7:4711");
		str_addf(&in, "EHLO c1.test\r\nMAIL FROM:<a@src.test>\r\n"
		    "RCPT TO:<bob@example.org>\r\nDATA\r\n%s.\r\n",
		    rows[i].wire);
		str_addf(&want, "\nenv-end\n%s", rows[i].stored);
		house_send(&house, client, in.buf, in.len, 7, NULL);
		(void)house_hear(&house, client, NULL);
		house_first(&house, "router", &file);
		cr_expect(slice_ends(str_slice(&file), want.buf), "row %zu: %s",
		    i, file.buf);
		close(client);
		house_close(&house);
		str_release(&in);
		str_release(&file);
		str_release(&want);
	}
}

/* `bare-newline accept`: LF ends lines, but never the message. */
Test(smuggling, accepted_bare_newlines_are_line_ends)
{
	struct str file = STR_INIT;
	struct house house;
	int client;
	static const char in[] = "EHLO c1.test\nMAIL FROM:<a@src.test>\n"
	    "RCPT TO:<bob@example.org>\nDATA\nA: b\n\nx\n.\n\r\n.\r\n";

	house_open(&house, "bare-newline accept");
	client = house_connect(&house, "192.0.2.7:4711");
	house_send(&house, client, in, sizeof(in) - 1, 5, NULL);
	(void)house_hear(&house, client, NULL);
	house_first(&house, "router", &file);
	cr_expect(slice_ends(str_slice(&file), "\nA: b\n\nx\n.\n\n"), "%s",
	    file.buf);
	close(client);
	house_close(&house);
	str_release(&file);
}

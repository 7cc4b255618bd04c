/* test_commands.c - every verb in every phase
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "house.h"
#include "smtpserver/command/commands.h"

#include "base/banned.h"

static const char *const before[] = {	/* leads to each phase */
	"",
	"EHLO c1.test\r\n",
	"EHLO c1.test\r\nMAIL FROM:<a@src.test>\r\n",
	("EHLO c1.test\r\nMAIL FROM:<a@src.test>\r\n"
	 "RCPT TO:<bob@example.org>\r\n"),
};

static const struct row {
	const char	*line;
	int		 want[4];	/* in PHASE_START, READY, MAIL, RCPT */
} rows[] = {
	{ "HELO c1.test", { 250, 250, 250, 250 } },
	{ "EHLO c1.test", { 250, 250, 250, 250 } },
	{ "MAIL FROM:<b@src.test>", { 503, 250, 503, 503 } },
	{ "RCPT TO:<bob@example.org>", { 503, 503, 250, 250 } },
	{ "DATA", { 503, 503, 554, 354 } },
	{ "RSET", { 250, 250, 250, 250 } },
	{ "NOOP", { 250, 250, 250, 250 } },
	{ "VRFY bob", { 252, 252, 252, 252 } },
	{ "HELP", { 214, 214, 214, 214 } },
	{ "QUIT", { 221, 221, 221, 221 } },
	{ "EXPN bob", { 502, 502, 502, 502 } },
	{ "BDAT 2 LAST\r\n", { 503, 503, 503, 250 } },
	{ "STARTTLS", { 502, 502, 502, 502 } },
	{ "AUTH PLAIN", { 502, 502, 502, 502 } },
	{ "ETRN x", { 503, 502, 503, 503 } },
	{ "LHLO c1.test", { 500, 500, 500, 500 } },
	{ "XCLIENT ADDR=192.0.2.9", { 550, 550, 503, 503 } },
	{ "XFORWARD ADDR=192.0.2.9", { 503, 550, 503, 503 } },
	{ "SEND FROM:<a@b.test>", { 502, 502, 502, 502 } },
	{ "SOML FROM:<a@b.test>", { 502, 502, 502, 502 } },
	{ "SAML FROM:<a@b.test>", { 502, 502, 502, 502 } },
	{ "TURN", { 502, 502, 502, 502 } },
	{ "HUGO", { 500, 500, 500, 500 } },
};

static int
last_code(struct slice replies)
{
	struct str text = STR_INIT;
	struct slice rest, word;
	uint64_t code = 0;

	replies_short(replies, &text);
	rest = str_slice(&text);
	while (slice_word(&rest, &word))
		(void)slice_number(slice_first(word, 3), 0, 999, &code);
	str_release(&text);
	return (int)code;
}

Test(commands, every_verb_in_every_phase)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int phase = 0; phase < 4; phase++) {
			struct str in = STR_INIT, out = STR_INIT;
			struct house house;
			int client;

			house_open(&house, "");
			client = house_connect(&house, "192.0.2.7:4711");
			str_addf(&in, "%s%s\r\n", before[phase],
			    rows[i].line);
			house_send(&house, client, in.buf, in.len, in.len,
			    &out);
			(void)house_hear(&house, client, &out);
			cr_expect_eq(last_code(str_slice(&out)),
			    rows[i].want[phase], "%s in phase %d: %s",
			    rows[i].line, phase, out.buf);
			close(client);
			house_close(&house);
			str_release(&in);
			str_release(&out);
		}
}

/* A row that no test names is a row nobody thought about. */
Test(commands, every_row_is_tested)
{
	const struct command_row *row;

	for (size_t i = 0; (row = command_at(i)) != NULL; i++) {
		bool is_tested = false;

		for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++)
			is_tested |= slice_starts(slice_of(rows[k].line),
			    row->verb);
		cr_expect(is_tested, "%s", row->verb);
	}
}

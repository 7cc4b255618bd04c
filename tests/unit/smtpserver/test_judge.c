/* test_judge.c - what is asked about the origin of a message, the answer, and
 * the header that comes of it
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "smtpserver/origin/judge_mark.h"

Test(judge, a_question_there_and_back)
{
	struct judge_question asked = { .id = SLICE("361g9eyp5bafph4"),
	    .client_text = SLICE("[2001:db8::1]:4711"),
	    .helo = SLICE("\"a\" b\tc\\"), .sender = SLICE(""),
	    .host = SLICE("mx.here.test"), .file = SLICE("new/A/1.2.3") };
	struct arena *arena = arena_new();
	struct judge_question read;
	struct str line = STR_INIT;
	struct err err;

	judge_question_add(&line, &asked);
	cr_assert_null(strchr(line.buf, '\n'));
	cr_assert_eq(judge_question_parse(arena, str_slice(&line), &read,
	    &err), 0, "%s", err.text);
	cr_expect(slice_equal(read.helo, asked.helo));
	cr_expect(slice_equal(read.file, asked.file));
	cr_expect_eq(read.sender.n, 0);
	cr_expect_eq(read.client.bits, 128);
	cr_expect_eq(read.client.bytes[0], 0x20);
	str_release(&line);
	arena_free(&arena);
}

Test(judge, a_question_about_spf_there_and_back)
{
	static const char *const clients[] = { "[192.0.2.1]",
		"[2001:db8::1]" };
	struct arena *arena = arena_new();

	for (size_t i = 0; i < 2; i++) {
		struct judge_question asked = { .is_spf_alone = true,
		    .id = SLICE("361g9eyp5bafph4"),
		    .client_text = slice_of(clients[i]), .helo = SLICE("\n\""),
		    .sender = SLICE("a@b.test") }, read;
		struct str line = STR_INIT;
		struct err err;

		judge_question_add(&line, &asked);
		cr_expect_null(strstr(line.buf, "file"));
		cr_expect_null(strchr(line.buf, '\n'));
		cr_assert_eq(judge_question_parse(arena, str_slice(&line),
		    &read, &err), 0, "%s", err.text);
		cr_expect(read.is_spf_alone);
		cr_expect(slice_equal(read.helo, asked.helo));
		cr_expect(slice_equal(read.sender, asked.sender));
		cr_expect_eq(read.file.n, 0);
		cr_expect_eq(read.client.bytes[15], 1);
		str_release(&line);
	}
	arena_free(&arena);
}

Test(judge, an_answer_about_spf_there_and_back)
{
	static const char *const bad[] = { "", "spf", "spf=", "spf=asks",
		"spf=PASS", "spf=pass ", " spf=pass", "spf=pass dkim=pass",
		"dkim=pass", "spf=passpass", "spf=pass\n", "spf=pass at=",
		"spf=pass at=a/b", "spf=pass at=a b", "spf=pass  at=a" };

	for (enum origin i = ORIGIN_NONE; i <= ORIGIN_PERMERROR; i++) {
		struct str line = STR_INIT;
		enum origin read = ORIGIN_ASKS;
		struct slice at;

		judge_spf_add(&line, i, i == ORIGIN_NONE ? SLICE("a\nb") :
		    SLICE("a.test"));
		cr_expect_eq(judge_spf_parse(str_slice(&line), &read, &at),
		    0);
		cr_expect_eq(read, i);
		cr_expect(slice_is(at, i == ORIGIN_NONE ? "" : "a.test"));
		str_release(&line);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		enum origin read;
		struct slice at;

		cr_expect_eq(judge_spf_parse(slice_of(bad[i]), &read, &at), -1,
		    "row %zu", i);
	}
}

Test(judge, bad_questions)
{
	static const char *const rows[] = {
		"", "{", "x", "{}",
		"{\"ask\":\"spf\",\"client\":\"[192.0.2.1]\"}",
		"{\"id\":\"1\",\"ask\":\"spf\",\"client\":\"x\"}",
		"{\"id\":\"1\",\"ask\":\"all\",\"client\":\"1.2.3.4:5\","
		    "\"host\":\"mx.test\",\"file\":\"1.2.3\"}",
#define Q(id, client, host, file) "{\"id\":\"" id "\",\"client\":\"" client \
	"\",\"helo\":\"h\",\"sender\":\"\",\"host\":\"" host \
	"\",\"file\":\"" file "\"}"
		Q("", "192.0.2.1:25", "mx.test", "1.2.3"),
		Q("361g9eyp5bafph4361g9eyp5bafph4361g9eyp5bafph4361g9eyp5b",
		    "192.0.2.1:25", "mx.test", "1.2.3"),
		Q("361g9eyp5bafph4", "", "mx.test", "1.2.3"),
		Q("361g9eyp5bafph4", "192.0.2.999:25", "mx.test", "1.2.3"),
		Q("361g9eyp5bafph4", "x.test:25", "mx.test", "1.2.3"),
		Q("361g9eyp5bafph4", "192.0.2.1:25", "", "1.2.3"),
		Q("361g9eyp5bafph4", "192.0.2.1:25", "mx\\u0000.test", "1.2"),
		Q("361g9eyp5bafph4", "192.0.2.1:25", "mx.test", ""),
		Q("361g9eyp5bafph4", "192.0.2.1:25", "mx.test", "/etc/passwd"),
		Q("361g9eyp5bafph4", "192.0.2.1:25", "mx.test", "../queue/1"),
		Q("361g9eyp5bafph4", "192.0.2.1:25", "mx.test", "new/../../1"),
		Q("361g9eyp5bafph4", "192.0.2.1:25", "mx.test", "1\\u00002"),
		Q("361g9eyp5bafph4", "192.0.2.1:25", "mx.test", "a b"),
		Q("361g9eyp5bafph4", "192.0.2.1:25", "mx.test",
		    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
		    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"),
#undef Q
	};
	struct arena *arena = arena_new();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct judge_question read;
		struct err err = { "" };

		cr_expect_eq(judge_question_parse(arena, slice_of(rows[i]),
		    &read, &err), -1, "row %zu", i);
		cr_expect(err.text[0] != '\0', "row %zu", i);
	}
	arena_free(&arena);
}

#define ANSWER "spf=softfail dkim=permerror dmarc=temperror " \
	"policy=quarantine arc=pass dkim2=fail sealer=lists.test " \
	"signers=a.test,b.test spf-at=a.test dkim-at=s._domainkey.a.test " \
	"dmarc-at=_dmarc.a.test dkim2-why=bm8= " \
	"report=from=a.test;at=a.test file=new/A/1.2.3 " \
	"bytes=77 " \
	"crc=4294967295"

Test(judge, an_answer_there_and_back)
{
	struct judge_answer answer;
	struct str line = STR_INIT;

	cr_assert_eq(judge_answer_parse(SLICE(ANSWER), &answer), 0);
	cr_expect_eq(answer.spf, ORIGIN_SOFTFAIL);
	cr_expect_eq(answer.dkim, ORIGIN_PERMERROR);
	cr_expect_eq(answer.dmarc, ORIGIN_TEMPERROR);
	cr_expect_eq(answer.policy, DMARC_QUARANTINE);
	cr_expect_eq(answer.arc, ORIGIN_PASS);
	cr_expect_eq(answer.dkim2, ORIGIN_FAIL);
	cr_expect_str_eq(answer.sealer, "lists.test");
	cr_expect_str_eq(answer.names.dkim, "s._domainkey.a.test");
	cr_expect_str_eq(answer.names.dkim2, "no");
	cr_expect_str_eq(answer.report, "from=a.test;at=a.test");
	cr_expect_str_eq(answer.file, "new/A/1.2.3");
	cr_expect_eq(answer.bytes, 77);
	cr_expect_eq(answer.crc, UINT32_MAX);
	judge_answer_add(&line, &answer);
	cr_expect_str_eq(line.buf, ANSWER);
	for (size_t n = 0; n + strlen("4294967295") < line.len; n++)
		cr_expect_eq(judge_answer_parse(slice_first(str_slice(&line),
		    n), &answer), -1, "%zu bytes", n);
	str_release(&line);
}

#define EDIT "spf=pass dkim=pass dmarc=pass policy=none arc=none dkim2=none " \
	"sealer=- signers=- spf-at=- dkim-at=- dmarc-at=- dkim2-why=- " \
	"report=- field="

Test(judge, an_answer_with_a_field_there_and_back)
{
	static const char field[] = "Authentication-Results: mx.here.test;\n"
	    "\tspf=pass";
	static char long_field[JUDGE_FIELD_BYTES + 1];
	struct judge_answer answer, again;
	struct str line = STR_INIT;

	cr_assert_eq(judge_answer_parse(SLICE(EDIT "QTogYg=="), &answer), 0);
	cr_expect_str_eq(answer.field, "A: b");
	cr_expect_str_eq(answer.file, "");
	cr_assert_eq(judge_answer_set_field(&answer, slice_of(field)), 0);
	judge_answer_add(&line, &answer);
	cr_assert_null(strchr(line.buf, '\n'));
	cr_assert_eq(judge_answer_parse(str_slice(&line), &again), 0);
	cr_expect_str_eq(again.field, field);
	str_release(&line);
	memset(long_field, 'a', sizeof(long_field) - 1);
	cr_expect_eq(judge_answer_set_field(&answer, slice_of(long_field)), -1);
	cr_expect_eq(judge_answer_set_field(&answer, slice_from(slice_of(
	    long_field), 1)), 0);
	cr_expect_eq(judge_answer_set_field(&answer, SLICE("a\0b")), -1);
	cr_expect_eq(judge_answer_set_field(&answer, SLICE("")), -1);
}

#define NAMES "spf-at=- dkim-at=- dmarc-at=- dkim2-why=- "

Test(judge, bad_answers)
{
	static const char *const rows[] = {
		"", "pass", "dkim=pass spf=pass",
		EDIT, EDIT "=", EDIT "a", EDIT "AA==" /* a NUL */,
		EDIT "QTogYg== file=a bytes=1 crc=0",
#define REST " dkim=pass dmarc=pass policy=none arc=none dkim2=none sealer=- " \
	"signers=- " NAMES "report=- file=a bytes=1 crc=0"
		"spf=asks" REST, "spf=" REST, "spf=PASS" REST, "spf" REST,
		"spf=pass" REST " more=1", "spfx=pass" REST,
#undef REST
#define S "spf=pass dkim=pass dmarc=pass policy="
#define N "none arc=none dkim2=none sealer=- signers=- " NAMES "report=- "
#define M "none arc=none dkim2=none sealer=- signers=- "
#define F " report=- file=a bytes=1 crc=0"
		S M "spf-at= dkim-at=- dmarc-at=- dkim2-why=-" F,
		S M "spf-at=a/b dkim-at=- dmarc-at=- dkim2-why=-" F,
		S M "spf-at=- dkim-at=- dmarc-at=- dkim2-why=" F,
		S M "spf-at=- dkim-at=- dmarc-at=- dkim2-why=CgA=" F,
		S M "dkim-at=- spf-at=- dmarc-at=- dkim2-why=-" F,
#undef M
#undef F
		S "all arc=none dkim2=none sealer=- "
		    "signers=- " NAMES "report=- file=a bytes=1 crc=0",
		S N "file= bytes=1 crc=0",
		S N "file=/a bytes=1 crc=0", S N "file=.. bytes=1 crc=0",
		S N "file=a bytes=0 crc=0", S N "file=a bytes=-1 crc=0",
		S N "file=a bytes=1 crc=4294967296",
		S N "file=a bytes=99999999999999999999 crc=0",
		S N "file=a bytes=1",
		S "none arc=asks dkim2=none sealer=- "
		    "signers=- " NAMES "report=- file=a bytes=1 crc=0",
		S "none arc=pass dkim2=none sealer=a,b "
		    "signers=- " NAMES "report=- file=a bytes=1 crc=0",
		S "none arc=pass dkim2=none sealer=- signers=- "
		    NAMES "report=from=a\x7f file=a bytes=1 crc=0",
		S "none arc=pass dkim2=none sealer=- signers=- "
		    NAMES "report= file=a bytes=1 crc=0",
#undef N
#undef S
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct judge_answer answer;

		cr_expect_eq(judge_answer_parse(slice_of(rows[i]), &answer),
		    -1, "row %zu", i);
	}
}

Test(judge, who_failed_by_dkim2_is_in_the_envelope)
{
	struct slice envelope = SLICE("id 361g9eyp5bafph4\nexternal\n"
	    "with ESMTP\nfrom <a@b.test>\nterms utf8\n"
	    "todsn NOTIFY=SUCCESS\nto <c@d.test>\nto <e@d.test>\nenv-end\n");
	struct str out = STR_INIT;
	struct err err;

	cr_assert_eq(judge_mark_envelope(envelope, ORIGIN_PASS, &out, &err),
	    0);
	cr_expect(slice_equal(str_slice(&out), envelope));
	str_reset(&out);
	cr_assert_eq(judge_mark_envelope(envelope, ORIGIN_TEMPERROR, &out,
	    &err), 0, "%s", err.text);
	cr_expect_str_eq(out.buf, "id 361g9eyp5bafph4\nexternal\n"
	    "with ESMTP\nfrom <a@b.test>\nterms utf8 never-report\n"
	    "todsn NOTIFY=SUCCESS\nto <c@d.test>\nto <e@d.test>\nenv-end\n");
	cr_expect_eq(judge_mark_envelope(SLICE("x"), ORIGIN_FAIL, &out, &err),
	    -1);
	str_release(&out);
}

Test(judge, ours_goes_in_and_those_that_claim_to_be_ours_go)
{
#define AR "Authentication-Results:"
	static const struct {
		const char *in, *want;
	} rows[] = {
		{ "A: 1\n\nbody\n", "A: 1\n|\nbody\n" },
		{ "A: 1\n" AR " mx.test; x=1\nB: 2\n\n", "A: 1\nB: 2\n|\n" },
		{ AR " MX.Test; x=1\n\tfolded\nB: 2\n\n", "B: 2\n|\n" },
		{ "authentication-RESULTS : \"mx.test\" 1; none\n\n", "|\n" },
		{ AR " (c) mx.test\n\n", "|\n" },
		{ AR "\n\tmx.test; none\n\n", "|\n" },
		{ AR " (not closed\n\n", "|\n" },
		{ AR "\n\n", "|\n" },
		{ AR " other.test; x=1\n\n", AR " other.test; x=1\n|\n" },
		{ AR " mx.test.evil; x\n\n", AR " mx.test.evil; x\n|\n" },
		/* a line that is no field ends no header here */
		{ "junk\n" AR " mx.test; x\nB: 2\n\nb", "junk\nB: 2\n|\nb" },
		/* of the body nothing goes */
		{ "\n" AR " mx.test; x\n", "|\n" AR " mx.test; x\n" },
		{ "", "|" }, { "A: 1", "A: 1|" },
		/* what would be folded into ours is no header */
		{ " ; dmarc=pass\n\nb", "\n ; dmarc=pass\n|\nb" },
		{ "\t; dmarc=pass\n\nb", "\n\t; dmarc=pass\n|\nb" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str out = STR_INIT, want = STR_INIT;
		struct slice body = judge_mark_header(slice_of(rows[i].in),
		    SLICE("X: ours"), "mx.test", &out);

		str_addf(&want, "X: ours\n%s", rows[i].want);
		str_addc(&out, '|');
		str_add_slice(&out, body);
		cr_expect_str_eq(out.buf, want.buf, "row %zu", i);
		str_release(&out);
		str_release(&want);
	}
}

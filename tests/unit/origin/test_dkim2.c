/* test_dkim2.c - chains of DKIM2: what cannot be read, and what recipes make
 *
 * What passes the published cases say (tests/corpus/run-dkim2); here is what
 * strangers may send.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "origin/dkim2/internal.h"

#include "base/banned.h"

TestSuite(dkim2, .timeout = 60);

static enum origin
chain_of(const char *message, struct arena *arena, struct dkim2 *out)
{
	struct dkim2_mail mail = { .message = slice_of(message) };
	struct answers *answers = answers_new(arena);

	answers_close(answers);
	return dkim2_judge(answers, &mail, arena, out);
}

#define AB "PGFAYi50ZXN0Pg=="		/* <a@b.test> */
#define CD "PGNAZC50ZXN0Pg=="		/* <c@d.test> */
#define SUM "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
#define MI1 "Message-Instance: m=1; h=sha256:" SUM ":" SUM ";\n"
#define MI2 "Message-Instance: m=2; h=sha256:" SUM ":" SUM ";\n"
#define REST "t=1; d=b.test; mf=" AB "; rt=" CD "; s=k:rsa-sha256:AAAA"
#define SIG "DKIM2-Signature: i=1; m=1; " REST "\n"
#define NEXT(tags) "DKIM2-Signature: i=2; m=1; t=1; " tags "\n"

static const struct {
	const char *message;
	enum origin want;
	const char *reason;
} bad_chains[] = {
	{ "From: a\n\nb\n", ORIGIN_NONE, "nobody signed it by DKIM2" },
	{ "", ORIGIN_NONE, "nobody signed it by DKIM2" },
	{ MI1 "\n", ORIGIN_NONE, "nobody signed it by DKIM2" },
	{ "\n" SIG, ORIGIN_NONE, "nobody signed it by DKIM2" },
#define BAD(message, reason) { message "\n", ORIGIN_PERMERROR, reason },
	BAD(MI1 SIG,
	    "DKIM2-Signature i=1 public key "
	    "k._domainkey.b.test does not exist") BAD(SIG,
	    "Message-Instance m=1 missing") BAD(MI1 MI2 SIG,
	    "Message-Instance m=2 is not signed") BAD(MI1 MI1 SIG,
	    "Message-Instance m=1 is there twice") BAD(MI1 SIG SIG,
	    "DKIM2-Signature i=1 is there twice") BAD(MI1
	    "DKIM2-Signature: i=2; m=1; " REST "\n",
	    "DKIM2-Signature i=1 missing") BAD(MI1 "DKIM2-Signature:\n",
	    "DKIM2-Signature i=0 syntax "
	    "error: no i= from 1 to 50, no list of tags, or one twice") BAD(MI1
	    "DKIM2-Signature: i=51; m=1; " REST "\n",
	    "DKIM2-Signature i=0 syntax error: no i= from 1 to 50, no "
	    "list of tags, or one twice") BAD(MI1
	    "DKIM2-Signature: i=1; I=1; m=1; " REST "\n",
	    "DKIM2-Signature i=1 syntax error: no i= from 1 to 50, no "
	    "list of tags, or one twice") BAD(MI1
	    "DKIM2-Signature: i=1;; m=1; " REST "\n",
	    "DKIM2-Signature i=1 syntax error: no i= from 1 to 50, no "
	    "list of tags, or one twice") BAD(MI1 "DKIM2-Signature: i=1; " REST
						  "\n",
	    "DKIM2-Signature i=1 tag=m missing") BAD(MI1
	    "DKIM2-Signature: i=1; m=x; " REST "\n",
	    "DKIM2-Signature i=1 syntax error in tag=m")
#define ONE(tags) MI1 "DKIM2-Signature: i=1; m=1; " tags "\n"
	BAD(ONE("t=x; d=b.test; mf=" AB "; rt=" CD "; s=k:a:AAAA"),
	    "DKIM2-Signature i=1 syntax error in tag=t")
	BAD(ONE("t=1; d=b..test; mf=" AB "; rt=" CD "; s=k:a:AAAA"),
	    "DKIM2-Signature i=1 syntax error in tag=d")
	BAD(ONE("t=1; d=b.test; rt=" CD "; s=k:a:AAAA"),
	    "DKIM2-Signature i=1 tag=mf missing")
	BAD(ONE("t=1; d=b.test; mf=" AB "; s=k:a:AAAA"),
	    "DKIM2-Signature i=1 tag=rt missing")
	BAD(ONE("t=1; d=b.test; mf=" AB "; rt=; s=k:a:AAAA"),
	    "DKIM2-Signature i=1 syntax error in tag=rt")
	BAD(ONE("t=1; d=b.test; mf=YUBi; rt=" CD "; s=k:a:AAAA"),
	    "DKIM2-Signature i=1 syntax error in tag=mf")
	BAD(ONE("t=1; d=b.test; mf=PGEKPg==; rt=" CD "; s=k:a:AAAA"),
	    "DKIM2-Signature i=1 syntax error in tag=mf")
	BAD(ONE("t=1; d=b.test; mf=" AB "; rt=PD4=; s=k:a:AAAA"),
	    "DKIM2-Signature i=1 syntax error in tag=rt")
	BAD(ONE("t=1; d=b.test; nd=c.test; mf=" AB "; s=k:a:AAAA"),
	    "DKIM2-Signature i=1 tag=mf was unexpected")
	BAD(ONE("t=1; d=b.test; nd=c.test; s=k:a:AAAA"),
	    "DKIM2-Signature i=1 unexpected nd= tag")
	BAD(ONE("t=1; d=b.test; mf=" AB "; rt=" CD "; s="),
	    "DKIM2-Signature i=1 syntax error in tag=s")
	BAD(ONE("t=1; d=b.test; mf=" AB "; rt=" CD "; s=k:a"),
	    "DKIM2-Signature i=1 syntax error in tag=s")
	BAD(ONE("t=1; d=b.test; mf=" AB "; rt=" CD "; s=k:a:?"),
	    "DKIM2-Signature i=1 syntax error in tag=s")
	BAD(ONE("t=1; d=b.test; mf=" AB "; rt=" CD
	    "; s=k:a:AAAA, K:b:AAAA"),
	    "DKIM2-Signature i=1 has a duplicate selector")
	BAD(ONE("t=1; d=b.test; mf=" AB "; rt=" CD "; s=k:rsa-sha256:"
	    "AAAA,l:rsa-sha256:AAAA,m:rsa-sha256:AAAA"),
	    "DKIM2-Signature i=1 has too many signatures")
	BAD(ONE("t=1; d=b.test; mf=" AB "; rt=" CD "; s=a:a:AAAA,"
	    "b:a:AAAA,c:a:AAAA,d:a:AAAA,e:a:AAAA"),
	    "DKIM2-Signature i=1 has too many signatures")
	BAD(ONE("n=a b; " REST),
	    "DKIM2-Signature i=1 syntax error in tag=n")
	BAD(ONE("t=1; d=x.test; mf=" AB "; rt=" CD "; s=k:a:AAAA"),
	    "DKIM2-Signature i=1 MAIL FROM and d= do not match")
	BAD(MI1 SIG NEXT("d=b.test; mf=" AB "; rt=" CD "; s=k:a:AAAA"),
	    "DKIM2-Signature i=2 MAIL FROM <a@b.test> did not match: "
	    "i=1 did not send it there")
	BAD(MI1 "DKIM2-Signature: i=1; m=1; t=1; d=b.test; nd=x.test; "
	    "s=k:a:AAAA\n" NEXT("d=d.test; mf=" CD "; rt=" AB
	    "; s=k:a:AAAA"),
	    "DKIM2-Signature i=1 nd= does not match")
	BAD(MI1 MI2 "DKIM2-Signature: i=1; m=2; " REST "\n"
	    NEXT("d=d.test; mf=" CD "; rt=" AB "; s=k:a:AAAA"),
	    "DKIM2-Signature i=2 has a smaller m= than the one before")
	BAD("Message-Instance: m=1\n" SIG,
	    "Message-Instance m=1 tag=h missing")
	BAD("Message-Instance: m=1; h=sha256:AAAA:AAAA\n" SIG,
	    "Message-Instance m=1 syntax error in tag=h")
	BAD("Message-Instance: m=1; h=sha256:" SUM ":" SUM ",SHA256:"
	    SUM ":" SUM "\n" SIG,
	    "Message-Instance m=1 syntax error in tag=h")
	BAD("Message-Instance: m=1; h=sha256:" SUM ":" SUM "; r=?\n"
	    SIG, "Message-Instance m=1 syntax error in tag=r")
	BAD("Message-Instance: m=1; h=sha256:" SUM ":" SUM
	    "; r=e30=\n" SIG, "Message-Instance m=1 contains invalid "
	    "JSON: a text is missing")
	{ ONE("t=1; d=b.test; mf=" AB "; rt=" CD "; s=k:a:AAAA") "\n",
	    ORIGIN_FAIL, "DKIM2-Signature i=1 has no signature of an "
	    "algorithm that is known" },
};

Test(dkim2, what_cannot_be_read_says_why)
{
	size_t count = sizeof(bad_chains) / sizeof(bad_chains[0]);

	for (size_t i = 0; i < count; i++) {
		struct arena *arena = arena_new();
		struct dkim2 out;

		cr_expect_eq(chain_of(bad_chains[i].message, arena, &out),
		    bad_chains[i].want, "row %zu: %s", i, out.reason);
		cr_expect_eq(out.origin, bad_chains[i].want, "row %zu", i);
		cr_expect_str_eq(out.reason, bad_chains[i].reason,
		    "row %zu: %s", i, out.reason);
		arena_free(&arena);
	}
}

/* Cut anywhere, it is no chain that passes, and no byte after it is read. */
Test(dkim2, any_part_of_a_chain)
{
	static const char whole[] = MI1 SIG
	    NEXT("d=d.test; mf=" CD "; rt=" AB "; s=k:ed25519-sha256:AAAA");

	for (size_t n = 0; n < sizeof(whole); n++) {
		struct arena *arena = arena_new();
		char *part = mem_alloc(n + 1, 1);
		struct dkim2 out;

		memcpy(part, whole, n);
		part[n] = '\0';
		cr_expect_neq(chain_of(part, arena, &out), ORIGIN_PASS);
		cr_expect_neq(out.origin, ORIGIN_ASKS);
		mem_free(&part);
		arena_free(&arena);
	}
}

Test(dkim2, a_header_that_is_too_large)
{
	struct arena *arena = arena_new();
	struct str message = STR_INIT;
	struct dkim2 out;

	str_adds(&message, SIG "Message-Instance: m=1; h=sha256:" SUM ":" SUM
	    "; x=");
	while (message.len < DKIM2_BYTES_MAX)
		str_adds(&message, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n ");
	str_adds(&message, "\n\n");
	cr_expect_eq(chain_of(message.buf, arena, &out), ORIGIN_PERMERROR);
	cr_expect_str_eq(out.reason, "its fields have more than 1048576 "
	    "bytes");
	str_release(&message);
	arena_free(&arena);
}

/* ---- recipes ---------------------------------------------------------- */

Test(dkim2, recipes_that_are_none)
{
	static const struct {
		const char *json, *reason;
	} rows[] = {
		{ "", "it is no object" },
		{ "[]", "it is no object" },
		{ "{}", "a text is missing" },
		{ "{\"z\":1}", "it has neither \"h\" nor \"b\"" },
		{ "{\"b\":null} x", "something follows the object" },
		{ "{\"b\":null,\"b\":null}", "it has \"b\" twice" },
		{ "{\"h\":{\"a\":[]},\"h\":{\"b\":[]}}",
		    "it has \"h\" twice" },
		{ "{\"h\":{}}", "a text is missing" },
		{ "{\"h\":null}", "\"h\" is no object" },
		{ "{\"h\":{\"a\":[],\"A\":[]}}", "a field has two recipes" },
		{ "{\"b\":{}}", "steps are no list" },
		{ "{\"b\":[1]}", "a step is no object" },
		{ "{\"b\":[{}]}", "a step is no object" },
		{ "{\"b\":[{\"e\":1}]}",
		    "a step is neither \"c\" nor \"d\"" },
		{ "{\"b\":[{\"c\":[1,1],\"d\":[]}]}",
		    "a step has more than one member" },
		{ "{\"b\":[{\"c\":[0,1]}]}",
		    "\"c\" wants two numbers from 1 on" },
		{ "{\"b\":[{\"c\":[1]}]}",
		    "\"c\" wants two numbers from 1 on" },
		{ "{\"b\":[{\"c\":[1,2,3]}]}",
		    "\"c\" wants two numbers from 1 on" },
		{ "{\"b\":[{\"c\":[1,-2]}]}",
		    "\"c\" wants two numbers from 1 on" },
		{ "{\"b\":[{\"c\":[1,99999999999]}]}",
		    "\"c\" wants two numbers from 1 on" },
		{ "{\"b\":[{\"c\":[2,1]}]}", "\"c\" ends before it begins" },
		{ "{\"b\":[{\"c\":[1,2]},{\"c\":[2,3]}]}",
		    "a \"c\" goes back" },
		{ "{\"b\":[{\"d\":[]}]}", "a text is missing" },
		{ "{\"b\":[{\"d\":[1]}]}", "a text is missing" },
		{ "{\"b\":[{\"d\":[\"a\\n\"]}]}", "a text has a line end" },
		{ "{\"b\":[{\"d\":[\"a\n\"]}]}",
		    "it has a byte that no text has" },
		{ "{\"b\":[{\"d\":[\"\xff\"]}]}",
		    "it has a byte that no text has" },
		{ "{\"b\":[{\"d\":[\"\\x\"]}]}",
		    "it has a \\ before what needs none" },
		{ "{\"b\":[{\"d\":[\"\\ud800\"]}]}",
		    "it has half a character" },
		{ "{\"b\":[{\"d\":[\"\\udc00\"]}]}",
		    "it has half a character" },
		{ "{\"b\":[{\"d\":[\"\\u12\"]}]}",
		    "it has a \\u that is none" },
		{ "{\"b\":[{\"d\":[\"", "a text does not end" },
		{ "{\"z\":[[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]],\"b\":null}",
		    "it is nested too deep" },
		{ "{\"z\":nul,\"b\":null}", "it is no JSON" },
	};
	struct arena *arena = arena_new();

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct dkim2_recipe recipe;
		struct err err = { "" };

		cr_expect_eq(dkim2_recipe_read(slice_of(rows[i].json), arena,
		    &recipe, &err), -1, "row %zu", i);
		cr_expect_str_eq(err.text, rows[i].reason, "row %zu: %s", i,
		    err.text);
	}
	arena_free(&arena);
}

static void
content_text(const struct dkim2_content *content, struct str *out)
{
	for (size_t i = content->count; i-- > 0;) {
		str_add_slice(out, slice_trim(content->fields[i].whole));
		str_addc(out, '|');
	}
	for (size_t i = 0; i < content->piece_count; i++)
		str_add_slice(out, content->pieces[i].text);
}

Test(dkim2, recipes_make_the_revision_before)
{
	static const char message[] = "Received: x\nSubject: two\nTo: b\n"
	    "List-Id: l\nSubject: one\nX-Y: z\n\n1\n2\r\n3\n\n5";
	static const struct {
		const char *json, *want;	/* want NULL: an error */
	} rows[] = {
		{ "{\"b\":[{\"c\":[1,5]}]}",
		    "Subject: two|To: b|List-Id: l|Subject: one|1\n2\r\n3\n\n"
		    "5" },
		{ "{\"b\":[]}",
		    "Subject: two|To: b|List-Id: l|Subject: one|" },
		{ "{\"b\":[{\"c\":[1,2]},{\"d\":[\"x\",\"\"]},{\"c\":[4,5]}]"
		    ", \"more\" : {\"a\":[true,1.5e3]} }",
		    "Subject: two|To: b|List-Id: l|Subject: one|1\n2\r\nx\n\n"
		    "\n5" },
		{ "{\"b\":[{\"c\":[1,6]}]}", NULL },
		{ "{\"b\":[{\"c\":[6,6]}]}", NULL },
		{ "{\"h\":{\"list-id\":[],\"x-y\":[{\"c\":[7,8]}]}}",
		    "Subject: two|To: b|Subject: one|1\n2\r\n3\n\n5" },
		{ "{\"h\":{\"subject\":[{\"c\":[1,1]}]}}",
		    "Subject: one|To: b|List-Id: l|1\n2\r\n3\n\n5" },
		{ "{\"h\":{\"SUBJECT\":[{\"c\":[2,2]},{\"d\":[\" \\u00fc\"]}]"
		    "}}", "SUBJECT: \xc3\xbc|Subject: two|To: b|List-Id: l|"
		    "1\n2\r\n3\n\n5" },
		{ "{\"h\":{\"cc\":[{\"d\":[\"a\",\"\"]}]}}",
		    "cc:|cc:a|Subject: two|To: b|List-Id: l|Subject: one|"
		    "1\n2\r\n3\n\n5" },
		{ "{\"h\":{\"subject\":[{\"c\":[1,3]}]}}", NULL },
		{ "{\"h\":{\"cc\":[{\"c\":[1,1]}]}}", NULL },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct arena *arena = arena_new();
		struct str text = STR_INIT;
		struct dkim2_content content;
		struct dkim2_recipe recipe;
		struct err err = { "" };

		cr_assert(dkim2_content_read(slice_of(message), arena,
		    &content));
		cr_expect_eq(dkim2_recipe_read(slice_of(rows[i].json), arena,
		    &recipe, &err), 0, "row %zu: %s", i, err.text);
		cr_expect_eq(dkim2_undo(&recipe, arena, &content, &err),
		    rows[i].want == NULL ? -1 : 0, "row %zu: %s", i,
		    err.text);
		if (rows[i].want != NULL) {
			content_text(&content, &text);
			cr_expect_str_eq(text.buf, rows[i].want, "row %zu: %s",
			    i, text.buf);
		}
		str_release(&text);
		arena_free(&arena);
	}
}

/* Each copy of a line is a piece: they are bounded. */
Test(dkim2, a_recipe_of_many_pieces)
{
	struct arena *arena = arena_new();
	struct str message = STR_INIT, json = STR_INIT;
	struct dkim2_content content;
	struct dkim2_recipe recipe;
	struct err err = { "" };

	str_adds(&message, "\n");
	str_adds(&json, "{\"b\":[");
	for (unsigned i = 1; i <= DKIM2_PIECES_MAX + 1; i++) {
		str_adds(&message, "\n");
		str_addf(&json, "{\"c\":[%u,%u]}%s", i, i,
		    i <= DKIM2_PIECES_MAX ? "," : "]}");
	}
	cr_assert(dkim2_content_read(str_slice(&message), arena, &content));
	cr_assert_eq(dkim2_recipe_read(str_slice(&json), arena, &recipe,
	    &err), 0, "%s", err.text);
	cr_expect_eq(dkim2_undo(&recipe, arena, &content, &err), -1);
	cr_expect_str_eq(err.text, "it makes a body of more than 100000 "
	    "pieces");
	str_release(&message);
	str_release(&json);
	arena_free(&arena);
}

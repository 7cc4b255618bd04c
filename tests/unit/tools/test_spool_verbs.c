/* test_spool_verbs.c - fsck and resubmit, as people call them
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "spool_case.h"

TestSuite(spool_verbs, .init = case_open, .fini = case_close, .timeout = 60);

/* A durable message in router/; its inode, its id. */
static uintmax_t
submit(char out_id[SPOOL_ID_BYTES])
{
	struct draft draft, *one = &draft;
	struct str text = STR_INIT;
	struct err err;

	cr_assert_eq(draft_open(spool, NULL, &draft, &err), 0);
	str_addf(&text, "id %s\nto <a@b.c>\nenv-end\n\nx\n", draft.id);
	draft_write(&draft, text.buf, text.len, &err);
	cr_assert_eq(draft_sync(&one, 1, &err), 1);
	cr_assert_eq(draft_publish(&draft, AREA_ROUTER, 0, NULL, &err), 0);
	memcpy(out_id, draft.id, SPOOL_ID_BYTES);
	str_release(&text);
	return (uintmax_t)draft.inode;
}

static const char *
at(const char *format, uintmax_t inode)
{
	static char text[4][512];
	static unsigned turn;
	char *path = text[turn++ % 4];
	int n = snprintf(path, sizeof(text[0]), "%s/", in.spool);

	snprintf(path + n, sizeof(text[0]) - (size_t)n, format, inode);
	return path;
}

static uintmax_t
aside(char id[SPOOL_ID_BYTES], const char *where)
{
	uintmax_t inode = submit(id);

	cr_assert_eq(rename(at("router/%ju", inode), at(where, inode)), 0);
	return inode;
}

Test(spool_verbs, fsck_of_a_good_spool)
{
	char id[SPOOL_ID_BYTES];

	submit(id);
	aside(id, "deferred/%ju.no-dns");
	expect(WORDS("fsck"), EX_OK, "every file fits its state");
	cr_expect_not_null(strstr(out.buf, "router 1"));
	cr_expect_not_null(strstr(out.buf, "deferred 1"));
	expect(WORDS("fsck", "--json"), EX_OK, "\"router\":1");
	expect(WORDS("fsck", "--what"), EX_USAGE, "--what");
}

Test(spool_verbs, fsck_tells_then_mends)
{
	char id[SPOOL_ID_BYTES];
	uintmax_t inode = aside(id, "router/%ju-77");

	close(open(at("postman/%ju.x.control", 9), O_CREAT | O_WRONLY, 0600));
	expect(WORDS("fsck"), 1, "its worker died");
	cr_expect_not_null(strstr(out.buf, "--repair"));
	cr_expect_not_null(strstr(out.buf, "2 files fit no state"));
	cr_expect_eq(access(at("router/%ju-77", inode), F_OK), 0);
	expect(WORDS("fsck", "--json"), 1, "\"mended\":false");
	expect(WORDS("fsck", "--repair"), 1, "2 files fitted no state, 1 "
	    "mended");
	cr_expect_eq(access(at("router/%ju", inode), F_OK), 0);
	unlink(at("postman/%ju.x.control", 9));
	expect(WORDS("fsck"), EX_OK, "every file fits");
	expect(WORDS("events", "--json"), EX_OK, "\"ev\":\"recovered\"");
}

Test(spool_verbs, fsck_does_not_mend_under_running_daemons)
{
	char id[SPOOL_ID_BYTES];
	uintmax_t inode = aside(id, "router/%ju-77");
	struct err err;

	cr_assert_eq(spool_lock(in.spool, &err), 0);
	expect(WORDS("fsck", "--repair"), EX_TEMPFAIL, "in use");
	cr_expect_eq(access(at("router/%ju-77", inode), F_OK), 0);
	expect(WORDS("fsck"), 1, "the daemons run");
}

Test(spool_verbs, resubmit_all_of_deferred)
{
	char one[SPOOL_ID_BYTES], two[SPOOL_ID_BYTES], three[SPOOL_ID_BYTES];
	uintmax_t a = aside(one, "deferred/%ju.no-dns");
	uintmax_t b = aside(two, "deferred/%ju.full-2");
	uintmax_t c = aside(three, "freezer/%ju.policy");

	expect(WORDS("resubmit"), EX_OK, "2 messages back in router/");
	cr_expect_not_null(strstr(out.buf, "because: no-dns"));
	cr_expect_not_null(strstr(out.buf, one));
	cr_expect_not_null(strstr(out.buf, two));
	cr_expect_eq(access(at("router/%ju", a), F_OK), 0);
	cr_expect_eq(access(at("router/%ju", b), F_OK), 0);
	cr_expect_eq(access(at("freezer/%ju.policy", c), F_OK), 0);
	expect(WORDS("resubmit"), 1, "0 messages");
	expect(WORDS("events", "--json"), EX_OK, "message.resubmitted");
	expect(WORDS("resubmit", "--from", "freezer"), EX_OK, "1 message back");
}

Test(spool_verbs, resubmit_by_name_and_id)
{
	char ids[4][SPOOL_ID_BYTES], name[64];
	uintmax_t a = aside(ids[0], "deferred/%ju.no-dns");
	uintmax_t b = aside(ids[1], "freezer/%ju.policy");
	uintmax_t c = aside(ids[2], "postman/%ju.bad");
	uintmax_t d = aside(ids[3], "postman/%ju._copy");

	expect(WORDS("resubmit", ids[0]), EX_OK, "1 message");
	snprintf(name, sizeof(name), "freezer/%ju.policy", b);
	expect(WORDS("resubmit", name), EX_OK, "1 message");
	snprintf(name, sizeof(name), "%ju", c);
	expect(WORDS("resubmit", "--from", "deferred", name), 1,
	    "nothing that can be");
	expect(WORDS("resubmit", name), EX_OK, "1 message");
	snprintf(name, sizeof(name), "postman/%ju._copy", d);
	expect(WORDS("resubmit", name), 1, "nothing that can be");
	expect(WORDS("resubmit", ids[0]), 1, "nothing that can be");
	expect(WORDS("resubmit", "--from", "queue"), EX_USAGE, "queue");
	expect(WORDS("resubmit", "-x"), EX_USAGE, "-x");
	cr_expect_eq(access(at("router/%ju", a), F_OK), 0);
	cr_expect_eq(access(at("router/%ju", b), F_OK), 0);
	cr_expect_eq(access(at("router/%ju", c), F_OK), 0);
	cr_expect_eq(access(at("postman/%ju._copy", d), F_OK), 0);
}

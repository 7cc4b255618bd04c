/* test_selection.c - selectors in list, delete and undelete, as people do
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

#include "base/clock.h"
#include "spool_case.h"

TestSuite(desk, .init = case_open, .fini = case_close, .timeout = 60);

static bool
is_there(const char *area, uintmax_t inode, const char *why)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%s/%ju%s", in.spool, area, inode,
	    why);
	return access(path, F_OK) == 0;
}

/* A durable message in area/N.why; its inode, its id. */
static uintmax_t
aside(const char *from, const char *to, const char *area, const char *why,
    char out_id[SPOOL_ID_BYTES])
{
	struct draft draft, *one = &draft;
	struct str text = STR_INIT;
	char a[600], b[600];
	struct err err;

	cr_assert_eq(draft_open(spool, NULL, &draft, &err), 0);
	str_addf(&text, "id %s\nfrom <%s>\nto <%s>\nenv-end\n\nx\n",
	    draft.id, from, to);
	draft_write(&draft, text.buf, text.len, &err);
	cr_assert_eq(draft_sync(&one, 1, &err), 1);
	cr_assert_eq(draft_publish(&draft, AREA_ROUTER, 0, NULL, &err), 0);
	memcpy(out_id, draft.id, SPOOL_ID_BYTES);
	str_release(&text);
	snprintf(a, sizeof(a), "%s/router/%ju", in.spool,
	    (uintmax_t)draft.inode);
	snprintf(b, sizeof(b), "%s/%s/%ju%s", in.spool, area,
	    (uintmax_t)draft.inode, why);
	cr_assert_eq(rename(a, b), 0);
	return (uintmax_t)draft.inode;
}

Test(desk, list_takes_a_selector)
{
	char one[SPOOL_ID_BYTES], two[SPOOL_ID_BYTES];

	aside("bob@a.test", "x@b.test", "freezer", ".policy", one);
	aside("eve@c.test", "y@b.test", "deferred", ".no-dns", two);
	expect(WORDS("list", "from:@a.test"), EX_OK, one);
	cr_expect_null(strstr(out.buf, two));
	expect(WORDS("list", "area:deferred", "or", "from:bob@*"), EX_OK,
	    "2 messages");
	expect(WORDS("list", two), EX_OK, "1 message");
	expect(WORDS("list", "from:@z.test"), 1, "No message matches");
	expect(WORDS("list", "to:y@b.test", "fron:x"), EX_USAGE,
	    "\n                ^\n");
	expect(WORDS("list", "''"), EX_USAGE, "^");
}

Test(desk, delete_and_back)
{
	char one[SPOOL_ID_BYTES], two[SPOOL_ID_BYTES], copy[SPOOL_ID_BYTES];
	uintmax_t a = aside("bob@a.test", "x@b.test", "freezer", ".policy",
	    one);
	uintmax_t b = aside("eve@c.test", "y@b.test", "deferred",
	    ".no-dns-2", two);
	uintmax_t c = aside("bob@a.test", "z@b.test", "postman", "._twice",
	    copy);

	expect(WORDS("delete", "--yes"), EX_USAGE, "'all'");
	expect(WORDS("delete", "from:@a.test"), EX_USAGE, "--dry-run");
	expect(WORDS("delete", "--dry-run", "from:@a.test"), EX_OK,
	    "2 messages, 2 recipients");
	cr_expect(is_there("freezer", a, ".policy"));
	expect(WORDS("delete", "--yes", "--reason", "spam", "from:@a.test"),
	    EX_OK, "2 messages deleted (2 recipients)");
	cr_expect(is_there("trash", a, ".freezer-policy"));
	cr_expect(is_there("trash", c, "._postman-twice"));
	cr_expect(is_there("deferred", b, ".no-dns-2"));
	cr_expect(!is_there("freezer", a, ".policy"));
	expect(WORDS("events", "--json"), EX_OK, "\"reason\":\"spam\"");
	expect(WORDS("delete", "--yes", "from:@a.test"), 1,
	    "2 messages are not in the queue but in trash/ (deleted): "
	    "zmailer undelete");
	expect(WORDS("delete", "--yes", "from:@none.test"), 1,
	    "no message matches");
	expect(WORDS("fsck"), EX_OK, "every file fits");
	expect(WORDS("undelete", "--yes", "--json", "all"), EX_OK,
	    "\"done\":\"undeleted\"");
	cr_expect(is_there("freezer", a, ".policy"));
	cr_expect(is_there("postman", c, "._twice"));
	expect(WORDS("undelete", "--yes", "all"), 1, "no message matches");
}

Test(desk, resubmit_by_selector)
{
	char one[SPOOL_ID_BYTES], two[SPOOL_ID_BYTES];
	uintmax_t a = aside("bob@a.test", "x@b.test", "deferred", ".no-dns",
	    one);
	uintmax_t b = aside("eve@c.test", "y@b.test", "deferred", ".table",
	    two);

	expect(WORDS("resubmit", "--dry-run", "why:no-dns"), EX_OK,
	    "1 message");
	cr_expect(is_there("deferred", a, ".no-dns"));
	expect(WORDS("resubmit", "--yes", "why:no-dns"), EX_OK,
	    "1 message resubmitted");
	cr_expect(is_there("router", a, ""));
	cr_expect(is_there("deferred", b, ".table"));
	expect(WORDS("resubmit", "--yes", "why>x"), EX_USAGE, "^");
}

Test(desk, trash_is_swept_by_its_age)
{
	char id[SPOOL_ID_BYTES], name[SPOOL_NAME_BYTES], from[64];
	uintmax_t a = aside("bob@a.test", "x@b.test", "postman", ".bad", id);
	unsigned count;
	struct stat st;
	struct err err;

	snprintf(from, sizeof(from), "%ju.bad", a);
	cr_assert_eq(spool_trash(spool, AREA_POSTMAN, from, name, &err), 0);
	cr_expect_str_eq(strchr(name, '.'), ".postman-bad");
	cr_assert_eq(fstatat(spool_dir_fd(spool, AREA_TRASH, 0), name, &st,
	    0), 0);
	cr_assert_eq(spool_sweep_trash(spool, st.st_ctime, &count, &err), 0);
	cr_expect_eq(count, 0);
	cr_assert_eq(spool_sweep_trash(spool, st.st_ctime + 1, &count, &err),
	    0);
	cr_expect_eq(count, 1);
	cr_expect(!is_there("trash", a, ".postman-bad"));
}

/* The clock was a day ahead when it came: its day begins when that is seen. */
Test(desk, trash_does_not_wait_for_a_day_that_was_none)
{
	char id[SPOOL_ID_BYTES], name[SPOOL_NAME_BYTES], from[64];
	uintmax_t a = aside("bob@a.test", "x@b.test", "postman", ".bad", id);
	int trash = spool_dir_fd(spool, AREA_TRASH, 0);
	struct stat before, st;
	unsigned count;
	struct err err;

	snprintf(from, sizeof(from), "%ju.bad", a);
	cr_assert_eq(spool_trash(spool, AREA_POSTMAN, from, name, &err), 0);
	cr_assert_eq(fstatat(trash, name, &before, 0), 0);
	clock_hold_wall((int64_t)(before.st_ctime - 86400) * 1000000);
	do {	/* until the file system's clock has gone on */
		cr_assert_eq(spool_sweep_trash(spool, before.st_ctime -
		    2 * 86400, &count, &err), 0);
		cr_assert_eq(count, 0);
		cr_assert_eq(fstatat(trash, name, &st, 0), 0);
	} while (st.st_ctim.tv_sec == before.st_ctim.tv_sec);
	clock_hold_wall(0);
	cr_assert_eq(spool_sweep_trash(spool, st.st_ctime + 1, &count, &err),
	    0);
	cr_expect_eq(count, 1);
}

Test(desk, what_was_not_set_aside_is_not_trashed)
{
	static const char *const rows[] = { "12", "12-34", "12.a/b", "..1-2",
		"12.bad.control", "x" };
	char name[SPOOL_NAME_BYTES];
	enum spool_area area;
	struct err err;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		cr_expect_eq(spool_trash(spool, AREA_POSTMAN, rows[i], name,
		    &err), -1, "%s", rows[i]);
		cr_expect_eq(spool_untrash(spool, rows[i], &area, name,
		    &err), -1, "%s", rows[i]);
	}
	cr_expect_eq(spool_trash(spool, AREA_ROUTER, "12.bad", name, &err),
	    -1);
	cr_expect_eq(spool_untrash(spool, "12.router-bad", &area, name,
	    &err), -1);
}

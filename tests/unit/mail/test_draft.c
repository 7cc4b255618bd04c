/* test_draft.c - drafts that are changed while they are written
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/spool/rewrite.h"
#include "spool_case.h"

/* The text of a draft that went to the router whole. */
static void
published_text(struct fixture *f, struct draft *draft, struct str *out)
{
	char *room = str_room(out, (1 << 20) + 1);
	ssize_t n;
	int fd;

	cr_assert_eq(draft_sync(&draft, 1, &f->err), 1);
	cr_assert_eq(draft_publish(draft, AREA_ROUTER, 0, NULL, &f->err), 0);
	fd = open(at("%s/router/%ju", f->dir, (uintmax_t)draft->inode),
	    O_RDONLY);
	cr_assert_eq(spool_is_complete(fd, &f->err), SPOOL_FILE_WHOLE, "%s",
	    f->err.text);
	n = pread(fd, room, 1 << 20, DRAFT_FIRST_LINE_BYTES);
	cr_assert_gt(n, 0);
	room[n] = '\0';
	out->len = (size_t)n;
	close(fd);
}

/* Longer, shorter, and then more: it is whole, and has no old byte. */
Test(spool, a_settled_draft_is_written_anew)
{
	static const char *const rows[][3] = {
		{ "0123456789", "a longer text than before", "" },
		{ "0123456789", "short", "" },
		{ "0123456789", "short", " and more" },
		{ "0123456789", NULL, " and more" },
		{ "0123456789", NULL, "" },
	};
	struct fixture f;

	fixture_open(&f, 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (int settles = 0; settles < 8; settles++) {
			const char *text = rows[i][1] ? rows[i][1] : rows[i][0];
			struct str found = STR_INIT, want = STR_INIT;
			struct draft draft;
			struct slice here;

			cr_assert_eq(draft_open(f.spool, NULL, &draft,
			    &f.err), 0);
			draft_write(&draft, rows[i][0], strlen(rows[i][0]),
			    &f.err);
			cr_assert_eq(draft_settle_text(&draft, &here, &f.err),
			    0);
			cr_assert(slice_is(here, rows[i][0]));
			if (rows[i][1] != NULL)
				cr_assert_eq(draft_rewrite(&draft, slice_of(
				    rows[i][1]), &f.err), 0);
			if (settles & 1)
				draft_settle_text(&draft, &here, &f.err);
			draft_write(&draft, rows[i][2], strlen(rows[i][2]),
			    &f.err);
			if (settles & 2)
				cr_assert_eq(draft_settle_text(&draft, &here,
				    &f.err), 0);
			if (settles & 4)
				cr_assert_eq(draft_settle(&draft, &f.err), 0);
			str_adds(&want, text);
			str_adds(&want, rows[i][2]);
			published_text(&f, &draft, &found);
			cr_expect_str_eq(found.buf, want.buf, "row %zu, %d", i,
			    settles);
			str_release(&want);
			str_release(&found);
		}
	fixture_close(&f);
}

Test(spool, a_large_draft_is_not_in_memory)
{
	static char bytes[200000];
	struct slice text = { bytes, 1 };
	struct str found = STR_INIT;
	struct draft draft;
	struct fixture f;

	fixture_open(&f, 0);
	memset(bytes, 'x', sizeof(bytes) - 1);
	cr_assert_eq(draft_open(f.spool, NULL, &draft, &f.err), 0);
	cr_assert_eq(draft_write(&draft, bytes, 60000, &f.err), 0);
	cr_assert_eq(draft_settle_text(&draft, &text, &f.err), 0);
	cr_expect_eq(text.n, 60000);
	cr_assert_eq(draft_write(&draft, bytes, 60000, &f.err), 0);
	cr_assert_eq(draft_settle_text(&draft, &text, &f.err), 0);
	cr_expect_null(text.p);
	published_text(&f, &draft, &found);
	cr_expect_eq(found.len, 120000);
	cr_expect_null(memchr(found.buf, 'c', found.len), "no line of ours");
	str_release(&found);
	fixture_close(&f);
}

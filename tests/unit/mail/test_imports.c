/* test_imports.c - which messages of another mailer's queue are ours: the
 * file `imported`, cut anywhere
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <unistd.h>

#include "mail/spool/imports.h"
#include "fixture.h"

#define LINE_A "postfix-A1-1795000000 362c7s3dt91aj\n"
#define LINE_B "postfix-B2-1795000000 362c7s3t2p1as\n"
#define KEY_A "postfix-A1-1795000000"
#define KEY_B "postfix-B2-1795000000"
#define KEY_C "postfix-C3-1795000000"

static bool
imports_have(struct fixture *f, const char *key)
{
	struct spool_imports *imports;
	bool is_there;

	cr_assert_eq(spool_imports_open(f->spool, false, &imports, &f->err), 0,
	    "%s", f->err.text);
	is_there = spool_imports_has(imports, key);
	spool_imports_close(&imports);
	return is_there;
}

static void
imports_add(struct fixture *f, const char *key, const char *id)
{
	struct spool_imports *imports;

	cr_assert_eq(spool_imports_open(f->spool, true, &imports, &f->err), 0,
	    "%s", f->err.text);
	cr_assert_eq(spool_imports_add(imports, key, id, &f->err), 0, "%s",
	    f->err.text);
	spool_imports_close(&imports);
}

/* A line that a crash cut is of a message that the other queue has still:
 * also when more lines come after it, or the next one is cut, too. */
Test(imports, a_line_that_was_cut_names_nothing)
{
	static const char text[] = LINE_A LINE_B;
	size_t begin = sizeof(LINE_A) - 1;

	for (size_t n = begin; n < sizeof(text); n++) {
		bool is_whole = n == sizeof(text) - 1;
		struct fixture f;

		fixture_open(&f, 1);
		cr_expect_not(imports_have(&f, KEY_A));
		put_file(&f, "imported", text, n);
		cr_expect(imports_have(&f, KEY_A), "%zu", n);
		cr_expect_eq(imports_have(&f, KEY_B), is_whole, "%zu", n);
		imports_add(&f, KEY_C, "362c7s4dkj1b2");
		cr_expect(imports_have(&f, KEY_A), "%zu", n);
		cr_expect(imports_have(&f, KEY_C), "%zu", n);
		cr_expect_eq(imports_have(&f, KEY_B), is_whole, "%zu", n);
		imports_add(&f, KEY_B, "362c7s4fjv1b4");
		cr_expect(imports_have(&f, KEY_B), "%zu", n);
		fixture_close(&f);
	}
}

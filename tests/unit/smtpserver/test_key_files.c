/* test_key_files.c - a key is there as long as somebody may ask for it
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "smtpserver/tls/files.h"
#include "tests/unit/tls/made.h"

static void
configure(struct keys_files *files, const struct made *made)
{
	struct conf_certificate row = { .file = made->certificate,
	    .key = made->key };
	struct conf conf = { .certificates = &row, .certificate_count = 1 };

	keys_files_configure(files, &conf);
}

/* A worker that was not told yet of a change asks with the number that it
 * knows; a minute later nobody does. */
Test(key_files, a_row_that_is_gone_still_signs_for_a_minute)
{
	struct keys_files *files = keys_files_new();
	struct made old, fresh;

	made_new(&old, "P-256", "mx.example.org", NULL, 30);
	made_new(&fresh, "P-256", "mx.example.org", NULL, 30);
	configure(files, &old);
	cr_assert_not_null(keys_files_key(files, 1));
	configure(files, &fresh);
	cr_expect_not_null(keys_files_key(files, 2));
	cr_expect_not_null(keys_files_key(files, 1));
	for (int i = 0; i < 60; i++)	/* a look is a second */
		(void)keys_files_look(files);
	cr_expect_null(keys_files_key(files, 1));
	cr_expect_not_null(keys_files_key(files, 2));
	made_free(&old);
	made_free(&fresh);
}

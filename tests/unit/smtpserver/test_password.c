/* test_password.c - entries of other programs, and our own
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "tls/login/password.h"
#include "tls/scram.h"

enum { LONG_TIMES = 4000 };

/* What an entry says about its length is not believed. */
Test(auth_password, salted)
{
	static const struct {
		const char *entry, *password; enum password_result want;
	} rows[] = {
		{ "{SSHA}CcxQmwLcFfJ72txTnvM3Eak5AjpzYWx0c2FsdA==", "wonder",
		    PASSWORD_FITS },
		{ "{ssha}CcxQmwLcFfJ72txTnvM3Eak5AjpzYWx0c2FsdA==", "Wonder",
		    PASSWORD_WRONG },
		{ "{SSHA256}ylHHt7saTYIxGW5ANPKTomY/lIltWEc20reHIVopXtpzYWx0"
		    "c2FsdA==", "wonder", PASSWORD_FITS },
		{ "{SSHA512}PNbi8TrIG6XYTFLr7QR+WilQa3FVsC0XP5hvdWg0sJXPyKsV"
		    "yw+1EombhrKszRABn882QkirJidYidgNhm/sonNhbHRzYWx0",
		    "wonder", PASSWORD_FITS },
		{ "{SSHA512}PNbi8TrIG6XYTFLr7QR+WilQa3FVsC0XP5hvdWg0sJXPyKsV"
		    "yw+1EombhrKszRABn882QkirJidYidgNhm/sonNhbHRzYWx0", "",
		    PASSWORD_WRONG },
		/* a digest without a salt, half of one, none */
		{ "{SSHA512}ylHHt7saTYIxGW5ANPKTomY/lIltWEc20reHIVopXtpzYWx0"
		    "c2FsdA==", "wonder", PASSWORD_TROUBLE },
		{ "{SSHA}CcxQmwLcFfJ72txTnvM3Eak5Ajo=", "wonder",
		    PASSWORD_TROUBLE },
		{ "{SSHA256}", "wonder", PASSWORD_TROUBLE },
		{ "{SSHA}!", "wonder", PASSWORD_TROUBLE },
		{ "{SHA}CcxQmwLcFfJ72txTnvM3Eak5Ajo=", "wonder",
		    PASSWORD_TROUBLE },
	};
	struct str longest = STR_INIT;
	struct err err;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		cr_expect_eq(password_check_entry(slice_of(rows[i].entry),
		    slice_of(rows[i].password), &err), rows[i].want,
		    "row %zu", i);
	str_adds(&longest, "{SSHA}");
	for (int i = 0; i < LONG_TIMES; i++)
		str_adds(&longest, "AAAA");
	cr_expect_eq(password_check_entry(str_slice(&longest),
	    SLICE("wonder"), &err), PASSWORD_TROUBLE);
	str_release(&longest);
}

/* A new entry is read again, and no two are the same. */
Test(auth_password, made)
{
	struct str one = STR_INIT, other = STR_INIT;
	struct err err;

	scram_entry_add(SLICE("w o n d e r"), &one);
	scram_entry_add(SLICE("w o n d e r"), &other);
	cr_expect_not(slice_equal(str_slice(&one), str_slice(&other)));
	cr_expect_eq(password_check_entry(str_slice(&one),
	    SLICE("w o n d e r"), &err), PASSWORD_FITS);
	cr_expect_eq(password_check_entry(str_slice(&one), SLICE("wonder"),
	    &err), PASSWORD_WRONG);
	str_release(&one);
	str_release(&other);
}

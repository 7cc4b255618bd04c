/* test_caller.c - who calls sendmail, by the files of the system
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <pwd.h>
#include <unistd.h>

#include "tools/submit/submit.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Only where glibc would take the line of /etc/passwd, too. */
Test(caller, files_come_first)
{
	static const struct { const char *text; bool want; } rows[] = {
		{ "passwd: files\n", true },
		{ "# of the system\n\npasswd:\t files systemd\n", true },
		{ "hosts: files dns\npasswd: files\n", true },
		{ "passwd: files [SUCCESS=merge] ldap\n", false },
		{ "passwd: compat\n", false },
		{ "passwd: ldap files\n", false },
		{ "passwd:files\n", false },
		{ "passwd_compat: files\npasswd: files\n", false },
		{ "passwd:\n", false },
		{ "group: files\n", false },
		{ "", false },
	};

	for (size_t i = 0; i < COUNT(rows); i++)
		cr_expect_eq(submit_files_are_first(slice_of(rows[i].text)),
		    rows[i].want, "row %zu", i);
}

Test(caller, the_first_line_of_the_uid)
{
	static const struct { const char *text, *login, *gecos; } rows[] = {
		{ "root:x:0:0::/:/bin/sh\nann:x:7:7:Ann B,,:/h:/bin/sh\n",
		    "ann", "Ann B,," },
		{ "ann:x:7:7::/h:\nbob:x:7:7:Bob:/h:\n", "ann", "" },
		{ "bob:x:8:8:Bob:/h:\n", NULL, NULL },
		/* what is not plain is left to the C library */
		{ "+nis:x:1:1::/:\nann:x:7:7:A:/h:\n", NULL, NULL },
		{ "-bad\nann:x:7:7:A:/h:\n", NULL, NULL },
		{ "#old:x:1:1::/:\nann:x:7:7:A:/h:\n", NULL, NULL },
		{ "\nann:x:7:7:A:/h:\n", NULL, NULL },
		{ "ann:x:7:7:A:/h\n", NULL, NULL },
		{ "ann:x:7:7:A:/h::\n", NULL, NULL },
		{ "ann:x:seven:7:A:/h:\nann:x:7:7:A:/h:\n", NULL, NULL },
		{ ":x:7:7:A:/h:\n", NULL, NULL },
		{ "", NULL, NULL },
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		struct slice login, gecos;
		bool is_there = submit_line_of_uid(slice_of(rows[i].text), 7,
		    &login, &gecos);

		cr_expect_eq(is_there, rows[i].login != NULL, "row %zu", i);
		if (!is_there || rows[i].login == NULL)
			continue;
		cr_expect(slice_is(login, rows[i].login), "row %zu", i);
		cr_expect(slice_is(gecos, rows[i].gecos), "row %zu", i);
	}
}

Test(caller, it_is_who_the_c_library_says)
{
	const struct passwd *account = getpwuid(getuid());

	if (account == NULL) {
		cr_expect_eq(strncmp(submit_caller(), "uid-", 4), 0);
		return;
	}
	cr_expect_str_eq(submit_caller(), account->pw_name);
	cr_expect_str_eq(submit_caller_gecos(), account->pw_gecos);
}

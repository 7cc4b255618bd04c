/* test_unit.c - which unit of systemd a process belongs to
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "tools/run/unit.h"

Test(unit, a_cgroup_names_its_service)
{
	static const struct {
		const char *text, *want;	/* NULL: no service */
	} rows[] = {
		{ "0::/system.slice/zmailer.service\n", "zmailer.service" },
		{ "0::/system.slice/system-zmailer.slice/zmailer@b.service\n",
		    "zmailer@b.service" },
		{ "13:pids:/system.slice/x.service\n"
		    "1:name=systemd:/system.slice/zmailer.service\n0::/\n",
		    "zmailer.service" },
		{ "13:pids:/system.slice/x.service\n0::/\n"
		    "1:name=systemd:/system.slice/zmailer.service\n",
		    "zmailer.service" },
		{ "0::/user.slice/user-0.slice/session-3.scope\n", NULL },
		{ "0::/system.slice/-x.service\n", NULL },
		{ "0::/system.slice/.service", NULL },
		{ "0::/\n", NULL }, { "0::", NULL }, { "", NULL },
		{ "4:cpu:/system.slice/zmailer.service\n", NULL },
	};
	struct str name = STR_INIT;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		bool found = unit_in_cgroup(slice_of(rows[i].text), &name);

		cr_expect_eq(found, rows[i].want != NULL, "row %zu", i);
		if (found && rows[i].want != NULL)
			cr_expect_str_eq(name.buf, rows[i].want, "row %zu",
			    i);
	}
	str_release(&name);
}

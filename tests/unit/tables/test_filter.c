/* test_filter.c - keys in the filter of a directory
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include "tables/engine/filter.h"

static void
expect(const char *filter, struct slice key, const char *want)
{
	struct slice parameters[DEFINITION_PARAMETERS];
	struct str out = STR_INIT;

	definition_parameters(key, parameters);
	filter_render(&out, filter, parameters);
	cr_expect_str_eq(out.buf, want);
	str_release(&out);
}

Test(tables_filter, keys_are_values_and_nothing_else)
{
	expect("(mail=$1)", SLICE("ann.o-k_1+x@v.test"),
	    "(mail=ann.o-k_1+x@v.test)");
	expect("(&(uid=$2)(o=$3))", SLICE("ann@v.test"),
	    "(&(uid=ann)(o=v.test))");
	expect("(mail=$1)", SLICE("*"), "(mail=\\2a)");
	expect("(mail=$1)", SLICE("a)(uid=*"), "(mail=a\\29\\28uid\\3d\\2a)");
	expect("(mail=$1)", SLICE("a\\2a"), "(mail=a\\5c2a)");
	expect("(mail=$1)", ((struct slice){ "a\0b", 3 }),
	    "(mail=a\\00b)");
	expect("(mail=$1)", SLICE("$2@v.test"), "(mail=\\242@v.test)");
	expect("(mail=$1)", SLICE("\xc3\xa9"), "(mail=\\c3\\a9)");
	expect("(mail=$1)", SLICE("a|&!<>=~b"),
	    "(mail=a\\7c\\26\\21\\3c\\3e\\3d\\7eb)");
}

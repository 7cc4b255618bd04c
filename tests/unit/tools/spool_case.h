/* spool_case.h - a private instance whose spool the test fills itself
 *
 * Include it in a test file; the suite's .init and .fini are case_open and
 * case_close.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_TOOLS_SPOOL_CASE_H
#define ZM_TESTS_TOOLS_SPOOL_CASE_H

#include <criterion/criterion.h>
#include <sys/stat.h>

#include "instance.h"
#include "mail/spool/spool.h"

#define WORDS(...) ((const char *const[]){ __VA_ARGS__, NULL })

static struct instance in;
static struct spool *spool;
static struct str out = STR_INIT;

static void
case_open(void)
{
	struct err err;

	instance_make(&in);
	cr_assert_eq(spool_open(in.spool, SPOOL_CREATE, 0, &spool, &err), 0,
	    "%s", err.text);
	cr_assert_eq(mkdir(in.log, 0755), 0);
}

static void
case_close(void)
{
	spool_close(&spool);
	str_release(&out);
	instance_remove(&in);
}

static void
expect(const char *const words[], int status, const char *text)
{
	instance_says(&in, words, &out, status, text);
}

#endif

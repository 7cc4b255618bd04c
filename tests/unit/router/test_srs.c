/* test_srs.c - senders that lead back through us
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <string.h>

#include "router/route/srs.h"

static struct srs srs;
static struct str made;
static struct err err;

static void
setup(void)
{
	srs = (struct srs){ .day = 20000, .days_good = 21 };
	str_init(&made);
	cr_assert_eq(srs_key_add(&srs, SLICE("0123456789abcdef"), &err), 0);
}

static void
teardown(void)
{
	str_release(&made);
}

static void
make(const char *local, const char *domain)
{
	str_reset(&made);
	cr_assert(srs_make(&srs, slice_of(local), slice_of(domain), &made));
}

static const char *
opened(const char *local)
{
	static struct str out;

	str_init(&out);
	return srs_open(&srs, slice_of(local), &out, &err) == 0 ? out.buf :
	    err.text;
}

Test(srs, there_and_back, .init = setup, .fini = teardown)
{
	static const struct { const char *local, *domain; } rows[] = {
		{ "x", "src.test" }, { "a=b", "d.test" }, { "A.B+c", "D.Test" },
		{ "SRSx", "d.test" }, { "SRS0", "d.test" },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct str want = STR_INIT;

		make(rows[i].local, rows[i].domain);
		cr_expect(srs_is(str_slice(&made)), "%s", made.buf);
		str_addf(&want, "%s@%s", rows[i].local, rows[i].domain);
		cr_expect_str_eq(opened(made.buf), want.buf);
		str_release(&want);
	}
}

Test(srs, what_was_rewritten_before_goes_back_to_who_did,
    .init = setup, .fini = teardown)
{
	make("SRS0=HHHH=TT=src.test=x", "first.test");
	cr_expect(strstr(made.buf, "=first.test==HHHH=TT=src.test=x") != NULL,
	    "%s", made.buf);
	cr_expect_str_eq(opened(made.buf),
	    "SRS0=HHHH=TT=src.test=x@first.test");
	make("SRS1=MMMM=first.test==HHHH=TT=src.test=x", "second.test");
	cr_expect_str_eq(opened(made.buf),
	    "SRS0=HHHH=TT=src.test=x@first.test");
	make("SRS0+HHHH=TT=src.test=x", "first.test");
	cr_expect_str_eq(opened(made.buf),
	    "SRS0+HHHH=TT=src.test=x@first.test");
}

Test(srs, letters_may_change_case_but_nothing_else, .init = setup,
    .fini = teardown)
{
	make("x", "src.test");
	for (size_t i = 0; i < made.len; i++)
		if (made.buf[i] >= 'A' && made.buf[i] <= 'Z')
			made.buf[i] = (char)(made.buf[i] + 32);
	cr_expect_str_eq(opened(made.buf), "x@src.test");
	for (size_t i = 5; i < made.len; i++) {
		char kept = made.buf[i];

		made.buf[i] = kept == '7' ? '6' : '7';
		cr_expect(strchr(opened(made.buf), '@') == NULL, "%zu: %s", i,
		    made.buf);
		made.buf[i] = kept;
	}
	for (size_t n = 0; n < made.len; n++) {
		struct str out = STR_INIT;

		cr_expect_eq(srs_open(&srs, slice_first(str_slice(&made), n),
		    &out, &err), -1, "cut at %zu", n);
		str_release(&out);
	}
}

Test(srs, keys_rotate, .init = setup, .fini = teardown)
{
	struct srs next = { .day = 20010, .days_good = 21 };
	struct srs later = { .day = 20010, .days_good = 21 };

	make("x", "src.test");
	srs_key_add(&next, SLICE("fedcba9876543210"), &err);
	srs_key_add(&next, SLICE("0123456789abcdef"), &err);
	srs_key_add(&later, SLICE("fedcba9876543210"), &err);
	srs = next;
	cr_expect_str_eq(opened(made.buf), "x@src.test");
	srs = later;
	cr_expect(strstr(opened(made.buf), "was not made here") != NULL);
}

Test(srs, they_grow_old, .init = setup, .fini = teardown)
{
	make("x", "src.test");
	srs.day += 21;
	cr_expect_str_eq(opened(made.buf), "x@src.test");
	srs.day += 1;
	cr_expect(strstr(opened(made.buf), "good for 21 days") != NULL);
	srs.day = 19999;		/* a clock that was set back */
	cr_expect_str_eq(opened(made.buf), "x@src.test");
	srs.day = 20000 + 1024;		/* once around */
	cr_expect_str_eq(opened(made.buf), "x@src.test");
}

Test(srs, bounds, .init = setup, .fini = teardown)
{
	struct str local = STR_INIT;

	cr_expect_eq(srs_key_add(&srs, SLICE("short"), &err), -1);
	for (int i = 1; i < SRS_KEYS_MAX; i++)
		cr_expect_eq(srs_key_add(&srs, SLICE("0123456789abcdef"),
		    &err), 0);
	cr_expect_eq(srs_key_add(&srs, SLICE("0123456789abcdef"), &err), -1);
	while (local.len < 300)
		str_addc(&local, 'x');
	cr_expect(!srs_make(&srs, str_slice(&local), SLICE("d.test"),
	    &made));
	cr_expect(!srs_is(SLICE("SRS0")) && !srs_is(SLICE("SRS2=x")) &&
	    !srs_is(SLICE("SRS0x=")));
	str_release(&local);
}

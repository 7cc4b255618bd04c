/* criterion.h - what our tests use of Criterion, where Criterion is not
 *
 * In     a suite's tests, which are rows that a constructor hangs up
 * Out    a program that runs each in a process of its own (units.c)
 * Spec   Criterion's own documentation; what no test here uses is left out
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef UNITS_CRITERION_H
#define UNITS_CRITERION_H

/* what Criterion's own header brings, too */
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What Test and TestSuite are told of, by name. */
struct unit_words {
	int line;
	void (*init)(void);
	void (*fini)(void);
	int signal, exit_code;
	double timeout;
};

struct unit_row {
	const char *suite, *name;	/* no name: what its suite has */
	void (*run)(void);
	struct unit_words words;
	struct unit_row *next;
};

/* Hang a test up; it is the caller's, and lives as long as the program. */
void unit_hang(struct unit_row *row);

/* A check that did not hold, with what it says beside it, if anything. */
void unit_fault(const char *file, int line, const char *check,
    const char *format, ...) __attribute__((format(printf, 4, 5)));
/* The test ends here: after a fault, or, with words, because it cannot be. */
void unit_leave(void) __attribute__((noreturn));
void unit_skip(const char *format, ...)
    __attribute__((noreturn, format(printf, 1, 2)));
void unit_tell(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#define UNIT_ROW(id, ...)						\
	static struct unit_row id##_row = { __VA_ARGS__ }; \
	__attribute__((constructor)) static void id##_hang(void) \
	{ \
		unit_hang(&id##_row); \
	}
#define Test(Suite, Name, ...)						\
	static void Suite##_##Name##_test(void);			\
	UNIT_ROW(Suite##_##Name, #Suite, #Name, Suite##_##Name##_test,	\
	    { .line = __LINE__, __VA_ARGS__ }, NULL)			\
	static void Suite##_##Name##_test(void)
#define TestSuite(Suite, ...)						\
	UNIT_ROW(Suite##_suite, #Suite, NULL, NULL,			\
	    { .line = __LINE__, __VA_ARGS__ }, NULL)			\
	extern int unit_takes_a_semicolon

/* What is said of a fault is a literal, as in every test here. */
#define UNIT_CHECK(after, text, holds, ...)				\
	do { \
		if (!(holds)) { \
			unit_fault(__FILE__, __LINE__, text, " " __VA_ARGS__); \
			after; \
		} \
	} while (0)
#define EXPECT(text, holds, ...) UNIT_CHECK((void)0, text, holds, __VA_ARGS__)
#define ASSERT(text, holds, ...) \
	UNIT_CHECK(unit_leave(), text, holds, __VA_ARGS__)

#define cr_expect(a, ...)	EXPECT(#a, a, __VA_ARGS__)
#define cr_assert(a, ...)	ASSERT(#a, a, __VA_ARGS__)
#define cr_expect_not(a, ...)	EXPECT("not " #a, !(a), __VA_ARGS__)
#define cr_assert_not(a, ...)	ASSERT("not " #a, !(a), __VA_ARGS__)
#define cr_expect_null(a, ...)	EXPECT(#a " is NULL", (a) == NULL, __VA_ARGS__)
#define cr_assert_null(a, ...)	ASSERT(#a " is NULL", (a) == NULL, __VA_ARGS__)
#define cr_expect_not_null(a, ...)					\
	EXPECT(#a " is not NULL", (a) != NULL, __VA_ARGS__)
#define cr_assert_not_null(a, ...)					\
	ASSERT(#a " is not NULL", (a) != NULL, __VA_ARGS__)
#define cr_expect_fail(...)	EXPECT("it failed", false, __VA_ARGS__)
#define cr_assert_fail(...)	ASSERT("it failed", false, __VA_ARGS__)

#define cr_expect_eq(a, b, ...)	EXPECT(#a " == " #b, (a) == (b), __VA_ARGS__)
#define cr_assert_eq(a, b, ...)	ASSERT(#a " == " #b, (a) == (b), __VA_ARGS__)
#define cr_expect_neq(a, b, ...) EXPECT(#a " != " #b, (a) != (b), __VA_ARGS__)
#define cr_assert_neq(a, b, ...) ASSERT(#a " != " #b, (a) != (b), __VA_ARGS__)
#define cr_expect_lt(a, b, ...)	EXPECT(#a " < " #b, (a) < (b), __VA_ARGS__)
#define cr_assert_lt(a, b, ...)	ASSERT(#a " < " #b, (a) < (b), __VA_ARGS__)
#define cr_expect_gt(a, b, ...)	EXPECT(#a " > " #b, (a) > (b), __VA_ARGS__)
#define cr_assert_gt(a, b, ...)	ASSERT(#a " > " #b, (a) > (b), __VA_ARGS__)
#define cr_expect_leq(a, b, ...) EXPECT(#a " <= " #b, (a) <= (b), __VA_ARGS__)
#define cr_assert_leq(a, b, ...) ASSERT(#a " <= " #b, (a) <= (b), __VA_ARGS__)
#define cr_expect_geq(a, b, ...) EXPECT(#a " >= " #b, (a) >= (b), __VA_ARGS__)
#define cr_assert_geq(a, b, ...) ASSERT(#a " >= " #b, (a) >= (b), __VA_ARGS__)

#define cr_expect_str_eq(a, b, ...)					\
	EXPECT(#a " is " #b, strcmp(a, b) == 0, __VA_ARGS__)
#define cr_assert_str_eq(a, b, ...)					\
	ASSERT(#a " is " #b, strcmp(a, b) == 0, __VA_ARGS__)
#define cr_expect_str_neq(a, b, ...)					\
	EXPECT(#a " is not " #b, strcmp(a, b) != 0, __VA_ARGS__)
#define cr_assert_str_neq(a, b, ...)					\
	ASSERT(#a " is not " #b, strcmp(a, b) != 0, __VA_ARGS__)
#define cr_expect_str_empty(a, ...)					\
	EXPECT(#a " is empty", (a)[0] == '\0', __VA_ARGS__)
#define cr_assert_str_empty(a, ...)					\
	ASSERT(#a " is empty", (a)[0] == '\0', __VA_ARGS__)
#define cr_expect_str_not_empty(a, ...)					\
	EXPECT(#a " is not empty", (a)[0] != '\0', __VA_ARGS__)
#define cr_expect_arr_eq(a, b, size, ...)				\
	EXPECT(#a " is " #b, memcmp(a, b, size) == 0, __VA_ARGS__)

#define cr_skip(...)		unit_skip(" " __VA_ARGS__)
#define cr_skip_test(...)	unit_skip(" " __VA_ARGS__)
#define cr_log_info(...)	unit_tell(__VA_ARGS__)
#define cr_log_warn(...)	unit_tell(__VA_ARGS__)
#define cr_log_error(...)	unit_tell(__VA_ARGS__)

#endif

/* fuzz.h - what every fuzz target needs: properties, and input in parts
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_FUZZ_H
#define ZM_TESTS_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A property of the code under test; one that fails stops the fuzzer, which
 * then keeps the input. */
#define MUST(property) \
	do { \
		if (!(property)) { \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, \
			    #property); \
			abort(); \
		} \
	} while (0)

/* The input as a slice. */
static inline struct slice
fuzz_slice(const uint8_t *data, size_t size)
{
	return (struct slice){ (const char *)data, size };
}

/* Whether inner borrows from outer (or is empty). */
static inline bool
fuzz_inside(struct slice inner, struct slice outer)
{
	return inner.n == 0 || (inner.p >= outer.p &&
	    inner.n <= outer.n &&
	    (size_t)(inner.p - outer.p) <= outer.n - inner.n);
}

/* Whether a byte that ends lines or talks to terminals is in it. */
static inline bool
fuzz_has_control(struct slice s)
{
	for (size_t i = 0; i < s.n; i++)
		if ((unsigned char)s.p[i] < 32 || s.p[i] == 127)
			return true;
	return false;
}

#endif

/* mutate.h - inputs that nobody wrote, made of those of a corpus
 *
 * Input number N of a seed is always the same, whatever came before it: a
 * finding is made again by its two numbers.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_FUZZ_MUTATE_H
#define ZM_TESTS_FUZZ_MUTATE_H

#include <stddef.h>
#include <stdint.h>

enum { MUTATE_BYTES_MAX = 1 << 16 };

struct mutate_input {
	uint8_t	*data;
	size_t	 size;
};

/* Make input `number` of seed from those of the corpus (count of them, at
 * least one) in out, which has room for MUTATE_BYTES_MAX.  returns its
 * size. */
size_t mutate(const struct mutate_input *corpus, size_t count, uint64_t seed,
    uint64_t number, uint8_t *out);

#endif

/* mutate.c - inputs that nobody wrote, made of those of a corpus
 *
 * In     a corpus, a seed, a number
 * Out    bytes
 * Holds  nothing
 * Spec   mutate.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdbool.h>
#include <string.h>

#include "mutate.h"

enum { STEPS_MAX = 8, BLOCK_MAX = 256 };

struct mutation {
	const struct mutate_input *corpus;
	size_t		 corpus_count;
	uint64_t	 state;		/* of the generator */
	uint8_t		*data;
	size_t		 size;
};

/* splitmix64, Steele et al. 2014: any state is a good one.  Never two of these
 * in one expression: each compiler has its own order of evaluation, and the
 * same seed must make the same inputs everywhere. */
static uint64_t
mutation_random(struct mutation *m)
{
	uint64_t z = m->state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* 0 to n - 1; 0 of nothing. */
static size_t
mutation_below(struct mutation *m, size_t n)
{
	return n == 0 ? 0 : (size_t)(mutation_random(m) % n);
}

static size_t
mutation_block(struct mutation *m, size_t n)
{
	size_t most = n < BLOCK_MAX ? n : BLOCK_MAX;

	/* short ones more often than long ones */
	return most == 0 ? 0 : 1 + mutation_below(m,
	    1 + mutation_below(m, most));
}

static void
mutation_insert(struct mutation *m, size_t at, const uint8_t *bytes, size_t n)
{
	if (m->size + n > MUTATE_BYTES_MAX)
		return;
	memmove(m->data + at + n, m->data + at, m->size - at);
	memcpy(m->data + at, bytes, n);
	m->size += n;
}

static void
mutation_remove(struct mutation *m, size_t at, size_t n)
{
	memmove(m->data + at, m->data + at + n, m->size - at - n);
	m->size -= n;
}

/* ---- the steps -------------------------------------------------------- */

typedef void step_fn(struct mutation *m);

static void
step_flip(struct mutation *m)
{
	uint8_t bit = (uint8_t)(1u << mutation_below(m, 8));

	if (m->size > 0)
		m->data[mutation_below(m, m->size)] ^= bit;
}

/* A byte that means something somewhere. */
static void
step_special(struct mutation *m)
{
	static const uint8_t bytes[] = "\0\r\n\t \"'\\<>()[]{}@.,;:=%*/-+0" "9"
	    "aZ_&|`$#~\x7f\x80\xbf\xc0\xc3\xa4\xe2\xf0\xff\x1b\x1f";
	uint8_t byte = bytes[mutation_below(m, sizeof(bytes) - 1)];

	if (m->size > 0)
		m->data[mutation_below(m, m->size)] = byte;
}

static void
step_insert_random(struct mutation *m)
{
	uint8_t bytes[8];
	size_t n = 1 + mutation_below(m, sizeof(bytes));

	for (size_t i = 0; i < n; i++)
		bytes[i] = (uint8_t)mutation_random(m);
	mutation_insert(m, mutation_below(m, m->size + 1), bytes, n);
}

static void
step_remove(struct mutation *m)
{
	size_t n = mutation_block(m, m->size);

	mutation_remove(m, mutation_below(m, m->size - n + 1), n);
}

/* A block once more, or many times. */
static void
step_repeat(struct mutation *m)
{
	uint8_t block[BLOCK_MAX];
	size_t n = mutation_block(m, m->size);
	size_t at = mutation_below(m, m->size - n + 1);
	size_t times = mutation_below(m, 16) == 0 ? 1 + mutation_below(m,
	    1000) : 1;

	memcpy(block, m->data + at, n);
	for (size_t i = 0; n > 0 && i < times; i++)
		mutation_insert(m, at, block, n);
}

/* A block of some input of the corpus. */
static void
step_borrow(struct mutation *m)
{
	const struct mutate_input *from =
	    &m->corpus[mutation_below(m, m->corpus_count)];
	size_t n = mutation_block(m, from->size);
	size_t start = mutation_below(m, from->size - n + 1);

	if (n > 0)
		mutation_insert(m, mutation_below(m, m->size + 1),
		    from->data + start, n);
}

/* From here on another input. */
static void
step_splice(struct mutation *m)
{
	const struct mutate_input *from =
	    &m->corpus[mutation_below(m, m->corpus_count)];
	size_t at = mutation_below(m, m->size + 1);
	size_t start = mutation_below(m, from->size + 1);

	m->size = at;
	if (from->size - start <= MUTATE_BYTES_MAX - at)
		mutation_insert(m, at, from->data + start, from->size - start);
}

/* Digits become a number at some edge. */
static void
step_number(struct mutation *m)
{
	static const char *const numbers[] = { "0", "1", "-1", "255", "256",
	    "65535", "65536", "2147483647", "2147483648", "4294967295",
	    "4294967296", "9223372036854775807", "9223372036854775808",
	    "18446744073709551615", "18446744073709551616",
	    "99999999999999999999999", "00000000000000000000001", "1e9" };
	const char *number = numbers[mutation_below(m,
	    sizeof(numbers) / sizeof(numbers[0]))];
	size_t at = mutation_below(m, m->size), n = 0;

	while (at < m->size && (m->data[at] < '0' || m->data[at] > '9'))
		at++;
	while (at + n < m->size && m->data[at + n] >= '0' &&
	    m->data[at + n] <= '9')
		n++;
	if (n == 0)
		return;
	mutation_remove(m, at, n);
	mutation_insert(m, at, (const uint8_t *)number, strlen(number));
}

static void
step_cut(struct mutation *m)
{
	m->size = mutation_below(m, m->size + 1);
}

size_t
mutate(const struct mutate_input *corpus, size_t count, uint64_t seed,
    uint64_t number, uint8_t *out)
{
	static step_fn *const steps[] = { step_flip, step_special,
	    step_special, step_insert_random, step_remove, step_repeat,
	    step_borrow, step_borrow, step_splice, step_number, step_cut };
	struct mutation m = { .corpus = corpus, .corpus_count = count,
	    .state = seed ^ number * 0xd1342543de82ef95, .data = out };
	const struct mutate_input *from = &corpus[mutation_below(&m, count)];
	size_t left = 1 + mutation_below(&m, STEPS_MAX);

	m.size = from->size < MUTATE_BYTES_MAX ? from->size : MUTATE_BYTES_MAX;
	memcpy(out, from->data, m.size);
	while (left-- > 0)
		steps[mutation_below(&m, sizeof(steps) / sizeof(steps[0]))](
		    &m);
	return m.size;
}

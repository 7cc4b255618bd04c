/* siphash.c - a keyed checksum that nobody without the key can steer
 *
 * In     a key, bytes
 * Out    128 bits
 * Holds  the process' own key
 * Spec   SipHash-2-4-128
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/siphash.h"

#include <stdlib.h>

#include "base/banned.h"

struct state {
	uint64_t	v0, v1, v2, v3;
};

static uint64_t
siphash_load(const unsigned char *p, size_t n)
{
	uint64_t word = 0;

	for (size_t i = 0; i < n; i++)
		word |= (uint64_t)p[i] << 8 * i;
	return word;
}

/* The same for 8, in a form that compilers make one instruction of. */
static uint64_t
siphash_load8(const unsigned char *p)
{
	return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 |
	    (uint64_t)p[3] << 24 | (uint64_t)p[4] << 32 |
	    (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
	    (uint64_t)p[7] << 56;
}

struct siphash_key
siphash_key_of(const unsigned char bytes[16])
{
	return (struct siphash_key){ siphash_load(bytes, 8),
	    siphash_load(bytes + 8, 8) };
}

const struct siphash_key *
siphash_process_key(void)
{
	static struct siphash_key key;
	static bool is_chosen;

	if (!is_chosen) {
		arc4random_buf(&key, sizeof(key));
		is_chosen = true;
	}
	return &key;
}

static uint64_t
siphash_rotate(uint64_t x, int by)
{
	return x << by | x >> (64 - by);
}

static void
siphash_rounds(struct state *s, int count)
{
	while (count-- > 0) {
		s->v0 += s->v1;
		s->v2 += s->v3;
		s->v1 = siphash_rotate(s->v1, 13) ^ s->v0;
		s->v3 = siphash_rotate(s->v3, 16) ^ s->v2;
		s->v0 = siphash_rotate(s->v0, 32);
		s->v2 += s->v1;
		s->v0 += s->v3;
		s->v1 = siphash_rotate(s->v1, 17) ^ s->v2;
		s->v3 = siphash_rotate(s->v3, 21) ^ s->v0;
		s->v2 = siphash_rotate(s->v2, 32);
	}
}

static void
siphash_take(struct state *s, uint64_t word)
{
	s->v3 ^= word;
	siphash_rounds(s, 2);
	s->v0 ^= word;
}

static uint64_t
siphash_fold(const struct state *s)
{
	return s->v0 ^ s->v1 ^ s->v2 ^ s->v3;
}

struct siphash
siphash(const struct siphash_key *key, struct slice text)
{
	struct state s = {	/* "somepseudorandomlygeneratedbytes" */
		key->k0 ^ 0x736f6d6570736575U,
		key->k1 ^ 0x646f72616e646f6dU ^ 0xee,
		key->k0 ^ 0x6c7967656e657261U,
		key->k1 ^ 0x7465646279746573U,
	};
	const unsigned char *p = (const unsigned char *)text.p;
	size_t left = text.n;
	struct siphash out;

	for (; left >= 8; left -= 8, p += 8)
		siphash_take(&s, siphash_load8(p));
	siphash_take(&s, siphash_load(p, left) | (uint64_t)text.n << 56);
	s.v2 ^= 0xee;
	siphash_rounds(&s, 4);
	out.low = siphash_fold(&s);
	s.v1 ^= 0xdd;
	siphash_rounds(&s, 4);
	out.high = siphash_fold(&s);
	return out;
}

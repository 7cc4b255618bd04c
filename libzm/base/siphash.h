/* siphash.h - a keyed checksum that only the key's owner can predict
 *
 * SipHash-2-4 with 128 bits of output (Aumasson, Bernstein: "SipHash: a fast
 * short-input PRF", 2012, and its 128-bit variant).  For hash tables whose keys
 * come from outside, and for marks that only we can make.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_SIPHASH_H
#define ZM_BASE_SIPHASH_H

#include <stdint.h>

#include "base/str.h"

struct siphash_key {
	uint64_t	k0, k1;
};

struct siphash {
	uint64_t	low, high;
};

/* The key in 16 bytes, least significant first. */
struct siphash_key siphash_key_of(const unsigned char bytes[16]);

/* A key of this process, chosen at random at the first call. */
const struct siphash_key *siphash_process_key(void);

/* 128 bits of text under key. */
struct siphash siphash(const struct siphash_key *key, struct slice text);

#endif

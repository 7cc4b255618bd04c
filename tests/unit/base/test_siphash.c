/* test_siphash.c - the checksum against what OpenSSL's mac(1) says
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <stdio.h>
#include <string.h>

#include "base/siphash.h"

/* Key and text are 0, 1, 2, ...: `openssl mac -macopt size:16 SIPHASH`. */
Test(siphash, known_answers)
{
	static const struct { size_t n; const char *want; } rows[] = {
		{ 0, "a3817f04ba25a8e66df67214c7550293" },
		{ 1, "da87c1d86b99af44347659119b22fc45" },
		{ 15, "5493e99933b0a8117e08ec0f97cfc3d9" },
		{ 63, "5150d1772f50834a503e069a973fbd7c" },
	};
	unsigned char bytes[64];
	struct siphash_key key;

	for (unsigned i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)i;
	key = siphash_key_of(bytes);
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct siphash hash = siphash(&key, (struct slice){
		    (const char *)bytes, rows[i].n });
		char text[33] = "";

		for (size_t k = 0; k < 16; k++)
			snprintf(text + 2 * k, 3, "%02x", (unsigned)((k < 8 ?
			    hash.low : hash.high) >> 8 * (k % 8) & 0xff));
		cr_expect_str_eq(text, rows[i].want, "%zu bytes", rows[i].n);
	}
}

Test(siphash, the_key_of_the_process_stays)
{
	const struct siphash_key *key = siphash_process_key();
	struct siphash first = siphash(key, SLICE("x"));
	struct siphash again = siphash(siphash_process_key(), SLICE("x"));

	cr_expect(first.low == again.low && first.high == again.high);
	again = siphash(key, SLICE("y"));
	cr_expect(first.low != again.low || first.high != again.high);
}

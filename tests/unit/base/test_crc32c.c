/* test_crc32c.c - the checksum, against RFC 3720 and itself
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>
#include <string.h>

#include "base/crc32c.h"

Test(crc32c, vectors_of_rfc_3720)
{
	unsigned char bytes[32];

	cr_expect_eq(crc32c(0, "", 0), 0);
	cr_expect_eq(crc32c(0, "123456789", 9), 0xe3069283);
	memset(bytes, 0, 32);
	cr_expect_eq(crc32c(0, bytes, 32), 0x8a9136aa);
	memset(bytes, 0xff, 32);
	cr_expect_eq(crc32c(0, bytes, 32), 0x62a8ab43);
	for (unsigned char i = 0; i < 32; i++)
		bytes[i] = i;
	cr_expect_eq(crc32c(0, bytes, 32), 0x46dd794e);
}

/* Bit by bit, straight from the polynomial. */
static uint32_t
slowly(const unsigned char *p, size_t n)
{
	uint32_t crc = ~0u;

	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc & 1 ? crc >> 1 ^ 0x82f63b78u : crc >> 1;
	}
	return ~crc;
}

Test(crc32c, any_length_any_cut_any_alignment)
{
	unsigned char bytes[100];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (unsigned char)(i * 167 + 13);
	for (size_t start = 0; start < 9; start++)
		for (size_t n = 0; start + n <= sizeof(bytes); n++) {
			uint32_t want = slowly(bytes + start, n);

			cr_assert_eq(crc32c(0, bytes + start, n), want);
			cr_assert_eq(crc32c_portable(0, bytes + start, n),
			    want);
			cr_assert_eq(crc32c(crc32c(0, bytes + start, n / 3),
			    bytes + start + n / 3, n - n / 3), want);
		}
}

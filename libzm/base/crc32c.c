/* crc32c.c - CRC-32C by the processor's instruction, or by tables
 *
 * In     bytes
 * Out    their checksum
 * Holds  eight tables of 256 words, made at first use
 * Spec   RFC 3720 section B.4
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdbool.h>
#include <string.h>
#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#endif

#include "base/crc32c.h"

#include "base/banned.h"

static uint32_t tables[8][256];

static void
tables_make(void)
{
	for (uint32_t i = 0; i < 256; i++) {
		uint32_t c = i;

		for (int bit = 0; bit < 8; bit++)
			c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
		tables[0][i] = c;
	}
	for (int t = 1; t < 8; t++)
		for (int i = 0; i < 256; i++)
			tables[t][i] = tables[t - 1][i] >> 8 ^
			    tables[0][tables[t - 1][i] & 255];
}

static uint32_t
crc_by_tables(uint32_t crc, const unsigned char *p, size_t n)
{
	if (tables[0][1] == 0)
		tables_make();
	for (; n >= 8; n -= 8, p += 8) {
		uint32_t low = crc ^ ((uint32_t)p[0] | (uint32_t)p[1] << 8 |
		    (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24);

		crc = tables[7][low & 255] ^ tables[6][low >> 8 & 255] ^
		    tables[5][low >> 16 & 255] ^ tables[4][low >> 24] ^
		    tables[3][p[4]] ^ tables[2][p[5]] ^ tables[1][p[6]] ^
		    tables[0][p[7]];
	}
	for (; n > 0; n--, p++)
		crc = crc >> 8 ^ tables[0][(crc ^ *p) & 255];
	return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2")))
static uint32_t
crc_by_processor(uint32_t crc, const unsigned char *p, size_t n)
{
	unsigned long long wide = crc;

	for (; n >= 8; n -= 8, p += 8) {
		unsigned long long word;

		memcpy(&word, p, 8);
		wide = __builtin_ia32_crc32di(wide, word);
	}
	crc = (uint32_t)wide;
	for (; n > 0; n--, p++)
		crc = __builtin_ia32_crc32qi(crc, *p);
	return crc;
}
#endif

#if defined(__x86_64__)
/* As the C library found out when it started: a virtual machine leaves its
 * processor for each question that the compiler's own function asks, and that
 * one asks them before main(), 0.06 ms of each start. */
static bool
processor_has_crc(void)
{
#ifdef CPU_FEATURE_ACTIVE
	return CPU_FEATURE_ACTIVE(SSE4_2);
#else
	return __builtin_cpu_supports("sse4.2");
#endif
}
#endif

uint32_t
crc32c_portable(uint32_t crc, const void *bytes, size_t n)
{
	return ~crc_by_tables(~crc, bytes, n);
}

uint32_t
crc32c(uint32_t crc, const void *bytes, size_t n)
{
#if defined(__x86_64__)
	static int has_sse42 = -1;

	if (has_sse42 < 0)
		has_sse42 = processor_has_crc();
	if (has_sse42)
		return ~crc_by_processor(~crc, bytes, n);
#endif
	return crc32c_portable(crc, bytes, n);
}

/* crc32c.h - the checksum of message files, control files and records
 *
 * CRC-32C (Castagnoli), reflected, as in RFC 3720 section B.4:
 * crc32c of "123456789" is e3069283.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_CRC32C_H
#define ZM_BASE_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Continue a checksum over n more bytes; start with crc = 0. */
uint32_t crc32c(uint32_t crc, const void *bytes, size_t n);

/* The same by tables, without the processor's instructions for it. */
uint32_t crc32c_portable(uint32_t crc, const void *bytes, size_t n);

/* A sum, or another number, as so many hexadecimal digits at a place that has
 * room for them; returns what follows.  printf takes ten times as long. */
static inline char *
hex_put(char *at, uint64_t number, int digits)
{
	for (int i = digits; i-- > 0; number >>= 4)
		at[i] = "0123456789abcdef"[number & 15];
	return at + digits;
}

#endif

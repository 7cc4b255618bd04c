/* hex.h - a number as hexadecimal digits; printf takes ten times as long
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_HEX_H
#define ZM_BASE_HEX_H

#include <stdint.h>

/* So many digits at a place that has room for them; returns what follows. */
static inline char *
hex_put(char *at, uint64_t number, int digits)
{
	for (int i = digits; i-- > 0; number >>= 4)
		at[i] = "0123456789abcdef"[number & 15];
	return at + digits;
}

#endif

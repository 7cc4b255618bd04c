/* dns_bytes.c - parts of a DNS message, for tests that make one
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tests/unit/io/dns_bytes.h"

size_t
dns_bytes_name(unsigned char *out, const char *name)
{
	size_t at = 0;

	while (*name != '\0') {
		size_t n = strcspn(name, ".");

		out[at++] = (unsigned char)n;
		memcpy(out + at, name, n);
		at += n;
		name += n + (name[n] == '.');
	}
	out[at++] = 0;
	return at;
}

void
dns_bytes_put16(unsigned char *out, unsigned value)
{
	out[0] = (unsigned char)(value >> 8);
	out[1] = (unsigned char)value;
}

size_t
dns_bytes_question(unsigned char *answer, const char *name, int type)
{
	size_t at = 12 + dns_bytes_name(answer + 12, name);

	dns_bytes_put16(answer + 4, 1);
	dns_bytes_put16(answer + at, (unsigned)type);
	dns_bytes_put16(answer + at + 2, 1);
	return at + 4;
}

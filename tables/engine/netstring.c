/* netstring.c - "LENGTH:BYTES,", as socketmap servers answer
 *
 * In     bytes of a server
 * Out    what stands in the first netstring
 * Holds  nothing
 * Trusts nothing: the length is bounded before anything is waited for
 * Spec   netstring.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "tables/engine/netstring.h"

#include "base/banned.h"

enum { DIGITS_MAX = 6 };	/* of NETSTRING_BYTES_MAX */

enum netstring_answer
netstring_read(struct slice bytes, struct slice *out_text, size_t *out_used)
{
	size_t n = 0, i = 0;

	while (i < bytes.n && i < DIGITS_MAX && ascii_is_digit(bytes.p[i]))
		n = n * 10 + (size_t)(bytes.p[i++] - '0');
	if (i == bytes.n && i < DIGITS_MAX)
		return NETSTRING_MORE;
	if (i == 0 || (i > 1 && bytes.p[0] == '0') || n > NETSTRING_BYTES_MAX)
		return NETSTRING_BAD;
	if (i == bytes.n)
		return NETSTRING_MORE;
	if (bytes.p[i++] != ':')
		return NETSTRING_BAD;
	if (bytes.n - i < n + 1)
		return NETSTRING_MORE;
	if (bytes.p[i + n] != ',')
		return NETSTRING_BAD;
	*out_text = (struct slice){ bytes.p + i, n };
	*out_used = i + n + 1;
	return NETSTRING_WHOLE;
}

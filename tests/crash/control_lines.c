/* control_lines.c - what a trace has of the bytes of a control file
 *
 * In     bytes that are written to a plan or to a file of transport/
 * Out    recipients, their other ways, records: for tests/model/trace.py
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "nth.h"

enum { LINE_ROOM = 99, RECORD_MIN = 12 };

/* One line; how many bytes of out it takes. */
static int
line_note(const char *p, const char *end, long long at, char *out)
{
	char kind[32] = "", verdict[32] = "";
	unsigned long rcpt;

	if (end - p > 2 && p[1] == ' ' && (p[0] == 'r' || p[0] == 'X'))
		return snprintf(out, LINE_ROOM, " %c%lld", p[0], at);
	if (end - p < RECORD_MIN || p[0] != 'd' || sscanf(p,
	    "d %*8[0-9a-f] %lu %*u %31s %*d %*d %31[a-z]", &rcpt, kind,
	    verdict) < 2)
		return 0;
	return snprintf(out, LINE_ROOM, " d%lu:%s:%s", rcpt, kind, verdict);
}

const char *
nth_control_lines(const char *path, const char *bytes, size_t n, long long at)
{
	static __thread char out[3000];
	size_t used = 0;

	out[0] = '\0';
	if (strstr(path, "/transport/") == NULL && strstr(path, "/..") == NULL)
		return out;
	for (const char *p = bytes; p < bytes + n;) {
		const char *end = memchr(p, '\n', (size_t)(bytes + n - p));

		if (end == NULL)
			end = bytes + n;
		if (used > sizeof(out) - LINE_ROOM)
			return " +";
		used += (size_t)line_note(p, end, at + (p - bytes),
		    out + used);
		p = end + 1;
	}
	return out;
}

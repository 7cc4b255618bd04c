/* date.h - moments as the RFCs write them
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_DATE_H
#define ZM_GRAMMAR_DATE_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Parse "2026-11-20T21:04:00Z" or "2026-11-20T22:04:00.5+01:00", a date-time
 * of RFC 3339 section 5.6, from 1970 on.  A fraction is dropped; a leap
 * second counts as the second before it.
 * out_s    seconds since 1970, UTC
 * returns 0 or -1 */
int date_parse(struct slice text, int64_t *out_s, struct err *err);

/* Does the text begin with "until=MOMENT", and has that moment passed?  A
 * moment that cannot be read never passes, because whoever wrote it did not
 * mean "at once". */
bool date_is_over(struct slice text, int64_t now_s);

/* Append "2026-11-20T21:04:00Z". */
void date_add(struct str *out, int64_t wall_s);

#endif

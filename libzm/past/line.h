/* line.h - one line of the journal, as far as a reader needs it
 *
 * A line is what journal/event.c wrote, yet nothing in it is trusted.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_PAST_LINE_H
#define ZM_PAST_LINE_H

#include <stdint.h>

#include "base/str.h"

/* The line without the half of another that a full disk left before it. */
struct slice journal_line_whole(struct slice line);

/* The spool id of a line, unescaped; empty when it has none.  Quick: looks
 * where event.c puts it. */
struct slice journal_line_id(struct slice line);
/* Milliseconds since 1970 of a line; -1: it says no time. */
int64_t journal_line_ms(struct slice line);

/* Is there a text value of this key?  Quick: *out_value (or NULL) is as it
 * stands in the file, up to the next quote; right for what has no quotes. */
bool journal_line_has(struct slice line, const char *key,
    struct slice *out_value);

#endif

/* units.h - numbers with units, as people write them in the configuration
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_UNITS_H
#define ZM_GRAMMAR_UNITS_H

#include "base/err.h"
#include "base/str.h"

/* Parse "30s" "5m" "2h" "5d" "1w" "250ms", also joined: "1d12h".  Any number
 * but 0 needs a unit.  The result is in milliseconds.  0 or -1. */
int units_span_ms(struct slice text, int64_t *out_ms, struct err *err);

/* Parse "25M" "64K" "1G" "512B" (powers of 1024) to bytes.  0 or -1. */
int units_bytes(struct slice text, uint64_t *out_bytes, struct err *err);

/* Parse "600/1m", a count per span.  0 or -1. */
int units_rate(struct slice text, uint64_t *out_count, int64_t *out_per_ms,
    struct err *err);

/* Append the shortest text: "5m", "25M". */
void units_add_span(struct str *out, int64_t ms);
void units_add_bytes(struct str *out, uint64_t bytes);

/* Does text match the pattern, without case?  '*' is any bytes, '?' one. */
bool glob_match(struct slice pattern, struct slice text);

#endif

/* units.h - numbers with units, as people write them in the configuration
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_UNITS_H
#define ZM_GRAMMAR_UNITS_H

#include "base/err.h"
#include "base/str.h"

/* "30s" "5m" "2h" "5d" "1w" "250ms", also joined: "1d12h".  A bare 0 is 0;
 * any other number needs its unit.  The result is in milliseconds.  0 or -1. */
int units_span_ms(struct slice text, int64_t *out_ms, struct err *err);

/* "25M" "64K" "1G" "512B" (powers of 1024).  Bytes.  0 or -1. */
int units_bytes(struct slice text, uint64_t *out_bytes, struct err *err);

/* "600/1m": count per span.  0 or -1. */
int units_rate(struct slice text, uint64_t *out_count, int64_t *out_per_ms,
    struct err *err);

/* Back to the shortest text: "5m", "25M". */
void units_add_span(struct str *out, int64_t ms);
void units_add_bytes(struct str *out, uint64_t bytes);

/* Glob match without case: '*' any bytes, '?' one byte. */
bool glob_match(struct slice pattern, struct slice text);

#endif

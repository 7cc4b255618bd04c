/* seal_internal.h - what the writer and the reader of seals share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_JOURNAL_SEAL_INTERNAL_H
#define ZM_TOOLS_JOURNAL_SEAL_INTERNAL_H

#include "tls/digest.h"
#include "tools/journal/seal.h"

enum { SEAL_MARK_BYTES = 4 };

struct seal_line {		/* of one line */
	unsigned char	digest[DIGEST_SHA256_BYTES];
};

/* Is it a seal?  Fast: looks where a seal says so. */
bool seal_is(struct slice line);

/* The digest of a line without its LF; its first letters. */
void seal_line_of(struct slice line, struct seal_line *out);
void seal_mark_of(const struct seal_line *line, char out[SEAL_MARK_BYTES]);
/* The sum of count lines. */
void seal_sum_of(const struct seal_line *lines, size_t count,
    char out[SEAL_SUM_BYTES]);

#endif

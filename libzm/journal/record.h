/* record.h - what sessions said, kept for a while so that it can be replayed
 *
 * LOGDIR/record-YYYY-MM-DD.jsonl (UTC) has a line of JSON for each decision.
 * It is beside the journal and not part of it: it is neither forwarded nor
 * compressed, and its mode is 0600.  It exists only with the statement
 * `record`; doc/INTERNALS.md section 9 says who removes it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_JOURNAL_RECORD_H
#define ZM_JOURNAL_RECORD_H

#include <stdint.h>

#include "base/str.h"

/* Append a line, which has its LF, to today's file by one write(2).  If the
 * file would have more than max_bytes, this line and all others of the day are
 * left out, which is said once on stderr.  Never fails. */
void record_line(struct slice line, uint64_t max_bytes);

#endif

/* record_files.h - keep the files of what sessions said in bounds, read them
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_JOURNAL_RECORD_FILES_H
#define ZM_TOOLS_JOURNAL_RECORD_FILES_H

#include "conf/conf.h"
#include "tools/journal/journal.h"

/* Remove days that ended longer ago than `record for` says, and, if all are
 * larger than `record size`, the oldest except today's.  `record for 0` removes
 * all.  stderr is told of files that cannot be removed.  now_ms: since 1970.
 * returns how many were removed */
unsigned record_files_keep(const struct conf *conf, int dir_fd,
    int64_t now_ms);

struct record_reader;

/* The lines of a window, oldest day first.  0; -1 with err: the directory or
 * a file of the window cannot be read. */
int record_reader_open(const char *log_dir, const struct journal_span *span,
    struct record_reader **out, struct err *err);
void record_reader_close(struct record_reader **reader);
/* The next line of the window without its LF, valid until the next call.
 * false: there are no more. */
bool record_reader_next(struct record_reader *reader, struct slice *out);
/* How many bytes there are, and how many were read so far. */
void record_reader_progress(const struct record_reader *reader,
    uint64_t *out_all, uint64_t *out_read);

#endif

/* record_files.h - the files of what sessions said: kept in bounds, read
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_JOURNAL_RECORD_FILES_H
#define ZM_TOOLS_JOURNAL_RECORD_FILES_H

#include "conf/conf.h"
#include "tools/journal/journal.h"

/* Remove days that are over for longer than `record for` says, and, when all
 * are larger than `record size`, the oldest, but not today's.  With `record
 * for 0` all go.  What cannot be removed is said on stderr.  now_ms:
 * since 1970.  returns how many went */
unsigned record_files_keep(const struct conf *conf, int dir_fd,
    int64_t now_ms);

struct record_reader;

/* The lines of a window, oldest day first.  0; -1 with err: the directory or
 * a file of the window cannot be read. */
int record_reader_open(const char *log_dir, const struct journal_span *span,
    struct record_reader **out, struct err *err);
void record_reader_close(struct record_reader **reader);
/* The next line without its LF, good until the one after it.  Lines out of
 * the window are left out. */
bool record_reader_next(struct record_reader *reader, struct slice *out);
/* How many bytes there are, and how many were read. */
void record_reader_progress(const struct record_reader *reader,
    uint64_t *out_all, uint64_t *out_read);

#endif

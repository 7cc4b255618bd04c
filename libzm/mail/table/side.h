/* side.h - large plain tables in a file that processes share
 *
 * A large plain file costs memory and a second of parsing in every process
 * that reads it.  After table_share such a file is parsed once, put into a
 * constant database below the run directory, and mapped by all.  The database
 * names the file that it was made from (device, inode, size, date); if that
 * does not match, it is made again.  It can be removed at any time; if it
 * cannot be made, the table is kept in memory.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_TABLE_SIDE_H
#define ZM_MAIL_TABLE_SIDE_H

#include "mail/table/internal.h"
#include "mail/table/type.h"

struct table_side;

/* Is the file large enough, and was it changed so long ago that its date
 * identifies its contents? */
bool table_side_wanted(const struct stat *file);

/* Make the side file of source from its contents.  false: it was not made. */
bool table_side_make(const struct table_source *source,
    const struct table_contents *contents);

/* Open the side file that matches source->seen; the source itself must be
 * readable, too.  false: there is none. */
bool table_side_open(const struct table_source *source,
    struct table_side **out);
/* Unmap it, if there is one; sets *side to NULL. */
void table_side_close(struct table_side **side);

/* As find and each of struct table_type. */
enum table_result table_side_find(struct table_side *side, struct slice key,
    struct table_hit *out, struct err *err);
/* Entries in the order of the file, without the identity. */
enum table_result table_side_each(struct table_side *side, table_fn *fn,
    void *context, struct err *err);

#endif

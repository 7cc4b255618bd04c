/* worker.h - a process that asks one database
 *
 * It has the definition of its table and no other's, and may block: who waits
 * too long for it ends it.  Lines that come together may be asked together;
 * answers come in their order.
 *
 *	to it		get KEY  |  list
 *			of may_write: add KEY VALUE  |  change KEY VALUE  |
 *			remove KEY, answered by found ROWS
 *	from it		found VALUE  |  none  |  trouble WORDS  |
 *			away WORDS; of list in front of none: row NAME, each
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TABLES_ASK_WORKER_H
#define ZM_TABLES_ASK_WORKER_H

#include "tables/engine/engine.h"

enum { WORKER_LIST_BYTES_MAX = 16 << 20 };	/* of all names */

/* Answer until the other end of socket is closed. */
void worker_serve(int socket, const struct engine *engine,
    const struct definition *definition);

/* The program tables, started by a tool: "tables one TYPE:PATH" serves
 * standard input, a socket, with the rights that it has, for reading and
 * writing.  "trouble WORDS" is its first line if the definition is bad.
 * returns an exit status */
int worker_one(const char *spec);

#endif

/* received.h - reports that others sent us: DMARC (XML) and TLS (JSON)
 *
 * A file is a message, a mailbox (mbox) or a report itself, in gzip or zip or
 * plain.  Anybody can send one, so a process that can do nothing else reads
 * it, and passes rows on: the number of the report in the file, then values,
 * each after a tab, in the order that dmarc.c and tls.c name, escaped and
 * bounded; days are written 2026-11-26.
 *
 * RFC 9990 (DMARC aggregate reports), RFC 8460 section 4 (SMTP TLS reports)
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_REPORTS_RECEIVED_H
#define ZM_TOOLS_REPORTS_RECEIVED_H

#include "base/err.h"
#include "base/str.h"

enum {
	RECEIVED_FILE_MAX = 64 * 1024 * 1024,	/* bytes of a file, */
	RECEIVED_TEXT_MAX = 64 * 1024 * 1024,	/* of what one unpacks to, */
	RECEIVED_ENTRIES_MAX = 64,		/* files in one archive, */
	RECEIVED_ROWS_MAX = 200000,		/* rows of a file, */
	RECEIVED_OUT_MAX = 64 * 1024 * 1024,	/* bytes of these, */
	RECEIVED_COMPLAINTS_MAX = 100,		/* about a file, */
	RECEIVED_VALUE_MAX = 256,		/* bytes of a value */
	RECEIVED_FIELDS = 11
};

enum received_kind { RECEIVED_DMARC, RECEIVED_TLS };

/* ---- in the process that reads (unpack.c, dmarc.c, tls.c) ----------- */

struct received_rows {
	enum received_kind kind;	/* rows of the other are left out */
	struct str	out;
	size_t		count, complaints;
	size_t		reports;	/* read so far, of either kind */
	bool		is_full;	/* there was more than allowed */
};

/* Read a file: messages are opened, archives unpacked, reports read.  Anything
 * else is ignored. */
void received_read(struct received_rows *rows, struct slice file);

/* Read a report itself.  0; -1: it is not one, or is broken (err); rows that it
 * gave before that are removed. */
int received_dmarc(struct received_rows *rows, struct slice xml,
    struct err *err);
int received_tls(struct received_rows *rows, struct slice json,
    struct err *err);

/* Append a row: RECEIVED_FIELDS values. */
void received_row_add(struct received_rows *rows,
    const struct slice values[RECEIVED_FIELDS]);

/* ---- outside of it (jail.c, table.c) -------------------------------- */

/* Read a file in a process of its own; its rows are appended to out; lines
 * "! WORDS" say what could not be read; the last line is "= REPORTS".
 * 0; -1: the process failed, or took too long (err). */
int received_jail(enum received_kind kind, struct slice file, struct str *out,
    struct err *err);

struct received_table;
/* Make an empty table; freed by received_table_free. */
struct received_table *received_table_new(enum received_kind kind);
/* Add the rows of a file.  A report that was added before, by its author and
 * name, counts once.  complaints: each as "NAME: WORDS". */
void received_table_take(struct received_table *table, const char *name,
    struct slice lines, struct str *complaints);
/* How many rows were taken. */
size_t received_table_rows(const struct received_table *table);
/* Append it for people, or as an object of JSON for each row; nothing if it is
 * empty. */
void received_table_show(struct received_table *table, bool is_json,
    struct str *out);
/* NULL is harmless; sets *table to NULL. */
void received_table_free(struct received_table **table);

#endif

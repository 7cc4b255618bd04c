/* seal.h - seals, which show that no line of the journal was removed or altered
 *
 * The keeper (keep.h) seals each file once a minute: a line
 *	{"t":"...","ev":"journal.sealed","d":"zmailer","pid":1,"lines":3,
 *	 "to":512,"sum":"...","marks":"..."}
 * covers the `lines` lines after those that the seal before it covers, up to
 * the byte `to` of the file.  sum is SHA-256 over the SHA-256 of each of these
 * lines; marks has four letters for each line, the first three bytes of its
 * SHA-256 in base 64.  sum shows whether something is wrong, marks show what.
 * If no mark differs (a line can be forged to have another's mark), all lines
 * of that seal are reported.  A seal is a line, too, and covered by the next
 * one, so each stands for all before it.  When nobody writes to a part any
 * more, a line journal.closed in the file being written then has the sum of its
 * last seal and its size: so all files are one chain.
 *
 * Anybody who may write to the log directory can write a whole new chain, but
 * cannot make it end in a sum that was noted elsewhere.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_JOURNAL_SEAL_H
#define ZM_TOOLS_JOURNAL_SEAL_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum {
	SEAL_LINES_MAX = 1000,		/* covered by a seal */
	SEAL_SUM_BYTES = 64 + 1,	/* in hexadecimal, and a NUL */
	SEAL_WAITING_MAX = 1 << 22	/* lines without a seal yet that a
					 * reader remembers */
};

/* ---- writing ----------------------------------------------------------- */

struct seal_end {
	unsigned	seals;		/* written by this call */
	uint64_t	bytes;		/* of the file afterwards */
	char		sum[SEAL_SUM_BYTES];	/* of its last seal; "": none */
};

/* Seal the complete lines of a part that no seal covers.  fd: open for reading
 * and appending; others may append meanwhile.  0 or -1. */
int seal_part(int fd, struct seal_end *out, struct err *err);

/* ---- reading ----------------------------------------------------------- */

/* SEAL_CUT is reported for a part that was closed and is shorter or different
 * now; for the other faults marks say where. */
enum seal_fault {
	SEAL_ALTERED,		/* a line is not the one that was sealed */
	SEAL_REMOVED,		/* lines before this one are gone */
	SEAL_ADDED,		/* a line was put among sealed ones */
	SEAL_BROKEN,		/* a seal that makes no sense */
	SEAL_CUT,		/* the end of a part is gone */
	SEAL_MISSING		/* a whole part is gone */
};

/* part: the name of the file (of a packed one: its name before); number: of the
 * line, from 1; at_ms: its time, or -1; count: how many lines from there on. */
typedef void seal_fault_fn(void *context, enum seal_fault fault,
    const char *part, size_t number, int64_t at_ms, size_t count);

struct seal_reader;

struct seal_sums {
	uint64_t	lines, covered;	/* read; of them by seals */
	uint64_t	seals;
	size_t		open_lines;	/* of the last file, not covered yet */
	int64_t		last_ms;	/* of the last seal; -1: none */
	char		last[SEAL_SUM_BYTES];	/* its sum */
	bool		is_known;	/* the sum asked for was found */
};

/* known: a sum that the chain must have, or NULL; borrowed. */
struct seal_reader *seal_reader_new(const char *known, seal_fault_fn *fn,
    void *context);
void seal_reader_free(struct seal_reader **reader);
/* Lines of a part come one after another, without LF; the parts in their
 * order. */
void seal_read_part(struct seal_reader *reader, const char *part);
void seal_read_line(struct seal_reader *reader, struct slice line);
/* The last line was read: report what is left, and fill in *out. */
void seal_read_end(struct seal_reader *reader, struct seal_sums *out);

#endif

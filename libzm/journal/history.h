/* history.h - rates and sizes of the past, in one file that does not grow
 *
 * LOGDIR/history is a header of 4,096 bytes, then the archives of
 * history_archives[], which are rings of records of 128 bytes.  The place of a
 * record follows from its moment (moment / step, modulo the archive's count),
 * so the newest need not be marked; each has its own moment and checksum.
 * Records that a crash tore, that are older than one round, or that a wrong
 * clock left in the future are ignored.  A sample is added to the record of its
 * moment in each archive: after a restart, or after the clock was set back,
 * existing records are continued.  covered_s says how much time a record
 * covers, so that rates stay true.
 *
 * One process writes it (row O10 of doc/INTERNALS.md), and no other reads it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_JOURNAL_HISTORY_H
#define ZM_JOURNAL_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum history_count {
#define HISTORY_COUNT(symbol, name, metric, labels, text) HISTORY_##symbol,
#define HISTORY_MORE(symbol, metric, labels)
#define HISTORY_LEVEL(symbol, name, text)
#include "journal/history_rows.h"
#undef HISTORY_COUNT
#undef HISTORY_LEVEL
	HISTORY_COUNTS
};

enum history_level {
#define HISTORY_COUNT(symbol, name, metric, labels, text)
#define HISTORY_LEVEL(symbol, name, text) HISTORY_##symbol,
#include "journal/history_rows.h"
#undef HISTORY_COUNT
#undef HISTORY_MORE
#undef HISTORY_LEVEL
	HISTORY_LEVELS
};

enum {
	HISTORY_VERSION = 1,
	HISTORY_HEADER_BYTES = 4096,
	HISTORY_ARCHIVES = 3,
	HISTORY_SAMPLE_S = 10,		/* how often one is added */
	HISTORY_READ_MAX = 1024		/* records at a time */
};

struct history_archive {
	int64_t		step_s, count;
};
/* Finest first: 10 s for a day, 5 min for a month, 1 h for two years. */
extern const struct history_archive history_archives[HISTORY_ARCHIVES];
extern const char *const history_count_names[HISTORY_COUNTS];
extern const char *const history_level_names[HISTORY_LEVELS];

struct history_record {		/* also in the file: native byte order */
	uint32_t	checksum;	/* CRC-32C of what follows */
	uint32_t	covered_s;	/* 0: there is no record */
	int64_t		at_s;		/* the beginning of its span */
	uint64_t	counts[HISTORY_COUNTS];
	uint64_t	levels[HISTORY_LEVELS], most[HISTORY_LEVELS];
};

struct history {
	int		 fd;
};

/* Open the file in that directory for reading and writing, and create it if it
 * is missing.  0; -1 with err: it cannot be opened or created, or the file is
 * not of this version and stays as it is. */
int history_open(struct history *out, int dir_fd, struct err *err);
void history_close(struct history *history);

/* Add the counts of the covered_s (at least 1) seconds that end at end_s, and
 * the levels at their end, to the record of that moment in each archive.  Of
 * the sample only counts and levels are read.  A write that fails leaves a
 * gap. */
void history_add(const struct history *history, int64_t end_s,
    int64_t covered_s, const struct history_record *sample);

/* Read count (at most HISTORY_READ_MAX) records of an archive into out, from
 * that of the moment from_s on.  covered_s is 0 where there is no record. */
void history_read(const struct history *history, unsigned archive,
    int64_t from_s, size_t count, struct history_record *out);

/* Add a later record to sum, which began as {0}. */
void history_sum(struct history_record *sum,
    const struct history_record *one);

/* What counters.h has now, as counts of a record. */
void history_counters(uint64_t out_counts[HISTORY_COUNTS]);

#endif

/* counters_table.h - what a row of metrics.h becomes; for counters*.c
 *
 * Sets bound what a label may be.  The values of a listed set are written in
 * the source; any other value counts as the last.  A learned set takes up to
 * SET_LEARNED names of the configuration (listeners, milters) in the order in
 * which they appear; the first is for events that have no value, the last for
 * values that came when all slots had been taken.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_COUNTERS_TABLE_H
#define ZM_BASE_COUNTERS_TABLE_H

#include <stdbool.h>
#include <stdint.h>

enum counters_set { SET_NONE, SET_CHANNEL, SET_MECHANISM, SET_TLS, SET_STAGE,
	SET_REASON, SET_CLASS, SET_SUBJECT, SET_WHY, SET_ACTION, SET_LIMIT,
	SET_LISTENER, SET_MILTER, SET_COUNT };

enum {
	SET_LEARNED = 16,		/* slots of a learned set */
	LEARNED_SETS = 2,
	LEARNED_BYTES = 56,		/* of a name, with its NUL */
	COUNTERS_BOUNDS_MAX = 12,
	COUNTERS_BESIDE_BYTES = 4096	/* after the counters: neighbours.c */
};

/* One value: a pattern of how it looks in an event (words; ? is any byte, * at
 * the end is any rest; case is ignored), and its name. */
struct counters_value {
	const char	*looks, *name;
};

struct counters_set_row {
	const struct counters_value *values;	/* NULL: learned */
	unsigned	 count;
	const char	*none;		/* learned: of events without */
};

extern const struct counters_set_row counters_sets[SET_COUNT];

enum counters_bounds { BOUNDS_NONE, BOUNDS_FAST, BOUNDS_SLOW, BOUNDS_COUNT };

struct counters_bounds_row {
	int64_t		 us[COUNTERS_BOUNDS_MAX];
	unsigned	 count;
};

extern const struct counters_bounds_row counters_bounds[BOUNDS_COUNT];

enum counters_type { ROW_COUNTER, ROW_SUM, ROW_HISTOGRAM, ROW_GAUGE,
	ROW_LOOKED };

struct counters_by {
	const char	*label, *key;
	enum counters_set set;
};

enum { COUNTERS_BY_MAX = 2, COUNTERS_NOW = -1 };

struct counters_row {
	enum counters_type type;
	const char	*metric, *labels, *text;
	unsigned	 event;		/* or EV_COUNT + tally */
	struct counters_by by[COUNTERS_BY_MAX];
	const char	*key;		/* of its number, or to look at */
	const char	*front;		/* NULL: always */
	int64_t		 number;	/* a gauge's; COUNTERS_NOW */
	unsigned	 unit_us;	/* of a histogram's number */
	enum counters_bounds bounds;
	const char	*looked;	/* the type of what is looked up */
};

extern const struct counters_row counters_rows[];
extern const unsigned counters_row_count;

/* COUNTERS_BESIDE_BYTES that all processes share, zeroed at first; NULL:
 * nothing is mapped. */
void *counters_beside(void);
/* How many slots a row has for each combination of its labels. */
unsigned counters_row_width(const struct counters_row *row);
/* How many combinations of labels a row has. */
unsigned counters_row_ways(const struct counters_row *row);
/* The first slot of a row; the first call lays out all rows. */
unsigned counters_row_slot(unsigned row);
/* The number in a slot now; 0 when nothing is mapped. */
uint64_t counters_slot(unsigned slot);
/* The value i of a learned or listed set; NULL: it was not learned yet. */
const char *counters_value_name(enum counters_set set, unsigned i);

#endif

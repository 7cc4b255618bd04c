/* objectives.h - whether mail arrives as soon as the site wants it to
 *
 * `objective PATTERN PERCENT SPAN` of the configuration: a slot each, which a
 * recipient remembers from the moment when its control file is read; the
 * first statement that fits its address counts.  What was delivered is kept
 * in pieces of five minutes, an hour in all; what waits is counted when
 * somebody asks.
 *
 * A slot is known by its pattern and span: what it counted stays over a
 * reload and, in the file of arrivals.h, over a restart.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_OBJECTIVES_H
#define ZM_SCHEDULER_OBJECTIVES_H

#include "base/str.h"
#include "conf/conf.h"

enum {
	OBJECTIVE_SLOTS = 255,		/* statements of now and before */
	OBJECTIVE_NONE = 0,		/* slots count from 1 */
	OBJECTIVE_PIECES = 12,
	OBJECTIVE_PIECE_S = 300
};

struct objective_piece {
	int64_t		 number;	/* wall seconds / OBJECTIVE_PIECE_S */
	uint32_t	 in_time, late;
	uint32_t	 tried;		/* late, and deferred before */
};

struct objective {
	char		*pattern;	/* NULL: the slot is free */
	int64_t		 span_s;
	unsigned	 percent;	/* 0: it is stated no more */
	unsigned	 place;		/* among the statements */
	struct objective_piece pieces[OBJECTIVE_PIECES];
};

struct objectives {
	struct objective *slots;	/* slot N is the (N - 1)th; NULL: there
					 * never was one */
	unsigned	 count;		/* stated now */
	uint8_t		 generation;	/* another after each change: slots of
					 * recipients that were found before
					 * are to be found anew */
};

/* Take over the statements of the configuration. */
void objectives_set(struct objectives *objectives, const struct conf *conf);
void objectives_release(struct objectives *objectives);

/* The slot of the first statement that matches the address, or
 * OBJECTIVE_NONE. */
unsigned objectives_for(const struct objectives *objectives,
    struct slice address);
/* The objective of a slot; NULL: it is not stated any more. */
const struct objective *objectives_at(const struct objectives *objectives,
    unsigned slot);

/* A recipient of the slot has its mail, so long after it was accepted. */
void objectives_arrived(struct objectives *objectives, unsigned slot,
    int64_t span_ms, bool was_deferred, int64_t now_s);
/* What arrived in the last hour. */
struct objective_piece objective_sum(const struct objective *objective,
    int64_t now_s);
/* Is the objective met, if `waiting` late recipients still wait?  Without
 * recipients it is. */
bool objective_is_met(const struct objective *objective,
    const struct objective_piece *sum, uint64_t waiting);

/* Lines "%objective TAB SPAN_S TAB PATTERN" and, for each piece, "TAB
 * NUMBER,IN_TIME,LATE,TRIED"; and back, into slots that are stated. */
void objectives_add_lines(const struct objectives *objectives,
    int64_t now_s, struct str *out);
void objectives_read(struct objectives *objectives, struct slice text,
    int64_t now_s);

#endif

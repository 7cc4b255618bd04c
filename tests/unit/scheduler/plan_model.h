/* plan_model.h - a world of threads and vertices, and a model of their plan
 *
 * The model keeps, for each vertex, its state, its moment and a number that
 * says when it became ready; for each thread its hold, its pause and what it
 * gave away when; for each lane the list of sources in the order of their
 * turns.  Every question is answered by looking at all.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_UNIT_SCHEDULER_PLAN_MODEL_H
#define ZM_TESTS_UNIT_SCHEDULER_PLAN_MODEL_H

#include <criterion/criterion.h>

#include "scheduler/plan/plan.h"
#include "scheduler/plan/shaping/provider.h"
#include "scheduler/plan/thread.h"

enum {
	VERTICES = 60, THREADS = 7, SOURCES = 5, PARALLEL = 6,
	PROVIDER_MOST = 2, RATE_COUNT = 5, RATE_PER_MS = 1000, TAKES = 4096
};

struct shadow {
	enum vertex_state state;
	int64_t		 due_ms;
	uint64_t	 order;		/* of becoming ready */
};

struct shadow_turns {		/* of a lane: sources that have something */
	int		 source[SOURCES], turns[SOURCES];
	int		 count;
};

struct shadow_thread {
	int64_t		 held_ms;	/* 0: not held */
	unsigned	 provider;	/* 1, 2; 0: none */
	bool		 is_firm, is_blocked;
	unsigned	 limit, threshold, credit, failures, troubles;
	int64_t		 good_ms, reduced_ms;
	int64_t		 takes[TAKES];	/* moments, for the rate */
	size_t		 take_count;
	int		 lane_credit[LANES];
	struct shadow_turns turns[LANES];
};

struct world {
	struct planner	plan;
	struct ring	ring;
	struct thread	threads[THREADS];
	struct provider_table providers;
	struct job	*jobs[VERTICES];	/* one vertex each */
	struct shadow	shadows[VERTICES];
	struct shadow_thread t[THREADS];
	int64_t		now_ms;
	uint64_t	order;
	uint64_t	seed;
};

extern struct world w;
extern const char *const provider_names[2];

/* 0 to sides - 1, the same ones in each run of a world. */
uint32_t dice(uint32_t sides);

/* The vertex of a number, and the other way. */
struct vertex *vertex_of(size_t i);
size_t number_of(const struct vertex *vertex);

/* bits of mode: 1 fair, 2 by age, 4 a rate, 8 feedback, 16 providers */
void world_make(uint64_t seed, unsigned mode);
void world_end(void);

/* A vertex becomes ready, or is so no more: its source gets, or loses, its
 * turn in the lane. */
void turns_enter(size_t i);
void turns_leave(size_t i);

/* Whose turn it is in a thread; -1: nobody is ready. */
int next_ready(size_t thread);

/* When something falls due; INT64_MAX: never. */
int64_t next_moment(void);

#endif

/* farm.h - the router's workers: who has what in hand
 *
 * Each worker has up to FARM_BATCH names ahead of it.  A name is given by
 * line and remains a claim away from being another's: what lies unclaimed
 * behind a long list for FARM_STEAL_MS is given to an idle worker as well;
 * the rename decides who has it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_FARM_H
#define ZM_ROUTER_FARM_H

#include "daemon/skeleton.h"
#include "router/farm/queue.h"

enum {
	FARM_BATCH = 16,		/* names ahead of one worker */
	FARM_STEAL_MS = 50,
	FARM_SOON_MS = 100,
	FARM_REST_MS = 1000,		/* before the next fork when workers
					 * die young */
	FARM_STOP_MS = 10000		/* then the others are left alone */
};

struct farm;

/* In the child: serve socket until end of file. */
typedef void farm_worker_fn(void *context, int socket);
/* In the parent: a worker died (pid is reaped, its descriptors closed). */
typedef void farm_death_fn(void *context, pid_t pid, int status);

struct farm_rows {
	farm_worker_fn	*worker;
	farm_death_fn	*death;		/* not for those told to end */
	void		*context;
};

/* Fork count workers.  Names come from queue at each turn's end. */
struct farm *farm_new(struct process *process, struct queue *queue,
    unsigned count, const struct farm_rows *rows);

/* Other work for some worker: a line as in worker.h that is not a name.  The
 * same line twice waits once. */
void farm_add_chore(struct farm *farm, const char *line);

/* New workers (the configuration changed); the old ones finish. */
void farm_renew(struct farm *farm, unsigned count);

/* End all workers between two messages, then call fn. */
void farm_stop(struct farm *farm, loop_fn *fn, void *context);

/* In another child of the process: close what is the farm's. */
void farm_in_child(struct farm *farm);

/* Kills what is left. */
void farm_free(struct farm **farm);

#endif

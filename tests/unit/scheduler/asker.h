/* asker.h - a client of the operator's socket in a yard
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_UNIT_SCHEDULER_ASKER_H
#define ZM_TESTS_UNIT_SCHEDULER_ASKER_H

#include "scheduler/control/act/act.h"
#include "tests/unit/scheduler/yard.h"

struct asker {
	struct yard	*yard;
	int		 fd;
	struct str	 text;		/* of the answer, without the empty
					 * line */
};

/* Open the yard's socket; then a client. */
void asker_serve(struct yard *yard);
void asker_open(struct asker *asker, struct yard *yard);
void asker_close(struct asker *asker);
/* Open a yard with that configuration, its socket, and a client; close all;
 * or end the scheduler and start it again, so that only the spool remembers. */
void asker_yard_open(struct asker *asker, struct yard *yard,
    const char *conf);
void asker_yard_close(struct asker *asker);
void asker_yard_restart(struct asker *asker);

/* Send a request (without LF), read up to the empty line. */
void asker_ask(struct asker *asker, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A number of the last line; -1: it has none. */
int64_t asker_last(const struct asker *asker, const char *key);
/* A text of line number (from 0); "" when it has none.  Good until the next
 * call. */
const char *asker_text(const struct asker *asker, size_t line,
    const char *key);
size_t asker_lines(const struct asker *asker);

/* A request at work, without a socket: act_step goes on, act_free ends it.
 * The loop turns only when the test says so. */
struct act *act_begun(struct yard *yard, const char *line);

/* A step of it; what it has a thread sync has been synced when this
 * returns. */
enum act_step act_stepped(struct yard *yard, struct act *act, struct str *out);

/* All of its steps. */
struct answer_sum {
	size_t		 steps, lines, bytes, most;	/* most: of a step */
	struct str	 text;
};
void answer_whole(struct yard *yard, const char *line,
    struct answer_sum *sum);

#endif

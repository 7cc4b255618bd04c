/* yard_agent.h - the agent of yard.h, run in a child process
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_UNIT_SCHEDULER_YARD_AGENT_H
#define ZM_TESTS_UNIT_SCHEDULER_YARD_AGENT_H

#include "tests/unit/scheduler/yard.h"

void yard_agent_main(int socket, struct yard_shared *shared)
	__attribute__((noreturn));

/* One job, done at once: what an agent says of it goes to lines.  Closes
 * both descriptors. */
void yard_agent_job(struct yard_shared *shared, struct slice line, int body,
    int control, struct str *lines);

#endif

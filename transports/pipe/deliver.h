/* deliver.h - the functions of the pipe agent
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_PIPE_DELIVER_H
#define ZM_TRANSPORTS_PIPE_DELIVER_H

#include "transports/frame/agent.h"

/* The functions of struct agent_kind: prepare (0), run a program for each
 * recipient (returns 0: no time for the next try is known), free. */
int pipe_start(struct agent_run *run, struct err *err);
int pipe_job(struct agent_run *run, struct control_job *job, int body_fd,
    struct verdict verdicts[]);
void pipe_finish(struct agent_run *run);

#endif

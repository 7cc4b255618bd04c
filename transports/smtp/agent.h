/* agent.h - the client in the frame of an agent (smtp and lmtp)
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_CLIENT_AGENT_H
#define ZM_TRANSPORTS_CLIENT_AGENT_H

#include "transports/frame/agent.h"

/* run->state becomes a struct smtp_client. 0 or -1. */
int client_agent_start(struct agent_run *run, bool is_lmtp, struct err *err);

/* The functions of struct agent_kind: join shares the files that first's client
 * has read; job returns the seconds until the next try that the connection
 * suggests, or 0. */
void client_agent_join(struct agent_run *run, const struct agent_run *first);
int client_agent_job(struct agent_run *run, struct control_job *job,
    int body_fd, struct verdict verdicts[]);
void client_agent_idle(struct agent_run *run);
bool client_agent_warm(struct agent_run *run, struct slice host,
    struct verdict *trouble);
void client_agent_finish(struct agent_run *run);

#endif

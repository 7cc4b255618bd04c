/* error.c - the agent of channel error: every recipient fails, its host
 * says why
 *
 * Spec   doc/INTERNALS.md section 7
 *
 * SPDX-License-Identifier: ISC
 */
#include "transports/frame/agent.h"
#include "transports/error/reason.h"

#include "base/banned.h"

static int
error_job(struct agent_run *run, struct control_job *job, int body_fd,
    struct verdict verdicts[])
{
	for (size_t i = 0; i < job->rcpt_count; i++)
		reason_verdict(job->rcpts[i].host, job->rcpts[i].user,
		    &verdicts[i]);
	return 0;
}

static const struct agent_kind error = {
	.name = "error",
	.purpose = "fails what cannot be delivered",
	.channel = "error",
	.job = error_job,
};

int
main(int argc, char **argv)
{
	return agent_main(argc, argv, &error);
}

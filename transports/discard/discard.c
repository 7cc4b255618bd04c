/* discard.c - the agent of channel discard: takes everything and forgets it
 *
 * Spec   zmailer.conf(5), route ... via discard
 *
 * SPDX-License-Identifier: ISC
 */
#include "transports/frame/agent.h"

#include "base/banned.h"

static int
discard_job(struct agent_run *run, struct control_job *job, int body_fd,
    struct verdict verdicts[])
{
	for (size_t i = 0; i < job->rcpt_count; i++)
		verdict_set(&verdicts[i], VERDICT_DELIVERED, "2.0.0",
		    "discard", "discarded");
	return 0;
}

static const struct agent_kind discard = {
	.name = "discard",
	.purpose = "takes mail and forgets it",
	.channel = "discard",
	.job = discard_job,
};

int
main(int argc, char **argv)
{
	return agent_main(argc, argv, &discard);
}

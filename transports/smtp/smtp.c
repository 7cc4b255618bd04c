/* smtp.c - the agent of channel smtp
 *
 * Spec   zmailer-smtp(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "transports/agent.h"
#include "transports/smtp/client_agent.h"

#include "base/banned.h"

static int
start(struct agent_run *run, struct err *err)
{
	return client_agent_start(run, false, err);
}

static const struct agent smtp = {
	.name = "smtp",
	.purpose = "sends mail to other hosts by SMTP",
	.channel = "smtp",
	.is_confined = true,
	.start = start,
	.job = client_agent_job,
	.idle = client_agent_idle,
	.finish = client_agent_finish,
};

int
main(int argc, char **argv)
{
	return agent_main(argc, argv, &smtp);
}

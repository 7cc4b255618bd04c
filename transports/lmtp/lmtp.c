/* lmtp.c - the agent of channel lmtp: the smtp client with LHLO and a reply
 * for each recipient (RFC 2033)
 *
 * Spec   zmailer-lmtp(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "transports/frame/agent.h"
#include "transports/smtp/agent.h"

#include "base/banned.h"

static int
lmtp_start(struct agent_run *run, struct err *err)
{
	return client_agent_start(run, true, err);
}

static const struct agent_kind lmtp = {
	.name = "lmtp",
	.purpose = "hands mail to a mail store by LMTP",
	.channel = "lmtp",
	.is_confined = true,
	.start = lmtp_start,
	.join = client_agent_join,
	.job = client_agent_job,
	.idle = client_agent_idle,
	.warm = client_agent_warm,
	.finish = client_agent_finish,
};

int
main(int argc, char **argv)
{
	return agent_main(argc, argv, &lmtp);
}

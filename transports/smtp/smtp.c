/* smtp.c - the agent of channel smtp
 *
 * Spec   zmailer-smtp(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "transports/frame/agent.h"
#include "transports/smtp/agent.h"
#include "transports/smtp/probe.h"

#include "base/banned.h"

static int
smtp_start(struct agent_run *run, struct err *err)
{
	return client_agent_start(run, false, err);
}

static const struct agent_kind smtp = {
	.name = "smtp",
	.purpose = "sends mail to other hosts by SMTP",
	.channel = "smtp",
	.is_confined = true,
	.start = smtp_start,
	.join = client_agent_join,
	.job = client_agent_job,
	.idle = client_agent_idle,
	.warm = client_agent_warm,
	.finish = client_agent_finish,
};

int
main(int argc, char **argv)
{
	/* -C FILE --probe HOST [SECRETS]: for people */
	if ((argc == 5 || argc == 6) && strcmp(argv[1], "-C") == 0 &&
	    strcmp(argv[3], "--probe") == 0)
		return client_probe(argv[2], argv[4], argv[5]);
	return agent_main(argc, argv, &smtp);
}

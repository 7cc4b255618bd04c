/* pipe.c - the agent of channel pipe
 *
 * Spec   zmailer-pipe(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "transports/pipe/deliver.h"

#include "base/banned.h"

static const struct agent_kind pipe_agent = {
	.name = "pipe",
	.purpose = "gives mail to programs",
	.channel = "pipe",
	.start = pipe_start,
	.job = pipe_job,
	.finish = pipe_finish,
};

int
main(int argc, char **argv)
{
	return agent_main(argc, argv, &pipe_agent);
}

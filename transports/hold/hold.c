/* hold.c - the agent of channel hold: mail that waits for a person
 *
 * Every attempt is deferred, with the host as the reason; the message stays
 * until its route changes (`zmailer resubmit`) or the schedule expires it.
 *
 * Spec   zmailer.conf(5), route ... via hold
 *
 * SPDX-License-Identifier: ISC
 */
#include "transports/agent.h"

#include "base/banned.h"

enum { REASON_BYTES_MAX = 200 };

static int
job(struct agent_run *run, struct work_job *work, int body_fd,
    struct verdict verdicts[])
{
	for (size_t i = 0; i < work->rcpt_count; i++) {
		struct slice host = slice_first(work->rcpts[i].host,
		    REASON_BYTES_MAX);

		if (host.n == 0 || slice_is(host, "-"))
			verdict_set(&verdicts[i], VERDICT_DEFERRED, "4.3.0",
			    "hold", "held");
		else
			verdict_set(&verdicts[i], VERDICT_DEFERRED, "4.3.0",
			    "hold", "held: " SLICE_FMT, SLICE_ARG(host));
	}
	return 0;
}

static const struct agent hold = {
	.name = "hold",
	.purpose = "keeps mail waiting",
	.channel = "hold",
	.job = job,
};

int
main(int argc, char **argv)
{
	return agent_main(argc, argv, &hold);
}

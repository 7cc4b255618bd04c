/* count.c - an agent in C: counts what it is given, and fails the rest
 *
 *	route count.example via channel count/all
 *	schedule count/all { command "/usr/local/lib/count 100" }
 *
 * Mail is taken while its size is within so many KiB; larger mail fails with
 * 5.3.4.  The frame does everything else: doc/AGENT.md.
 *
 * SPDX-License-Identifier: ISC
 */
#include "transports/frame/agent.h"

#include "base/banned.h"

static uint64_t bytes_max, seen;

static int
count_start(struct agent_run *run, struct err *err)
{
	uint64_t number;

	if (run->word_count != 1 || !slice_number(slice_of(run->words[0]), 1,
	    1 << 20, &number))
		return err_set(err, "count: say how many KiB, 1 to 1048576");
	bytes_max = number * 1024;
	return 0;
}

static int
count_job(struct agent_run *run, struct control_job *job, int body_fd,
    struct verdict verdicts[])
{
	for (size_t i = 0; i < job->rcpt_count; i++)
		if (job->size_bytes > bytes_max)
			verdict_set(&verdicts[i], VERDICT_FAILED, "5.3.4",
			    "count", "larger than %llu bytes",
			    (unsigned long long)bytes_max);
		else
			verdict_set(&verdicts[i], VERDICT_DELIVERED, "2.0.0",
			    "count", "number %llu",
			    (unsigned long long)++seen);
	return 0;
}

static const struct agent_kind count = {
	.name = "count",
	.purpose = "counts mail",
	.channel = "count",
	.takes = "KIB",
	.start = count_start,
	.job = count_job,
};

int
main(int argc, char **argv)
{
	return agent_main(argc, argv, &count);
}

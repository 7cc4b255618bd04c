/* expirer.c - gives up whatever a schedule clause hands it
 *
 *	schedule smtp/gone.example { command "expirer this host is gone" }
 *
 * The words are what the sender reads, with an RFC 3463 status of class 5
 * in front or 5.4.7; with -s nobody hears of it.
 *
 * Spec   zmailer-expirer(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "transports/frame/agent.h"
#include "transports/error/reason.h"

#include "base/banned.h"

struct expirer {
	bool		is_silent;
	struct str	words;
};

static int
expirer_start(struct agent_run *run, struct err *err)
{
	struct expirer *expirer = mem_alloc(1, sizeof(*expirer));
	int first = 0;

	str_init(&expirer->words);
	if (run->word_count > 0 && strcmp(run->words[0], "-s") == 0) {
		expirer->is_silent = true;
		first = 1;
	}
	if (first == run->word_count)
		str_adds(&expirer->words, "5.4.7 given up by the postmaster");
	else if (strncmp(run->words[first], "5.", 2) != 0)
		str_adds(&expirer->words, "5.4.7 ");
	for (int i = first; i < run->word_count; i++)
		str_addf(&expirer->words, "%s%s", i > first ? " " : "",
		    run->words[i]);
	run->state = expirer;
	return 0;
}

static int
expirer_job(struct agent_run *run, struct control_job *job, int body_fd,
    struct verdict verdicts[])
{
	const struct expirer *expirer = run->state;

	for (size_t i = 0; i < job->rcpt_count; i++)
		if (expirer->is_silent)
			verdict_set(&verdicts[i], VERDICT_RELAYED, "2.0.0",
			    "expirer", "given up without a report");
		else
			reason_verdict(str_slice(&expirer->words),
			    job->rcpts[i].user, &verdicts[i]);
	return 0;
}

static void
expirer_finish(struct agent_run *run)
{
	struct expirer *expirer = run->state;

	str_release(&expirer->words);
	mem_free(&expirer);
	run->state = NULL;
}

static const struct agent_kind expirer = {
	.name = "expirer",
	.purpose = "gives up whatever it is handed",
	.channel = "expire",
	.takes = "[-s] [STATUS] [WORDS]",
	.start = expirer_start,
	.job = expirer_job,
	.finish = expirer_finish,
};

int
main(int argc, char **argv)
{
	return agent_main(argc, argv, &expirer);
}

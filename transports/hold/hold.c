/* hold.c - the agent of channel hold: mail that waits for a person
 *
 * Every attempt is deferred, with the host as the reason: words with _ for
 * blanks, perhaps a status in front of them.  The message stays until its
 * route changes (`zmailer reroute`) or the schedule expires it.
 *
 * Spec   zmailer.conf(5), route ... via hold, via defer
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "transports/frame/agent.h"

#include "base/banned.h"

enum { REASON_BYTES_MAX = 200 };

/* "4.4.3_back_on_Monday": deferred by a route. */
static bool
hold_is_status(struct slice host)
{
	return host.n > 6 && slice_starts(host, "4.") &&
	    ascii_is_digit(host.p[2]) && host.p[3] == '.' &&
	    ascii_is_digit(host.p[4]) && host.p[5] == '_';
}

static void
hold_verdict(struct arena *arena, struct slice host, struct verdict *verdict)
{
	bool has_status = hold_is_status(host);
	char *words = slice_dup(arena, host);
	char status[6] = "4.3.0";

	for (size_t i = 0; i < host.n; i++)
		if (words[i] == '_')
			words[i] = ' ';
	if (has_status)
		memcpy(status, host.p, 5);
	verdict_set(verdict, VERDICT_DEFERRED, status, "hold", "%s%s",
	    has_status ? "" : "held: ", words + (has_status ? 6 : 0));
}

static int
hold_job(struct agent_run *run, struct control_job *job, int body_fd,
    struct verdict verdicts[])
{
	for (size_t i = 0; i < job->rcpt_count; i++) {
		struct slice host = slice_first(job->rcpts[i].host,
		    REASON_BYTES_MAX);

		if (host.n == 0 || slice_is(host, "-"))
			verdict_set(&verdicts[i], VERDICT_DEFERRED, "4.3.0",
			    "hold", "held");
		else
			hold_verdict(run->arena, host, &verdicts[i]);
	}
	return 0;
}

static const struct agent_kind hold = {
	.name = "hold",
	.purpose = "keeps mail waiting",
	.channel = "hold",
	.job = hold_job,
};

int
main(int argc, char **argv)
{
	return agent_main(argc, argv, &hold);
}

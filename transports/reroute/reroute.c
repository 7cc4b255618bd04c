/* reroute.c - gives whatever a schedule clause hands it back to the router
 *
 *	schedule smtp/moved.example { command "reroute" }
 *
 * Each message's recipients of this job become a new submission with the
 * same sender and wishes, routed as the configuration is then; here they are
 * "relayed" under its id.  Received fields end loops.
 *
 * In     recipients with whole addresses (a local user gets our host's)
 * Out    a submission (rows S0-S2, S4)
 * Spec   zmailer-reroute(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>

#include "grammar/smtp/path.h"
#include "transports/frame/agent.h"
#include "transports/frame/handin.h"

#include "base/banned.h"

/* The address of a recipient; false: it is none that could be routed. */
static bool
reroute_rcpt(const struct agent_run *run, const struct control_rcpt *rcpt,
    struct envelope_rcpt *out)
{
	struct slice rest;
	struct err err;

	*out = (struct envelope_rcpt){ .notify = rcpt->notify,
	    .orcpt = rcpt->orcpt };
	if (slice_is(rcpt->channel, "pipe") || slice_is(rcpt->host, "file") ||
	    path_parse(rcpt->user, PATH_BARE_OK | PATH_LOCAL_OK | PATH_UTF8,
	    &out->path, &rest, &err) != 0 || rest.n > 0)
		return false;
	if (out->path.domain.n == 0)
		out->path.domain = slice_of(run->conf->host);
	return true;
}

static int
reroute_mail(struct agent_run *run, struct control_job *job, int body_fd,
    struct verdict verdicts[])
{
	struct envelope_rcpt *rcpts = arena_alloc(run->arena,
	    job->rcpt_count * sizeof(*rcpts));
	char id[SPOOL_ID_BYTES] = "";
	struct handin handin;
	struct err err = { "" };
	bool is_full = false;
	size_t count = 0;
	int result = 0;

	for (size_t i = 0; i < job->rcpt_count; i++)
		if (reroute_rcpt(run, &job->rcpts[i], &rcpts[count]))
			count++;
	handin_of_job(job, body_fd, &handin);
	handin.with = "reroute";
	handin.rcpts = rcpts;
	handin.rcpt_count = count;
	if (count > 0)
		result = handin_submit(run->conf, &handin, id, &err);
	is_full = result < 0 && (errno == ENOSPC || errno == EDQUOT);
	for (size_t i = 0; i < job->rcpt_count; i++) {
		struct envelope_rcpt one;

		if (!reroute_rcpt(run, &job->rcpts[i], &one))
			verdict_set(&verdicts[i], VERDICT_DEFERRED, "4.3.0",
			    "reroute", "a program or file has no route");
		else if (result < 0)
			verdict_set(&verdicts[i], VERDICT_DEFERRED,
			    is_full ? "4.3.1" : "4.3.0", "reroute",
			    "%s", err.text);
		else
			verdict_set(&verdicts[i], VERDICT_RELAYED, "2.0.0",
			    "reroute", "routed again as %s", id);
	}
	return 0;
}

static const struct agent_kind reroute = {
	.name = "reroute",
	.purpose = "gives whatever it is handed back to the router",
	.channel = "reroute",
	.job = reroute_mail,
};

int
main(int argc, char **argv)
{
	return agent_main(argc, argv, &reroute);
}

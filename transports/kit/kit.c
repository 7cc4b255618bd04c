/* kit.c - an agent whose work a script does
 *
 *	schedule archive/srv-mail { command "kit /usr/local/lib/archive.sh" }
 *
 * The frame reads jobs and descriptors; for each recipient the script runs
 * with the message on its standard input, host and recipient as arguments,
 * and its exit status (sysexits) is the verdict.
 *
 * Spec   doc/AGENT.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <unistd.h>

#include "transports/frame/agent.h"
#include "transports/frame/content.h"
#include "transports/pipe/order.h"

#include "base/banned.h"

static int
kit_start(struct agent_run *run, struct err *err)
{
	if (run->word_count != 1 || run->words[0][0] != '/')
		return err_set(err, "kit: name one script by its whole path");
	return 0;
}

static void
kit_serve(struct agent_run *run, const struct control_job *job,
    const struct control_rcpt *rcpt, const struct job_content *content,
    struct verdict *verdict)
{
	const struct conf *conf = run->conf;
	char *user = slice_dup(run->arena, rcpt->user);
	char *argv[] = { run->words[0], slice_dup(run->arena, rcpt->host),
	    user, NULL };
	struct pipe_program program = { .argv = argv, .directory = "/",
		.timeout_ms = conf->timeouts.job_ms,
		.memory_bytes = conf->limits.program_memory_bytes,
		.output_bytes = conf->limits.program_output_bytes };
	struct program_end end;
	struct account self;
	uint64_t bytes;
	struct err err;

	account_of_ids(geteuid(), getegid(), &self);
	program.owner = &self;
	program.environment = order_environment(run->arena, job, &self,
	    user);
	program.message_fd = order_file(job->size_bytes, &err);
	if (program.message_fd < 0 || content_write(content,
	    program.message_fd, SLICE(""), &bytes, &err) < 0 ||
	    lseek(program.message_fd, 0, SEEK_SET) < 0)
		verdict_set(verdict, VERDICT_DEFERRED, "4.3.0", "kit", "%s",
		    err.text);
	else {
		program_run(&program, &end);
		program_verdict(&end, verdict);
	}
	if (program.message_fd >= 0)
		close(program.message_fd);
}

static int
kit_job(struct agent_run *run, struct control_job *job, int body_fd,
    struct verdict verdicts[])
{
	struct job_content content;
	struct err err;

	content_clear(&content);
	for (size_t i = 0; i < job->rcpt_count; i++)
		if (content_load(&content, 0, job, body_fd, &err) < 0)
			verdict_set(&verdicts[i], VERDICT_DEFERRED, "4.3.0",
			    "kit", "%s", err.text);
		else
			kit_serve(run, job, &job->rcpts[i], &content,
			    &verdicts[i]);
	content_release(&content);
	return 0;
}

static const struct agent_kind kit = {
	.name = "kit",
	.purpose = "has a script do the work of an agent",
	.channel = "kit",
	.takes = "SCRIPT",
	.start = kit_start,
	.job = kit_job,
};

int
main(int argc, char **argv)
{
	return agent_main(argc, argv, &kit);
}

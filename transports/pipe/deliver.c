/* deliver.c - a message for a program: whose it is
 *
 * In     recipients: a command line and the uid it belongs to
 * Out    programs run; verdicts
 * Holds  the message of the present job
 * Trusts the router to have found out whose command it is
 * Spec   zmailer-pipe(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <unistd.h>

#include "transports/content.h"
#include "transports/pipe/deliver.h"
#include "transports/pipe/order.h"

#include "base/banned.h"

int
pipe_start(struct agent_run *run, struct err *err)
{
	struct content *content = mem_alloc(1, sizeof(*content));

	content_init(content);
	run->state = content;
	return 0;
}

void
pipe_finish(struct agent_run *run)
{
	struct content *content = run->state;

	content_release(content);
	mem_free(&content);
	run->state = NULL;
}

static int
owner_find(const struct work_rcpt *rcpt, struct account *out,
    struct err *err)
{
	const struct account *found;
	int got = account_by_uid(account_is_root() ? rcpt->uid :
	    (int64_t)geteuid(), &found, err);

	if (got > 0)
		*out = *found;
	else if (got == 0 && !account_is_root()) {
		account_of_ids(geteuid(), getegid(), out);
		got = 1;
	}
	return got > 0 ? 0 : got < 0 ? -1 : err_set(err,
	    "the command belongs to uid %lld, which has no account",
	    (long long)rcpt->uid);
}

static void
trouble(struct verdict *verdict, const struct err *err)
{
	verdict_set(verdict, VERDICT_DEFERRED, "4.3.0", "pipe", "%s",
	    err->text);
}

static void
deliver(struct agent_run *run, const struct work_job *job, size_t index,
    struct verdict *verdict)
{
	struct account owner;
	struct order order = {
		.conf = run->conf, .arena = run->arena, .job = job,
		.rcpt = &job->rcpts[index], .content = run->state,
		.owner = &owner, .command = job->rcpts[index].user };
	struct err err;

	if (owner_find(order.rcpt, &owner, &err) < 0)
		trouble(verdict, &err);
	else
		order_run(&order, verdict);
}

int
pipe_job(struct agent_run *run, struct work_job *job, int body_fd,
    struct verdict verdicts[])
{
	struct err err;

	if (content_load(run->state, CONTENT_FROM_LINE, job, body_fd,
	    &err) < 0) {
		for (size_t i = 0; i < job->rcpt_count; i++)
			trouble(&verdicts[i], &err);
		return 0;
	}
	for (size_t i = 0; i < job->rcpt_count; i++)
		deliver(run, job, i, &verdicts[i]);
	return 0;
}

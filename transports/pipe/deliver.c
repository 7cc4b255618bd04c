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

#include "transports/frame/content.h"
#include "transports/pipe/command.h"
#include "transports/pipe/deliver.h"
#include "transports/pipe/order.h"

#include "base/banned.h"

int
pipe_start(struct agent_run *run, struct err *err)
{
	struct job_content *content = mem_alloc(1, sizeof(*content));

	content_clear(content);
	run->state = content;
	return 0;
}

void
pipe_finish(struct agent_run *run)
{
	struct job_content *content = run->state;

	content_release(content);
	mem_free(&content);
	run->state = NULL;
}

static int
pipe_find_owner(const struct control_rcpt *rcpt, struct account *out,
    struct err *err)
{
	const struct account *found;
	enum account_found got = account_by_uid(account_is_root() ? rcpt->uid :
	    (int64_t)geteuid(), &found, err);

	if (got == ACCOUNT_FOUND)
		*out = *found;
	else if (got == ACCOUNT_NONE && !account_is_root()) {
		account_of_ids(geteuid(), getegid(), out);
		got = ACCOUNT_FOUND;
	}
	if (got == ACCOUNT_NONE)
		err_set(err, "the command belongs to uid %lld, which has no "
		    "account", (long long)rcpt->uid);
	return got == ACCOUNT_FOUND ? 0 : -1;
}

static void
pipe_trouble(struct verdict *verdict, const struct err *err)
{
	verdict_set(verdict, VERDICT_DEFERRED, "4.3.0", "pipe", "%s",
	    err->text);
}

/* "deliver pipe" of a domain: its command, as the account it names. */
static int
pipe_domain_order(const struct agent_run *run, const struct control_job *job,
    struct pipe_order *order, struct account *owner, struct err *err)
{
	const struct conf_domain *domain = conf_domain_of_pipe(run->conf,
	    job->host);
	const struct account *found = NULL;
	struct str recipient = STR_INIT;
	enum account_found got;

	if (domain == NULL)
		return err_set(err, "no domain is delivered to a pipe as "
		    SLICE_FMT, SLICE_ARG(slice_first(job->host, 100)));
	order->command = slice_of(domain->deliver.command);
	command_add_value(&recipient, order->rcpt->user);
	order->recipient = arena_dup(run->arena, recipient.buf,
	    recipient.len);
	str_release(&recipient);
	if (!account_is_root()) {
		account_of_ids(geteuid(), getegid(), owner);
		return 0;
	}
	got = domain->deliver.account == NULL ? account_by_uid(-2, &found,
	    err) : account_by_name(slice_of(domain->deliver.account), &found,
	    err);
	if (got == ACCOUNT_FOUND && found->uid == 0)
		return err_set(err, "root runs no programs for strangers");
	if (got == ACCOUNT_FOUND)
		*owner = *found;
	if (got == ACCOUNT_NONE)
		err_set(err, "there is no account %s",
		    domain->deliver.account != NULL ?
		    domain->deliver.account : "nobody");
	return got == ACCOUNT_FOUND ? 0 : -1;
}

static void
pipe_deliver_rcpt(struct agent_run *run, const struct control_job *job,
    size_t index,
    struct verdict *verdict)
{
	struct account owner;
	struct pipe_order order = {
		.conf = run->conf, .arena = run->arena, .job = job,
		.rcpt = &job->rcpts[index], .content = run->state,
		.owner = &owner, .command = job->rcpts[index].user };
	struct err err;

	int got = slice_starts(job->host, "=") ?
	    pipe_domain_order(run, job, &order, &owner, &err) :
	    pipe_find_owner(order.rcpt, &owner, &err);

	if (got < 0)
		pipe_trouble(verdict, &err);
	else
		order_run(&order, verdict);
}

int
pipe_job(struct agent_run *run, struct control_job *job, int body_fd,
    struct verdict verdicts[])
{
	struct err err;

	if (content_load(run->state, CONTENT_FROM_LINE, job, body_fd,
	    &err) < 0) {
		for (size_t i = 0; i < job->rcpt_count; i++)
			pipe_trouble(&verdicts[i], &err);
		return 0;
	}
	for (size_t i = 0; i < job->rcpt_count; i++)
		pipe_deliver_rcpt(run, job, i, &verdicts[i]);
	return 0;
}

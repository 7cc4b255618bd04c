/* agent.c - the client in the frame of an agent
 *
 * In     jobs of the frame
 * Out    verdicts
 * Holds  one struct client for the life of the process
 * Spec   doc/protocol/agent.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>

#include "transports/smtp/client.h"
#include "transports/smtp/agent.h"

#include "base/banned.h"

int
client_agent_start(struct agent_run *run, bool is_lmtp, struct err *err)
{
	struct client *client = mem_alloc(1, sizeof(*client));

	client_init(client, run->conf, is_lmtp);
	run->state = client;
	if (client_start(client, err) < 0)
		return -1;
	run->sandbox.readable_count = client_token_directories(client,
	    run->sandbox.readable, SANDBOX_PATHS_MAX);
	return 0;
}

void
client_agent_join(struct agent_run *run, const struct agent_run *first)
{
	const struct client *shared = first->state;
	struct client *client = mem_alloc(1, sizeof(*client));

	client_init(client, run->conf, shared->is_lmtp);
	client_join(client, shared);
	run->state = client;
}

int
client_agent_job(struct agent_run *run, struct control_job *job, int body_fd,
    struct verdict verdicts[])
{
	struct client *client = run->state;

	client->messages_max = conf_schedule_for(run->conf,
	    slice_of(run->agent->channel), job->host)->connection_messages;
	if (client->zone != run->zone)
		client_quit(client);
	client->zone = run->zone;
	client_deliver(client, run->arena, job, body_fd, verdicts);
	run->provider = slice_of(client->provider);
	if (client->tls.version[0] != '\0') {
		struct str words = STR_INIT;

		tls_info_add(&words, &client->tls);
		run->tls = slice_copy(run->arena, str_slice(&words));
		str_release(&words);
	}
	return 0;
}

void
client_agent_idle(struct agent_run *run)
{
	struct client *client = run->state;
	const struct conf_schedule *schedule = conf_schedule_for(run->conf,
	    slice_of(run->agent->channel), slice_of(client->host));

	client_idle(client, schedule->idle_ms);
}

void
client_agent_finish(struct agent_run *run)
{
	struct client *client = run->state;

	client_release(client);
	mem_free(&client);
	run->state = NULL;
}

/* agent.c - the client in the frame of an agent
 *
 * In     jobs of the frame
 * Out    verdicts
 * Holds  one struct smtp_client for the life of the process
 * Spec   doc/protocol/agent.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "io/consult/sts_ask.h"
#include "transports/smtp/client.h"
#include "transports/smtp/agent.h"

#include "base/banned.h"

static struct slice
client_tls_words(const struct smtp_client *client, struct arena *arena)
{
	struct str words = STR_INIT;
	struct slice result;

	if (client->tls.version[0] == '\0')
		return (struct slice){ NULL, 0 };
	tls_info_add(&words, &client->tls);
	result = slice_copy(arena, str_slice(&words));
	str_release(&words);
	return result;
}

static void
client_on_opened(void *context, const struct smtp_client *client)
{
	struct agent_run *run = context;

	agent_connected(run, client->who, client_tls_words(client,
	    run->arena));
}

int
client_agent_start(struct agent_run *run, bool is_lmtp, struct err *err)
{
	struct smtp_client *client = mem_alloc(1, sizeof(*client));

	client_init(client, run->conf, is_lmtp);
	client->opened = client_on_opened;
	client->opened_context = run;
	run->state = client;
	if (client_start(client, err) < 0)
		return -1;
	run->sandbox.readable_count = client_token_directories(client,
	    run->sandbox.readable, SANDBOX_PATHS_MAX - 1);
	if (!is_lmtp && conf_asks_sts(run->conf))
		run->sandbox.readable[run->sandbox.readable_count++] =
		    arena_printf(run->arena, "%s/" STS_DIR,
		    run->conf->spool_dir);
	return 0;
}

void
client_agent_join(struct agent_run *run, const struct agent_run *first)
{
	const struct smtp_client *shared = first->state;
	struct smtp_client *client = mem_alloc(1, sizeof(*client));

	client_init(client, run->conf, shared->is_lmtp);
	client_join(client, shared);
	client->opened = client_on_opened;
	client->opened_context = run;
	run->state = client;
}

/* The connection's zone, the clause's limit and the time for what comes
 * next. */
static void
client_agent_set(struct agent_run *run, struct slice host)
{
	struct smtp_client *client = run->state;

	client->messages_max = conf_schedule_for(run->conf,
	    slice_of(run->agent->channel), host)->connection_messages;
	if (client->zone != run->zone)
		client_quit(client);
	client->zone = run->zone;
	client->until_ms = clock_steady_ms() + CLIENT_JOB_FOR_MS;
}

int
client_agent_job(struct agent_run *run, struct control_job *job, int body_fd,
    struct verdict verdicts[])
{
	struct smtp_client *client = run->state;

	client_agent_set(run, job->host);
	client_deliver(client, run->arena, job, body_fd, verdicts);
	client->until_ms = 0;
	run->provider = slice_of(client->provider);
	run->tls = client_tls_words(client, run->arena);
	run->is_connected = peer_is_open(&client->peer);
	return 0;
}

bool
client_agent_warm(struct agent_run *run, struct slice host,
    struct verdict *trouble)
{
	struct smtp_client *client = run->state;
	const char *name = slice_dup(run->arena, host);
	bool is_warm;

	client_agent_set(run, host);
	client->id[0] = '\0';
	is_warm = peer_is_open(&client->peer) && client_open(client, name,
	    WISH_NONE, trouble) && client_answers(client);
	is_warm = is_warm || client_open(client, name, WISH_NONE,
	    trouble);
	client->until_ms = 0;
	if (is_warm)
		client->used_at_ms = clock_steady_ms();
	run->is_connected = peer_is_open(&client->peer);
	return is_warm;
}

void
client_agent_idle(struct agent_run *run)
{
	struct smtp_client *client = run->state;
	const struct conf_schedule *schedule = conf_schedule_for(run->conf,
	    slice_of(run->agent->channel), slice_of(client->host));

	client_idle(client, schedule->idle_ms);
	run->is_connected = peer_is_open(&client->peer);
}

void
client_agent_finish(struct agent_run *run)
{
	struct smtp_client *client = run->state;

	client_release(client);
	mem_free(&client);
	run->state = NULL;
}

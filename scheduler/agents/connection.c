/* connection.c - what agents tell of their connections
 *
 * In     lines #connected and #closed, taken apart
 * Out    who is connected where, for people
 * Holds  a peer's name for each agent that said one
 * Trusts the words only as bytes that answer.c has bounded
 * Spec   doc/protocol/agent.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "scheduler/agents/agents.h"

#include "base/banned.h"

static char *
slice_to_text(struct slice words)
{
	char *text = mem_alloc(words.n + 1, 1);

	if (words.n > 0)
		memcpy(text, words.p, words.n);
	return text;
}

const char *
agent_standby_host(const struct agent *agent)
{
	const struct conf *conf = agent->agents->queue->conf;

	if (agent->ring->is_stale || agent->ring->clause.warm == 0 ||
	    agent->ring->clause_index >= conf->schedule_count)
		return "";
	return conf->schedules[agent->ring->clause_index].host;
}

void
agent_connect(struct agent *agent, struct slice peer, struct slice tls)
{
	struct agent_connection *connection;

	agent_disconnect(agent);
	connection = mem_alloc(1, sizeof(*connection));
	connection->peer = slice_to_text(peer);
	connection->tls = slice_to_text(tls);
	connection->host = mem_strdup(agent->thread != NULL ?
	    agent->thread->host : agent_standby_host(agent));
	connection->since_s = clock_wall_s();
	agent->connection = connection;
}

void
agent_disconnect(struct agent *agent)
{
	struct agent_connection *connection = agent->connection;

	if (connection == NULL)
		return;
	mem_free(&connection->peer);
	mem_free(&connection->tls);
	mem_free(&connection->host);
	mem_free(&agent->connection);
}

struct agent *
agents_first_after(const struct agents *agents, unsigned after)
{
	struct agent *agent;

	TAILQ_FOREACH(agent, &agents->all, all_entry)
		if (agent->token > after)
			return agent;
	return NULL;
}

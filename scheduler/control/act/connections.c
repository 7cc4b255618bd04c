/* connections.c - the connections that agents hold
 *
 * In     globs of a destination
 * Out    a line a connection, oldest agent first
 * Holds  nothing; agents may come and go between the steps
 * Spec   doc/protocol/control.md section 4
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "base/json.h"
#include "grammar/units.h"
#include "scheduler/control/act/act.h"

#include "base/banned.h"

enum { AGENTS_A_STEP = 256 };

static const char *
connection_glob(const char *glob)
{
	return glob != NULL && glob[0] != '\0' ? glob : "*";
}

static bool
act_is_connection(const struct act *act, const struct agent *agent)
{
	if (agent->thread != NULL && act_is_dest(act, agent->thread))
		return true;
	return glob_match(slice_of(connection_glob(act->request.channel)),
	    slice_of(agent->ring->channel)) &&
	    glob_match(slice_of(connection_glob(act->request.host)),
	    slice_of(agent->connection->host));
}

/* The message that it is at, since when, and how many more it was given. */
static void
connection_add_work(const struct agent *agent, struct str *out)
{
	const struct vertex *vertex = TAILQ_FIRST(&agent->jobs);
	int64_t since_ms = vertex == NULL ? agent->idle_ms :
	    agent->hungry_ms > agent->fed_ms ? agent->hungry_ms :
	    agent->fed_ms;

	json_text(out, "does", slice_of(vertex != NULL ? "busy" :
	    agent->is_standby ? "warm" : "idle"));
	json_text(out, "id", slice_of(vertex == NULL ? "" : vertex->job->id));
	json_number(out, "for_s", (clock_steady_ms() - since_ms) / 1000);
	json_number(out, "more", vertex == NULL ? 0 : agent->job_count - 1);
}

static void
connection_add(const struct agent *agent, struct str *out)
{
	const struct agent_connection *connection = agent->connection;
	const struct ring *ring = agent->ring;

	json_open(out);
	json_text(out, "channel", slice_of(ring->channel));
	json_text(out, "host", slice_of(agent->thread != NULL ?
	    agent->thread->host : connection->host));
	json_text(out, "zone", slice_of(ring->zone));
	json_text(out, "peer", slice_of(connection->peer));
	json_text(out, "tls", slice_of(connection->tls));
	json_number(out, "since", connection->since_s);
	json_number(out, "uses", connection->uses);
	connection_add_work(agent, out);
	json_number(out, "limit", agent->thread != NULL ?
	    pace_limit(agent->thread) : ring->clause.parallel);
	json_number(out, "serving", agent->thread != NULL ?
	    agent->thread->serving : 0);
	json_number(out, "uses_max", ring->clause.connection_messages);
	json_number(out, "idle_max_s", ring->clause.idle_ms / 1000);
	json_number(out, "warm", ring->clause.warm);
	json_number(out, "pid", agent->pid);
	json_close(out);
}

static enum act_step
connections_over(struct act *act, struct str *out)
{
	act_done(act, out);
	json_number(out, "connections", (int64_t)act->count.destinations);
	json_close(out);
	return ACT_DONE;
}

enum act_step
act_connections(struct act *act, struct str *out)
{
	struct agent *agent = agents_first_after(act->agents,
	    (unsigned)act->order);

	for (unsigned i = 0; i < AGENTS_A_STEP && agent != NULL &&
	    out->len < ACT_OUT_BYTES; i++) {
		act->order = agent->token;
		if (agent->connection != NULL &&
		    act_is_connection(act, agent)) {
			connection_add(agent, out);
			act->count.destinations++;
		}
		agent = TAILQ_NEXT(agent, all_entry);
	}
	return agent != NULL ? ACT_MORE : connections_over(act, out);
}

/* scheduler.c - main: who delivers what, and when
 *
 * In     control files in transport/, answers of transport agents
 * Out    jobs to agents, reports to router/, files unlinked when done
 * Holds  one loop; nothing that a restart could not read from the spool
 * Spec   scheduler(8); doc/INTERNALS.md rows P4 to F3
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <unistd.h>

#include "base/clock.h"
#include "daemon/given.h"
#include "daemon/skeleton.h"
#include "journal/event.h"
#include "scheduler/agents/agents.h"
#include "scheduler/control/control.h"
#include "scheduler/control/suppose.h"
#include "scheduler/core.h"
#include "scheduler/mailq/process.h"
#include "scheduler/mailq/listener.h"
#include "scheduler/outcome/results.h"
#include "scheduler/verdicts/verdicts.h"

#include "base/banned.h"

enum { STOP_WAIT_MS = 10000, STOP_LOOK_MS = 50 };

static struct scheduler scheduler;
static struct timer stop_timer, clause_timer;
static int64_t stop_end_ms;
static int control_socket = -1, verdicts_socket = -1;

static int
scheduler_open_privileged(struct process *process, struct err *err)
{
	struct given given;

	given_take(&given);
	control_socket = control_bind(process->conf->run_dir, &given, err);
	mailq_take(&given, process);
	given_close(&given);
	if (control_socket < 0)
		return -1;
	verdicts_socket = verdicts_bind(process->conf->run_dir, err);
	return verdicts_socket < 0 ? -1 : 0;
}

static void
scheduler_on_exit(void *context, unsigned token, pid_t pid, int status)
{
	if (token == LAUNCHER_BESIDE)
		mailq_ended(scheduler.mailq, pid, status);
	else
		agents_exit(&scheduler.agents, token, pid, status);
}

/* A schedule clause is over at its moment: what went by it finds another. */
static void
scheduler_watch_clauses(struct process *process);

static void
scheduler_on_clause_end(void *context)
{
	struct process *process = context;

	core_reload(&scheduler, process->conf);
	scheduler_watch_clauses(process);
}

static void
scheduler_watch_clauses(struct process *process)
{
	int64_t end_s = conf_schedule_next_end(process->conf);

	timer_clear(&clause_timer);
	if (end_s != 0)
		timer_set(process->loop, &clause_timer, clock_steady_ms() +
		    (end_s - clock_wall_s()) * 1000, scheduler_on_clause_end,
		    process);
}

/* Orders of the site's script come like those of a person. */
static int
scheduler_connect(struct err *err)
{
	struct rights_peer peer = { .uid = geteuid(), .right = RIGHT_WRITE,
	    .name = "before_attempt" };
	int ends[2];

	if (scheduler.control == NULL)
		return err_set(err, "the control is not there");
	if (ipc_pair(ends, err) < 0)
		return -1;
	(void)fcntl(ends[0], F_SETFL, O_NONBLOCK);
	control_take(scheduler.control, ends[1], &peer);
	return ends[0];
}

static int
scheduler_after_drop(struct process *process, struct err *err)
{
	const struct conf *conf = process->conf;
	struct spool *spool;

	if (conf_spool_open(conf, 0, &spool,
	    err) < 0 || core_open(&scheduler, conf, spool, process->loop,
	    launcher_start_agent, launcher_kill_agent, err) < 0)
		return -1;
	scheduler.outcome.results = results_new(process, &scheduler.queue,
	    scheduler_connect);
	launcher_on_exit(process, scheduler_on_exit, NULL);
	launcher_on_begin(process, agents_begin, &scheduler.agents);
	scheduler.control = control_new(&scheduler.agents,
	    control_socket);
	sampler_open(&scheduler.sampler, &scheduler.agents, event_dir());
	scheduler.verdicts = verdicts_new(&scheduler.queue, verdicts_socket);
	scheduler.mailq = mailq_new(&scheduler.agents,
	    scheduler.control, launcher_start_beside);
	loop_limit_turns(process->loop, CORE_TURN_US);
	loop_at_turn_end(process->loop, core_turn, &scheduler);
	scheduler_watch_clauses(process);
	return 0;
}

/* Before that a pair that is no message yet could be taken for one. */
static void
scheduler_names_read(struct process *process)
{
	core_begin(&scheduler);
}

static void
scheduler_reload(struct process *process, const struct conf *old)
{
	core_reload(&scheduler, process->conf);
	scheduler_watch_clauses(process);
	control_reload(scheduler.control);
	verdicts_reload(scheduler.verdicts);
	mailq_reload(scheduler.mailq, old);
	results_renew(&scheduler.outcome.results, process, &scheduler.queue,
	    scheduler_connect);
}

/* Agents were told to finish; what is not back in time keeps its locks and
 * is found so by the next scheduler. */
static void
scheduler_stop_look(void *context)
{
	struct process *process = context;

	if (agents_busy(&scheduler.agents) > 0 && clock_steady_ms() <
	    stop_end_ms) {
		timer_set(process->loop, &stop_timer,
		    clock_steady_ms() + STOP_LOOK_MS, scheduler_stop_look,
		    process);
		return;
	}
	timer_clear(&clause_timer);
	mailq_free(&scheduler.mailq);
	control_free(&scheduler.control);
	verdicts_free(&scheduler.verdicts);
	results_free(&scheduler.outcome.results);
	core_close(&scheduler);
	loop_stop(process->loop);
}

static void
scheduler_stop(struct process *process)
{
	agents_stop(&scheduler.agents);
	stop_end_ms = clock_steady_ms() + STOP_WAIT_MS;
	scheduler_stop_look(process);
}

int
main(int argc, char **argv)
{
	static const struct daemon daemon = {
		.name = "scheduler",
		.purpose = "Hands routed messages to transport agents, "
		    "retries and reports.",
		.role = ROLE_SCHEDULER,
		.wants_launcher = true,
		.open_privileged = scheduler_open_privileged,
		.after_drop = scheduler_after_drop,
		.names_read = scheduler_names_read,
		.reload = scheduler_reload,
		.stop = scheduler_stop,
		.beside_open = mailq_open,
		.beside_run = mailq_run,
	};

	if (suppose_is_meant(argc, argv))
		return suppose_run();
	return daemon_run(argc, argv, &daemon);
}

/* carriers.c - which process carries an agent, and how many each has
 *
 * In     agents; what carriers say; ends of processes
 * Out    agents to carriers
 * Holds  our end of each carrier's standard input
 * Trusts no carrier: what it says counts for its own agents only
 * Spec   carriers.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/carriers.h"
#include "io/ipc.h"

#include "base/banned.h"

enum { CHANNEL_BYTES = 33 };

struct carrier {
	TAILQ_ENTRY(carrier) entry;
	char		 channel[CHANNEL_BYTES];
	pid_t		 pid;
	int		 control;
	struct watch	*watch;
	struct ipc_inbox inbox;
	unsigned	 agents;
	bool		 is_retired;	/* it gets no more of them */
};

static TAILQ_HEAD(, carrier) carriers = TAILQ_HEAD_INITIALIZER(carriers);
static struct loop *carriers_loop;
static carriers_ended_fn *carriers_ended;

void
carriers_open(struct loop *loop, carriers_ended_fn *ended)
{
	carriers_loop = loop;
	carriers_ended = ended;
}

/* It ends when its agents have; nobody hears it any more. */
static void
carriers_drop(struct carrier *carrier)
{
	TAILQ_REMOVE(&carriers, carrier, entry);
	watch_free(&carrier->watch);
	close(carrier->control);
	ipc_inbox_release(&carrier->inbox);
	mem_free(&carrier);
}

/* ---- what it says ------------------------------------------------------ */

/* False: that was no line of a carrier. */
static bool
carriers_take_line(struct carrier *carrier, struct slice line)
{
	struct slice verb;
	uint64_t token;

	if (!slice_word(&line, &verb) || !slice_is(verb, "ended") ||
	    !slice_number(slice_trim(line), 0, UINT32_MAX, &token) ||
	    carrier->agents == 0)
		return false;
	carrier->agents--;
	carriers_ended((unsigned)token, carrier->pid);
	return true;
}

/* Nonsense has it lose its place here: its agents end with the process. */
static void
carriers_on_ready(void *context, unsigned ready)
{
	struct carrier *carrier = context;
	bool is_good = ipc_receive(carrier->control, &carrier->inbox) > 0;
	struct slice line;
	size_t cursor = 0;
	int got = IPC_LINE;

	while (is_good && (got = ipc_line(&carrier->inbox, &cursor,
	    &line)) == IPC_LINE)
		is_good = carriers_take_line(carrier, line);
	if (!is_good || got < 0 || carrier->agents == 0)
		carriers_drop(carrier);
	else
		ipc_inbox_consume(&carrier->inbox, cursor);
}

/* ---- giving ------------------------------------------------------------ */

static bool
carriers_hand(struct carrier *carrier, unsigned token, int socket)
{
	struct str line = STR_INIT;
	bool is_given;

	str_addf(&line, "agent %u\n", token);
	is_given = ipc_send(carrier->control, str_slice(&line), &socket, 1) ==
	    (ssize_t)line.len;
	str_release(&line);
	if (is_given)
		carrier->agents++;
	return is_given;
}

pid_t
carriers_give(const char *channel, unsigned processes, unsigned token,
    int socket)
{
	struct carrier *carrier, *least = NULL;
	unsigned count = 0;

	TAILQ_FOREACH(carrier, &carriers, entry) {
		if (strcmp(carrier->channel, channel) != 0)
			continue;
		count++;
		if (!carrier->is_retired && (least == NULL ||
		    carrier->agents < least->agents))
			least = carrier;
	}
	if (count < processes || least == NULL ||
	    least->agents >= CARRIER_AGENTS_MAX ||
	    !carriers_hand(least, token, socket))
		return 0;
	return least->pid;
}

void
carriers_add(const char *channel, pid_t pid, int control, unsigned token,
    int socket)
{
	struct carrier *carrier = mem_alloc(1, sizeof(*carrier));

	strlcpy(carrier->channel, channel, sizeof(carrier->channel));
	carrier->pid = pid;
	carrier->control = control;
	(void)fcntl(control, F_SETFL, O_NONBLOCK);
	ipc_inbox_init(&carrier->inbox);
	carrier->watch = loop_watch(carriers_loop, control, LOOP_READ,
	    carriers_on_ready, carrier);
	TAILQ_INSERT_TAIL(&carriers, carrier, entry);
	/* else it would wait for ever: it ends, and the agent with it */
	if (!carriers_hand(carrier, token, socket))
		carriers_drop(carrier);
}

/* ---- the end ----------------------------------------------------------- */

void
carriers_retire(void)
{
	struct carrier *carrier;

	TAILQ_FOREACH(carrier, &carriers, entry)
		carrier->is_retired = true;
}

void
carriers_forget(pid_t pid)
{
	struct carrier *carrier;

	TAILQ_FOREACH(carrier, &carriers, entry)
		if (carrier->pid == pid) {
			carriers_drop(carrier);
			return;
		}
}

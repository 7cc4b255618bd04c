/* beside.c - what the supervisor has beside its daemons
 *
 * In     the configuration in force
 * Out    processes
 * Holds  what each of them holds
 * Spec   beside.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <unistd.h>

#include "daemon/skeleton.h"
#include "tools/run/beside/beside.h"

#include "base/banned.h"

/* First who sends on what the others say. */
void
beside_start(struct beside *beside, struct loop *loop,
    struct conf *const *conf, const char *conf_path)
{
	forward_start(&beside->forward, loop, conf);
	keeper_start(&beside->keeper, loop, conf);
	mover_start(&beside->mover, loop, conf);
	answers_start(&beside->answers, loop, conf);
	taker_start(&beside->taker, loop, conf);
	for (size_t i = 0; i < CONSULTED_KINDS; i++)
		consulted_start(&beside->consulted[i], &consulted_kinds[i],
		    loop, conf, conf_path);
}

/* ---- handed over ------------------------------------------------------- */

static void
beside_note_sidecar(struct handover *out, const char *name,
    const struct sidecar *sidecar, int place)
{
	struct handover_beside *row;

	if (out->beside_count == HANDOVER_BESIDE_MAX)
		panic("beside: no place for %s in a record", name);
	row = &out->beside[out->beside_count++];
	*row = (struct handover_beside){ .pid = sidecar->pid,
	    .lifeline = sidecar->lifeline, .socket = sidecar->socket,
	    .place = place, .second = sidecar->second };
	strlcpy(row->name, name, sizeof(row->name));
}

void
beside_note(const struct beside *beside, struct handover *out)
{
	const struct sidecar keeper = { .pid = beside->keeper.pid,
	    .lifeline = -1, .socket = -1, .second = -1 };
	const struct sidecar mover = { .pid = beside->mover.pid,
	    .lifeline = -1, .socket = -1, .second = -1 };

	beside_note_sidecar(out, "log-to", &beside->forward.sidecar,
	    beside->forward.place_fd);
	beside_note_sidecar(out, "keeper", &keeper, -1);
	beside_note_sidecar(out, "mover", &mover, -1);
	beside_note_sidecar(out, "answers", &beside->answers.sidecar, -1);
	beside_note_sidecar(out, "taker", &beside->taker.sidecar, -1);
	for (size_t i = 0; i < CONSULTED_KINDS; i++)
		beside_note_sidecar(out, consulted_kinds[i].program,
		    &beside->consulted[i].sidecar, -1);
}

/* Its row, which is nobody's then. */
static struct handover_beside
beside_take_row(struct handover *handover, const char *name)
{
	struct handover_beside had = { .lifeline = -1, .socket = -1,
	    .place = -1, .second = -1 };

	for (size_t i = 0; i < handover->beside_count; i++) {
		struct handover_beside *row = &handover->beside[i];

		if (strcmp(row->name, name) != 0)
			continue;
		had = *row;
		*row = (struct handover_beside){ .lifeline = -1,
		    .socket = -1, .place = -1, .second = -1 };
	}
	return had;
}

/* A process that this program does not know ends with its lifeline. */
static void
beside_leave_rows(const struct handover *handover)
{
	for (size_t i = 0; i < handover->beside_count; i++) {
		const struct handover_beside *row = &handover->beside[i];
		const int fds[] = { row->lifeline, row->socket, row->place,
		    row->second };

		for (size_t at = 0; at < sizeof(fds) / sizeof(fds[0]); at++)
			if (fds[at] >= 0)
				close(fds[at]);
	}
}

void
beside_take_over(struct beside *beside, struct loop *loop,
    struct conf *const *conf, const char *conf_path,
    struct handover *handover)
{
	struct handover_beside had;

	for (size_t i = 0; i < CONSULTED_KINDS; i++) {
		had = beside_take_row(handover, consulted_kinds[i].program);
		consulted_take_over(&beside->consulted[i],
		    &consulted_kinds[i], loop, conf, conf_path, &had);
	}
	had = beside_take_row(handover, "log-to");
	forward_take_over(&beside->forward, loop, conf, (pid_t)had.pid,
	    had.lifeline, had.place);
	had = beside_take_row(handover, "keeper");
	keeper_start(&beside->keeper, loop, conf);
	keeper_adopt(&beside->keeper, (pid_t)had.pid);
	had = beside_take_row(handover, "mover");
	mover_start(&beside->mover, loop, conf);
	mover_adopt(&beside->mover, (pid_t)had.pid);
	had = beside_take_row(handover, "answers");
	answers_take_over(&beside->answers, loop, conf, (pid_t)had.pid,
	    had.lifeline, had.socket);
	had = beside_take_row(handover, "taker");
	taker_take_over(&beside->taker, loop, conf, (pid_t)had.pid,
	    had.lifeline, had.socket);
	beside_leave_rows(handover);
}

int
beside_try(const struct conf *conf, struct err *err)
{
	char path[4200];

	for (size_t i = 0; i < CONSULTED_KINDS; i++) {
		if (!consulted_kinds[i].is_wanted(conf))
			continue;
		daemon_libexec(consulted_kinds[i].program, path, sizeof(path));
		if (access(path, X_OK) < 0)
			return err_sys(err, "%s", path);
	}
	return 0;
}

/* ---- changed, ended ---------------------------------------------------- */

void
beside_reload(struct beside *beside)
{
	for (size_t i = 0; i < CONSULTED_KINDS; i++)
		consulted_reload(&beside->consulted[i]);
	answers_reload(&beside->answers);
	taker_reload(&beside->taker);
	forward_reload(&beside->forward);
}

void
beside_stop(struct beside *beside)
{
	keeper_stop(&beside->keeper);
	mover_stop(&beside->mover);
	answers_stop(&beside->answers);
	taker_stop(&beside->taker);
	forward_stop(&beside->forward);
}

static void
beside_on_consulted_end(void *context)
{
	struct beside *beside = context;

	for (size_t i = 0; i < CONSULTED_KINDS; i++)
		if (beside->consulted[i].sidecar.pid != 0)
			return;
	beside->ended_fn(beside->context);
}

bool
beside_let_go(struct beside *beside, loop_fn *ended_fn, void *context)
{
	bool are_gone = true;

	beside->ended_fn = ended_fn;
	beside->context = context;
	for (size_t i = 0; i < CONSULTED_KINDS; i++)
		are_gone &= consulted_stop(&beside->consulted[i],
		    beside_on_consulted_end, beside);
	return are_gone;
}

void
beside_ended(struct beside *beside, pid_t pid)
{
	keeper_ended(&beside->keeper, pid);
	mover_ended(&beside->mover, pid);
	answers_ended(&beside->answers, pid);
	taker_ended(&beside->taker, pid);
	forward_ended(&beside->forward, pid);
	for (size_t i = 0; i < CONSULTED_KINDS; i++)
		consulted_ended(&beside->consulted[i], pid);
}

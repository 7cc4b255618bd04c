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

#include "tools/run/beside/beside.h"

#include "base/banned.h"

void
beside_start(struct beside *beside, struct loop *loop,
    struct conf *const *conf, const char *conf_path)
{
	consulted_start(&beside->resolver, &consulted_resolver, loop, conf,
	    conf_path);
	forward_start(&beside->forward, loop, conf);
	keeper_start(&beside->keeper, loop, conf);
	answers_start(&beside->answers, loop, conf);
	consulted_start(&beside->tables, &consulted_tables, loop, conf,
	    conf_path);
	consulted_start(&beside->sts, &consulted_sts, loop, conf, conf_path);
	consulted_start(&beside->share, &consulted_share, loop, conf,
	    conf_path);
}

/* ---- handed over ------------------------------------------------------- */

static void
beside_note_sidecar(struct handover *out, const char *name,
    const struct sidecar *sidecar, int place)
{
	struct handover_beside *row;

	if (out->beside_count == HANDOVER_BESIDE_MAX)
		return;
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

	beside_note_sidecar(out, "log-to", &beside->forward.sidecar,
	    beside->forward.place_fd);
	beside_note_sidecar(out, "keeper", &keeper, -1);
	beside_note_sidecar(out, "answers", &beside->answers.sidecar, -1);
	beside_note_sidecar(out, "tables", &beside->tables.sidecar, -1);
	beside_note_sidecar(out, "sts", &beside->sts.sidecar, -1);
	beside_note_sidecar(out, "share", &beside->share.sidecar, -1);
	beside_note_sidecar(out, "resolver", &beside->resolver.sidecar, -1);
}

static struct handover_beside
beside_had(const struct handover *handover, const char *name)
{
	for (size_t i = 0; i < handover->beside_count; i++)
		if (strcmp(handover->beside[i].name, name) == 0)
			return handover->beside[i];
	return (struct handover_beside){ .lifeline = -1, .socket = -1,
	    .place = -1, .second = -1 };
}

static void
beside_take_consulted(struct consulted *consulted,
    const struct consulted_kind *kind, struct loop *loop,
    struct conf *const *conf, const char *conf_path,
    const struct handover *handover)
{
	struct handover_beside had = beside_had(handover, kind->program);

	consulted_take_over(consulted, kind, loop, conf, conf_path, &had);
}

void
beside_take_over(struct beside *beside, struct loop *loop,
    struct conf *const *conf, const char *conf_path,
    const struct handover *handover)
{
	struct handover_beside had = beside_had(handover, "log-to");

	beside_take_consulted(&beside->resolver, &consulted_resolver, loop,
	    conf, conf_path, handover);
	forward_take_over(&beside->forward, loop, conf, (pid_t)had.pid,
	    had.lifeline, had.place);
	keeper_start(&beside->keeper, loop, conf);
	keeper_adopt(&beside->keeper,
	    (pid_t)beside_had(handover, "keeper").pid);
	had = beside_had(handover, "answers");
	answers_take_over(&beside->answers, loop, conf, (pid_t)had.pid,
	    had.lifeline, had.socket);
	beside_take_consulted(&beside->tables, &consulted_tables, loop, conf,
	    conf_path, handover);
	beside_take_consulted(&beside->sts, &consulted_sts, loop, conf,
	    conf_path, handover);
	beside_take_consulted(&beside->share, &consulted_share, loop, conf,
	    conf_path, handover);
}

void
beside_reload(struct beside *beside)
{
	consulted_reload(&beside->resolver);
	answers_reload(&beside->answers);
	forward_reload(&beside->forward);
	consulted_reload(&beside->tables);
	consulted_reload(&beside->sts);
	consulted_reload(&beside->share);
}

void
beside_stop(struct beside *beside)
{
	keeper_stop(&beside->keeper);
	answers_stop(&beside->answers);
	forward_stop(&beside->forward);
}

static void
beside_on_consulted_end(void *context)
{
	struct beside *beside = context;

	if (beside->tables.sidecar.pid == 0 &&
	    beside->sts.sidecar.pid == 0 && beside->share.sidecar.pid == 0 &&
	    beside->resolver.sidecar.pid == 0)
		beside->ended_fn(beside->context);
}

bool
beside_let_go(struct beside *beside, loop_fn *ended_fn, void *context)
{
	bool are_gone;

	beside->ended_fn = ended_fn;
	beside->context = context;
	are_gone = consulted_stop(&beside->tables, beside_on_consulted_end,
	    beside);
	are_gone = consulted_stop(&beside->sts, beside_on_consulted_end,
	    beside) && are_gone;
	are_gone = consulted_stop(&beside->share, beside_on_consulted_end,
	    beside) && are_gone;
	return consulted_stop(&beside->resolver, beside_on_consulted_end,
	    beside) && are_gone;
}

void
beside_ended(struct beside *beside, pid_t pid)
{
	keeper_ended(&beside->keeper, pid);
	answers_ended(&beside->answers, pid);
	forward_ended(&beside->forward, pid);
	consulted_ended(&beside->tables, pid);
	consulted_ended(&beside->sts, pid);
	consulted_ended(&beside->share, pid);
	consulted_ended(&beside->resolver, pid);
}

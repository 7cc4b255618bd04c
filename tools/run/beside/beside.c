/* beside.c - what the supervisor has beside its daemons
 *
 * In     the configuration in force
 * Out    processes
 * Holds  what each of them holds
 * Spec   beside.h
 *
 * SPDX-License-Identifier: ISC
 */
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

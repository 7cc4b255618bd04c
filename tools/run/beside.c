/* beside.c - what the supervisor has beside its daemons
 *
 * In     the configuration in force
 * Out    processes
 * Holds  what each of them holds
 * Spec   beside.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "tools/run/beside.h"

#include "base/banned.h"

void
beside_start(struct beside *beside, struct loop *loop,
    struct conf *const *conf, const char *conf_path)
{
	forward_start(&beside->forward, loop, conf);
	keeper_start(&beside->keeper, loop, conf);
	answers_start(&beside->answers, loop, conf);
	databases_start(&beside->databases, loop, conf, conf_path);
}

void
beside_reload(struct beside *beside)
{
	answers_reload(&beside->answers);
	forward_reload(&beside->forward);
	databases_reload(&beside->databases);
}

void
beside_stop(struct beside *beside)
{
	keeper_stop(&beside->keeper);
	answers_stop(&beside->answers);
	forward_stop(&beside->forward);
}

void
beside_ended(struct beside *beside, pid_t pid)
{
	keeper_ended(&beside->keeper, pid);
	answers_ended(&beside->answers, pid);
	forward_ended(&beside->forward, pid);
	databases_ended(&beside->databases, pid);
}

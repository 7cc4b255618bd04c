/* looks.c - look-ups under way, each in a process of its own
 *
 * In     orders
 * Out    a line for each
 * Holds  a process for each that is under way
 * Trusts what they say no more than what strangers said to them
 * Spec   looks.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <signal.h>

#include "base/clock.h"
#include "daemon/child.h"
#include "daemon/sandbox.h"
#include "io/ipc.h"
#include "sts/known/looks.h"

#include "base/banned.h"

struct look {
	struct looks		*looks;
	struct child		*child;
	struct fetch_order	 order;
	void			*about;		/* NULL: it is free */
	struct str		 line;		/* that came */
	struct timer		 timer;
};

struct looks {
	struct process		*process;
	looks_done_fn		*done;
	void			*context;
	unsigned		 count;
	struct look		 list[];
};

/* ---- the process ------------------------------------------------------- */

static void
look_run(void *context, int socket)
{
	static const struct sandbox rules = { .sockets = SOCKETS_ALL };
	const struct look *look = context;
	struct str line = STR_INIT;
	struct err err;

	if (sandbox_enter(&rules, &err) < 0)
		fatal("%s", err.text);	/* it would be open: nobody looks */
	fetch_run(&look->order, &line);
	str_addc(&line, '\n');
	(void)ipc_send(socket, str_slice(&line), NULL, 0);
	str_release(&line);
}

/* ---- its owner --------------------------------------------------------- */

/* done may begin another: the look is free before it is called. */
static void
look_end(struct look *look)
{
	struct looks *looks = look->looks;
	struct str line = look->line;
	void *about = look->about;

	timer_clear(&look->timer);
	look->about = NULL;
	str_init(&look->line);
	if (about != NULL)
		looks->done(looks->context, about, str_slice(&line));
	str_release(&line);
}

static void
look_on_read(void *context)
{
	struct look *look = context;
	struct slice line;

	while (child_line(look->child, &line))
		if (look->line.len == 0)
			str_add_slice(&look->line, line);
}

static void
look_on_end(void *context, const struct child_end *end)
{
	look_end(context);
}

static void
look_on_time(void *context)
{
	struct look *look = context;

	child_stop(look->child);
	str_reset(&look->line);
	str_addf(&look->line, "trouble sts-policy-fetch-error no end within "
	    "%llds (sts timeout)", (long long)look->order.for_ms / 1000);
	look_end(look);
}

static const struct child_kind look_kind = {
	.name = "sts-look", .end_signal = SIGKILL, .run = look_run,
	.read = look_on_read, .ended = look_on_end,
};

bool
looks_begin(struct looks *looks, const struct fetch_order *order, void *about)
{
	struct look *look = NULL;
	struct err err;

	for (unsigned i = 0; i < looks->count && look == NULL; i++)
		if (looks->list[i].about == NULL &&
		    !child_is_running(looks->list[i].child))
			look = &looks->list[i];
	if (look == NULL)
		return false;
	look->order = *order;
	if (child_start(look->child, &err) < 0) {
		warning("%s", err.text);
		return false;
	}
	look->about = about;
	child_attach(look->child);
	timer_set(looks->process->loop, &look->timer, clock_steady_ms() +
	    order->for_ms, look_on_time, look);
	return true;
}

struct looks *
looks_new(struct process *process, unsigned count, looks_done_fn *done,
    void *context)
{
	struct looks *looks = mem_alloc(1, sizeof(*looks) +
	    count * sizeof(looks->list[0]));

	looks->process = process;
	looks->done = done;
	looks->context = context;
	looks->count = count;
	for (unsigned i = 0; i < count; i++) {
		struct look *look = &looks->list[i];

		look->looks = looks;
		look->child = child_new(process, &look_kind, look);
		str_init(&look->line);
	}
	return looks;
}

void
looks_free(struct looks **plooks)
{
	struct looks *looks = *plooks;

	if (looks == NULL)
		return;
	for (unsigned i = 0; i < looks->count; i++) {
		timer_clear(&looks->list[i].timer);
		child_free(&looks->list[i].child);
		str_release(&looks->list[i].line);
	}
	mem_free(plooks);
}

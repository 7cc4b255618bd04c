/* worker.c - a process that asks one database, one question at a time
 *
 * In     keys, a line each
 * Out    answers, a line each
 * Holds  the engine's connection
 * Trusts who made it; nothing that a database answers is more than bytes
 * Spec   worker.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#include "base/mem.h"
#include "io/ipc.h"
#include "journal/event.h"
#include "tables/ask/worker.h"

#include "base/banned.h"

struct worker {
	const struct engine	*engine;
	void			*state;
	struct str		 value, line;
};

static void
worker_lock_in(const struct engine *engine,
    const struct definition *definition)
{
	struct sandbox rules = { .appended_count = 0 };
	struct err err;

	engine->lock_in(definition, &rules);
	if (sandbox_enter(&rules, &err) < 0)
		fatal("%s", err.text);	/* it would be open: nobody asks */
}

/* Whatever a database says stays on its line. */
static void
worker_add_text(struct str *line, struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		str_addc(line, text.p[i] == '\n' || text.p[i] == '\0' ? ' ' :
		    text.p[i]);
}

static void
worker_answer_key(struct worker *worker, struct slice key)
{
	struct slice parameters[DEFINITION_PARAMETERS];
	struct err err = { "" };

	str_reset(&worker->value);
	definition_parameters(key, parameters);
	switch (worker->engine->ask(worker->state, parameters,
	    &worker->value, &err)) {
	case ENGINE_FOUND:
		str_adds(&worker->line, "found ");
		worker_add_text(&worker->line, str_slice(&worker->value));
		break;
	case ENGINE_NONE:
		str_adds(&worker->line, "none");
		break;
	case ENGINE_TROUBLE:
		str_adds(&worker->line, "trouble ");
		worker_add_text(&worker->line, slice_of(err.text));
		break;
	case ENGINE_AWAY:
		str_adds(&worker->line, "away ");
		worker_add_text(&worker->line, slice_of(err.text));
		break;
	}
	str_addc(&worker->line, '\n');
}

/* false: who asks is gone. */
static bool
worker_answer_all(struct worker *worker, int socket, struct ipc_inbox *inbox)
{
	struct slice key;
	size_t cursor = 0;
	bool is_there = true;

	while (is_there && ipc_line(inbox, &cursor, &key) == IPC_LINE) {
		str_reset(&worker->line);
		worker_answer_key(worker, key);
		is_there = ipc_send(socket, str_slice(&worker->line), NULL,
		    0) >= 0;
	}
	ipc_inbox_consume(inbox, cursor);
	return is_there;
}

void
worker_serve(int socket, const struct engine *engine,
    const struct definition *definition)
{
	struct worker worker = { .engine = engine, .value = STR_INIT,
	    .line = STR_INIT };
	struct ipc_inbox inbox;

	signal(SIGHUP, SIG_IGN);
	(void)fcntl(socket, F_SETFL, 0);
	worker.state = engine->open(definition);
	worker_lock_in(engine, definition);
	ipc_inbox_init(&inbox);
	while (ipc_receive(socket, &inbox) == IPC_GOT &&
	    worker_answer_all(&worker, socket, &inbox))
		continue;
	ipc_inbox_release(&inbox);
	engine->close(worker.state);
	str_release(&worker.value);
	str_release(&worker.line);
}

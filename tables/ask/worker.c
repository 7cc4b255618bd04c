/* worker.c - a process that asks one database
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
#include <sysexits.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/ipc.h"
#include "journal/event.h"
#include "mail/table/table.h"
#include "tables/ask/worker.h"

#include "base/banned.h"

enum {
	SEND_BYTES = 8192,
	TOGETHER_BYTES_MAX = 8192	/* keys: less than a socket takes while
					 * nobody reads */
};

struct worker {
	const struct engine	*engine;
	const struct definition	*definition;
	void			*state;
	int			 socket;
	size_t			 listed;	/* bytes */
	struct str		 value, line;
	struct engine_question	 together[ENGINE_TOGETHER_MAX];
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

/* engine_row_fn: a name is sent when there are many. */
static bool
worker_add_row(void *context, struct slice row)
{
	struct worker *worker = context;

	if (row.n > DEFINITION_NAME_BYTES_MAX)
		return true;		/* it is no name */
	worker->listed += row.n;
	str_adds(&worker->line, "row ");
	worker_add_text(&worker->line, row);
	str_addc(&worker->line, '\n');
	if (worker->line.len > SEND_BYTES) {
		if (ipc_send(worker->socket, str_slice(&worker->line), NULL,
		    0) < 0)
			return false;
		str_reset(&worker->line);
	}
	return worker->listed <= WORKER_LIST_BYTES_MAX;
}

static enum engine_answer
worker_list(struct worker *worker, struct err *err)
{
	enum engine_answer answer;

	if (worker->definition->values[DEFINITION_LIST] == NULL ||
	    worker->engine->list == NULL) {
		err_set(err, "its definition has no line list (SELECT of all "
		    "names)");
		return ENGINE_TROUBLE;
	}
	worker->listed = 0;
	answer = worker->engine->list(worker->state, worker_add_row, worker,
	    err);
	if (worker->listed <= WORKER_LIST_BYTES_MAX)
		return answer;
	err_set(err, "there are more than %d MB of names",
	    WORKER_LIST_BYTES_MAX >> 20);
	return ENGINE_TROUBLE;
}

/* "add NAME VALUE", "change NAME VALUE", "remove NAME": for the owner of the
 * definition alone, who asks by himself.  The value: how many rows. */
static enum engine_answer
worker_write(struct worker *worker, struct slice line, struct err *err)
{
	struct slice parameters[DEFINITION_WRITTEN], verb = SLICE(""),
	    key = SLICE("");
	enum definition_word word;
	enum engine_answer answer;
	uint64_t rows = 0;

	(void)slice_word(&line, &verb);
	(void)slice_word(&line, &key);
	word = definition_word_of(verb);
	if (worker->definition->values[word] == NULL ||
	    worker->engine->write == NULL) {
		err_set(err, "its definition has no line " SLICE_FMT " (what "
		    "writes a row)", SLICE_ARG(verb));
		return ENGINE_TROUBLE;
	}
	definition_parameters(key, parameters);
	parameters[DEFINITION_PARAMETERS] = slice_trim(line);
	answer = worker->engine->write(worker->state, word, parameters, &rows,
	    err);
	if (answer == ENGINE_FOUND)
		str_addf(&worker->value, "%llu", (unsigned long long)rows);
	return answer;
}

static bool
worker_is_write(const struct worker *worker, struct slice line)
{
	return worker->definition->may_write && (slice_starts(line, "add ") ||
	    slice_starts(line, "change ") || slice_starts(line, "remove "));
}

static enum engine_answer
worker_ask(struct worker *worker, struct slice line, struct err *err)
{
	struct slice parameters[DEFINITION_PARAMETERS];

	if (slice_is(line, "list"))
		return worker_list(worker, err);
	if (worker_is_write(worker, line))
		return worker_write(worker, line, err);
	definition_parameters(slice_from(line, slice_starts(line, "get ") ?
	    4 : 0), parameters);
	return worker->engine->ask(worker->state, parameters, &worker->value,
	    err);
}

static void
worker_add_answer(struct worker *worker, enum engine_answer answer,
    struct slice value, const struct err *err)
{
	switch (answer) {
	case ENGINE_FOUND:
		str_adds(&worker->line, "found ");
		worker_add_text(&worker->line, value);
		break;
	case ENGINE_NONE:
		str_adds(&worker->line, "none");
		break;
	case ENGINE_TROUBLE:
		str_adds(&worker->line, "trouble ");
		worker_add_text(&worker->line, slice_of(err->text));
		break;
	case ENGINE_AWAY:
		str_adds(&worker->line, "away ");
		worker_add_text(&worker->line, slice_of(err->text));
		break;
	}
	str_addc(&worker->line, '\n');
}

static void
worker_answer_line(struct worker *worker, struct slice line)
{
	struct err err = { "" };
	enum engine_answer answer;

	str_reset(&worker->value);
	answer = worker_ask(worker, line, &err);
	worker_add_answer(worker, answer, str_slice(&worker->value), &err);
}

/* Questions that came together go together, if the engine can.  returns how
 * many lines were taken from *cursor on; their answers are in worker->line. */
static size_t
worker_answer_together(struct worker *worker, struct ipc_inbox *inbox,
    size_t *cursor)
{
	size_t count = 0, next = *cursor, bytes = 0;
	struct engine_question *question;
	struct slice line;

	while (worker->engine->ask_all != NULL && count < ENGINE_TOGETHER_MAX &&
	    ipc_line(inbox, &next, &line) == IPC_LINE &&
	    slice_starts(line, "get ") &&
	    (bytes += line.n) <= TOGETHER_BYTES_MAX) {
		question = &worker->together[count++];
		definition_parameters(slice_from(line, 4),
		    question->parameters);
		str_reset(&question->value);
		question->err.text[0] = '\0';
		*cursor = next;
	}
	if (count > 0)
		worker->engine->ask_all(worker->state, worker->together,
		    count);
	for (size_t i = 0; i < count; i++) {
		question = &worker->together[i];
		worker_add_answer(worker, question->answer,
		    str_slice(&question->value), &question->err);
	}
	return count;
}

/* false: who asks is gone. */
static bool
worker_answer_all(struct worker *worker, int socket, struct ipc_inbox *inbox)
{
	struct slice line;
	size_t cursor = 0;
	bool is_there = true;

	while (is_there) {
		str_reset(&worker->line);
		if (worker_answer_together(worker, inbox, &cursor) == 0) {
			if (ipc_line(inbox, &cursor, &line) != IPC_LINE)
				break;
			worker_answer_line(worker, line);
		}
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
	struct worker worker = { .engine = engine, .definition = definition,
	    .socket = socket, .value = STR_INIT, .line = STR_INIT };
	struct ipc_inbox inbox;

	for (size_t i = 0; i < ENGINE_TOGETHER_MAX; i++)
		str_init(&worker.together[i].value);
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
	for (size_t i = 0; i < ENGINE_TOGETHER_MAX; i++)
		str_release(&worker.together[i].value);
	str_release(&worker.value);
	str_release(&worker.line);
}

/* ---- for a tool ------------------------------------------------------- */

int
worker_one(const char *spec)
{
	struct definition definition = { .parameters = 0 };
	const struct engine *engine = NULL;
	struct str line = STR_INIT;
	struct err err = { "" };
	const char *type, *path = table_definition_path(spec, &type);
	bool is_good = false;

	if (path == NULL)
		err_set(&err, "%s is no table in a database", spec);
	else if ((engine = engine_of(type)) == NULL)
		err_set(&err, "%s: is not built in", type);
	else
		is_good = definition_read(type, path, &definition, &err) ==
		    DEFINITION_GOOD;
	if (is_good) {
		definition.may_write = true;
		worker_serve(STDIN_FILENO, engine, &definition);
	} else {
		str_adds(&line, "trouble ");
		worker_add_text(&line, slice_of(err.text));
		str_addc(&line, '\n');
		(void)ipc_send(STDIN_FILENO, str_slice(&line), NULL, 0);
	}
	str_release(&line);
	definition_release(&definition);
	return is_good ? EX_OK : EX_CONFIG;
}

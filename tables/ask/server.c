/* server.c - the process that asks databases: who asks it, and for what
 *
 * In     connections and questions of our own daemons
 * Out    answers, each with the token of its question
 * Holds  the tables (pools), and what callers wait for
 * Trusts no question; who may connect is said by the socket's group and mode
 * Spec   server.h, doc/protocol/tables.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "base/mem.h"
#include "daemon/callers.h"
#include "tables/ask/pool.h"
#include "tables/ask/server.h"

#include "base/banned.h"

enum {
	SERVER_CALLERS_MAX = 256,
	SERVER_LEAVE_MS = 6000,
	SERVER_TEXT_BYTES_MAX = 16384,	/* of a question, of an answer */
	ASKING_WAITS_MAX = 16384,
	TOKEN_BYTES = 64,
	WORD_BYTES = 32		/* "ok 30000" */
};

struct asking_wait {
	struct asking		*asking;
	struct pool_wait	*wait;
	bool			 is_list, is_test, is_lent;
	char			 token[TOKEN_BYTES];
	LIST_ENTRY(asking_wait)	 entry;
};

struct asking {
	struct caller		 caller;
	LIST_HEAD(, asking_wait) waits;
};

struct server {
	struct process		*process;
	struct pool		**pools;
	size_t			 pool_count;
	struct callers		*callers;
};

static void
asking_gone(struct caller *caller)
{
	struct asking *asking = (struct asking *)caller;
	struct asking_wait *wait;

	while ((wait = LIST_FIRST(&asking->waits)) != NULL) {
		LIST_REMOVE(wait, entry);
		pool_forget(&wait->wait);
		mem_free(&wait);
	}
}

/* ---- questions -------------------------------------------------------- */

/* good: in front of what is no trouble. */
static void
asking_add_answer(struct caller *caller, const char *token,
    const char *good, const struct pool_answer *answer)
{
	struct str *out = ipc_link_out(caller->link);
	enum table_result result = answer->result;
	struct slice text = answer->text;

	if (text.n > SERVER_TEXT_BYTES_MAX) {
		result = TABLE_TROUBLE;
		text = SLICE("the answer is too long");
	}
	str_addf(out, "%s %s%s", token, result == TABLE_TROUBLE ? "" : good,
	    result == TABLE_FOUND ? " found " : result == TABLE_NONE ?
	    " none" : "trouble ");
	if (result != TABLE_NONE)
		str_add_slice(out, text);
	str_addc(out, '\n');
}

/* The word in front of an answer that is no trouble. */
static const char *
asking_word(const struct asking_wait *wait, int64_t for_ms, char *room,
    size_t room_bytes)
{
	if (wait->is_lent) {
		snprintf(room, room_bytes, "ok %lld", (long long)for_ms);
		return room;
	}
	/* at once: nobody was asked */
	return wait->is_test && wait->wait == NULL ? "kept" : "ok";
}

/* pool_answer_fn */
static void
asking_on_answer(void *context, const struct pool_answer *answer)
{
	struct asking_wait *wait = context;
	struct caller *caller = &wait->asking->caller;
	char room[WORD_BYTES];

	if (wait->is_list && answer->result == TABLE_FOUND) {
		str_addf(ipc_link_out(caller->link), "%s row " SLICE_FMT "\n",
		    wait->token, SLICE_ARG(answer->text));
		ipc_link_resume(caller->link);
		return;
	}
	asking_add_answer(caller, wait->token, asking_word(wait,
	    answer->for_ms, room, sizeof(room)), answer);
	LIST_REMOVE(wait, entry);
	caller->wait_count--;
	if (wait->wait != NULL)		/* it came later: nobody sends it */
		ipc_link_resume(caller->link);
	mem_free(&wait);
}

static struct pool *
server_pool(const struct server *server, struct slice name)
{
	for (size_t i = 0; i < server->pool_count; i++)
		if (slice_is(name, pool_name(server->pools[i])))
			return server->pools[i];
	return NULL;
}

/* verb: "list" for all names, "test": was it kept?, "lend": how long is it
 * true? */
static void
asking_ask(struct asking *asking, struct pool *pool, const char *token,
    struct slice verb, struct slice key)
{
	struct asking_wait *wait = mem_alloc(1, sizeof(*wait));
	struct pool_wait *asked;

	wait->asking = asking;
	wait->is_list = slice_is(verb, "list");
	wait->is_test = slice_is(verb, "test");
	wait->is_lent = slice_is(verb, "lend");
	strlcpy(wait->token, token, sizeof(wait->token));
	LIST_INSERT_HEAD(&asking->waits, wait, entry);
	asking->caller.wait_count++;
	asked = wait->is_list ? pool_list(pool, asking_on_answer, wait) :
	    pool_ask(pool, key, asking_on_answer, wait);
	if (asked != NULL)	/* else wait is freed */
		wait->wait = asked;
}

/* "TOKEN get TABLE KEY", the same with test or lend, "TOKEN list TABLE". */
static enum ipc_link_taken
asking_take(struct caller *caller, struct slice line)
{
	const struct pool_answer missing = { TABLE_TROUBLE,
	    SLICE("no such table is in force: zmailer reload"), 0 };
	struct slice token, verb, name;
	char text[TOKEN_BYTES];
	struct pool *pool;

	if (!slice_word(&line, &token) || token.n >= sizeof(text))
		return IPC_LINK_NONSENSE;
	memcpy(text, token.p, token.n);
	text[token.n] = '\0';
	if (!slice_word(&line, &verb))
		return IPC_LINK_NONSENSE;
	if ((!slice_is(verb, "list") && !slice_is(verb, "get") &&
	    !slice_is(verb, "test") && !slice_is(verb, "lend")) ||
	    !slice_word(&line, &name) ||
	    caller->wait_count >= ASKING_WAITS_MAX)
		return IPC_LINK_NONSENSE;
	line = slice_from(line, line.n > 0);	/* the blank */
	pool = server_pool(caller->context, name);
	if (pool == NULL)
		asking_add_answer(caller, text, "", &missing);
	else
		asking_ask((struct asking *)caller, pool, text, verb, line);
	return IPC_LINK_NEXT;
}

static const struct callers_kind asking_kind = {
	.take = asking_take, .gone = asking_gone,
	.caller_bytes = sizeof(struct asking),
	.line_bytes_max = SERVER_TEXT_BYTES_MAX,
	.callers_max = SERVER_CALLERS_MAX, .leave_ms = SERVER_LEAVE_MS,
};

/* ---- the process ------------------------------------------------------ */

struct server *
server_new(struct process *process)
{
	struct server *server = mem_alloc(1, sizeof(*server));
	const struct conf *conf = process->conf;

	server->process = process;
	server->pools = mem_alloc(conf->table_count + 1,
	    sizeof(struct pool *));
	for (size_t i = 0; i < conf->table_count; i++)
		if (table_spec_is_asked(conf->tables[i].spec))
			server->pools[server->pool_count++] =
			    tables_pool_new(process, conf->tables[i].name,
			    conf->tables[i].spec);
	return server;
}

void
server_listen(struct server *server, int socket, int lifeline)
{
	server->callers = callers_new(server->process, &asking_kind, server,
	    socket, lifeline);
}

void
server_free(struct server **pserver)
{
	struct server *server = *pserver;

	if (server == NULL)
		return;
	callers_free(&server->callers);
	for (size_t i = 0; i < server->pool_count; i++)
		tables_pool_free(&server->pools[i]);
	mem_free(&server->pools);
	mem_free(pserver);
}

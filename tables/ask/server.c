/* server.c - the process that asks databases: who asks it, and for what
 *
 * In     connections and questions of our own daemons
 * Out    answers, each with the token of its question
 * Holds  the tables (pools), callers and what they wait for
 * Trusts no question; who may connect is said by the socket's group and mode
 * Spec   server.h, doc/protocol/tables.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "io/ipc_link.h"
#include "tables/ask/pool.h"
#include "tables/ask/server.h"

#include "base/banned.h"

enum { CALLER_WAITS_MAX = 16384, TOKEN_BYTES = 64 };

struct caller_wait {
	struct caller		*caller;
	struct pool_wait	*wait;
	bool			 is_list;
	char			 token[TOKEN_BYTES];
	LIST_ENTRY(caller_wait)	 entry;
};

struct caller {
	struct server		*server;
	struct ipc_link		*link;
	LIST_HEAD(, caller_wait) waits;
	size_t			 wait_count;
	TAILQ_ENTRY(caller)	 entry;
};

struct server {
	struct process		*process;
	struct pool		**pools;
	size_t			 pool_count;
	int			 socket, lifeline;
	struct watch		*listener, *lifeline_watch;
	TAILQ_HEAD(, caller)	 callers;
	size_t			 caller_count;
	bool			 is_leaving;
	struct timer		 leave_timer;
};

/* ---- callers ---------------------------------------------------------- */

static void
caller_gone(void *context)
{
	struct caller *caller = context;
	struct server *server = caller->server;
	struct caller_wait *wait;

	while ((wait = LIST_FIRST(&caller->waits)) != NULL) {
		LIST_REMOVE(wait, entry);
		pool_forget(&wait->wait);
		mem_free(&wait);
	}
	TAILQ_REMOVE(&server->callers, caller, entry);
	server->caller_count--;
	ipc_link_free(&caller->link);
	mem_free(&caller);
	if (server->is_leaving && TAILQ_EMPTY(&server->callers))
		loop_stop(server->process->loop);
}

/* Who leaves ends when all is said. */
static void
caller_on_idle(void *context)
{
	struct caller *caller = context;

	if (caller->server->is_leaving && caller->wait_count == 0 &&
	    ipc_link_out(caller->link)->len == 0)
		caller_gone(caller);
}

/* ---- questions -------------------------------------------------------- */

static void
caller_add_answer(struct caller *caller, const char *token,
    enum table_result result, struct slice text)
{
	struct str *out = ipc_link_out(caller->link);

	if (text.n > SERVER_TEXT_BYTES_MAX) {
		result = TABLE_TROUBLE;
		text = SLICE("the answer is too long");
	}
	str_addf(out, "%s %s", token, result == TABLE_FOUND ? "ok found " :
	    result == TABLE_NONE ? "ok none" : "trouble ");
	if (result != TABLE_NONE)
		str_add_slice(out, text);
	str_addc(out, '\n');
}

/* pool_answer_fn */
static void
caller_on_answer(void *context, enum table_result result, struct slice text)
{
	struct caller_wait *wait = context;
	struct caller *caller = wait->caller;

	if (wait->is_list && result == TABLE_FOUND) {
		str_addf(ipc_link_out(caller->link), "%s row " SLICE_FMT "\n",
		    wait->token, SLICE_ARG(text));
		ipc_link_resume(caller->link);
		return;
	}
	caller_add_answer(caller, wait->token, result, text);
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

/* is_list: for all names. */
static void
caller_ask(struct caller *caller, struct pool *pool, const char *token,
    bool is_list, struct slice key)
{
	struct caller_wait *wait = mem_alloc(1, sizeof(*wait));
	struct pool_wait *asked;

	wait->caller = caller;
	wait->is_list = is_list;
	strlcpy(wait->token, token, sizeof(wait->token));
	LIST_INSERT_HEAD(&caller->waits, wait, entry);
	caller->wait_count++;
	asked = is_list ? pool_list(pool, caller_on_answer, wait) :
	    pool_ask(pool, key, caller_on_answer, wait);
	if (asked != NULL)	/* else wait is freed */
		wait->wait = asked;
}

/* "TOKEN get TABLE KEY", "TOKEN list TABLE". */
static enum ipc_link_taken
caller_take(void *context, struct slice line)
{
	struct caller *caller = context;
	struct slice token, verb, name;
	char text[TOKEN_BYTES];
	struct pool *pool;
	bool is_list;

	if (!slice_word(&line, &token) || token.n >= sizeof(text))
		return IPC_LINK_NONSENSE;
	memcpy(text, token.p, token.n);
	text[token.n] = '\0';
	if (!slice_word(&line, &verb))
		return IPC_LINK_NONSENSE;
	is_list = slice_is(verb, "list");
	if ((!is_list && !slice_is(verb, "get")) ||
	    !slice_word(&line, &name) ||
	    caller->wait_count >= CALLER_WAITS_MAX)
		return IPC_LINK_NONSENSE;
	line = slice_from(line, line.n > 0);	/* the blank */
	pool = server_pool(caller->server, name);
	if (pool == NULL)
		caller_add_answer(caller, text, TABLE_TROUBLE,
		    SLICE("no such table is in force: zmailer reload"));
	else
		caller_ask(caller, pool, text, is_list, line);
	return IPC_LINK_NEXT;
}

static const struct ipc_link_kind caller_kind = {
	.take = caller_take, .ended = caller_gone, .idle = caller_on_idle,
	.line_bytes_max = SERVER_TEXT_BYTES_MAX,
};

static void
server_on_listener(void *context, unsigned ready)
{
	struct server *server = context;
	struct caller *caller;
	int fd = accept4(server->socket, NULL, NULL,
	    SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (server->caller_count >= SERVER_CALLERS_MAX) {
		close(fd);
		return;
	}
	caller = mem_alloc(1, sizeof(*caller));
	caller->server = server;
	LIST_INIT(&caller->waits);
	caller->link = ipc_link_new(server->process->loop, fd, &caller_kind,
	    caller);
	TAILQ_INSERT_TAIL(&server->callers, caller, entry);
	server->caller_count++;
}

/* ---- the end ---------------------------------------------------------- */

static void
server_on_leave_time(void *context)
{
	struct server *server = context;

	loop_stop(server->process->loop);
}

static void
server_on_lifeline(void *context, unsigned ready)
{
	struct server *server = context;
	struct caller *caller, *next;

	server->is_leaving = true;
	watch_free(&server->lifeline_watch);
	watch_free(&server->listener);
	timer_set(server->process->loop, &server->leave_timer,
	    clock_steady_ms() + SERVER_LEAVE_MS, server_on_leave_time,
	    server);
	if (TAILQ_EMPTY(&server->callers))
		loop_stop(server->process->loop);
	TAILQ_FOREACH_SAFE(caller, &server->callers, entry, next)
		caller_on_idle(caller);
}

struct server *
server_new(struct process *process)
{
	struct server *server = mem_alloc(1, sizeof(*server));
	const struct conf *conf = process->conf;

	server->process = process;
	server->pools = mem_alloc(conf->table_count + 1,
	    sizeof(struct pool *));
	TAILQ_INIT(&server->callers);
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
	struct loop *loop = server->process->loop;

	server->socket = socket;
	server->lifeline = lifeline;
	server->listener = loop_watch(loop, socket, LOOP_READ,
	    server_on_listener, server);
	server->lifeline_watch = loop_watch(loop, lifeline, LOOP_READ,
	    server_on_lifeline, server);
}

void
server_free(struct server **pserver)
{
	struct server *server = *pserver;
	struct caller *caller;

	if (server == NULL)
		return;
	while ((caller = TAILQ_FIRST(&server->callers)) != NULL)
		caller_gone(caller);
	timer_clear(&server->leave_timer);
	watch_free(&server->listener);
	watch_free(&server->lifeline_watch);
	for (size_t i = 0; i < server->pool_count; i++)
		tables_pool_free(&server->pools[i]);
	mem_free(&server->pools);
	mem_free(pserver);
}

/* asked.c - types whose tables a process of its own asks: pgsql, sqlite, ...
 *
 * In     keys
 * Out    what the process tables answers, over RUN/tables.sock
 * Holds  a connection
 * Trusts nothing: answers are bounded, in time too; what is no answer is
 *        trouble, never "not found"
 * Spec   tables/ask/server.h, doc/protocol/tables.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "io/peer.h"
#include "io/unix_socket.h"
#include "mail/table/definition.h"
#include "mail/table/type.h"

#include "base/banned.h"

enum {
	ASKED_FOR_MS = 8000,	/* longer than tables takes to give up */
	RUN_DIR_BYTES = 4000
};

static char asked_run_dir[RUN_DIR_BYTES];
static bool *asked_is_kept;

struct asked {
	char		*name;		/* of the table */
	char		*path;		/* of its definition */
	struct peer	 peer;
	pid_t		 pid;		/* whose connection it is */
	uint64_t	 token;		/* of the last question */
	struct str	 line;		/* of the last answer */
};

void
table_ask_at(const char *run_dir)
{
	strlcpy(asked_run_dir, run_dir, sizeof(asked_run_dir));
}

void
table_ask_tests(bool *out_is_kept)
{
	asked_is_kept = out_is_kept;
}

static int
asked_open(struct table_source *source, void **out_state, struct err *err)
{
	struct asked *asked = source->old;

	if (asked == NULL) {
		asked = mem_alloc(1, sizeof(*asked));
		asked->name = mem_strdup(source->name);
		asked->path = mem_strdup(source->argument);
		peer_init(&asked->peer);
		str_init(&asked->line);
	}
	*out_state = asked;
	return 1;
}

static void
asked_close(void *state)
{
	struct asked *asked = state;

	peer_release(&asked->peer);
	str_release(&asked->line);
	mem_release(asked->name);
	mem_release(asked->path);
	mem_free(&asked);
}

/* ---- a question ------------------------------------------------------- */

static int
asked_connect(struct asked *asked, struct err *err)
{
	char path[RUN_DIR_BYTES + 32];
	int fd;

	/* a parent's connection is his */
	if (asked->pid != getpid())
		peer_close(&asked->peer);
	asked->pid = getpid();
	if (peer_is_open(&asked->peer) && peer_is_quiet(&asked->peer))
		return 0;
	peer_close(&asked->peer);
	snprintf(path, sizeof(path), "%s/" TABLES_SOCKET, asked_run_dir);
	fd = unix_socket_connect(path, 0, err);
	if (fd < 0)
		return err_prefix(err, "the process that asks databases does "
		    "not answer (zmailer run keeps it)");
	peer_adopt(&asked->peer, fd);
	return 0;
}

/* A whole line, without its LF, into asked->line.  0 or -1. */
static int
asked_line(struct asked *asked, int64_t deadline_ms, struct err *err)
{
	struct slice unread;
	enum peer_result got;
	size_t n;

	for (;;) {
		unread = peer_unread(&asked->peer);
		n = slice_find(unread, '\n');
		if (n < unread.n)
			break;
		got = peer_fill(&asked->peer, deadline_ms, err);
		if (got == PEER_EOF)
			return err_set(err, "the process that asks databases "
			    "ended");
		if (got == PEER_TIMEOUT)
			return err_set(err, "the process that asks databases "
			    "does not answer");
		if (got != PEER_OK)
			return -1;
	}
	str_reset(&asked->line);
	str_add_slice(&asked->line, slice_first(unread, n));
	peer_consume(&asked->peer, n + 1);
	return 0;
}

/* verb: "get" or "test", and key; "list", and none. */
static int
asked_try(struct asked *asked, const char *verb, struct slice key,
    struct err *err)
{
	int64_t deadline_ms = clock_steady_ms() + ASKED_FOR_MS;

	if (asked_connect(asked, err) < 0)
		return -1;
	str_addf(&asked->peer.out, "%" PRIu64 " %s %s%s" SLICE_FMT "\n",
	    ++asked->token, verb, asked->name, key.n > 0 ? " " : "",
	    SLICE_ARG(key));
	if (peer_flush(&asked->peer, deadline_ms, err) != PEER_OK ||
	    asked_line(asked, deadline_ms, err) < 0) {
		peer_close(&asked->peer);
		return -1;
	}
	return 0;
}

enum table_result
table_answer_read(struct slice answer, struct slice *out_value,
    struct err *err)
{
	struct slice word;

	if (slice_is(answer, "none"))
		return TABLE_NONE;
	if (!slice_word(&answer, &word) || !slice_is(word, "found")) {
		err_set(err, "the answer of the process that asks databases "
		    "is none");
		return TABLE_TROUBLE;
	}
	*out_value = slice_trim(answer);
	return TABLE_FOUND;
}

/* "TOKEN ok found VALUE", "TOKEN ok none", "TOKEN trouble WORDS"; of a test
 * kept instead of ok, too. */
static enum table_result
asked_answer(struct asked *asked, struct table_hit *out, struct err *err)
{
	struct slice rest = str_slice(&asked->line), word;
	uint64_t token;

	if (slice_word(&rest, &word) &&
	    slice_number(word, 1, UINT64_MAX, &token) &&
	    token == asked->token && slice_word(&rest, &word)) {
		if (asked_is_kept != NULL)
			*asked_is_kept = slice_is(word, "kept");
		if (slice_is(word, "ok") || slice_is(word, "kept"))
			return table_answer_read(slice_trim(rest),
			    &out->value, err);
		if (slice_is(word, "trouble")) {
			err_set(err, SLICE_FMT, SLICE_ARG(slice_trim(rest)));
			return TABLE_TROUBLE;
		}
	}
	peer_close(&asked->peer);	/* it is out of step */
	err_set(err, "the answer of the process that asks databases is none");
	return TABLE_TROUBLE;
}

/* A connection that was kept may be one to a process that a reload ended. */
static enum table_result
asked_find(void *state, struct slice key, struct slice folded,
    struct table_hit *out, struct err *err)
{
	const char *verb = asked_is_kept != NULL ? "test" : "get";
	struct asked *asked = state;

	if (!definition_key_is_text(key))
		return TABLE_NONE;
	if (asked_try(asked, verb, folded, err) < 0 &&
	    asked_try(asked, verb, folded, err) < 0)
		return TABLE_TROUBLE;
	return asked_answer(asked, out, err);
}

/* "TOKEN row NAME" each, then as asked_answer has it: none. */
static enum table_result
asked_list(void *state, table_fn *fn, void *context, struct err *err)
{
	int64_t deadline_ms = clock_steady_ms() + ASKED_FOR_MS;
	struct asked *asked = state;
	struct slice rest, word;
	struct table_hit hit;
	uint64_t token;

	if (asked_try(asked, "list", SLICE(""), err) < 0)
		return TABLE_TROUBLE;
	for (unsigned line = 1;; line++) {
		rest = str_slice(&asked->line);
		if (!slice_word(&rest, &word) || !slice_number(word, 1,
		    UINT64_MAX, &token) || token != asked->token ||
		    !slice_word(&rest, &word) || !slice_is(word, "row"))
			return asked_answer(asked, &hit, err);
		if (!fn(context, slice_trim(rest), SLICE(""), line)) {
			peer_close(&asked->peer);	/* more may come */
			return TABLE_NONE;
		}
		if (asked_line(asked, deadline_ms, err) < 0) {
			peer_close(&asked->peer);
			return TABLE_TROUBLE;
		}
	}
}

/* The definition alone: what it names may be away for a while. */
static int
asked_check(const char *type, void *state, struct err *err)
{
	const struct asked *asked = state;
	struct definition definition;
	enum definition_result result = definition_read(type, asked->path,
	    &definition, err);

	definition_release(&definition);
	return result == DEFINITION_GOOD ? 1 : -1;
}

#ifdef HAVE_SQLITE3
static int
sqlite_check(void *state, struct err *err)
{
	return asked_check("sqlite", state, err);
}
#endif

#ifdef HAVE_PGSQL
static int
pgsql_check(void *state, struct err *err)
{
	return asked_check("pgsql", state, err);
}
#endif

#ifdef HAVE_MARIADB
static int
mysql_check(void *state, struct err *err)
{
	return asked_check("mysql", state, err);
}
#endif

#ifdef HAVE_LDAP
static int
ldap_check(void *state, struct err *err)
{
	return asked_check("ldap", state, err);
}
#endif

static int
redis_check(void *state, struct err *err)
{
	return asked_check("redis", state, err);
}

static int
tcp_check(void *state, struct err *err)
{
	return asked_check("tcp", state, err);
}

static int
socketmap_check(void *state, struct err *err)
{
	return asked_check("socketmap", state, err);
}

const struct table_type table_type_sqlite = {
	.name = "sqlite", .traits = TABLE_IS_ASKED,
#ifdef HAVE_SQLITE3
	.open = asked_open, .close = asked_close, .find = asked_find,
	.list = asked_list, .check = sqlite_check,
#else
	.package = "libsqlite3-dev",
#endif
};

const struct table_type table_type_pgsql = {
	.name = "pgsql", .traits = TABLE_IS_ASKED,
#ifdef HAVE_PGSQL
	.open = asked_open, .close = asked_close, .find = asked_find,
	.list = asked_list, .check = pgsql_check,
#else
	.package = "libpq-dev",
#endif
};

const struct table_type table_type_mysql = {
	.name = "mysql", .traits = TABLE_IS_ASKED,
#ifdef HAVE_MARIADB
	.open = asked_open, .close = asked_close, .find = asked_find,
	.list = asked_list, .check = mysql_check,
#else
	.package = "libmariadb-dev",
#endif
};

const struct table_type table_type_socketmap = {
	.name = "socketmap", .traits = TABLE_IS_ASKED, .open = asked_open,
	.close = asked_close, .find = asked_find, .list = asked_list,
	.check = socketmap_check,
};

const struct table_type table_type_ldap = {
	.name = "ldap", .traits = TABLE_IS_ASKED,
#ifdef HAVE_LDAP
	.open = asked_open, .close = asked_close, .find = asked_find,
	.list = asked_list, .check = ldap_check,
#else
	.package = "libldap2-dev",
#endif
};

const struct table_type table_type_redis = {
	.name = "redis", .traits = TABLE_IS_ASKED, .open = asked_open,
	.close = asked_close, .find = asked_find, .list = asked_list,
	.check = redis_check,
};

const struct table_type table_type_tcp = {
	.name = "tcp", .traits = TABLE_IS_ASKED, .open = asked_open,
	.close = asked_close, .find = asked_find, .list = asked_list,
	.check = tcp_check,
};

/* asked.c - types whose tables a process of its own asks: pgsql, sqlite, ...
 *
 * In     keys
 * Out    what the process tables answers, over RUN/tables.sock
 * Holds  a connection; answers, as long as they were lent for; questions
 *        that were sent, whose answers nobody wanted yet
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

#include "base/cache.h"
#include "base/clock.h"
#include "io/peer.h"
#include "io/unix_socket.h"
#include "mail/table/definition.h"
#include "mail/table/type.h"

#include "base/banned.h"

enum {
	ASKED_FOR_MS = 8000,	/* longer than tables takes to give up */
	ASKED_KEPT_MAX = 1024,	/* answers, and of how many bytes */
	ASKED_KEPT_BYTES = 256,
	ASKED_EXPECTED_MAX = 64,	/* questions whose answers come later */
	RUN_DIR_BYTES = 4000
};

static char asked_run_dir[RUN_DIR_BYTES];
static bool *asked_is_kept;

/* A question that was sent. */
struct asked_open {
	uint64_t	 token;
	int64_t		 sent_ms;	/* its answer may lie unread for long:
					 * it is true from then on */
	struct str	 key;
};

struct asked {
	char		*name;		/* of the table */
	char		*path;		/* of its definition */
	struct peer	 peer;
	pid_t		 pid;		/* whose connection it is */
	uint64_t	 token;		/* of the last question */
	struct str	 line;		/* of the last answer */
	struct cache	*kept;		/* NULL: nothing was lent yet */
	/* one more than can be expected: the question that is waited for */
	struct asked_open open[ASKED_EXPECTED_MAX + 1];
	size_t		 open_count;
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

/* ---- questions that were sent, answers that were lent ------------------ */

static void
asked_remove_open(struct asked *asked, size_t i)
{
	str_release(&asked->open[i].key);
	asked->open[i] = asked->open[--asked->open_count];
}

/* The connection ends: what comes by another may be another answer. */
static void
asked_forget(struct asked *asked)
{
	peer_close(&asked->peer);
	while (asked->open_count > 0)
		asked_remove_open(asked, 0);
	if (asked->kept != NULL)
		cache_clear(asked->kept);
}

/* answer: "ok MS found VALUE", "ok MS none"; others are not kept. */
static void
asked_keep(struct asked *asked, const struct asked_open *open,
    struct slice answer)
{
	struct slice word;
	int64_t for_ms;

	if (!slice_word(&answer, &word) || !slice_is(word, "ok"))
		return;
	for_ms = table_answer_lent(&answer);
	if (for_ms == 0 || answer.n > ASKED_KEPT_BYTES)
		return;
	if (asked->kept == NULL)
		asked->kept = cache_new(ASKED_KEPT_MAX);
	cache_add(asked->kept, str_slice(&open->key), answer,
	    open->sent_ms + for_ms);
}

static bool
asked_find_open(const struct asked *asked, struct slice key,
    uint64_t *out_token)
{
	for (size_t i = 0; i < asked->open_count; i++)
		if (slice_equal(str_slice(&asked->open[i].key), key)) {
			*out_token = asked->open[i].token;
			return true;
		}
	return false;
}

static bool
asked_kept_answer(const struct asked *asked, struct slice key,
    struct slice *out_answer)
{
	return asked->kept != NULL && asked_is_kept == NULL &&
	    cache_find(asked->kept, key, clock_steady_ms(), out_answer);
}

/* Note whose answer the line is.  false: nobody's. */
static bool
asked_note_line(struct asked *asked, struct slice line, uint64_t *out_token)
{
	struct slice word;

	if (!slice_word(&line, &word) ||
	    !slice_number(word, 1, UINT64_MAX, out_token))
		return false;
	for (size_t i = 0; i < asked->open_count; i++)
		if (asked->open[i].token == *out_token) {
			asked_keep(asked, &asked->open[i], slice_trim(line));
			asked_remove_open(asked, i);
			return true;
		}
	return false;
}

/* ---- a table ------------------------------------------------------------ */

static int
asked_open_state(struct table_source *source, void **out_state, struct err *err)
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

	asked_forget(asked);
	cache_free(&asked->kept);
	peer_release(&asked->peer);
	str_release(&asked->line);
	mem_release(asked->name);
	mem_release(asked->path);
	mem_free(&asked);
}

/* ---- a question ------------------------------------------------------- */

/* A whole line that has come, into asked->line. */
static bool
asked_has_line(struct asked *asked)
{
	struct slice unread = peer_unread(&asked->peer);
	size_t n = slice_find(unread, '\n');

	if (n == unread.n)
		return false;
	str_reset(&asked->line);
	str_add_slice(&asked->line, slice_first(unread, n));
	peer_consume(&asked->peer, n + 1);
	return true;
}

/* Is the process still there?  Answers that have come are taken. */
static bool
asked_is_alive(struct asked *asked)
{
	uint64_t token;
	size_t before;

	if (!peer_is_open(&asked->peer))
		return false;
	for (;;) {
		while (asked_has_line(asked))
			if (!asked_note_line(asked, str_slice(&asked->line),
			    &token))
				return false;
		before = peer_unread(&asked->peer).n;
		if (before > 0 || peer_is_quiet(&asked->peer))
			return true;
		if (peer_unread(&asked->peer).n == before)
			return false;
	}
}

static int
asked_connect(struct asked *asked, struct err *err)
{
	char path[RUN_DIR_BYTES + 32];
	int fd;

	/* a parent's connection is his */
	if (asked->pid == getpid() && asked_is_alive(asked))
		return 0;
	asked_forget(asked);
	asked->pid = getpid();
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
	enum peer_result got;

	while (!asked_has_line(asked)) {
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
	return 0;
}

/* Send a question.  0 or -1, with the connection closed. */
static int
asked_send(struct asked *asked, const char *verb, struct slice key,
    struct err *err)
{
	str_addf(&asked->peer.out, "%" PRIu64 " %s %s%s" SLICE_FMT "\n",
	    ++asked->token, verb, asked->name, key.n > 0 ? " " : "",
	    SLICE_ARG(key));
	if (peer_flush(&asked->peer, clock_steady_ms() + ASKED_FOR_MS,
	    err) == PEER_OK)
		return 0;
	asked_forget(asked);
	return -1;
}

/* The same, and its answer can be waited for. */
static int
asked_send_open(struct asked *asked, struct slice key, struct err *err)
{
	struct asked_open *open = &asked->open[asked->open_count];
	int64_t now_ms = clock_steady_ms();

	if (asked_send(asked, asked_is_kept != NULL ? "test" : "lend", key,
	    err) < 0)
		return -1;
	open->token = asked->token;
	open->sent_ms = now_ms;
	str_init(&open->key);
	str_add_slice(&open->key, key);
	asked->open_count++;
	return 0;
}

/* Lines until the answer to token, which is then in asked->line. */
static int
asked_wait(struct asked *asked, uint64_t token, struct err *err)
{
	int64_t deadline_ms = clock_steady_ms() + ASKED_FOR_MS;
	uint64_t came;

	do {
		if (asked_line(asked, deadline_ms, err) < 0)
			return -1;
		if (!asked_note_line(asked, str_slice(&asked->line), &came))
			return err_set(err, "the answer of the process that "
			    "asks databases is none");
	} while (came != token);
	return 0;
}

/* The answer, without its token, in *out.  0 or -1. */
static int
asked_try(struct asked *asked, struct slice key, struct slice *out,
    struct err *err)
{
	struct slice token_word;
	uint64_t token;

	if (asked_connect(asked, err) < 0)
		return -1;
	if (asked_kept_answer(asked, key, out))
		return 0;
	if (!asked_find_open(asked, key, &token)) {
		if (asked_send_open(asked, key, err) < 0)
			return -1;
		token = asked->token;
	}
	if (asked_wait(asked, token, err) < 0) {
		asked_forget(asked);
		return -1;
	}
	*out = str_slice(&asked->line);
	(void)slice_word(out, &token_word);
	return 0;
}

int64_t
table_answer_lent(struct slice *answer)
{
	struct slice rest = slice_trim(*answer), word;
	uint64_t for_ms;

	if (!slice_word(&rest, &word) ||
	    !slice_number(word, 0, INT32_MAX, &for_ms))
		return 0;
	*answer = slice_trim(rest);
	return (int64_t)for_ms;
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

/* "found VALUE" or "none" alone is what was kept; "ok MS", "ok" and "kept" go
 * before what comes; "trouble WORDS". */
static enum table_result
asked_answer(struct asked *asked, struct slice rest, struct table_hit *out,
    struct err *err)
{
	struct slice all = rest, word;

	if (slice_word(&rest, &word)) {
		if (asked_is_kept != NULL)
			*asked_is_kept = slice_is(word, "kept");
		if (slice_is(word, "found") || slice_is(word, "none"))
			return table_answer_read(all, &out->value, err);
		if (slice_is(word, "ok") || slice_is(word, "kept")) {
			rest = slice_trim(rest);
			(void)table_answer_lent(&rest);
			return table_answer_read(rest, &out->value, err);
		}
		if (slice_is(word, "trouble")) {
			err_set(err, SLICE_FMT, SLICE_ARG(slice_trim(rest)));
			return TABLE_TROUBLE;
		}
	}
	asked_forget(asked);	/* it is out of step */
	err_set(err, "the answer of the process that asks databases is none");
	return TABLE_TROUBLE;
}

/* A connection that was kept may be one to a process that a reload ended. */
static enum table_result
asked_find(void *state, struct slice key, struct slice folded,
    struct table_hit *out, struct err *err)
{
	struct asked *asked = state;
	struct slice answer;

	if (!definition_key_is_text(key))
		return TABLE_NONE;
	if (asked_try(asked, folded, &answer, err) < 0 &&
	    asked_try(asked, folded, &answer, err) < 0)
		return TABLE_TROUBLE;
	return asked_answer(asked, answer, out, err);
}

/* Trouble is told when the answer is wanted. */
static void
asked_expect(void *state, struct slice folded)
{
	struct asked *asked = state;
	struct slice answer;
	uint64_t token;
	struct err err;

	if (!definition_key_is_text(folded) || asked_is_kept != NULL ||
	    asked_connect(asked, &err) < 0 ||
	    asked->open_count >= ASKED_EXPECTED_MAX ||
	    asked_kept_answer(asked, folded, &answer) ||
	    asked_find_open(asked, folded, &token))
		return;
	(void)asked_send_open(asked, folded, &err);
}

/* "TOKEN row NAME" each, then as asked_answer has it: none. */
static enum table_result
asked_list(void *state, table_fn *fn, void *context, struct err *err)
{
	int64_t deadline_ms = clock_steady_ms() + ASKED_FOR_MS;
	struct asked *asked = state;
	struct slice rest, word, name;
	struct table_hit hit;
	uint64_t token;

	if (asked->open_count > 0)
		asked_forget(asked);
	if (asked_connect(asked, err) < 0 ||
	    asked_send(asked, "list", SLICE(""), err) < 0)
		return TABLE_TROUBLE;
	for (unsigned line = 1;; line++) {
		if (asked_line(asked, deadline_ms, err) < 0) {
			asked_forget(asked);
			return TABLE_TROUBLE;
		}
		rest = str_slice(&asked->line);
		if (!slice_word(&rest, &word) || !slice_number(word, 1,
		    UINT64_MAX, &token) || token != asked->token) {
			asked_forget(asked);
			err_set(err, "the answer of the process that asks "
			    "databases is none");
			return TABLE_TROUBLE;
		}
		rest = name = slice_trim(rest);
		if (!slice_word(&name, &word) || !slice_is(word, "row"))
			return asked_answer(asked, rest, &hit, err);
		if (!fn(context, slice_trim(name), SLICE(""), line)) {
			asked_forget(asked);	/* more may come */
			return TABLE_NONE;
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
	.open = asked_open_state, .close = asked_close, .find = asked_find,
	.expect = asked_expect,
	.list = asked_list, .check = sqlite_check,
#else
	.package = "libsqlite3-dev",
#endif
};

const struct table_type table_type_pgsql = {
	.name = "pgsql", .traits = TABLE_IS_ASKED,
#ifdef HAVE_PGSQL
	.open = asked_open_state, .close = asked_close, .find = asked_find,
	.expect = asked_expect,
	.list = asked_list, .check = pgsql_check,
#else
	.package = "libpq-dev",
#endif
};

const struct table_type table_type_mysql = {
	.name = "mysql", .traits = TABLE_IS_ASKED,
#ifdef HAVE_MARIADB
	.open = asked_open_state, .close = asked_close, .find = asked_find,
	.expect = asked_expect,
	.list = asked_list, .check = mysql_check,
#else
	.package = "libmariadb-dev",
#endif
};

const struct table_type table_type_socketmap = {
	.name = "socketmap", .traits = TABLE_IS_ASKED, .open = asked_open_state,
	.close = asked_close, .find = asked_find, .expect = asked_expect,
	.list = asked_list,
	.check = socketmap_check,
};

const struct table_type table_type_ldap = {
	.name = "ldap", .traits = TABLE_IS_ASKED,
#ifdef HAVE_LDAP
	.open = asked_open_state, .close = asked_close, .find = asked_find,
	.expect = asked_expect,
	.list = asked_list, .check = ldap_check,
#else
	.package = "libldap2-dev",
#endif
};

const struct table_type table_type_redis = {
	.name = "redis", .traits = TABLE_IS_ASKED, .open = asked_open_state,
	.close = asked_close, .find = asked_find, .expect = asked_expect,
	.list = asked_list,
	.check = redis_check,
};

const struct table_type table_type_tcp = {
	.name = "tcp", .traits = TABLE_IS_ASKED, .open = asked_open_state,
	.close = asked_close, .find = asked_find, .expect = asked_expect,
	.list = asked_list,
	.check = tcp_check,
};

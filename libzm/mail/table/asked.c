/* asked.c - types whose tables a process of its own asks: pgsql, sqlite, ...
 *
 * In     keys
 * Out    what the process tables answers (asked_link.h)
 * Holds  names of tables, paths of their definitions
 * Trusts nothing: what is no answer is trouble, never "not found"
 * Spec   tables/ask/server.h, doc/protocol/tables.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "mail/table/asked_link.h"
#include "mail/table/definition.h"
#include "mail/table/type.h"

#include "base/banned.h"

enum { LIST_FOR_MS = 8000 };	/* longer than tables takes to give up */

static bool *asked_is_kept;

void
table_ask_tests(bool *out_is_kept)
{
	asked_is_kept = out_is_kept;
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
		str_init(&asked->line);
	}
	*out_state = asked;
	return 1;
}

static void
asked_close(void *state)
{
	struct asked *asked = state;

	asked_link_leave(asked);
	str_release(&asked->line);
	mem_release(asked->name);
	mem_release(asked->path);
	mem_free(&asked);
}

/* ---- a question ------------------------------------------------------- */

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
asked_answer(struct slice rest, struct table_hit *out, struct err *err)
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
	asked_link_forget();	/* it is out of step */
	err_set(err, "the answer of the process that asks databases is none");
	return TABLE_TROUBLE;
}

static int
asked_try(struct asked *asked, struct slice key, struct slice *out,
    struct err *err)
{
	if (asked_link_connect(err) < 0)
		return -1;
	if (asked_is_kept == NULL && asked_link_knows(asked, key, out))
		return 0;
	return asked_link_ask(asked, asked_is_kept != NULL ? "test" : "lend",
	    key, out, err);
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
	return asked_answer(answer, out, err);
}

/* Trouble is told when the answer is wanted. */
static void
asked_expect(void *state, struct slice folded)
{
	if (definition_key_is_text(folded) && asked_is_kept == NULL)
		asked_link_expect(state, "lend", folded);
}

/* "TOKEN row NAME" each, then as asked_answer has it: none. */
static enum table_result
asked_list(void *state, table_fn *fn, void *context, struct err *err)
{
	int64_t deadline_ms = clock_steady_ms() + LIST_FOR_MS;
	struct slice rest, word, name;
	struct table_hit hit;
	uint64_t token, came;

	if (asked_link_list(state, &token, err) < 0)
		return TABLE_TROUBLE;
	for (unsigned line = 1;; line++) {
		if (asked_link_line(deadline_ms, &rest, err) < 0) {
			asked_link_forget();
			return TABLE_TROUBLE;
		}
		if (!slice_word(&rest, &word) || !slice_number(word, 1,
		    UINT64_MAX, &came) || came != token) {
			asked_link_forget();
			err_set(err, "the answer of the process that asks "
			    "databases is none");
			return TABLE_TROUBLE;
		}
		rest = name = slice_trim(rest);
		if (!slice_word(&name, &word) || !slice_is(word, "row"))
			return asked_answer(rest, &hit, err);
		if (!fn(context, slice_trim(name), SLICE(""), line)) {
			asked_link_forget();	/* more may come */
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

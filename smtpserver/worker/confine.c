/* confine.c - what a process of sessions keeps of the system
 *
 * In     a configuration
 * Out    a process that can make files in public/, file them in router/ and
 *        freezer/ (and record/, when bodies are), write the journal, and read
 *        configuration and tables;
 *        no network but the connections it was given
 * Holds  nothing
 * Trusts nobody: a session that was taken over reads no message of others,
 *        not even one that it handed in, and knows the name of no other draft
 * Spec   daemon/sandbox.h; doc/INTERNALS.md rows S0 to S2
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/mem.h"
#include "daemon/sandbox.h"
#include "mail/spool/keep.h"
#include "smtpserver/worker/confine.h"

#include "base/banned.h"

static const char *
path_is_below(struct arena *arena, const char *dir, const char *name)
{
	return arena_printf(arena, "%s/%s", dir, name);
}

/* The directory of a file: it is replaced by rename. */
static const char *
confine_directory(struct arena *arena, struct slice path)
{
	size_t n = path.n;

	while (n > 1 && path.p[n - 1] != '/')
		n--;
	return slice_dup(arena, n > 1 ? slice_first(path, n - 1) :
	    SLICE("/"));
}

/* "file:/etc/zmailer/x": its directory; of "passwd:" what libc reads. */
static size_t
confine_table_paths(struct arena *arena, const char *spec, const char *out[2])
{
	struct slice text = slice_of(spec), type;
	size_t colon = slice_find(text, ':');

	type = slice_first(text, colon);
	text = slice_from(text, colon + 1);
	if (slice_is(type, "passwd")) {
		out[0] = "/etc";
		out[1] = "/usr/lib";
		return 2;
	}
	if (text.n == 0 || text.p[0] != '/')
		return 0;
	out[0] = confine_directory(arena, text);
	return 1;
}

static bool
confine_has(const struct sandbox *rules, const char *path)
{
	for (size_t i = 0; i < rules->readable_count; i++)
		if (strcmp(rules->readable[i], path) == 0)
			return true;
	return false;
}

static void
confine_add_readable(struct sandbox *rules, const char *path)
{
	if (!confine_has(rules, path) &&
	    rules->readable_count < SANDBOX_PATHS_MAX)
		rules->readable[rules->readable_count++] = path;
}

static void
confine_rules(const struct conf *conf, const char *conf_path,
    struct arena *arena, struct sandbox *out)
{
	const char *paths[2];

	*out = (struct sandbox){
		.appended = { conf->log_dir }, .appended_count = 1,
		.written = { path_is_below(arena, conf->spool_dir,
		    "public") },
		.written_count = 1,
		.worked = { path_is_below(arena, conf->run_dir, "tables") },
		.worked_count = 1,
		.filed = { path_is_below(arena, conf->spool_dir, "router") },
		.filed_count = 1,
		.shut = { path_is_below(arena, conf->spool_dir, "freezer") },
		.shut_count = 1,
		.sockets = SOCKETS_NONE,
		.may_link = conf->record_ms > 0 &&
		    conf->record_bodies_max_bytes > 0,
	};
	if (out->may_link)
		out->shut[out->shut_count++] = path_is_below(arena,
		    conf->spool_dir, SPOOL_KEPT_DIR);
	if (conf_path != NULL)		/* for a reload */
		confine_add_readable(out, confine_directory(arena,
		    slice_of(conf_path)));
	for (size_t i = 0; i < conf->table_count; i++) {
		size_t n = confine_table_paths(arena, conf->tables[i].spec,
		    paths);

		/* accounts may be had from a daemon */
		if (n > 1)
			out->sockets = SOCKETS_LOCAL;
		for (size_t k = 0; k < n; k++)
			confine_add_readable(out, paths[k]);
	}
}

int
session_confine(const struct conf *conf, const char *conf_path,
    struct err *err)
{
	struct arena *arena = arena_new();
	struct sandbox rules;
	int walls;

	(void)clock_steady_ms();
	/* it may be there, or somebody else's to make */
	(void)mkdir(path_is_below(arena, conf->run_dir, "tables"), 0755);
	confine_rules(conf, conf_path, arena, &rules);
	walls = sandbox_enter(&rules, err);
	arena_free(&arena);
	return walls;
}

bool
session_may_read(const struct conf *was, const struct conf *now)
{
	struct arena *arena = arena_new();
	struct sandbox before, after;
	bool result;

	confine_rules(was, NULL, arena, &before);
	confine_rules(now, NULL, arena, &after);
	result = before.may_link || !after.may_link;
	for (size_t i = 0; i < after.readable_count; i++)
		result = result && confine_has(&before, after.readable[i]);
	arena_free(&arena);
	return result;
}

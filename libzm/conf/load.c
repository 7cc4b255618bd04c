/* load.c - a file becomes a struct conf, whole or not at all
 *
 * In     a path of a file or of a snapshot, or bytes
 * Out    a conf with every field set; or none and a report
 * Holds  nothing; the conf's arena has the sources, for later complaints
 * Spec   zmailer.conf(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "conf/conf.h"
#include "conf/load.h"
#include "conf/part/part.h"
#include "conf/snapshot/snapshot.h"
#include "mail/table/table.h"

#include "base/banned.h"

static void
loader_open(struct conf_loader *loader, const char *path, struct arena *arena,
    struct conf_report *report)
{
	struct arena *own = arena_new();

	*report = (struct conf_report){ .complaints = NULL };
	loader->report = report;
	loader->report_arena = arena;
	loader->conf = arena_alloc(own, sizeof(*loader->conf));
	loader->conf->arena = own;
	loader->conf->path = arena_dup(own, path, strlen(path));
	loader->conf->read_from = loader->conf->path;
	loader->conf->has_aliases = conf_has_system_aliases();
	loader->book = arena_alloc(own, sizeof(*loader->book));
	loader->book->setting_at = arena_alloc(own,
	    conf_setting_count * sizeof(struct conf_at));
	loader->book->sources_end = &loader->book->sources;
	loader->conf->book = loader->book;
}

static struct conf *
loader_load(struct conf_loader *loader, const char *name, struct slice text)
{
	struct conf *conf = loader->conf;

	conf_preset_before(loader);
	conf_load_text(loader, name, text);
	conf_preset_after(loader);
	conf_check_resolver(loader);
	if (!loader->is_partial) {
		conf_check_references(loader);
		conf_check_zones(loader);
		conf_check_origin_rules(loader);
		conf_check_cluster(loader);
	}
	conf_index_domains(loader);
	conf_check_sending_zones(loader);
	if (loader->report->errors == 0) {
		conf_check_reach(loader);
		conf_check_tls(loader);
		conf_check_auth(loader);
		conf_check_doubts(loader);
	}
	conf_report_sort(loader->report, loader->book);
	table_ask_at(conf->run_dir);
	if (loader->report->errors > 0)
		conf_free(&conf);
	return conf;
}

struct conf *
conf_parse(const char *name, struct slice text, struct arena *arena,
    struct conf_report *out_report)
{
	struct conf_loader loader = { .includes_ok = false };

	loader_open(&loader, name, arena, out_report);
	if (text.n > CONF_FILE_BYTES_MAX) {
		conf_complain_at(out_report, arena, loader.book, CONF_ERROR,
		    (struct conf_at){ .file = NULL }, 0, NULL,
		    "it is too long for a configuration");
		text.n = 0;
	}
	return loader_load(&loader, name, text);
}

/* ---- snapshots --------------------------------------------------------- */

struct conf *
conf_load_snapshot(const char *from, struct slice text, bool is_lenient,
    struct arena *arena, struct conf_report *out_report)
{
	struct arena *own = arena_new();
	struct conf_loader loader = { .includes_ok = true, .is_sealed = true,
	    .is_lenient = is_lenient };
	struct slice main_text = SLICE("");
	struct conf_snapshot snapshot;
	struct conf *conf;
	struct err why;
	bool is_good;

	is_good = conf_snapshot_parse(text, own, &snapshot, &why) == 0;
	loader_open(&loader, is_good ? snapshot.path : from, arena,
	    out_report);
	loader.conf->read_from = arena_dup(loader.conf->arena, from,
	    strlen(from));
	loader.drafts = snapshot.files;
	loader.draft_count = snapshot.file_count;
	if (!is_good)
		conf_complain_at(out_report, arena, loader.book, CONF_ERROR,
		    (struct conf_at){ .file = from }, 0, NULL, why.text);
	else if (snapshot.file_count > 0)
		main_text = snapshot.files[0].text;
	if (is_good && snapshot.aliases != SNAPSHOT_ALIASES_UNKNOWN)
		loader.conf->has_aliases =
		    snapshot.aliases == SNAPSHOT_ALIASES_THERE;
	conf = loader_load(&loader, is_good ? snapshot.path : from, main_text);
	arena_free(&own);
	return conf;
}

bool
conf_read_snapshot(const char *path, struct str *out)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char head[64];
	ssize_t n = fd < 0 ? 0 : fd_read_at(fd, head, sizeof(head), 0);
	bool result;

	/* one that cannot be read whole is found damaged */
	result = n > 0 && conf_snapshot_is((struct slice){ head, (size_t)n });
	if (result)
		(void)conf_read_fd(fd, SNAPSHOT_BYTES_MAX, out, NULL);
	if (fd >= 0)
		close(fd);
	return result;
}

/* ---- files ------------------------------------------------------------- */

struct conf *
conf_load(const char *path, struct arena *arena,
    struct conf_report *out_report)
{
	return conf_load_drafts(path, NULL, 0, arena, out_report);
}

/* Nobody named it, and it is not there. */
static bool
default_is_missing(const char *path)
{
	const char *environment = getenv("ZMAILER_CONF");

	return path == NULL &&
	    (environment == NULL || environment[0] == '\0') &&
	    access(conf_default_path(), F_OK) != 0 && errno == ENOENT;
}

struct conf *
conf_load_drafts(const char *path, const struct conf_draft *drafts,
    size_t draft_count, struct arena *arena, struct conf_report *out_report)
{
	struct conf_loader loader = { .includes_ok = true,
	    .drafts = drafts, .draft_count = draft_count };
	bool is_missing = draft_count == 0 && default_is_missing(path);
	struct str text = STR_INIT;
	struct conf *conf;
	struct err why;

	if (path == NULL)
		path = conf_default_path();
	if (draft_count == 0 && conf_read_snapshot(path, &text)) {
		conf = conf_load_snapshot(path, str_slice(&text), false,
		    arena, out_report);
		str_release(&text);
		return conf;
	}
	loader_open(&loader, is_missing ? "" : path, arena, out_report);
	if (!is_missing && conf_source_read(&loader, path, &text, &why) != 0) {
		err_prefix(&why, "it cannot be read");
		conf_complain_at(out_report, arena, loader.book, CONF_ERROR,
		    (struct conf_at){ .file = path }, 0, NULL, why.text);
		str_reset(&text);
	}
	conf = loader_load(&loader, path, str_slice(&text));
	str_release(&text);
	return conf;
}

struct conf *
conf_load_places(const char *path)
{
	struct conf_loader loader = { .includes_ok = true };
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct conf_report report;
	struct err why;

	loader_open(&loader, path, arena, &report);
	conf_preset_before(&loader);
	if (conf_source_read(&loader, path, &text, &why) == 0)
		conf_load_text(&loader, path, str_slice(&text));
	str_release(&text);
	arena_free(&arena);
	return loader.conf;
}

static struct conf *
load_or_tell(const char *path, conf_load_fn *load)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct conf_report report;
	struct conf *conf = load(path, arena, &report);

	if (conf == NULL) {
		conf_report_print(&report, path, &text);
		fputs(text.buf, stderr);
	}
	str_release(&text);
	arena_free(&arena);
	return conf;
}

struct conf *
conf_load_or_tell(const char *path)
{
	return load_or_tell(path, conf_load);
}

struct conf *
conf_in_force_or_tell(const char *path)
{
	return load_or_tell(path, conf_load_in_force);
}

struct conf *
conf_makeshift_or_tell(const char *path)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct conf_report report;
	bool is_makeshift;
	struct conf *conf = conf_load_makeshift(path, arena, &report,
	    &is_makeshift);

	if (is_makeshift) {
		conf_report_print(&report, path, &text);
		fputs(text.buf, stderr);
	}
	if (is_makeshift && conf != NULL)
		fprintf(stderr, "zmailer does not run, and %s has errors: "
		    "what follows goes by %s\n", conf->path,
		    strcmp(conf->read_from, conf->path) != 0 ?
		    "what the last run took over" :
		    "the directories that the file names");
	str_release(&text);
	arena_free(&arena);
	return conf;
}

void
conf_free(struct conf **conf)
{
	struct arena *arena;

	if (*conf == NULL)
		return;
	arena = (*conf)->arena;
	if ((*conf)->book != NULL)
		conf_ours_release((*conf)->book);
	if ((*conf)->book != NULL)
		arena_free(&(*conf)->book->names_arena);
	arena_free(&arena);
	*conf = NULL;
}

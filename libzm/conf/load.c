/* load.c - a file becomes a struct conf, whole or not at all
 *
 * In     a path, or bytes
 * Out    a conf with every field set; or none and a report
 * Holds  nothing; the conf's arena has the sources, for later complaints
 * Spec   zmailer.conf(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/conf.h"
#include "conf/part/part.h"

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
	if (!loader->is_partial) {
		conf_check_references(loader);
		conf_check_zones(loader);
	}
	conf_index_domains(loader);
	conf_check_sending_zones(loader);
	if (loader->report->errors == 0) {
		conf_check_reach(loader);
		conf_check_tls(loader);
		conf_check_auth(loader);
	}
	conf_report_sort(loader->report, loader->book);
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

struct conf *
conf_load(const char *path, struct arena *arena,
    struct conf_report *out_report)
{
	return conf_load_drafts(path, NULL, 0, arena, out_report);
}

struct conf *
conf_load_drafts(const char *path, const struct conf_draft *drafts,
    size_t draft_count, struct arena *arena, struct conf_report *out_report)
{
	const char *environment = getenv("ZMAILER_CONF");
	bool is_asked = path != NULL ||
	    (environment != NULL && environment[0] != '\0');
	struct conf_loader loader = { .includes_ok = true,
	    .drafts = drafts, .draft_count = draft_count };
	struct str text = STR_INIT;
	struct conf *conf;
	struct err why;
	bool is_missing;

	if (path == NULL)
		path = conf_default_path();
	is_missing = draft_count == 0 && !is_asked &&
	    access(path, F_OK) != 0 && errno == ENOENT;
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
conf_load_or_tell(const char *path)
{
	struct arena *arena = arena_new();
	struct str text = STR_INIT;
	struct conf_report report;
	struct conf *conf = conf_load(path, arena, &report);

	if (conf == NULL) {
		conf_report_print(&report, path, &text);
		fputs(text.buf, stderr);
	}
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
		arena_free(&(*conf)->book->names_arena);
	arena_free(&arena);
	*conf = NULL;
}

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
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conf/edit.h"
#include "conf/internal.h"

#include "base/banned.h"

const char *
conf_default_path(void)
{
	const char *path = getenv("ZMAILER_CONF");

	return path != NULL && path[0] != '\0' ? path :
	    ZM_SYSCONFDIR "/zmailer/zmailer.conf";
}

static void
source_name(struct conf_loader *loader, struct conf_source *source,
    const char *name, struct slice text)
{
	struct arena *arena = loader->conf->arena;

	source->text = slice_copy(arena, text);
	if (name == NULL)
		return;
	source->name = arena_dup(arena, name, strlen(name));
	*loader->book->sources_end = source;
	loader->book->sources_end = &source->next;
}

static void
load_legacy_text(struct conf_loader *loader, const char *name,
    struct slice text)
{
	struct conf_source *source = arena_alloc(loader->conf->arena,
	    sizeof(*source));

	source_name(loader, source, name, text);
	conf_legacy_read(loader, source);
}

void
conf_load_text(struct conf_loader *loader, const char *name,
    struct slice text)
{
	struct arena *arena = loader->conf->arena;
	struct conf_source *source = arena_alloc(arena, sizeof(*source));

	source_name(loader, source, name, text);
	conf_check_list(loader, conf_parse_tree(loader, source), GROUP_TOP,
	    NULL);
}

/* The text of a file, or of the draft that stands for it. */
static int
read_source(const struct conf_loader *loader, const char *path,
    struct str *out, struct err *err)
{
	for (size_t i = 0; i < loader->draft_count; i++)
		if (strcmp(loader->drafts[i].path, path) == 0) {
			str_add_slice(out, loader->drafts[i].text);
			return 0;
		}
	return conf_read_file(path, out, err);
}

/* Relative to the directory of the file that includes it. */
static const char *
include_path(struct conf_loader *loader, const char *path,
    const struct conf_token *from)
{
	const char *slash = strrchr(from->source->name, '/');

	if (path[0] == '/' || slash == NULL)
		return path;
	return arena_printf(loader->conf->arena, "%.*s/%s",
	    (int)(slash - from->source->name), from->source->name, path);
}

typedef void load_text_fn(struct conf_loader *loader, const char *name,
    struct slice text);

static void
load_file(struct conf_loader *loader, const char *path,
    const struct conf_token *from, load_text_fn *load_text)
{
	struct str text = STR_INIT;
	struct err why;

	if (!loader->includes_ok) {
		loader->is_partial = true;
		conf_complain(loader, CONF_ERROR, from, NULL,
		    "only a file can include files");
		return;
	}
	if (loader->depth >= CONF_INCLUDE_DEPTH_MAX ||
	    loader->files >= CONF_FILES_MAX) {
		conf_complain(loader, CONF_ERROR, from,
		    "does it include itself?",
		    "files are included more than %d deep",
		    CONF_INCLUDE_DEPTH_MAX);
		return;
	}
	path = include_path(loader, path, from);
	loader->depth++;
	loader->files++;
	if (read_source(loader, path, &text, &why) != 0) {
		loader->is_partial = true;
		conf_complain(loader, CONF_ERROR, from, NULL,
		    "%s cannot be read: %s", path, why.text);
	} else {
		load_text(loader, path, str_slice(&text));
	}
	loader->depth--;
	str_release(&text);
}

void
conf_load_file(struct conf_loader *loader, const char *path,
    const struct conf_token *from)
{
	load_file(loader, path, from, conf_load_text);
}

void
conf_load_legacy(struct conf_loader *loader, const char *path,
    const struct conf_token *from)
{
	load_file(loader, path, from, load_legacy_text);
}

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
load(struct conf_loader *loader, const char *name, struct slice text)
{
	struct conf *conf = loader->conf;

	conf_preset_before(loader);
	conf_load_text(loader, name, text);
	conf_preset_behind(loader);
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
	return load(&loader, name, text);
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
	if (!is_missing && read_source(&loader, path, &text, &why) != 0) {
		err_prefix(&why, "it cannot be read");
		conf_complain_at(out_report, arena, loader.book, CONF_ERROR,
		    (struct conf_at){ .file = path }, 0, NULL, why.text);
		str_reset(&text);
	}
	conf = load(&loader, path, str_slice(&text));
	str_release(&text);
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

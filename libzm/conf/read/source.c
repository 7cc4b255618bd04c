/* source.c - the texts that a configuration is made of, and their files
 *
 * In     names of files, drafts or a snapshot in their place, presets
 * Out    statements, checked and applied in the order they stand
 * Holds  the list of sources, in the book
 * Trusts no file to end its includes: depth and number are bounded
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "conf/read/read.h"

#include "base/banned.h"

struct conf_source *
conf_source_new(struct conf_loader *loader, const char *name,
    struct slice text)
{
	struct arena *arena = loader->conf->arena;
	struct conf_source *source = arena_alloc(arena, sizeof(*source));

	source->text = slice_copy(arena, text);
	if (name == NULL)
		return source;
	source->name = arena_dup(arena, name, strlen(name));
	*loader->book->sources_end = source;
	loader->book->sources_end = &source->next;
	return source;
}

void
conf_load_text(struct conf_loader *loader, const char *name,
    struct slice text)
{
	struct conf_source *source = conf_source_new(loader, name, text);

	if (!conf_text_is_good(loader, source))
		return;
	conf_check_list(loader, conf_parse_tree(loader, source), GROUP_TOP,
	    NULL);
}

size_t
conf_texts(const struct conf *conf, struct conf_draft *out, size_t max)
{
	const struct conf_source *source = conf->book->sources;
	size_t count = 0;

	for (; source != NULL; source = source->next) {
		bool is_twice = source->name[0] == '\0';

		for (size_t i = 0; i < count && i < max && !is_twice; i++)
			is_twice = strcmp(out[i].path, source->name) == 0;
		if (is_twice)
			continue;
		if (count < max)
			out[count] = (struct conf_draft){ source->name,
			    source->text };
		count++;
	}
	return count;
}

/* A file that is included twice is read once: both places have one text. */
static const struct conf_source *
source_known(const struct conf_book *book, const char *path)
{
	const struct conf_source *source = book->sources;

	while (source != NULL && strcmp(source->name, path) != 0)
		source = source->next;
	return source;
}

int
conf_source_read(const struct conf_loader *loader, const char *path,
    struct str *out, struct err *err)
{
	const struct conf_source *known = source_known(loader->book, path);

	if (known != NULL) {
		str_add_slice(out, known->text);
		return 0;
	}
	for (size_t i = 0; i < loader->draft_count; i++)
		if (strcmp(loader->drafts[i].path, path) == 0) {
			str_add_slice(out, loader->drafts[i].text);
			return 0;
		}
	if (loader->is_sealed)
		return err_set(err, "it was not there when the configuration "
		    "was taken over");
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

/* Is it being read, further up? */
static bool
include_is_open(const struct conf_loader *loader, const char *path)
{
	for (unsigned i = 0; i < loader->depth; i++)
		if (strcmp(loader->open_files[i], path) == 0)
			return true;
	return strcmp(loader->conf->path, path) == 0;
}

void
conf_load_file(struct conf_loader *loader, const char *path,
    const struct conf_token *from, conf_load_text_fn *load_text)
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
		    "delete this if it includes itself",
		    "files are included more than %d deep",
		    CONF_INCLUDE_DEPTH_MAX);
		return;
	}
	path = include_path(loader, path, from);
	if (include_is_open(loader, path)) {
		conf_complain(loader, CONF_ERROR, from, "delete this",
		    "%s would include itself", path);
		return;
	}
	loader->open_files[loader->depth] = path;
	loader->depth++;
	loader->files++;
	if (conf_source_read(loader, path, &text, &why) != 0) {
		loader->is_partial = true;
		conf_complain(loader, CONF_ERROR, from,
		    "name one file that is there; a path begins with /, or "
		    "counts from the file that includes it",
		    "%s cannot be read: %s", path, why.text);
	} else {
		load_text(loader, path, str_slice(&text));
	}
	loader->depth--;
	str_release(&text);
}

/* change.c - files of a configuration that are about to be changed
 *
 * In     the command line; the files
 * Out    texts to be edited; their difference
 * Holds  both texts of each file until released
 * Spec   change.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sysexits.h>
#include <unistd.h>

#include "tools/change/change.h"

#include "base/banned.h"

static void
change_complain(const struct change *change, const char *path, const char *why)
{
	fprintf(stderr, "zmailer: %s: %s: %s\n", change->verb, path, why);
}

/* Where the file really is: a name that is a link stays one. */
static const char *
target_of(struct arena *arena, const char *path)
{
	char *target = realpath(path, NULL);
	const char *result = target == NULL ? arena_printf(arena, "%s", path)
	    : arena_printf(arena, "%s", target);

	free(target);	/* realpath made it */
	return result;
}

/* *out_report says what is wrong with the configuration when change->conf is
 * NULL. */
static void
change_begin(struct change *change, const struct arguments *arguments,
    struct conf_report *out_report)
{
	const char *path = arguments->conf_path, *reason =
	    arguments_text(arguments, OPT_REASON);

	*change = (struct change){ .arguments = arguments,
	    .verb = arguments->verb,
	    .reason = reason != NULL ? reason : "",
	    .is_json = arguments_has(arguments, OPT_JSON),
	    .is_yes = arguments_has(arguments, OPT_YES),
	    .is_dry = arguments_has(arguments, OPT_DRY_RUN),
	    .arena = arena_new() };
	change->conf_path = target_of(change->arena, conf_path_of(change->arena,
	    path != NULL ? path : conf_default_path()));
	change->conf = conf_load(access(change->conf_path, F_OK) == 0 ?
	    change->conf_path : path, change->arena, out_report);
}

int
change_open(struct change *change, const struct arguments *arguments)
{
	struct conf_report report;
	struct str text = STR_INIT;

	change_begin(change, arguments, &report);
	if (change->conf != NULL)
		return 0;
	conf_report_print(&report, change->conf_path, &text);
	fputs(text.buf, stderr);
	fprintf(stderr, "zmailer: %s: mend the configuration first, or "
	    "zmailer config undo\n", change->verb);
	str_release(&text);
	change_release(change);
	return EX_CONFIG;
}

int
change_verb(const struct arguments *arguments, change_run_fn *run)
{
	struct change change;
	int status = change_open(&change, arguments);

	if (status != 0)
		return status;
	status = run(&change, arguments);
	change_release(&change);
	return status;
}

/* An included file may name them, which is not read when the whole is wrong:
 * then they are where they were when it ran last. */
static void
places_take_last(struct change *change, const char *path)
{
	struct conf_report report;
	bool is_makeshift;
	struct conf *last = conf_load_makeshift(path, change->arena, &report,
	    &is_makeshift);

	if (last == NULL)
		return;
	change->conf->spool_dir = slice_dup(change->arena,
	    slice_of(last->spool_dir));
	change->conf->log_dir = slice_dup(change->arena,
	    slice_of(last->log_dir));
	change->conf->run_dir = slice_dup(change->arena,
	    slice_of(last->run_dir));
	conf_free(&last);
}

/* What the main file says of its places, whatever else is wrong with it. */
static void
places_take(struct change *change, struct slice text)
{
	struct conf_piece *pieces;
	size_t count = conf_pieces(change->arena, text, &pieces);

	for (size_t i = 0; i < count; i++) {
		const char **dir = conf_piece_is(&pieces[i], 0, "spool") ?
		    &change->conf->spool_dir :
		    conf_piece_is(&pieces[i], 0, "log") ?
		    &change->conf->log_dir :
		    conf_piece_is(&pieces[i], 0, "run") ?
		    &change->conf->run_dir : NULL;

		if (dir != NULL && pieces[i].word_count == 2)
			*dir = slice_dup(change->arena,
			    pieces[i].words[1].text);
	}
}

int
change_open_any(struct change *change, const struct arguments *arguments)
{
	struct conf_report report;

	change_begin(change, arguments, &report);
	if (change->conf != NULL)
		return 0;
	change->conf = conf_parse("", (struct slice){ "", 0 }, change->arena,
	    &report);
	if (change_main(change) == NULL) {
		change_release(change);
		return EX_NOINPUT;
	}
	places_take_last(change, arguments->conf_path);
	places_take(change, str_slice(&change->files[0].before));
	return 0;
}

void
change_release(struct change *change)
{
	for (size_t i = 0; i < change->file_count; i++) {
		struct change_file *file = &change->files[i];

		if (file->is_secret && file->before.cap > 0)
			explicit_bzero(file->before.buf, file->before.cap);
		if (file->is_secret && file->after.cap > 0)
			explicit_bzero(file->after.buf, file->after.cap);
		str_release(&file->before);
		str_release(&file->after);
	}
	change->file_count = 0;
	conf_free(&change->conf);
	if (change->arena != NULL)
		arena_free(&change->arena);
}

/* 1 read, 0 there is none, -1 err. */
static int
read_whole(const char *path, struct str *out, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = 1;
	struct stat st;

	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(err, "cannot read it");
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
	    st.st_size > CHANGE_TABLE_BYTES_MAX) {
		close(fd);
		return err_set(err, "it is no regular file, or longer than "
		    "%d bytes", CHANGE_TABLE_BYTES_MAX);
	}
	while (n > 0 && out->len <= CHANGE_TABLE_BYTES_MAX) {
		n = read(fd, str_room(out, 65536), 65536);
		if (n > 0)
			out->len += (size_t)n;
	}
	out->buf[out->len] = '\0';
	if (n < 0)
		err_sys(err, "cannot read it");
	close(fd);
	return n < 0 ? -1 : 1;
}

struct str *
change_file(struct change *change, const char *path, bool is_table,
    unsigned mode)
{
	struct change_file *file = &change->files[change->file_count];
	struct err err;
	int result;

	for (size_t i = 0; i < change->file_count; i++)
		if (strcmp(change->files[i].path, path) == 0)
			return &change->files[i].after;
	if (change->file_count == CHANGE_FILES_MAX) {
		change_complain(change, path, "too many files at once");
		return NULL;
	}
	*file = (struct change_file){ .path = path, .is_table = is_table,
	    .target = target_of(change->arena, path), .mode = mode,
	    .before = STR_INIT, .after = STR_INIT };
	result = read_whole(file->target, &file->before, &err);
	if (result < 0 || (result == 0 && mode == 0)) {
		change_complain(change, path, result < 0 ? err.text :
		    "it is not there");
		str_release(&file->before);
		return NULL;
	}
	file->is_new = result == 0;
	str_add_slice(&file->after, str_slice(&file->before));
	change->file_count++;
	return &file->after;
}

struct str *
change_main(struct change *change)
{
	return change_file(change, change->conf_path, false, 0644);
}

bool
change_is_empty(const struct change *change)
{
	for (size_t i = 0; i < change->file_count; i++)
		if (!slice_equal(str_slice(&change->files[i].before),
		    str_slice(&change->files[i].after)))
			return false;
	return true;
}

void
change_add_diff(struct str *out, const struct change *change)
{
	for (size_t i = 0; i < change->file_count; i++) {
		const struct change_file *file = &change->files[i];

		if (!file->is_secret && file->about == NULL)
			diff_add(out, file->path, str_slice(&file->before),
			    str_slice(&file->after));
		else if (!slice_equal(str_slice(&file->before),
		    str_slice(&file->after)))
			str_addf(out, "--- %s: %s\n", file->path,
			    file->is_secret ? "a secret, not shown" :
			    file->about);
	}
}

/* parse.c - the bytes of a snapshot become paths and texts
 *
 * In     the bytes of RUN/zmailer.snapshot
 * Out    what was taken over, by whom and when
 * Holds  nothing
 * Trusts no length, no number: what does not fit is damaged
 * Spec   snapshot.h; doc/INTERNALS.md row O6
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/json.h"
#include "conf/snapshot/snapshot.h"
#include "grammar/bundle.h"

#include "base/banned.h"

bool
conf_snapshot_is(struct slice text)
{
	return slice_starts(text, "{\"zmailer-snapshot\":");
}

static int
snapshot_damaged(struct err *err)
{
	return err_set(err, "this snapshot of a configuration is damaged");
}

/* The line at the front. */
static int
snapshot_parse_head(struct slice line, struct arena *arena,
    struct conf_snapshot *out, struct err *err)
{
	struct str path = STR_INIT;
	int64_t pid = json_get_number(line, "pid");
	bool has_path = json_get(line, "conf", &path);

	out->path = slice_dup(arena, str_slice(&path));
	str_release(&path);
	if (json_get_number(line, "zmailer-snapshot") != SNAPSHOT_VERSION)
		return err_set(err, "this snapshot of a configuration is of "
		    "another zmailer");
	if (!has_path || (out->path[0] != '/' && out->path[0] != '\0') ||
	    pid < 1 || pid > INT_MAX)
		return snapshot_damaged(err);
	out->pid = (pid_t)pid;
	out->started = json_get_number(line, "started");
	out->time_s = json_get_number(line, "t");
	out->aliases = (enum snapshot_aliases)json_get_number(line,
	    "aliases");
	return 0;
}

int
conf_snapshot_parse(struct slice text, struct arena *arena,
    struct conf_snapshot *out, struct err *err)
{
	struct bundle_file *files;
	struct slice line;

	*out = (struct conf_snapshot){ .path = "" };
	if (!conf_snapshot_is(text) || !slice_cut(&text, '\n', &line))
		return snapshot_damaged(err);
	if (snapshot_parse_head(line, arena, out, err) < 0)
		return -1;
	if (bundle_parse(text, SNAPSHOT_FILES_MAX, arena, &files,
	    &out->file_count) < 0)
		return snapshot_damaged(err);
	out->files = arena_alloc(arena,
	    (out->file_count + 1) * sizeof(*out->files));
	for (size_t i = 0; i < out->file_count; i++)
		out->files[i] = (struct conf_draft){ files[i].path,
		    files[i].text };
	if (out->path[0] == '\0')
		return out->file_count == 0 ? 0 : snapshot_damaged(err);
	if (out->file_count == 0 || strcmp(out->files[0].path, out->path) != 0)
		return snapshot_damaged(err);
	return 0;
}

/* ---- whose it is ------------------------------------------------------- */

int64_t
conf_process_started(pid_t pid)
{
	enum { FIELD_STATE = 3, FIELD_START = 22 };
	char path[64], text[1024];
	struct slice rest, word = SLICE("");
	const char *name_end;
	uint64_t started;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = fd_read_at(fd, text, sizeof(text) - 1, 0);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	/* the name may have anything, ")" and blanks too */
	name_end = strrchr(text, ')');
	if (name_end == NULL)
		return 0;
	rest = slice_of(name_end + 1);
	for (int i = FIELD_STATE; i <= FIELD_START; i++) {
		if (!slice_word(&rest, &word))
			return 0;
		if (i == FIELD_STATE && (slice_is(word, "Z") ||
		    slice_is(word, "X")))
			return -1;
	}
	return slice_number(word, 1, INT64_MAX, &started) ?
	    (int64_t)started : 0;
}

bool
conf_snapshot_is_live(const struct conf_snapshot *snapshot)
{
	int64_t started;

	if (kill(snapshot->pid, 0) != 0 && errno != EPERM)
		return false;
	/* who may not look at processes of others believes the number */
	started = conf_process_started(snapshot->pid);
	return started == 0 || (started > 0 && snapshot->started == 0) ||
	    started == snapshot->started;
}

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

static const char *
brief_word_take(struct slice line, const char *key, struct arena *arena)
{
	struct str value = STR_INIT;
	const char *word = "";

	if (json_get(line, key, &value))
		word = slice_dup(arena, str_slice(&value));
	str_release(&value);
	return word;
}

/* What one message needs: all of it, or nothing. */
static void
brief_parse(struct slice line, struct arena *arena, struct conf_snapshot *out)
{
	struct conf_brief *brief = &out->brief;

	*brief = (struct conf_brief){
		.path = out->path, .host = brief_word_take(line, "host", arena),
		.spool_dir = brief_word_take(line, "spool", arena),
		.run_dir = brief_word_take(line, "run", arena),
		.log_dir = brief_word_take(line, "log", arena),
		.hash_levels = (unsigned)json_get_number(line, "hash"),
		.sync = (unsigned)json_get_number(line, "sync"),
		.size_bytes = (uint64_t)json_get_number(line, "size"),
		.header_bytes = (uint64_t)json_get_number(line, "header"),
		.received = (uint64_t)json_get_number(line, "received"),
		.node = brief_word_take(line, "node", arena),
	};
	out->has_brief = brief->host[0] != '\0' &&
	    brief->spool_dir[0] == '/' && brief->run_dir[0] == '/' &&
	    brief->log_dir[0] == '/' && brief->hash_levels <= 2 &&
	    brief->sync <= SYNC_EPHEMERAL && brief->size_bytes > 0 &&
	    brief->header_bytes > 0 && brief->received > 0 &&
	    strlen(brief->node) < SPOOL_NODE_BYTES;
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
	brief_parse(line, arena, out);
	return 0;
}

int
conf_snapshot_parse_front(struct slice text, struct arena *arena,
    struct conf_snapshot *out, struct err *err)
{
	struct slice line;

	*out = (struct conf_snapshot){ .path = "" };
	if (!conf_snapshot_is(text) || !slice_cut(&text, '\n', &line) ||
	    text.p == NULL)
		return snapshot_damaged(err);
	return snapshot_parse_head(line, arena, out, err);
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
	int64_t started = conf_process_started(snapshot->pid);

	/* who may not look at processes of others believes the number */
	if (started == 0 && kill(snapshot->pid, 0) != 0 && errno != EPERM)
		return false;
	return started == 0 || (started > 0 && snapshot->started == 0) ||
	    started == snapshot->started;
}

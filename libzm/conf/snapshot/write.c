/* write.c - what was taken over, for whoever starts from now on
 *
 * In     a configuration that was read and is good
 * Out    RUN/zmailer.snapshot, whole or as it was
 * Holds  nothing; a draft beside it while it writes
 * Trusts nobody who may write to RUN: the draft is made anew
 * Spec   snapshot.h; doc/INTERNALS.md row O6
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "conf/snapshot/snapshot.h"
#include "grammar/bundle.h"

#include "base/banned.h"

enum { SNAPSHOT_PATH_BYTES = 4200 };

enum snapshot_aliases
conf_snapshot_aliases(bool has_aliases)
{
	return has_aliases ? SNAPSHOT_ALIASES_THERE : SNAPSHOT_ALIASES_ABSENT;
}

static void
brief_add(struct str *out, const struct conf_brief *brief)
{
	json_text(out, "host", slice_of(brief->host));
	json_text(out, "spool", slice_of(brief->spool_dir));
	json_text(out, "run", slice_of(brief->run_dir));
	json_text(out, "log", slice_of(brief->log_dir));
	json_number(out, "hash", brief->hash_levels);
	json_number(out, "sync", brief->sync);
	json_number(out, "size", (int64_t)brief->size_bytes);
	json_number(out, "header", (int64_t)brief->header_bytes);
	json_number(out, "received", (int64_t)brief->received);
	if (brief->node != NULL && brief->node[0] != '\0')
		json_text(out, "node", slice_of(brief->node));
}

/* Does it come back from that as it is?  Not when a directory's name is not
 * UTF-8: then whoever starts reads the whole. */
static bool
brief_can_be_told(const struct conf_snapshot *snapshot, struct arena *arena)
{
	const struct conf_brief *brief = &snapshot->brief, *back;
	struct conf_snapshot again = { .path = "" };
	struct str text = STR_INIT;
	struct err err;
	bool result;

	conf_snapshot_add(&text, &(struct conf_snapshot){ .pid = 1,
	    .path = snapshot->path, .has_brief = true, .brief = *brief });
	back = &again.brief;
	result = conf_snapshot_parse_front(str_slice(&text), arena, &again,
	    &err) == 0 && again.has_brief &&
	    strcmp(back->host, brief->host) == 0 &&
	    strcmp(back->spool_dir, brief->spool_dir) == 0 &&
	    strcmp(back->run_dir, brief->run_dir) == 0 &&
	    strcmp(back->log_dir, brief->log_dir) == 0 &&
	    back->size_bytes == brief->size_bytes &&
	    back->header_bytes == brief->header_bytes &&
	    back->received == brief->received;
	str_release(&text);
	return result;
}

void
conf_snapshot_add(struct str *out, const struct conf_snapshot *snapshot)
{
	json_open(out);
	json_number(out, "zmailer-snapshot", SNAPSHOT_VERSION);
	json_number(out, "pid", snapshot->pid);
	json_number(out, "started", snapshot->started);
	json_number(out, "t", snapshot->time_s);
	json_number(out, "aliases", snapshot->aliases);
	json_text(out, "conf", slice_of(snapshot->path));
	if (snapshot->has_brief)
		brief_add(out, &snapshot->brief);
	json_close(out);
	for (size_t i = 0; i < snapshot->file_count; i++)
		bundle_add_file(out, snapshot->files[i].path,
		    snapshot->files[i].text);
	bundle_add_end(out);
}

/* It must come back as it went, names included. */
static int
snapshot_check(const struct conf_snapshot *snapshot, struct slice text,
    struct arena *arena, struct err *err)
{
	struct conf_snapshot again;

	if (text.n > SNAPSHOT_BYTES_MAX)
		return err_set(err, "the configuration has more than %d "
		    "bytes", SNAPSHOT_BYTES_MAX);
	for (size_t i = 0; i < snapshot->file_count; i++)
		if (snapshot->files[i].path[0] != '/')
			return err_set(err, "'%s' is not an absolute path",
			    snapshot->files[i].path);
	if (conf_snapshot_parse(text, arena, &again, err) < 0)
		return -1;
	for (size_t i = 0; i < again.file_count; i++)
		if (strcmp(again.files[i].path, snapshot->files[i].path) != 0)
			return err_set(err, "the name of %s is not UTF-8",
			    again.files[i].path);
	return 0;
}

/* Who may not give a file away keeps it, for himself alone. */
static int
snapshot_give(int fd, const struct conf_readers *readers)
{
	mode_t mode = readers->mode;

	if (fchown(fd, readers->uid, readers->gid) < 0 &&
	    fchown(fd, (uid_t)-1, readers->gid) < 0)
		mode &= ~(mode_t)040;
	return fchmod(fd, mode);
}

static int
snapshot_put(const char *run_dir, struct slice text,
    const struct conf_readers *readers, struct err *err)
{
	char path[SNAPSHOT_PATH_BYTES], draft[SNAPSHOT_PATH_BYTES];
	bool is_good;
	int fd;

	snprintf(path, sizeof(path), "%s/" SNAPSHOT_NAME, run_dir);
	snprintf(draft, sizeof(draft), "%s/" SNAPSHOT_NAME ".new", run_dir);
	(void)unlink(draft);	/* O6: of one who died, or a stranger's */
	fd = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
	    0600);
	if (fd < 0)
		return err_sys(err, "cannot write %s", draft);
	is_good = fd_write_all(fd, text.p, text.n) == 0 &&
	    snapshot_give(fd, readers) == 0;
	if (!is_good)
		err_sys(err, "cannot write %s", draft);
	if (close(fd) != 0 && is_good) {
		err_sys(err, "cannot write %s", draft);
		is_good = false;
	}
	/* O6: until here the old one stands */
	if (is_good && rename(draft, path) != 0) {
		err_sys(err, "cannot replace %s", path);
		is_good = false;
	}
	if (!is_good)
		(void)unlink(draft);	/* O6: ours alone */
	return is_good ? 0 : -1;
}

int
conf_snapshot_write(const struct conf *conf, struct err *err)
{
	struct arena *arena = arena_new();
	struct conf_draft files[SNAPSHOT_FILES_MAX];
	const char *paths[SNAPSHOT_FILES_MAX];
	struct conf_snapshot snapshot = { .pid = getpid(),
	    .started = conf_process_started(getpid()),
	    .time_s = clock_wall_s(), .path = conf->path, .files = files };
	struct conf_readers readers;
	struct str text = STR_INIT;
	int result = 0;

	snapshot.aliases = conf_snapshot_aliases(conf->has_aliases);
	conf_brief_of(conf, &snapshot.brief);
	snapshot.has_brief = brief_can_be_told(&snapshot, arena);
	if (conf->path[0] != '\0')
		snapshot.file_count = conf_texts(conf, files,
		    SNAPSHOT_FILES_MAX);
	if (snapshot.file_count > SNAPSHOT_FILES_MAX)
		result = err_set(err, "the configuration has more than %d "
		    "files", SNAPSHOT_FILES_MAX);
	else
		conf_snapshot_add(&text, &snapshot);
	for (size_t i = 0; result == 0 && i < snapshot.file_count; i++)
		paths[i] = files[i].path;
	if (result == 0 && (snapshot_check(&snapshot, str_slice(&text), arena,
	    err) < 0 || conf_readers_find(paths, snapshot.file_count, &readers,
	    err) < 0 || snapshot_put(conf->run_dir, str_slice(&text), &readers,
	    err) < 0))
		result = -1;
	str_release(&text);
	arena_free(&arena);
	return result;
}

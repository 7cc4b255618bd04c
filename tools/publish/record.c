/* record.c - what a node has of a publish on its disk, written and read back
 *
 * In     a record; or the bytes of one
 * Out    one file each below SPOOL/desk/publish: a line of JSON, a bundle
 * Holds  the lock, while its caller keeps the descriptor
 * Trusts a record only when it ends with "end"; lengths are bounded
 * Spec   record.h; doc/INTERNALS.md rows E4 to E7
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/fd.h"
#include "base/json.h"
#include "tools/publish/record.h"
#include "tools/versions/write.h"

#include "base/banned.h"

enum { NAP_MS = 20, RECORD_BYTES_MAX = PUBLISH_BYTES_MAX + (1 << 20) };

bool
publish_id_is_good(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if (!ascii_is_digit(text.p[i]) &&
		    (text.p[i] < 'a' || text.p[i] > 'f'))
			return false;
	return text.n == PUBLISH_ID_BYTES - 1;
}

void
publish_id_make(char out[PUBLISH_ID_BYTES])
{
	snprintf(out, PUBLISH_ID_BYTES, "%08x%08x", arc4random(),
	    arc4random());
}

void
publish_path(char out[RECORD_PATH_BYTES], const char *spool_dir,
    const char *name)
{
	snprintf(out, RECORD_PATH_BYTES, "%s/desk%s%s", spool_dir,
	    name[0] == '\0' ? "" : "/publish/", name);
}

static int
record_make_folders(const char *spool_dir, struct err *err)
{
	char path[RECORD_PATH_BYTES];

	publish_path(path, spool_dir, "");
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return err_sys(err, "%s", path);
	strlcat(path, "/publish", sizeof(path));
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return err_sys(err, "%s", path);
	return 0;
}

int
record_lock(const char *spool_dir, int64_t patience_ms, struct err *err)
{
	const struct timespec nap = { .tv_nsec = NAP_MS * 1000000L };
	int64_t end_ms = clock_steady_ms() + patience_ms;
	char path[RECORD_PATH_BYTES];
	int fd;

	if (record_make_folders(spool_dir, err) < 0)
		return -1;
	publish_path(path, spool_dir, "lock");
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, "%s", path);
	while (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		if (errno == EWOULDBLOCK && clock_steady_ms() < end_ms) {
			(void)nanosleep(&nap, NULL);
			continue;
		}
		close(fd);
		err_set(err, "another publish is at work here; try again");
		errno = EWOULDBLOCK;
		return -1;
	}
	return fd;
}

int
record_lock_sender(const char *spool_dir, int64_t until_s, struct err *err)
{
	char path[RECORD_PATH_BYTES], time[CLOCK_TEXT_BYTES] = "";
	ssize_t n;
	int fd;

	if (record_make_folders(spool_dir, err) < 0)
		return -1;
	publish_path(path, spool_dir, "sending");
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_sys(err, "%s", path);
	if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
		n = pread(fd, time, sizeof(time) - 1, 0);
		close(fd);
		return err_set(err, "another publish of this node is under "
		    "way, until %s at the latest", n > 0 ? time : "its end");
	}
	/* for words alone: it need not be on the disk */
	clock_local(until_s, time);
	if (ftruncate(fd, 0) != 0 ||
	    pwrite(fd, time, strlen(time), 0) < 0) {
		err_sys(err, "%s", path);
		close(fd);
		return -1;
	}
	return fd;
}

/* ---- one record --------------------------------------------------------- */

int
record_write(const char *spool_dir, const char *name,
    const struct publish_record *record, struct err *err)
{
	char path[RECORD_PATH_BYTES];
	struct change_file file = { .target = path, .mode = 0600,
	    .before = STR_INIT, .after = STR_INIT };
	int result;

	publish_path(path, spool_dir, name);
	json_open(&file.after);
	json_number(&file.after, "v", 1);
	json_text(&file.after, "id", slice_of(record->id));
	json_text(&file.after, "from", slice_of(record->from));
	json_text(&file.after, "who", slice_of(record->who));
	json_number(&file.after, "since", record->since_s);
	json_number(&file.after, "until", record->until_s);
	json_number(&file.after, "version", record->version);
	json_text(&file.after, "sum", slice_of(record->sum));
	json_close(&file.after);
	for (size_t i = 0; i < record->count; i++)
		bundle_add_file(&file.after, record->files[i].path,
		    record->files[i].text);
	bundle_add_end(&file.after);
	result = record_make_folders(spool_dir, err);
	if (result == 0)
		result = change_file_write(&file, err);
	/* a rename that is not on the disk is none */
	if (result == 0 && change_directory_sync(path) < 0)
		result = err_sys(err, "%s", path);
	str_release(&file.after);
	return result;
}

static const char *
record_word(struct arena *arena, struct slice line, const char *key)
{
	struct str value = STR_INIT;
	const char *result;

	(void)json_get(line, key, &value);
	result = slice_dup(arena, str_slice(&value));
	str_release(&value);
	return result;
}

static int
record_parse(struct slice text, struct arena *arena,
    struct publish_record *out)
{
	struct slice line;
	const char *id;

	if (!slice_cut(&text, '\n', &line) || json_get_number(line, "v") != 1)
		return -1;
	id = record_word(arena, line, "id");
	if (!publish_id_is_good(slice_of(id)))
		return -1;
	strlcpy(out->id, id, sizeof(out->id));
	out->from = record_word(arena, line, "from");
	out->who = record_word(arena, line, "who");
	out->since_s = json_get_number(line, "since");
	out->until_s = json_get_number(line, "until");
	out->version = (unsigned)json_get_number(line, "version");
	out->sum = record_word(arena, line, "sum");
	return bundle_parse(text, PUBLISH_FILES_MAX, arena, &out->files,
	    &out->count);
}

enum record_found
record_read(const char *spool_dir, const char *name, struct arena *arena,
    struct publish_record *out, struct err *err)
{
	char path[RECORD_PATH_BYTES];
	struct str text = STR_INIT;
	enum record_found result = RECORD_READ;
	int fd;

	*out = (struct publish_record){ .count = 0 };
	publish_path(path, spool_dir, name);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0 && errno == ENOENT)
		return RECORD_NONE;
	if (fd < 0 || fd_read_all(fd, RECORD_BYTES_MAX, &text) < 0) {
		err_sys(err, "%s", path);
		result = RECORD_BAD;
	} else if (record_parse(str_slice(&text), arena, out) < 0) {
		err_set(err, "%s is damaged", path);
		result = RECORD_BAD;
	}
	if (fd >= 0)
		close(fd);
	str_release(&text);
	return result;
}

bool
record_is_over(const struct publish_record *record)
{
	int64_t now_s = clock_wall_s();

	return now_s >= record->until_s || now_s < record->since_s - 1;
}

const char *
record_span(const char *spool_dir, const char *name, struct arena *arena)
{
	char time[CLOCK_TEXT_BYTES];
	struct publish_record record;
	struct err err;

	if (record_read(spool_dir, name, arena, &record, &err) != RECORD_READ)
		return "(until when is not known here)";
	clock_local(record.until_s, time);
	return arena_printf(arena, "until %s at the latest (%s@%s)", time,
	    record.who, record.from);
}

bool
record_is_there(const char *spool_dir, const char *name)
{
	char path[RECORD_PATH_BYTES];

	publish_path(path, spool_dir, name);
	return access(path, F_OK) == 0;
}

int
record_rename(const char *spool_dir, const char *name, const char *to,
    struct err *err)
{
	char from[RECORD_PATH_BYTES], path[RECORD_PATH_BYTES];

	publish_path(from, spool_dir, name);
	publish_path(path, spool_dir, to);
	if (rename(from, path) != 0 || change_directory_sync(path) < 0)
		return err_sys(err, "%s", from);
	return 0;
}

int
record_remove(const char *spool_dir, const char *name, struct err *err)
{
	char path[RECORD_PATH_BYTES];

	publish_path(path, spool_dir, name);
	if (unlink(path) != 0)
		return errno == ENOENT ? 0 : err_sys(err, "%s", path);
	return change_directory_sync(path) < 0 ? err_sys(err, "%s", path) : 0;
}

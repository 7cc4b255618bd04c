/* versions.c - the last configurations, so that one can go back
 *
 * In     the texts of a configuration
 * Out    SPOOL/desk/history/NUMBER, one file a version: a line of JSON that
 *        says when, who and why, then a bundle of the files (bundle.h)
 * Holds  nothing; SPOOL/desk/lock while one is written
 * Trusts a version only when it ends with "end"; lengths are bounded
 * Spec   versions.h; doc/INTERNALS.md rows E2, E3
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "conf/edit.h"
#include "tools/versions/versions.h"
#include "tools/versions/write.h"

#include "base/banned.h"

enum { PATH_BYTES = 4200, NAME_DIGITS = 8 };

static void
path_put(char out[PATH_BYTES], const char *spool_dir, const char *name)
{
	snprintf(out, PATH_BYTES, "%s/desk%s%s", spool_dir,
	    name[0] == '\0' ? "" : "/", name);
}

/* SPOOL/desk and SPOOL/desk/history, for us alone; -1 no spool. */
static int
folders_make(const char *spool_dir)
{
	char path[PATH_BYTES];

	path_put(path, spool_dir, "");
	if (mkdir(path, 0700) != 0 && errno != EEXIST)
		return -1;
	path_put(path, spool_dir, "history");
	return mkdir(path, 0700) != 0 && errno != EEXIST ? -1 : 0;
}

int
versions_lock(const char *spool_dir)
{
	char path[PATH_BYTES];
	int fd;

	if (folders_make(spool_dir) != 0)
		return -2;
	path_put(path, spool_dir, "lock");
	fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -2;
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	close(fd);
	errno = EWOULDBLOCK;
	return -1;
}

/* ---- which there are ---------------------------------------------------- */

static int
version_by_number(const void *a, const void *b)
{
	unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

	return x < y ? -1 : x > y;
}

static size_t
numbers_read(const char *spool_dir, unsigned *out, size_t max)
{
	char path[PATH_BYTES];
	struct dirent *entry;
	size_t count = 0;
	uint64_t number;
	DIR *dir;

	path_put(path, spool_dir, "history");
	dir = opendir(path);
	if (dir == NULL)
		return 0;
	while ((entry = readdir(dir)) != NULL && count < max)
		if (strlen(entry->d_name) == NAME_DIGITS && slice_number(
		    slice_of(entry->d_name), 1, 99999999, &number))
			out[count++] = (unsigned)number;
	closedir(dir);
	qsort(out, count, sizeof(*out), version_by_number);
	return count;
}

size_t
versions_list(const char *spool_dir, unsigned out[VERSIONS_MAX + 2])
{
	return numbers_read(spool_dir, out, VERSIONS_MAX + 2);
}

/* ---- reading ------------------------------------------------------------ */

static int
text_read(const char *path, struct str *out, struct err *err)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	ssize_t n = 1;

	if (fd < 0)
		return errno == ENOENT ? 0 : err_sys(err, "%s", path);
	while (n > 0 && out->len <= VERSION_BYTES_MAX) {
		n = read(fd, str_room(out, 65536), 65536);
		if (n > 0)
			out->len += (size_t)n;
	}
	out->buf[out->len] = '\0';
	if (n < 0)
		err_sys(err, "%s", path);
	close(fd);
	if (out->len > VERSION_BYTES_MAX)
		return err_set(err, "%s is too long", path);
	return n < 0 ? -1 : 1;
}

static const char *
word_of(struct arena *arena, struct slice line, const char *key)
{
	struct str value = STR_INIT;
	const char *result;

	(void)json_get(line, key, &value);
	result = slice_dup(arena, str_slice(&value));
	str_release(&value);
	return result;
}

/* "MODE ACCOUNT" a line, for the last files of the bundle. */
static void
version_tables_parse(struct version *version, struct arena *arena,
    const char *lines)
{
	struct slice rest = slice_of(lines), line, mode, account;
	size_t count = 0, at;
	uint64_t bits;

	for (const char *p = lines; *p != '\0'; p++)
		count += *p == '\n';
	if (count == 0 || count > version->file_count)
		return;
	at = version->file_count -= count;
	version->tables = arena_alloc(arena, count * sizeof(*version->tables));
	while (slice_cut(&rest, '\n', &line) && version->table_count < count) {
		struct version_table *table =
		    &version->tables[version->table_count++];

		table->path = version->files[at].path;
		table->text = version->files[at++].text;
		table->mode = slice_word(&line, &mode) &&
		    slice_number(mode, 0, 0777, &bits) ? (unsigned)bits : 0600;
		table->account = slice_word(&line, &account) ?
		    slice_dup(arena, account) : "-";
	}
}

static int
version_parse(struct slice text, struct arena *arena, struct version *out)
{
	struct slice line;

	if (!slice_cut(&text, '\n', &line) || json_get_number(line, "v") != 1)
		return -1;
	out->was = (unsigned)json_get_number(line, "was");
	out->time_s = json_get_number(line, "t");
	out->by = word_of(arena, line, "by");
	out->verb = word_of(arena, line, "verb");
	out->reason = word_of(arena, line, "reason");
	if (bundle_parse(text, VERSION_FILES_MAX + VERSION_TABLES_MAX, arena,
	    &out->files, &out->file_count) != 0)
		return -1;
	version_tables_parse(out, arena, word_of(arena, line, "tables"));
	return 1;
}

enum version_found
version_read(const char *spool_dir, unsigned number, struct arena *arena,
    struct version *out, struct err *err)
{
	char name[32], path[PATH_BYTES];
	struct str text = STR_INIT;
	int result;

	*out = (struct version){ .number = number };
	snprintf(name, sizeof(name), "history/%08u", number);
	path_put(path, spool_dir, name);
	result = text_read(path, &text, err);
	if (result == 1 && version_parse(str_slice(&text), arena, out) != 1)
		result = err_set(err, "%s is damaged", path);
	str_release(&text);
	return result;
}

/* ---- keeping ------------------------------------------------------------ */

/* The texts that were read, whatever the files hold by now; each by the name
 * that is no symbolic link. */
static void
files_take(const struct conf *conf, struct arena *arena, struct version *out)
{
	struct conf_draft texts[VERSION_FILES_MAX];
	size_t count = conf_texts(conf, texts, VERSION_FILES_MAX);

	if (count > VERSION_FILES_MAX)
		count = VERSION_FILES_MAX;
	out->files = arena_alloc(arena, (count + 1) * sizeof(*out->files));
	for (size_t i = 0; i < count; i++) {
		char *real = realpath(texts[i].path, NULL);

		if (real != NULL)
			out->files[out->file_count++] = (struct bundle_file){
				arena_printf(arena, "%s", real),
				slice_copy(arena, texts[i].text)
			};
		free(real);	/* realpath made it */
	}
}

/* Are a's tables those of b?  One without tables says nothing of any. */
static bool
version_has_tables_of(const struct version *a, const struct version *b)
{
	if (b->table_count > 0 && a->table_count != b->table_count)
		return false;
	for (size_t i = 0; i < b->table_count; i++)
		if (strcmp(a->tables[i].path, b->tables[i].path) != 0 ||
		    !slice_equal(a->tables[i].text, b->tables[i].text))
			return false;
	return true;
}

static bool
version_is_same(const struct version *a, const struct version *b)
{
	if (!version_has_tables_of(b, a))
		return false;
	if (a->file_count != b->file_count)
		return false;
	for (size_t i = 0; i < a->file_count; i++)
		if (strcmp(a->files[i].path, b->files[i].path) != 0 ||
		    !slice_equal(a->files[i].text, b->files[i].text))
			return false;
	return true;
}

static void
version_format(const struct version *version, struct str *out)
{
	struct str tables = STR_INIT;

	for (size_t i = 0; i < version->table_count; i++)
		str_addf(&tables, "%u %s\n", version->tables[i].mode,
		    version->tables[i].account);
	json_open(out);
	json_number(out, "v", 1);
	json_number(out, "t", version->time_s);
	json_text(out, "by", slice_of(version->by));
	json_text(out, "verb", slice_of(version->verb));
	json_text(out, "reason", slice_of(version->reason));
	json_number(out, "was", version->was);
	if (tables.len > 0)
		json_text(out, "tables", str_slice(&tables));
	json_close(out);
	for (size_t i = 0; i < version->file_count; i++)
		bundle_add_file(out, version->files[i].path,
		    version->files[i].text);
	for (size_t i = 0; i < version->table_count; i++)
		bundle_add_file(out, version->tables[i].path,
		    version->tables[i].text);
	bundle_add_end(out);
	str_release(&tables);
}

static int
version_write(const char *spool_dir, const struct version *version,
    struct err *err)
{
	char name[32], path[PATH_BYTES];
	struct change_file file = { .target = path, .mode = 0600,
	    .before = STR_INIT, .after = STR_INIT };
	int result;

	snprintf(name, sizeof(name), "history/%08u", version->number);
	path_put(path, spool_dir, name);
	version_format(version, &file.after);
	result = file.after.len > VERSION_BYTES_MAX ?
	    err_set(err, "the configuration has more than %d bytes",
	    VERSION_BYTES_MAX) : change_file_write(&file, err);
	if (file.after.cap > 0)		/* there may be secrets in it */
		explicit_bzero(file.after.buf, file.after.cap);
	str_release(&file.after);
	return result;
}

/* E3: the oldest go, VERSIONS_MAX stay; drafts of the dead go, too. */
static void
old_remove(const char *spool_dir)
{
	unsigned numbers[VERSIONS_MAX + 64];
	size_t count = numbers_read(spool_dir, numbers, VERSIONS_MAX + 64);
	char name[32], path[PATH_BYTES];

	for (size_t i = 0; i + VERSIONS_MAX < count; i++) {
		snprintf(name, sizeof(name), "history/%08u", numbers[i]);
		path_put(path, spool_dir, name);
		(void)unlink(path);
	}
}

enum version_kept
versions_keep(const struct conf *conf, const struct version *about,
    struct err *err)
{
	struct arena *arena = arena_new();
	struct version now = *about, newest;
	unsigned numbers[VERSIONS_MAX + 2];
	size_t count;
	enum version_kept result = VERSION_KNOWN;

	now.files = NULL;
	now.file_count = 0;
	now.time_s = clock_wall_s();
	count = versions_list(conf->spool_dir, numbers);
	files_take(conf, arena, &now);
	if (folders_make(conf->spool_dir) != 0) {
		err_sys(err, "%s/desk", conf->spool_dir);
		result = errno == ENOENT ? VERSION_KNOWN : VERSION_NOT_KEPT;
	} else if (now.file_count > 0 && (count == 0 ||
	    version_read(conf->spool_dir, numbers[count - 1], arena, &newest,
	    err) != VERSION_READ || !version_is_same(&now, &newest))) {
		now.number = count == 0 ? 1 : numbers[count - 1] + 1;
		result = version_write(conf->spool_dir, &now, err) == 0 ?
		    VERSION_KEPT : VERSION_NOT_KEPT;
		old_remove(conf->spool_dir);
	}
	arena_free(&arena);
	return result;
}

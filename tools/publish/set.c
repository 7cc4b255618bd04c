/* set.c - the files of a configuration that go to other nodes
 *
 * In     a configuration; or the bytes that another node sent
 * Out    names below the directory of zmailer.conf, and texts
 * Holds  nothing
 * Trusts no byte of another node: names, number and sizes are bounded
 * Spec   set.h; doc/protocol/nodes.md section 5
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "grammar/bundle.h"
#include "tls/digest.h"
#include "tools/publish/set.h"

#include "base/banned.h"

/* No way up, no way to the root, nothing that a terminal obeys. */
static bool
set_name_is_good(const char *name)
{
	struct slice rest = slice_of(name), part;

	if (rest.n == 0 || rest.n > PUBLISH_NAME_BYTES_MAX ||
	    rest.p[rest.n - 1] == '/')
		return false;
	for (const char *p = name; *p != '\0'; p++)
		if ((unsigned char)*p <= ' ' || (unsigned char)*p > '~')
			return false;
	while (slice_cut(&rest, '/', &part))
		if (part.n == 0 || part.p[0] == '.')
			return false;
	return true;
}

/* ---- which files -------------------------------------------------------- */

static bool
secret_is_table(const struct conf *conf, const char *name, const char *path)
{
	const char *file = name == NULL ? NULL :
	    conf_table_file(conf_table_find(conf, name));

	return file != NULL && strcmp(file, path) == 0;
}

/* Does a statement name it as a password or a key? */
static bool
secret_is_named(const struct conf *conf, const char *path)
{
	const struct conf_cluster *cluster = &conf->cluster;
	const char *const named[] = { cluster->password_path,
		cluster->sentinel_password_path, cluster->key,
		cluster->postgres_password_path, cluster->desk_key,
		cluster->desk_certificate, conf->srs.key, conf->mailq.users };
	bool is_one = false;

	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		is_one = is_one || (named[i] != NULL &&
		    strcmp(named[i], path) == 0);
	for (size_t i = 0; i < conf->certificate_count; i++)
		is_one = is_one || strcmp(conf->certificates[i].key, path) ==
		    0;
	for (size_t i = 0; i < conf->sign_count; i++)
		is_one = is_one || (conf->signs[i].key != NULL &&
		    strcmp(conf->signs[i].key, path) == 0);
	for (size_t i = 0; i < conf->notify_count; i++)
		is_one = is_one || (conf->notifies[i].key_path != NULL &&
		    strcmp(conf->notifies[i].key_path, path) == 0);
	return is_one;
}

const char *
publish_secret(const struct conf *conf, const char *path)
{
	struct stat st;

	if (secret_is_named(conf, path))
		return "it has a password or a key";
	if (secret_is_table(conf, conf->auth.table, path) ||
	    secret_is_table(conf, conf->auth_to.table, path))
		return "it has passwords";
	return stat(path, &st) == 0 && (st.st_mode & S_IROTH) == 0 ?
	    "others may not read it" : NULL;
}

static void
set_leave(struct publish_set *set, struct arena *arena, const char *path,
    const char *why, bool is_outside)
{
	for (size_t i = 0; i < set->left_count; i++)
		if (strcmp(set->left[i].path, path) == 0)
			return;
	if (set->left_count == PUBLISH_FILES_MAX)
		return;
	set->left[set->left_count++] = (struct publish_left){
		slice_dup(arena, slice_of(path)), why, is_outside };
}

const struct publish_file *
publish_set_find(const struct publish_set *set, const char *name)
{
	for (size_t i = 0; i < set->count; i++)
		if (strcmp(set->files[i].name, name) == 0)
			return &set->files[i];
	return NULL;
}

/* Its name below the directory, by where links lead; NULL: it is left. */
static const char *
set_name(struct publish_set *set, const struct conf *conf,
    struct arena *arena, const char *path)
{
	char *real = realpath(path, NULL);
	size_t n = strlen(set->dir);
	const char *why = real == NULL ? NULL : publish_secret(conf, path);
	const char *name = NULL;

	if (real == NULL)
		set_leave(set, arena, path, strerror(errno), false);
	else if (why != NULL)
		set_leave(set, arena, path, why, false);
	else if (strncmp(real, set->dir, n) != 0 || real[n] != '/')
		set_leave(set, arena, path, "it lies elsewhere", true);
	else
		name = slice_dup(arena, slice_of(real + n + 1));
	free(real);	/* realpath made it */
	return name;
}

static int
set_put(struct publish_set *set, struct arena *arena, const char *name,
    struct slice text, struct err *err)
{
	if (publish_set_find(set, name) != NULL)
		return 0;
	if (set->count == PUBLISH_FILES_MAX)
		return err_set(err, "there are more than %d files",
		    PUBLISH_FILES_MAX);
	set->files[set->count++] = (struct publish_file){ name,
		slice_copy(arena, text) };
	return 0;
}

static int
set_take_texts(struct publish_set *set, const struct conf *conf,
    struct arena *arena, struct err *err)
{
	struct conf_draft texts[PUBLISH_FILES_MAX];
	size_t count = conf_texts(conf, texts, PUBLISH_FILES_MAX);

	for (size_t i = 0; i < count && i < PUBLISH_FILES_MAX; i++) {
		const char *name = set_name(set, conf, arena, texts[i].path);

		if (name != NULL &&
		    set_put(set, arena, name, texts[i].text, err) < 0)
			return -1;
	}
	return 0;
}

static int
set_read_table(const char *path, struct str *out, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int result = 0;
	struct stat st;

	if (fd < 0)
		return err_sys(err, "%s", path);
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
		result = err_set(err, "%s is no regular file", path);
	else if (fd_read_all(fd, PUBLISH_BYTES_MAX, out) < 0)
		result = err_sys(err, "%s", path);
	close(fd);
	return result;
}

static int
set_take_table(struct publish_set *set, const struct conf *conf,
    const struct conf_table *table, struct arena *arena, struct err *err)
{
	const char *path = conf_table_file(table), *name;
	struct str text = STR_INIT;
	int result;

	/* a table that may be missing, and is */
	if (path == NULL || (table->spec[0] == '?' &&
	    access(path, F_OK) != 0 && errno == ENOENT))
		return 0;
	name = set_name(set, conf, arena, path);
	if (name == NULL)
		return 0;
	result = set_read_table(path, &text, err);
	if (result == 0)
		result = set_put(set, arena, name, str_slice(&text), err);
	str_release(&text);
	return result;
}

static int
file_by_name(const void *a, const void *b)
{
	const struct publish_file *one = a, *two = b;

	return strcmp(one->name, two->name);
}

static int
set_take_all(struct publish_set *set, const struct conf *conf,
    struct arena *arena, struct err *err)
{
	size_t bytes = 0;

	if (set_take_texts(set, conf, arena, err) < 0)
		return -1;
	for (size_t i = 0; i < conf->table_count; i++)
		if (set_take_table(set, conf, &conf->tables[i], arena,
		    err) < 0)
			return -1;
	for (size_t i = 0; i < set->count; i++) {
		bytes += set->files[i].text.n;
		if (!set_name_is_good(set->files[i].name))
			return err_set(err, "%s/%.200s: other nodes take no "
			    "file of such a name", set->dir,
			    set->files[i].name);
	}
	if (bytes > PUBLISH_BYTES_MAX - PUBLISH_FILES_MAX * 512)
		return err_set(err, "the files have %zu bytes together: at "
		    "most %d are sent", bytes, PUBLISH_BYTES_MAX -
		    PUBLISH_FILES_MAX * 512);
	qsort(set->files, set->count, sizeof(*set->files), file_by_name);
	return 0;
}

int
publish_set_take(const struct conf *conf, struct arena *arena,
    struct publish_set *out, struct err *err)
{
	char *real = conf->path == NULL ? NULL : realpath(conf->path, NULL);
	char *slash = real == NULL ? NULL : strrchr(real, '/');

	*out = (struct publish_set){ .count = 0 };
	out->files = arena_alloc(arena, PUBLISH_FILES_MAX *
	    sizeof(*out->files));
	out->left = arena_alloc(arena, PUBLISH_FILES_MAX *
	    sizeof(*out->left));
	if (slash == NULL) {
		free(real);	/* realpath made it */
		return err_set(err, "there is no file: the configuration is "
		    "the built-in one");
	}
	out->main = slice_dup(arena, slice_of(slash + 1));
	*slash = '\0';
	out->dir = slice_dup(arena, slice_of(real));
	free(real);	/* realpath made it */
	return set_take_all(out, conf, arena, err);
}

/* ---- sent, and read back ------------------------------------------------ */

void
publish_set_add(struct str *out, const struct publish_set *set)
{
	for (size_t i = 0; i < set->count; i++)
		bundle_add_file(out, set->files[i].name, set->files[i].text);
	bundle_add_end(out);
}

int
publish_set_parse(struct slice bytes, struct arena *arena,
    struct publish_set *out, struct err *err)
{
	struct bundle_file *files;
	size_t count;

	*out = (struct publish_set){ .count = 0 };
	if (bytes.n > PUBLISH_BYTES_MAX)
		return err_set(err, "it has more than %d bytes",
		    PUBLISH_BYTES_MAX);
	if (bundle_parse(bytes, PUBLISH_FILES_MAX, arena, &files, &count) !=
	    0 || count == 0)
		return err_set(err, "it is cut off, has no file, or has more "
		    "than %d", PUBLISH_FILES_MAX);
	out->files = arena_alloc(arena, count * sizeof(*out->files));
	for (size_t i = 0; i < count; i++) {
		if (!set_name_is_good(files[i].path))
			return err_set(err, "'%.60s' is no name of a file "
			    "below the directory", files[i].path);
		if (publish_set_find(out, files[i].path) != NULL)
			return err_set(err, "%s comes twice", files[i].path);
		out->files[out->count++] = (struct publish_file){
			files[i].path, files[i].text };
	}
	return 0;
}

void
publish_set_sum(const struct publish_file *files, size_t count,
    char out[PUBLISH_SUM_BYTES])
{
	struct digest_run *run = digest_begin(DIGEST_SHA256);
	unsigned char sum[DIGEST_SHA256_BYTES];
	struct str head = STR_INIT;

	for (size_t i = 0; i < count; i++) {
		str_reset(&head);
		str_addf(&head, "%s\n%zu\n", files[i].name, files[i].text.n);
		digest_take(run, str_slice(&head));
		digest_take(run, files[i].text);
	}
	str_release(&head);
	if (digest_end(&run, sum) < 0)
		memset(sum, 0, sizeof(sum));
	for (size_t i = 0; i < sizeof(sum); i++)
		snprintf(out + 2 * i, 3, "%02x", sum[i]);
}

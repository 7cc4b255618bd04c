/* settings.c - the configuration into an archive
 *
 * In     a configuration
 * Out    its files, the tables and lists that it names, as members
 *        config/PATH; private keys when they are asked for
 * Holds  one file's bytes at a time
 * Trusts what the configuration names, and only plain files
 * Spec   zmailer-backup(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf/edit.h"
#include "mail/table/table.h"
#include "tools/zmailer/backup/backup.h"

#include "base/banned.h"

enum { FILES_MAX = 4096 };	/* of a configuration */

struct settings {
	struct archive	*archive;
	struct seen	*seen;
	bool		 has_keys;
	unsigned	 files, left;
};

static void
settings_leave(struct settings *settings, const char *path, const char *why)
{
	settings->left++;
	fprintf(stderr, "zmailer: backup: %s is left out: %s\n", path, why);
}

static void
file_add(struct settings *settings, const char *path, int fd)
{
	struct tar_head head;
	struct stat st;
	bool is_whole;

	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		settings_leave(settings, path, "it is no plain file");
		return;
	}
	head = (struct tar_head){ .size_bytes = (uint64_t)st.st_size,
	    .mode = st.st_mode & 07777, .mtime_s = st.st_mtime };
	if ((size_t)snprintf(head.name, sizeof(head.name), "%s%s",
	    BACKUP_CONFIG, path + 1) >= sizeof(head.name) ||
	    archive_add_file(settings->archive, &head, fd, &is_whole) != 0) {
		if (!settings->archive->is_bad)
			settings_leave(settings, path, "its name is too long");
		return;
	}
	if (!is_whole)
		settings_leave(settings, path,
		    "it could not be read to its end");
	settings->files++;
}

/* Add a file that the configuration names, once; NULL adds nothing. */
static void
backup_settings_add(struct settings *settings, const char *path)
{
	char *real = path == NULL || *path == '\0' ? NULL :
	    realpath(path, NULL);
	int fd;

	if (real == NULL || *seen_at(settings->seen, real) != 0) {
		if (path != NULL && *path != '\0' && real == NULL)
			settings_leave(settings, path, strerror(errno));
		free(real);	/* realpath made it */
		return;
	}
	*seen_at(settings->seen, real) = 1;
	fd = open(real, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		settings_leave(settings, real, strerror(errno));
	else
		file_add(settings, real, fd);
	if (fd >= 0)
		close(fd);
	free(real);	/* realpath made it */
}

static void
backup_settings_add_key(struct settings *settings, const char *path)
{
	if (settings->has_keys)
		backup_settings_add(settings, path);
}

static void
backup_settings_add_tables(struct settings *settings, const struct conf *conf)
{
	for (size_t i = 0; i < conf->table_count; i++) {
		const struct conf_table *row = &conf->tables[i];
		struct table *table = table_new(row->name, row->spec);
		const char *path = table_path(table);
		bool is_absent = row->spec[0] == '?' &&
		    access(path, F_OK) != 0;

		/* one without a file is the system's (passwd) or a service */
		if (strcmp(table_kind(table), "passwd") != 0 && !is_absent)
			backup_settings_add(settings, path);
		table_free(&table);
	}
	for (size_t i = 0; i < conf->list_count; i++)
		backup_settings_add(settings, conf->lists[i].members);
}

static void
add_tls(struct settings *settings, const struct conf *conf)
{
	struct arena *arena = arena_new();
	struct conf_certificate *rows;
	struct err err;
	size_t count;

	/* a table that cannot be read is left out as such, with its words */
	(void)conf_all_certificates(conf, arena, &rows, &count, &err);
	for (size_t i = 0; i < count; i++) {
		backup_settings_add(settings, rows[i].file);
		backup_settings_add_key(settings, rows[i].key);
	}
	arena_free(&arena);
	for (size_t i = 0; i < conf->tls_to_count; i++) {
		backup_settings_add(settings, conf->tls_to[i].roots);
		backup_settings_add(settings, conf->tls_to[i].certificate);
		backup_settings_add_key(settings, conf->tls_to[i].key);
	}
}

/* All keys that a table may name: their file names have the domains. */
static void
add_sign_dir(struct settings *settings, const char *path)
{
	DIR *dir = settings->has_keys ? opendir(path) : NULL;
	struct str file = STR_INIT;
	const struct dirent *entry;

	if (settings->has_keys && dir == NULL)
		settings_leave(settings, path, strerror(errno));
	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		if (strstr(entry->d_name, "._domainkey.") == NULL)
			continue;
		str_reset(&file);
		str_addf(&file, "%s/%s", path, entry->d_name);
		backup_settings_add(settings, file.buf);
	}
	if (dir != NULL)
		closedir(dir);
	str_release(&file);
}

/* What opens doors: passwords of the mailq protocol, what signs senders
 * and messages. */
static void
add_secrets(struct settings *settings, const struct conf *conf)
{
	backup_settings_add_key(settings, conf->srs.key);
	for (size_t i = 0; i < conf->sign_count; i++)
		backup_settings_add_key(settings, conf->signs[i].key);
	for (size_t i = 0; i < conf->sign_table_count; i++)
		add_sign_dir(settings, conf->sign_tables[i].dir);
	backup_settings_add_key(settings, conf->mailq.users);
}

int
backup_settings(const struct conf *conf, struct archive *archive,
    bool has_keys, unsigned *out_files, unsigned *out_left, struct err *err)
{
	const char **paths = mem_alloc(FILES_MAX, sizeof(*paths));
	struct settings settings = { .archive = archive,
	    .has_keys = has_keys };
	size_t count = conf_sources(conf, paths, FILES_MAX);

	settings.seen = seen_new();
	for (size_t i = 0; i < count && i < FILES_MAX; i++)
		backup_settings_add(&settings, paths[i]);
	mem_free(&paths);
	backup_settings_add_tables(&settings, conf);
	add_tls(&settings, conf);
	add_secrets(&settings, conf);
	backup_settings_add(&settings, conf->client_ca);
	backup_settings_add(&settings, conf->hooks.script);
	backup_settings_add(&settings, conf->classes_path);
	*out_files = settings.files;
	*out_left = settings.left;
	seen_free(&settings.seen);
	if (!archive->is_bad)
		return 0;
	*err = archive->err;
	return -1;
}

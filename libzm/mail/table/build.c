/* build.c - constant databases made of plain tables
 *
 * In     a plain file
 * Out    a cdb or LMDB file that replaces the old one whole
 * Holds  nothing
 * Trusts nothing in the file: the parser checks every line
 * Spec   mail/table/build.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/table/build.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "mail/table/internal.h"
#include "mail/table/type.h"

#ifdef HAVE_CDB
#include <cdb.h>
#endif
#ifdef HAVE_LMDB
#include <lmdb.h>
#endif

#include "base/banned.h"

/* ---- drafts ---------------------------------------------------------- */

int
table_draft_open(struct table_draft *draft, const char *target,
    struct err *err)
{
	struct str path = STR_INIT;

	str_addf(&path, "%s.%ld.new", target, (long)getpid());
	*draft = (struct table_draft){ .path = mem_strdup(path.buf),
	    .target = mem_strdup(target) };
	str_release(&path);
	unlink(draft->path);	/* of a process of our number that died */
	draft->fd = open(draft->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC |
	    O_NOFOLLOW, 0600);
	if (draft->fd >= 0)
		return 0;
	err_sys(err, "make %s", draft->path);
	mem_free(&draft->path);
	mem_free(&draft->target);
	return -1;
}

static void
draft_release(struct table_draft *draft)
{
	close(draft->fd);
	mem_free(&draft->path);
	mem_free(&draft->target);
}

void
table_draft_drop(struct table_draft *draft)
{
	unlink(draft->path);
	draft_release(draft);
}

int
table_draft_publish(struct table_draft *draft, enum table_draft_flags flags,
    struct err *err)
{
	if (!(flags & TABLE_DRAFT_VOLATILE) && fsync(draft->fd) != 0) {
		err_sys(err, "sync %s", draft->path);
		table_draft_drop(draft);
		return -1;
	}
	if (rename(draft->path, draft->target) != 0) {
		err_sys(err, "rename %s", draft->path);
		table_draft_drop(draft);
		return -1;
	}
	draft_release(draft);
	return 0;
}

/* ---- the two formats ------------------------------------------------- */

typedef int put_fn(struct table_draft *draft,
    const struct table_contents *contents, size_t *out_entries,
    struct err *err);

#if defined(HAVE_CDB) || defined(HAVE_LMDB)
static struct slice
build_key(const struct table_contents *contents, size_t i)
{
	return (struct slice){ contents->text + contents->entries[i].key,
	    contents->entries[i].key_n };
}

/* Is it the entry that a lookup of its key finds? */
static bool
build_is_counted(const struct table_contents *contents, size_t i)
{
	return table_contents_find(contents, build_key(contents, i)) ==
	    &contents->entries[i];
}
#endif

#ifdef HAVE_CDB
static int
put_cdb(struct table_draft *draft, const struct table_contents *contents,
    size_t *out_entries, struct err *err)
{
	struct cdb_make make;
	int bad;

	if (cdb_make_start(&make, draft->fd) != 0)
		return err_sys(err, "write %s", draft->path);
	bad = 0;
	for (size_t i = 0; i < contents->count && bad == 0; i++) {
		const struct table_entry *entry = &contents->entries[i];

		if (!build_is_counted(contents, i))
			continue;
		bad = cdb_make_add(&make, contents->text + entry->key,
		    entry->key_n, contents->text + entry->value,
		    entry->value_n);
		(*out_entries)++;
	}
	if (cdb_make_finish(&make) != 0)
		bad = -1;
	return bad == 0 ? 0 : err_sys(err, "write %s", draft->path);
}
#else
static put_fn *const put_cdb;
#endif

#ifdef HAVE_LMDB
enum {	/* pages hold at least half, LMDB and we round up */
	LMDB_ROOM_TIMES = 4,
	LMDB_ROOM_ENTRY_BYTES = 128,
	LMDB_ROOM_BYTES = 1 << 20
};

static int
put_entries(MDB_env *env, MDB_txn *txn, const struct table_contents *contents,
    size_t *out_entries, struct err *err)
{
	size_t longest = (size_t)mdb_env_get_maxkeysize(env);
	MDB_dbi dbi;
	int error = mdb_dbi_open(txn, NULL, MDB_CREATE, &dbi);

	for (size_t i = 0; i < contents->count && error == 0; i++) {
		const struct table_entry *entry = &contents->entries[i];
		MDB_val key = { entry->key_n, contents->text + entry->key };
		MDB_val value = { entry->value_n,
			contents->text + entry->value };

		if (entry->key_n > longest)
			return err_set(err, "line %u: a key of %u bytes, LMDB "
			    "takes %zu", entry->line, entry->key_n, longest);
		if (!build_is_counted(contents, i))
			continue;
		error = mdb_put(txn, dbi, &key, &value, MDB_NOOVERWRITE);
		(*out_entries)++;
	}
	return error == 0 ? 0 : err_set(err, "%s", mdb_strerror(error));
}

static int
build_put_all(MDB_env *env, const struct table_draft *draft,
    const struct table_contents *contents, size_t *out_entries,
    struct err *err)
{
	MDB_txn *txn;
	int error = mdb_env_set_mapsize(env, contents->bytes *
	    LMDB_ROOM_TIMES + contents->count * LMDB_ROOM_ENTRY_BYTES +
	    LMDB_ROOM_BYTES);

	if (error == 0)
		error = mdb_env_open(env, draft->path, MDB_NOSUBDIR |
		    MDB_NOLOCK | MDB_NOSYNC, 0600);
	if (error == 0)
		error = mdb_txn_begin(env, NULL, 0, &txn);
	if (error != 0)
		return err_set(err, "write %s: %s", draft->path,
		    mdb_strerror(error));
	if (put_entries(env, txn, contents, out_entries, err) < 0) {
		mdb_txn_abort(txn);
		return -1;
	}
	error = mdb_txn_commit(txn);
	return error == 0 ? 0 : err_set(err, "write %s: %s", draft->path,
	    mdb_strerror(error));
}

static int
put_lmdb(struct table_draft *draft, const struct table_contents *contents,
    size_t *out_entries, struct err *err)
{
	MDB_env *env;
	int error = mdb_env_create(&env), result;

	if (error != 0)
		return err_set(err, "%s", mdb_strerror(error));
	result = build_put_all(env, draft, contents, out_entries, err);
	mdb_env_close(env);
	return result;
}
#else
static put_fn *const put_lmdb;
#endif

/* ---- all of it ------------------------------------------------------- */

/* Who may read the source may read what is made of it. */
static void
copy_rights(int fd, const struct stat *source)
{
	mode_t mode = source->st_mode & 0644;

	if (fchown(fd, source->st_uid, source->st_gid) != 0 &&
	    fchown(fd, (uid_t)-1, source->st_gid) != 0)
		mode &= 0604;	/* another group: it reads nothing */
	if (fchmod(fd, mode) != 0)
		return;		/* 0600, as it was made */
}

static int
build_write(struct table_source *source, const char *target, put_fn *put,
    size_t *out_entries, struct err *err)
{
	struct table_contents *contents = NULL;
	struct table_draft draft;
	int result;

	if (table_contents_read(source, NULL, &contents, err) != 0)
		return table_err_at(err, source->argument);
	result = table_draft_open(&draft, target, err);
	if (result == 0) {
		result = put(&draft, contents, out_entries, err);
		if (result == 0) {
			copy_rights(draft.fd, &source->seen);
			result = table_draft_publish(&draft, 0, err);
		} else {
			table_draft_drop(&draft);
		}
	}
	table_contents_free(&contents);
	return result == 0 ? 1 : -1;
}

/* "/etc/x.cdb" without ".cdb". */
static int
source_of(const struct table_type *type, const char *target, char **out,
    struct err *err)
{
	size_t n = strlen(target), suffix = strlen(type->name) + 1;

	if (n <= suffix || target[n - suffix] != '.' ||
	    strcmp(target + n - suffix + 1, type->name) != 0)
		return err_set(err, "%s: its name does not end in .%s: say "
		    "which file it is made of", target, type->name);
	*out = mem_strdup(target);
	(*out)[n - suffix] = '\0';
	return 0;
}

enum table_built
table_build(const char *spec, const char *source_path, size_t *out_entries,
    struct err *err)
{
	const char *target;
	const struct table_type *type = table_type_of(spec, &target);
	struct table_source source = { .name = "source" };
	char *guess = NULL;
	put_fn *put;
	int result;

	*out_entries = 0;
	if (type != &table_type_cdb && type != &table_type_lmdb)
		return TABLE_BUILD_NONE;
	put = type == &table_type_cdb ? put_cdb : put_lmdb;
	if (put == NULL)
		return table_spec_check(spec, err) < 0 ? TABLE_BUILD_TROUBLE :
		    TABLE_BUILD_DONE;
	if (source_path == NULL && source_of(type, target, &guess, err) != 0)
		return TABLE_BUILD_TROUBLE;
	source.argument = source_path != NULL ? source_path : guess;
	result = build_write(&source, target, put, out_entries, err);
	mem_free(&guess);
	return result;
}

/* lmdb.c - type lmdb: LMDB files
 *
 * In     a file (no directory) that `zmailer table build` or postmap(1) made
 * Out    values; keys and values that end in a NUL byte count without it
 * Holds  the environment; one read transaction a question, so that what
 *        others commit in place is seen at once
 * Trusts the file's owner: LMDB itself does not survive hostile pages
 * Spec   LMDB 0.9
 *
 * No lock file is made: who reads a table may not be able to write beside it.
 * One that is there and may be written is used; without it a table must be
 * replaced by rename, as `zmailer table build` does.
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/table/internal.h"
#include "mail/table/type.h"

#ifdef HAVE_LMDB
#include <errno.h>
#include <lmdb.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"

enum { LOCK_PATH_BYTES = 4096 };

struct lmdb {
	MDB_env		*env;
	MDB_dbi		 dbi;
	struct str	 value;		/* outlives the transaction */
};

static void
lmdb_close(void *state)
{
	struct lmdb *lmdb = state;

	if (lmdb->env != NULL)
		mdb_env_close(lmdb->env);
	str_release(&lmdb->value);
	mem_free(&lmdb);
}

static bool
has_lock_file(const char *path)
{
	char lock[LOCK_PATH_BYTES];

	return snprintf(lock, sizeof(lock), "%s-lock", path) <
	    (int)sizeof(lock) && access(lock, R_OK | W_OK) == 0;
}

static int
lmdb_begin(struct lmdb *lmdb, MDB_txn **out)
{
	int error = mdb_txn_begin(lmdb->env, NULL, MDB_RDONLY, out);

	if (error == MDB_MAP_RESIZED &&
	    mdb_env_set_mapsize(lmdb->env, 0) == 0)
		error = mdb_txn_begin(lmdb->env, NULL, MDB_RDONLY, out);
	return error;
}

static int
env_open(struct lmdb *lmdb, const char *path)
{
	unsigned flags = MDB_RDONLY | MDB_NOSUBDIR | MDB_NOTLS;
	MDB_txn *txn;
	int error;

	if (!has_lock_file(path))
		flags |= MDB_NOLOCK;
	error = mdb_env_create(&lmdb->env);
	if (error == 0)
		error = mdb_env_open(lmdb->env, path, flags, 0);
	if (error == 0)
		error = lmdb_begin(lmdb, &txn);
	if (error != 0)
		return error;
	error = mdb_dbi_open(txn, NULL, 0, &lmdb->dbi);
	mdb_txn_abort(txn);
	return error;
}

static int
lmdb_open(struct table_source *source, void **out_state, struct err *err)
{
	struct lmdb *lmdb;
	int error;

	if (stat(source->argument, &source->seen) != 0)
		return err_set(err, "%s", strerror(errno));
	if (!S_ISREG(source->seen.st_mode))
		return err_set(err, "it is no regular file");
	lmdb = mem_alloc(1, sizeof(*lmdb));
	str_init(&lmdb->value);
	error = env_open(lmdb, source->argument);
	if (error != 0) {
		memset(&source->seen, 0, sizeof(source->seen));
		lmdb_close(lmdb);
		return err_set(err, "%s", mdb_strerror(error));
	}
	*out_state = lmdb;
	return 1;
}

static struct slice
lmdb_without_nul(const MDB_val *bytes)
{
	struct slice text = { bytes->mv_data, bytes->mv_size };

	if (text.n > 0 && text.p[text.n - 1] == '\0')
		text.n--;
	return text;
}

static int
lmdb_value_get(struct lmdb *lmdb, MDB_txn *txn, const char *key, size_t n)
{
	MDB_val name = { n, (void *)(uintptr_t)key }, value;
	int error;

	if (n > (size_t)mdb_env_get_maxkeysize(lmdb->env))
		return MDB_NOTFOUND;
	error = mdb_get(txn, lmdb->dbi, &name, &value);
	if (error != 0)
		return error;
	str_reset(&lmdb->value);
	str_add_slice(&lmdb->value, lmdb_without_nul(&value));
	return 0;
}

static enum table_result
lmdb_trouble(int error, struct err *err)
{
	err_set(err, "%s", mdb_strerror(error));
	return TABLE_TROUBLE;
}

static enum table_result
lmdb_find(void *state, struct slice key, struct slice folded,
    struct table_hit *out, struct err *err)
{
	struct lmdb *lmdb = state;
	char with_nul[TABLE_KEY_BYTES_MAX + 1];
	MDB_txn *txn;
	int error = lmdb_begin(lmdb, &txn);

	if (error != 0)
		return lmdb_trouble(error, err);
	error = lmdb_value_get(lmdb, txn, folded.p, folded.n);
	if (error == MDB_NOTFOUND) {
		memcpy(with_nul, folded.p, folded.n);
		with_nul[folded.n] = '\0';
		error = lmdb_value_get(lmdb, txn, with_nul, folded.n + 1);
	}
	mdb_txn_abort(txn);
	if (error == MDB_NOTFOUND)
		return TABLE_NONE;
	if (error != 0)
		return lmdb_trouble(error, err);
	out->value = str_slice(&lmdb->value);
	return TABLE_FOUND;
}

static enum table_result
lmdb_each(void *state, table_fn *fn, void *context, struct err *err)
{
	struct lmdb *lmdb = state;
	enum table_result result = TABLE_NONE;
	MDB_cursor *cursor;
	MDB_val key, value;
	MDB_txn *txn;
	int error = lmdb_begin(lmdb, &txn);

	if (error != 0)
		return lmdb_trouble(error, err);
	error = mdb_cursor_open(txn, lmdb->dbi, &cursor);
	if (error == 0) {
		while ((error = mdb_cursor_get(cursor, &key, &value,
		    MDB_NEXT)) == 0) {
			result = TABLE_FOUND;
			if (!fn(context, lmdb_without_nul(&key),
			    lmdb_without_nul(&value), 0))
				break;
		}
		mdb_cursor_close(cursor);
	}
	mdb_txn_abort(txn);
	return error == 0 || error == MDB_NOTFOUND ? result :
	    lmdb_trouble(error, err);
}

const struct table_type table_type_lmdb = {
	.name = "lmdb", .traits = TABLE_HAS_PATH, .open = lmdb_open,
	.close = lmdb_close, .find = lmdb_find, .each = lmdb_each,
};

#else
const struct table_type table_type_lmdb = {
	.name = "lmdb", .traits = TABLE_HAS_PATH, .package = "liblmdb-dev",
};
#endif

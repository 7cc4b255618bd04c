/* side.c - large plain tables in a file that processes share
 *
 * In     the contents of a plain file, once
 * Out    the same answers, line numbers included, from a mapped file
 * Holds  where side files are, and from which size on
 * Trusts a side file whose directory nobody but its owner, or root, can
 *        write; its positions are checked by tinycdb
 * Spec   mail/table/side.h
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/table/side.h"

#include <stdint.h>
#include <string.h>

#ifdef HAVE_CDB
#include <cdb.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/crc32c.h"
#include "mail/table/build.h"
#endif

#include "base/banned.h"

#ifdef HAVE_CDB
enum {
	SIDE_PATH_BYTES = 4096,
	SIDE_IDENTITY_BYTES = 256,
	SIDE_SETTLED_S = 3,	/* a file changed later may change unseen */
	SIDE_LINE_BYTES = 4	/* in front of each value */
};

/* No table can have this key: it is too long. */
static const char identity_key[TABLE_KEY_BYTES_MAX + 1] = "identity";

static char *side_dir;
static uint64_t side_from_bytes;

struct table_side {
	struct cdb	cdb;
};

void
table_share(const char *run_dir, uint64_t from_bytes)
{
	struct str dir = STR_INIT;

	mem_free(&side_dir);
	side_from_bytes = from_bytes;
	if (run_dir == NULL)
		return;
	str_addf(&dir, "%s/tables", run_dir);
	side_dir = mem_strdup(dir.buf);
	str_release(&dir);
}

bool
table_side_wanted(const struct stat *file)
{
	return side_dir != NULL && S_ISREG(file->st_mode) &&
	    (uint64_t)file->st_size >= side_from_bytes &&
	    clock_since_s(file->st_mtim.tv_sec) >= SIDE_SETTLED_S;
}

static bool
side_path(const struct table_source *source, char *out)
{
	int n = snprintf(out, SIDE_PATH_BYTES, "%s/%.64s-%08x.cdb", side_dir,
	    source->name, (unsigned)crc32c(0, source->argument,
	    strlen(source->argument)));

	return n < SIDE_PATH_BYTES && strchr(source->name, '/') == NULL;
}

static size_t
side_identity(const struct table_source *source, char *out)
{
	const struct stat *st = &source->seen;
	int n = snprintf(out, SIDE_IDENTITY_BYTES, "1 %ju %ju %jd %jd.%09ld",
	    (uintmax_t)st->st_dev, (uintmax_t)st->st_ino,
	    (intmax_t)st->st_size, (intmax_t)st->st_mtim.tv_sec,
	    st->st_mtim.tv_nsec);

	return (size_t)n;
}

/* ---- making ---------------------------------------------------------- */

static int
side_put_all(int fd, const struct table_source *source,
    const struct table_contents *contents)
{
	char text[SIDE_IDENTITY_BYTES];
	struct str value = STR_INIT;
	struct cdb_make make;
	int bad;

	if (cdb_make_start(&make, fd) != 0)
		return -1;
	bad = cdb_make_add(&make, identity_key, sizeof(identity_key),
	    text, (unsigned)side_identity(source, text));
	for (size_t i = 0; i < contents->count && bad == 0; i++) {
		const struct table_entry *entry = &contents->entries[i];

		str_reset(&value);
		str_add(&value, &entry->line, SIDE_LINE_BYTES);
		str_add(&value, contents->text + entry->value,
		    entry->value_n);
		bad = cdb_make_add(&make, contents->text + entry->key,
		    entry->key_n, value.buf, (unsigned)value.len);
	}
	str_release(&value);
	if (cdb_make_finish(&make) != 0)
		bad = -1;
	return bad;
}

bool
table_side_make(const struct table_source *source,
    const struct table_contents *contents)
{
	char path[SIDE_PATH_BYTES];
	struct table_draft draft;
	struct err err;

	if (!side_path(source, path) ||
	    (access(side_dir, W_OK) != 0 && mkdir(side_dir, 0755) != 0) ||
	    table_draft_open(&draft, path, &err) != 0)
		return false;
	if (side_put_all(draft.fd, source, contents) != 0 ||
	    fchmod(draft.fd, 0600 | (source->seen.st_mode & 0444)) != 0) {
		table_draft_drop(&draft);
		return false;
	}
	return table_draft_publish(&draft, TABLE_DRAFT_VOLATILE, &err) == 0;
}

/* ---- reading --------------------------------------------------------- */

static bool
is_trustworthy(int fd)
{
	struct stat dir, file;

	return stat(side_dir, &dir) == 0 && fstat(fd, &file) == 0 &&
	    S_ISREG(file.st_mode) && (dir.st_mode & 022) == 0 &&
	    (file.st_mode & 022) == 0 &&
	    (file.st_uid == dir.st_uid || file.st_uid == 0 ||
	    file.st_uid == geteuid());
}

static bool
side_fits(struct table_side *side, const struct table_source *source)
{
	char want[SIDE_IDENTITY_BYTES];
	size_t n = side_identity(source, want);
	const void *got;

	if (cdb_find(&side->cdb, identity_key, sizeof(identity_key)) <= 0)
		return false;
	got = cdb_getdata(&side->cdb);
	return got != NULL && cdb_datalen(&side->cdb) == n &&
	    memcmp(got, want, n) == 0;
}

bool
table_side_open(const struct table_source *source, struct table_side **out)
{
	char path[SIDE_PATH_BYTES];
	struct table_side *side;
	int fd;

	if (!side_path(source, path) || access(source->argument, R_OK) != 0)
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return false;
	side = mem_alloc(1, sizeof(*side));
	if (!is_trustworthy(fd) || cdb_init(&side->cdb, fd) != 0) {
		mem_free(&side);
	} else if (!side_fits(side, source)) {
		table_side_close(&side);
	}
	close(fd);
	*out = side;
	return side != NULL;
}

void
table_side_close(struct table_side **side)
{
	if (*side == NULL)
		return;
	cdb_free(&(*side)->cdb);
	mem_free(side);
}

static bool
take_value(const struct cdb *cdb, struct table_hit *out)
{
	const char *bytes = cdb_getdata(cdb);
	uint32_t line;

	if (bytes == NULL || cdb_datalen(cdb) < SIDE_LINE_BYTES)
		return false;
	memcpy(&line, bytes, sizeof(line));
	out->line = line;
	out->value = (struct slice){ bytes + SIDE_LINE_BYTES,
	    cdb_datalen(cdb) - SIDE_LINE_BYTES };
	return true;
}

static enum table_result
side_damaged(struct err *err)
{
	err_set(err, "its file in %s is damaged: remove it", side_dir);
	return TABLE_TROUBLE;
}

enum table_result
table_side_find(struct table_side *side, struct slice key,
    struct table_hit *out, struct err *err)
{
	int found = cdb_find(&side->cdb, key.p, (unsigned)key.n);

	if (found == 0)
		return TABLE_NONE;
	return found > 0 && take_value(&side->cdb, out) ? TABLE_FOUND :
	    side_damaged(err);
}

enum table_result
table_side_each(struct table_side *side, table_fn *fn, void *context,
    struct err *err)
{
	enum table_result result = TABLE_NONE;
	unsigned cursor;
	int more;

	cdb_seqinit(&cursor, &side->cdb);
	while ((more = cdb_seqnext(&cursor, &side->cdb)) > 0) {
		struct slice key = { cdb_getkey(&side->cdb),
			cdb_keylen(&side->cdb) };
		struct table_hit hit;

		if (key.p == NULL)
			return side_damaged(err);
		if (key.n == sizeof(identity_key))
			continue;
		if (!take_value(&side->cdb, &hit))
			return side_damaged(err);
		result = TABLE_FOUND;
		if (!fn(context, key, hit.value, hit.line))
			return result;
	}
	return more == 0 ? result : side_damaged(err);
}

#else	/* no library: all tables live in memory */
void
table_share(const char *run_dir, uint64_t from_bytes)
{
}

bool
table_side_wanted(const struct stat *file)
{
	return false;
}

bool
table_side_make(const struct table_source *source,
    const struct table_contents *contents)
{
	return false;
}

bool
table_side_open(const struct table_source *source, struct table_side **out)
{
	return false;
}

void
table_side_close(struct table_side **side)
{
}

enum table_result
table_side_find(struct table_side *side, struct slice key,
    struct table_hit *out, struct err *err)
{
	return TABLE_TROUBLE;
}

enum table_result
table_side_each(struct table_side *side, table_fn *fn, void *context,
    struct err *err)
{
	return TABLE_TROUBLE;
}
#endif

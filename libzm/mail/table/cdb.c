/* cdb.c - type cdb: constant databases
 *
 * In     a file that `zmailer table build`, cdb(1) or postmap(1) made
 * Out    values; keys and values that end in a NUL byte count without it
 * Holds  the file mapped; it is replaced by rename, never changed
 * Trusts tinycdb to check positions against the file's length
 * Spec   cdb(5)
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/table/internal.h"
#include "mail/table/type.h"

#ifdef HAVE_CDB
#include <cdb.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/banned.h"

/* A map of it must not lose its pages under us: what is written in place
 * is no constant database. */
static int
cdb_type_open(struct table_source *source, void **out_state, struct err *err)
{
	int fd = open(source->argument, O_RDONLY | O_CLOEXEC | O_NONBLOCK |
	    O_NOCTTY);
	struct cdb *cdb = NULL;

	if (fd < 0)
		return err_set(err, "%s", strerror(errno));
	if (fstat(fd, &source->seen) != 0) {
		err_set(err, "%s", strerror(errno));
	} else if (!S_ISREG(source->seen.st_mode)) {
		err_set(err, "it is no regular file");
	} else {
		cdb = mem_alloc(1, sizeof(*cdb));
		if (cdb_init(cdb, fd) != 0) {
			err_set(err, "it is no constant database (cdb)");
			mem_free(&cdb);
		}
	}
	close(fd);
	if (cdb == NULL)
		memset(&source->seen, 0, sizeof(source->seen));
	*out_state = cdb;
	return cdb != NULL ? 1 : -1;
}

static void
cdb_type_close(void *state)
{
	cdb_free((struct cdb *)state);
	mem_release(state);
}

static struct slice
cdb_without_nul(const void *bytes, unsigned n)
{
	struct slice text = { bytes, n };

	if (n > 0 && text.p[n - 1] == '\0')
		text.n--;
	return text;
}

static enum table_result
cdb_type_find(void *state, struct slice key, struct slice folded,
    struct table_hit *out, struct err *err)
{
	struct cdb *cdb = state;
	char with_nul[TABLE_KEY_BYTES_MAX + 1];
	const void *value;
	int found = cdb_find(cdb, folded.p, (unsigned)folded.n);

	if (found == 0) {
		memcpy(with_nul, folded.p, folded.n);
		with_nul[folded.n] = '\0';
		found = cdb_find(cdb, with_nul, (unsigned)folded.n + 1);
	}
	if (found == 0)
		return TABLE_NONE;
	value = found > 0 ? cdb_getdata(cdb) : NULL;
	if (value == NULL) {
		err_set(err, "the file is damaged: build it again");
		return TABLE_TROUBLE;
	}
	out->value = cdb_without_nul(value, cdb_datalen(cdb));
	return TABLE_FOUND;
}

static enum table_result
cdb_type_each(void *state, table_fn *fn, void *context, struct err *err)
{
	struct cdb *cdb = state;
	unsigned cursor, count = 0;
	int more;

	cdb_seqinit(&cursor, cdb);
	while ((more = cdb_seqnext(&cursor, cdb)) > 0) {
		const void *key = cdb_getkey(cdb), *value = cdb_getdata(cdb);

		if (key == NULL || value == NULL)
			break;
		count++;
		if (!fn(context, cdb_without_nul(key, cdb_keylen(cdb)),
		    cdb_without_nul(value, cdb_datalen(cdb)), 0))
			return TABLE_FOUND;
	}
	if (more == 0)
		return count > 0 ? TABLE_FOUND : TABLE_NONE;
	err_set(err, "the file is damaged: build it again");
	return TABLE_TROUBLE;
}

static bool
any_entry(void *context, struct slice key, struct slice value, unsigned line)
{
	return true;
}

static int
cdb_type_check(void *state, struct err *err)
{
	return cdb_type_each(state, any_entry, NULL, err) == TABLE_TROUBLE ?
	    -1 : 1;
}

const struct table_type table_type_cdb = {
	.name = "cdb", .traits = TABLE_HAS_PATH, .open = cdb_type_open,
	.close = cdb_type_close, .find = cdb_type_find,
	.check = cdb_type_check, .each = cdb_type_each,
};

#else
const struct table_type table_type_cdb = {
	.name = "cdb", .traits = TABLE_HAS_PATH, .package = "libcdb-dev",
};
#endif

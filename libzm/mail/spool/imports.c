/* imports.c - which messages of another mailer's queue are ours by now
 *
 * In     the key of a message there; or the name of a draft
 * Out    lines KEY ID of the file SPOOL/imported, each synced before its
 *        draft leaves public/
 * Holds  an exclusive lock on the file while lines may be added
 * Trusts whole lines; what a crash left of one names no key
 * Spec   doc/INTERNALS.md rows I1 and I2
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/fd.h"
#include "mail/spool/imports.h"
#include "mail/spool/internal.h"

#include "base/banned.h"

#define IMPORTS_FILE "imported"
enum {
	IMPORTS_BYTES_MAX = 256 << 20,
	IMPORTS_MODE = 0644,		/* the router reads root's */
	SECRET_BYTES = 17		/* after the name of a draft: a dash
					 * and 16 digits (draft_open_again) */
};

struct spool_imports {
	int		 fd;		/* -1: there is none yet */
	struct str	 text;
	struct slice	*keys;		/* sorted */
	size_t		 count;
	bool		 is_torn;	/* the last line has no end */
};

bool
spool_import_key_is(struct slice key)
{
	for (size_t i = 0; i < key.n; i++)
		if (!ascii_is_alnum(key.p[i]) && key.p[i] != '-' &&
		    key.p[i] != '.')
			return false;
	return key.n > 0 && key.n < SPOOL_IMPORT_KEY_BYTES &&
	    !slice_starts(key, "frozen-") && !slice_starts(key, "control-");
}

void
spool_import_name(const char *key, bool is_frozen,
    char out_name[SPOOL_NAME_BYTES])
{
	snprintf(out_name, SPOOL_NAME_BYTES, "%s%s", is_frozen ?
	    SPOOL_IMPORT_FROZEN : SPOOL_IMPORT_OF, key);
}

void
spool_import_control_name(const char *key, ino_t body,
    char out_name[SPOOL_NAME_BYTES])
{
	snprintf(out_name, SPOOL_NAME_BYTES, SPOOL_IMPORT_CONTROL "%ju-%s",
	    (uintmax_t)body, key);
}

bool
spool_import_control_is(const char *name, ino_t *out_body)
{
	struct slice rest = slice_of(name), digits;
	uint64_t inode;

	if (!slice_starts(rest, SPOOL_IMPORT_CONTROL))
		return false;
	rest = slice_from(rest, strlen(SPOOL_IMPORT_CONTROL));
	if (!slice_cut(&rest, '-', &digits) ||
	    !slice_number(digits, 1, UINT64_MAX, &inode))
		return false;
	*out_body = (ino_t)inode;
	return true;
}

static int
key_compare(const void *a, const void *b)
{
	const struct slice *one = a, *other = b;
	size_t n = one->n < other->n ? one->n : other->n;
	int order = n > 0 ? memcmp(one->p, other->p, n) : 0;

	return order != 0 ? order : one->n < other->n ? -1 :
	    one->n > other->n;
}

/* Whole lines of two words are records, whatever else is there. */
static void
imports_index(struct spool_imports *imports)
{
	struct slice rest = str_slice(&imports->text), line, key;
	size_t lines = 0;

	for (size_t i = 0; i < rest.n; i++)
		lines += rest.p[i] == '\n';
	imports->keys = mem_alloc(lines + 1, sizeof(*imports->keys));
	while (slice_find(rest, '\n') < rest.n) {
		line = slice_first(rest, slice_find(rest, '\n'));
		rest = slice_from(rest, line.n + 1);
		if (slice_word(&line, &key) && spool_import_key_is(key) &&
		    spool_id_is(slice_trim(line)))
			imports->keys[imports->count++] = key;
	}
	imports->is_torn = rest.n > 0;
	qsort(imports->keys, imports->count, sizeof(*imports->keys),
	    key_compare);
}

int
spool_imports_open(const struct spool *spool, bool is_to_add,
    struct spool_imports **out, struct err *err)
{
	struct spool_imports *imports = mem_alloc(1, sizeof(*imports));
	int saved;

	*out = NULL;
	str_init(&imports->text);
	imports->fd = openat(spool->dir_fd, IMPORTS_FILE, (is_to_add ?
	    O_RDWR | O_CREAT | O_APPEND : O_RDONLY) | O_NOFOLLOW | O_CLOEXEC,
	    IMPORTS_MODE);
	if (imports->fd < 0 && (is_to_add || errno != ENOENT)) {
		err_sys(err, "open " IMPORTS_FILE " in the spool");
		goto failed;
	}
	if (is_to_add && flock(imports->fd, LOCK_EX | LOCK_NB) != 0) {
		err_sys(err, "another process brings mail into the spool");
		goto failed;
	}
	/* its name has to outlive a power cut, as its lines do */
	if (is_to_add && (fchmod(imports->fd, IMPORTS_MODE) != 0 ||
	    fsync(spool->dir_fd) != 0)) {
		err_sys(err, "sync the spool's directory");
		goto failed;
	}
	if (imports->fd >= 0 && fd_read_all(imports->fd, IMPORTS_BYTES_MAX,
	    &imports->text) != 0) {
		err_sys(err, "read " IMPORTS_FILE " in the spool");
		goto failed;
	}
	imports_index(imports);
	*out = imports;
	return 0;
failed:
	saved = errno;
	spool_imports_close(&imports);
	errno = saved;
	return -1;
}

void
spool_imports_close(struct spool_imports **imports)
{
	if (*imports == NULL)
		return;
	if ((*imports)->fd >= 0)
		close((*imports)->fd);
	mem_free(&(*imports)->keys);
	str_release(&(*imports)->text);
	mem_free(imports);
}

static bool
imports_find(const struct spool_imports *imports, struct slice key)
{
	return bsearch(&key, imports->keys, imports->count,
	    sizeof(*imports->keys), key_compare) != NULL;
}

bool
spool_imports_has(const struct spool_imports *imports, const char *key)
{
	return imports_find(imports, slice_of(key));
}

int
spool_imports_add_all(struct spool_imports *imports,
    const struct spool_import_line *lines, size_t count, struct err *err)
{
	struct str text = STR_INIT;
	int result;

	/* a torn line must neither swallow this one nor become a whole one:
	 * no id ends so */
	str_adds(&text, imports->is_torn ? "!\n" : "");
	for (size_t i = 0; i < count; i++)
		str_addf(&text, "%s %s\n", lines[i].key, lines[i].id);
	result = fd_write_all(imports->fd, text.buf, text.len);
	str_release(&text);
	imports->is_torn = result != 0;
	/* I1 -> I2 */
	if (result != 0 || fdatasync(imports->fd) != 0)
		return err_sys(err, "write " IMPORTS_FILE " in the spool");
	return 0;
}

int
spool_imports_add(struct spool_imports *imports, const char *key,
    const char *id, struct err *err)
{
	const struct spool_import_line line = { key, id };

	return spool_imports_add_all(imports, &line, 1, err);
}

enum spool_imported
spool_import_look(const struct spool *spool, const char *name,
    struct err *err)
{
	bool is_frozen = slice_starts(slice_of(name), SPOOL_IMPORT_FROZEN);
	struct slice key = slice_from(slice_of(name), strlen(is_frozen ?
	    SPOOL_IMPORT_FROZEN : SPOOL_IMPORT_OF));
	struct spool_imports *imports;
	bool is_there;

	if (spool_imports_open(spool, false, &imports, err) != 0)
		return SPOOL_IMPORTED_TROUBLE;
	is_there = imports_find(imports, key) || (key.n > SECRET_BYTES &&
	    key.p[key.n - SECRET_BYTES] == '-' &&
	    imports_find(imports, slice_first(key, key.n - SECRET_BYTES)));
	/* who goes on by a line goes on by one that a power cut leaves */
	if (is_there && fsync(imports->fd) != 0) {
		err_sys(err, "sync " IMPORTS_FILE " in the spool");
		spool_imports_close(&imports);
		return SPOOL_IMPORTED_TROUBLE;
	}
	spool_imports_close(&imports);
	return is_there ? SPOOL_IMPORTED_YES : SPOOL_IMPORTED_NO;
}

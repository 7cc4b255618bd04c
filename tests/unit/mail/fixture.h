/* fixture.h - a spool in a directory of its own, and messages to put in it
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_UNIT_MAIL_FIXTURE_H
#define ZM_TESTS_UNIT_MAIL_FIXTURE_H

#include <criterion/criterion.h>

#include <stdbool.h>
#include <sys/stat.h>

#include "mail/envelope.h"
#include "mail/spool/spool.h"
#include "mail/control_file/control_file.h"

struct fixture {
	char		 dir[256];
	struct spool	*spool;
	struct err	 err;
	struct arena	*arena;		/* released by fixture_close */
};

/* What the file system refuses; each test runs in a process of its own. */
struct faults {
	int		rename_errno;	/* of renameat2; 0: none */
	unsigned	rename_from, rename_to;	/* at these calls, from 1 */
	unsigned	renames;	/* calls so far */
	int		fsync_errno;
	unsigned	fsyncs;
	unsigned	locked;		/* named in router/, lock not free */
};
extern struct faults faults;

/* A fresh spool below $TMPDIR or /tmp. */
void fixture_open(struct fixture *f, unsigned hash_levels);
/* Close it and remove everything. */
void fixture_close(struct fixture *f);

/* Bytes of a complete message file of this id. */
void message_bytes(struct str *out, const char *id, const char *body);

/* Write dir/path (below the spool) and give its inode. */
ino_t put_file(struct fixture *f, const char *path, const void *bytes,
    size_t n);
/* A complete message under a temporary name; *out_id gets its id. */
ino_t put_message(struct fixture *f, const char *path,
    char out_id[SPOOL_ID_BYTES], const char *body);
/* Rename inside the spool. */
void move_file(struct fixture *f, const char *from, const char *to);
/* Head of a control file with one recipient. */
void control_bytes(struct str *out, const char *id, ino_t inode);

bool file_exists(struct fixture *f, const char *path);
/* Inode of a file; 0 when there is none. */
ino_t file_inode(struct fixture *f, const char *path);
/* Number of files (not directories) below path. */
unsigned count_files(struct fixture *f, const char *path);
/* path as printf makes it; one of eight buffers. */
const char *at(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

#endif

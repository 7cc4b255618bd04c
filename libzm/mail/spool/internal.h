/* internal.h - what the files of this folder share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_SPOOL_INTERNAL_H
#define ZM_MAIL_SPOOL_INTERNAL_H

#include <sys/stat.h>

#include "mail/spool/spool.h"

struct spool {
	int		 dir_fd;
	int		 area_fd[AREA_COUNT];	/* -1: not ours to open */
	int		 router_fd[SPOOL_PRIORITIES];	/* [0] = area_fd */
	unsigned	 hash_levels;
	uint64_t	 size_max;	/* of a submission; 0: not known */
	enum spool_flags flags;
	dev_t		 device;	/* the one of dir_fd */
	bool		 must_chmod;	/* the umask hides our modes */
	bool		 is_spread;	/* drafts and plans have directories
					 * of their own and we may rename
					 * from there into router/ */
	unsigned	 spread_turn;
	size_t		 pin_max;	/* spool_pin_max */
};

enum {
	SPOOL_DRAFT_MODE = 0660,
	SPOOL_CONTROL_MODE = 0660,
	SPOOL_WHY_BYTES_MAX = 48,
	SPOOL_TAKEN_MAX = 1000,		/* "-2", "-3" ... after a why */
	SPOOL_IO_BYTES = 65536
};

/* rename(2) that never replaces what is there (errno EEXIST). 0 or -1. */
int spool_rename(int from_fd, const char *from, int to_fd, const char *to);

/* `sync strict`: fsync both directories; otherwise nothing.  0 or -1. */
int spool_sync_dirs(const struct spool *spool, int a_fd, int b_fd,
    struct err *err);

/* fsync of area/<name> after its rename: its name there is durable then.  A
 * failure is only told. */
void spool_sync_name(const struct spool *spool, enum spool_area area,
    const char *name);

/* "D/J/123" -> "D/J"; "." when there is no directory in it. */
void spool_parent(const char *name, char out_dir[SPOOL_NAME_BYTES]);

/* fsync the directory that holds area/name (hash directories included).
 * 0 or -1. */
int spool_sync_parent(const struct spool *spool, enum spool_area area,
    const char *name, struct err *err);

/* "router.3/123" for messages; one of a few static buffers. */
const char *spool_label(enum spool_area area, unsigned priority,
    const char *name);

/* Open a message file to read it: no symbolic link, no waiting.  returns the
 * descriptor or -1. */
int spool_open_file(int dir_fd, const char *name, int flags);

/* "new/k/<name>", "plans/k/<name>" with the next letter. */
void spool_spread_name(struct spool *spool, enum spool_area area,
    const char *name, char out_name[SPOOL_NAME_BYTES]);

/* The file name after its directories. */
const char *spool_name_base(const char *name);

/* The number at the end of a name of ours, after its hash directories. */
ino_t spool_name_inode(const char *name);

/* Files in public/ that one of the mail system's own accounts wrote. */
bool spool_is_own(uid_t uid);

/* As spool_scan, with the inode number that the directory has (a hint:
 * overlays may show another than stat). */
typedef bool spool_entry_fn(void *context, const char *name, ino_t inode);
int spool_scan_entries(const struct spool *spool, enum spool_area area,
    unsigned priority, spool_entry_fn *fn, void *context, struct err *err);

/* Rename to "<inode>.<why>", "<inode>.<why>-2", ...  0 or -1 with errno. */
int spool_rename_aside(int from_fd, const char *from, int to_fd, ino_t inode,
    const char *why, char out_name[SPOOL_NAME_BYTES]);

/* Draft of what milters have seen: "milter-<inode>-<id>" of the original
 * (row L2); the second one is to go to freezer/. */
#define SPOOL_SEEN_OF "milter-"
#define SPOOL_SEEN_FROZEN "milter-frozen-"

/* Draft of a message in router/ that is encoded: "7bit-<inode>-<id>" of the
 * first (row C2), which is there but for some power cuts. */
#define SPOOL_ENCODED_OF "7bit-"

/* Draft of a copy: "copy-of-<inode>-<ctime>" of the original (row S4). */
#define SPOOL_COPY_OF "copy-of-"

/* Draft of what another mailer's queue had: "import-<key>"; "import-frozen-"
 * for freezer/ (rows I1 and I2). */
#define SPOOL_IMPORT_OF "import-"
#define SPOOL_IMPORT_FROZEN "import-frozen-"
enum spool_imported {
	SPOOL_IMPORTED_TROUBLE = -1,	/* err */
	SPOOL_IMPORTED_NO = 0,
	SPOOL_IMPORTED_YES = 1
};
/* Has the draft of this name a line?  One that was not synced yet is. */
enum spool_imported spool_import_look(const struct spool *spool,
    const char *name, struct err *err);

/* Check a why of ours: [a-z0-9-]+, after "_" if that is allowed. */
bool spool_why_is(const char *why, bool underscore_ok);

#endif

/* internal.h - what the files of this folder share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_SPOOL_INTERNAL_H
#define ZM_MAIL_SPOOL_INTERNAL_H

#include <sys/stat.h>
#include <time.h>

#include "mail/spool/imports.h"

struct spool {
	int		 dir_fd;
	int		 area_fd[AREA_COUNT];	/* -1: not ours to open */
	int		 router_fd[SPOOL_PRIORITIES];	/* [0] = area_fd */
	unsigned	 hash_levels;
	uint64_t	 size_max;	/* of a submission; 0: not known */
	char		 node[SPOOL_NODE_BYTES];	/* digits of this
					 * machine; "": none */
	enum spool_flags flags;
	dev_t		 device;	/* the one of dir_fd */
	unsigned	 moved_areas;	/* spool_sync_moves: a bit each */
	bool		 is_btrfs;	/* a barrier syncs all of it */
	bool		 must_chmod;	/* the umask hides our modes */
	bool		 is_spread;	/* drafts and plans have directories
					 * of their own, from which we may
					 * rename into router/ */
	unsigned	 spread_turn;
	size_t		 pin_max;	/* spool_pin_max */
	struct timespec	 opened;	/* clock_file_now: what changed before
					 * is of those who ran before us */
};

enum {
	SPOOL_DRAFT_MODE = 0660,
	SPOOL_CONTROL_MODE = 0660,
	SPOOL_WHY_BYTES_MAX = 48,
	SPOOL_TAKEN_MAX = 1000,		/* "-2", "-3" ... after a why */
	SPOOL_IO_BYTES = 65536
};

/* rename(2) that never replaces a file (errno EEXIST).  0 or -1. */
int spool_rename(int from_fd, const char *from, int to_fd, const char *to);

/* `sync strict`: fsync both directories; otherwise nothing.  0 or -1. */
int spool_sync_dirs(const struct spool *spool, int a_fd, int b_fd,
    struct err *err);

/* A name was moved from one area to another: spool_sync_moves is due. */
void spool_note_move(struct spool *spool, enum spool_area from,
    enum spool_area to);

/* fsync area/<name> after its rename, which makes its name there durable.  A
 * failure is only reported. */
void spool_sync_name(const struct spool *spool, enum spool_area area,
    const char *name);

/* "D/J/123" -> "D/J"; "." if the name has no directory. */
void spool_parent(const char *name, char out_dir[SPOOL_NAME_BYTES]);

/* fsync the directory that holds area/name (hash directories included).
 * 0 or -1. */
int spool_sync_parent(const struct spool *spool, enum spool_area area,
    const char *name, struct err *err);

/* "router.3/123", for texts; in one of a few static buffers. */
const char *spool_label(enum spool_area area, unsigned priority,
    const char *name);

/* Open a message file for reading; does not follow a symbolic link or block.
 * returns the descriptor, or -1 with errno. */
int spool_open_file(int dir_fd, const char *name, int flags);

/* "<inode>"; room for SPOOL_NAME_BYTES less what stands before it. */
void spool_inode_name(ino_t inode, char *out_name);
/* "<front><inode>-<pid>", the pid ours: what this process works on. */
void spool_own_name(const char *front, ino_t inode,
    char out_name[SPOOL_NAME_BYTES]);

/* "new/k/<name>", "plans/k/<name>" with the next letter. */
void spool_spread_name(struct spool *spool, enum spool_area area,
    const char *name, char out_name[SPOOL_NAME_BYTES]);

/* The file name after its directories. */
const char *spool_name_base(const char *name);

/* The number at the end of a name of ours, after its hash directories. */
ino_t spool_name_inode(const char *name);

/* Is this one of the mail system's own accounts, as the owner of a file in
 * public/? */
bool spool_is_own(uid_t uid);

/* As spool_scan, with the inode number in the directory, which is only a hint:
 * an overlay may show another one than stat. */
typedef bool spool_entry_fn(void *context, const char *name, ino_t inode);
int spool_scan_entries(const struct spool *spool, enum spool_area area,
    unsigned priority, spool_entry_fn *fn, void *context, struct err *err);

/* Rename to "<inode>.<why>", "<inode>.<why>-2", ...  0 or -1 with errno. */
int spool_rename_aside(int from_fd, const char *from, int to_fd, ino_t inode,
    const char *why, char out_name[SPOOL_NAME_BYTES]);

/* Draft of a message that milters have seen: "milter-<inode>-<id>" of the
 * original (row L2); the second form is for freezer/. */
#define SPOOL_SEEN_OF "milter-"
#define SPOOL_SEEN_FROZEN "milter-frozen-"

/* Draft of the encoded form of a message in router/: "7bit-<inode>-<id>" of
 * the original (row C2), which is there except after some power cuts. */
#define SPOOL_ENCODED_OF "7bit-"

/* Draft of a copy: "copy-of-<inode>-<ctime>" of the original (row S4). */
#define SPOOL_COPY_OF "copy-of-"

/* Draft of a message of another mailer's queue: "import-<key>";
 * "import-frozen-" for freezer/ (rows I1 and I2). */
#define SPOOL_IMPORT_OF "import-"
#define SPOOL_IMPORT_FROZEN "import-frozen-"
#define SPOOL_IMPORT_CONTROL "import-control-"	/* then the message's inode,
						 * "-", key (row I3) */
/* The name of such a control file. */
void spool_import_control_name(const char *key, ino_t body,
    char out_name[SPOOL_NAME_BYTES]);
/* Is it one, and of which message? */
bool spool_import_control_is(const char *name, ino_t *out_body);
enum spool_imported {
	SPOOL_IMPORTED_TROUBLE = -1,	/* err */
	SPOOL_IMPORTED_NO = 0,
	SPOOL_IMPORTED_YES = 1
};
/* Does the draft of this name have a line in SPOOL/imported?  The file is
 * synced if it was not. */
enum spool_imported spool_import_look(const struct spool *spool,
    const char *name, struct err *err);

/* Check a why of ours: [a-z0-9-]+, after "_" if that is allowed. */
bool spool_why_is(const char *why, bool underscore_ok);

#endif

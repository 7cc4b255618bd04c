/* backup.h - the spool and its configuration as a tar archive, and back
 *
 * Members, in this order:
 *	zmailer-backup			a line of JSON: version, time, host
 *	config/PATH			a file of the configuration
 *	spool/AREA/KEY[.WHY][.control]	a message, or its control file
 *	spool/transport/.orders		orders about destinations
 *	zmailer-backup.end		a line of JSON: how many of each, and
 *					the checksum of all before it
 * KEY is the spool id; of a file without one its checksum and length, with a
 * "-" before each.  A later member counts more: a message that moved while the
 * archive was written may be in it twice, and a control file comes after its
 * message.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_BACKUP_BACKUP_H
#define ZM_TOOLS_BACKUP_BACKUP_H

#include "conf/conf.h"
#include "grammar/tar.h"
#include "mail/spool/spool.h"

#define BACKUP_FIRST "zmailer-backup"
#define BACKUP_END "zmailer-backup.end"
#define BACKUP_SPOOL "spool/"
#define BACKUP_CONFIG "config/"

enum {
	BACKUP_VERSION = 1,
	BACKUP_KEY_BYTES = SPOOL_NAME_BYTES,
	BACKUP_PASSES_MAX = 20,		/* looks at the whole spool */
	BACKUP_QUIET = 2,		/* how many in a row must find nothing
					 * older than the backup */
	BACKUP_CONTROL_BYTES_MAX = 512 << 20
};

/* ---- archive.c: bytes to a descriptor -------------------------------- */

struct archive {
	int		 fd;
	struct str	 pending;
	uint64_t	 bytes;
	uint32_t	 crc;		/* of all that was added */
	bool		 is_bad;	/* a write failed: err has why */
	struct err	 err;
};

/* Begin an archive; nothing is written yet; fd is borrowed. */
void archive_open(struct archive *archive, int fd);
/* Add a member with these bytes.  0; -1: is_bad, or (errno ENAMETOOLONG, EFBIG)
 * it does not fit into a head, and nothing was written. */
int archive_add_text(struct archive *archive, const char *name,
    struct slice text, unsigned mode, int64_t mtime_s);
/* Add the first size bytes of a file; bytes that cannot be read become zeros,
 * and *out_is_whole is false.  As archive_add_text. */
int archive_add_file(struct archive *archive, const struct tar_head *head,
    int fd, bool *out_is_whole);
/* Write the blocks that end it.  The descriptor stays open.  0 or -1. */
int archive_end(struct archive *archive);
void archive_release(struct archive *archive);

/* ---- key.c: the key of a file ------------------------------------------ */

/* The spool id in it, else "-CRC-LENGTH" of its bytes.  false: it cannot be
 * read. */
bool backup_key(int fd, char out[BACKUP_KEY_BYTES]);
/* If why says that it is a copy ("_"), make the key "KEY.why". */
void backup_key_add_copy(char key[BACKUP_KEY_BYTES], struct slice why);

/* Keys that were met, each with a word of flags. */
struct seen;
struct seen *seen_new(void);
void seen_free(struct seen **seen);
/* The flags of key, 0 if it is new; valid until the next call. */
unsigned *seen_at(struct seen *seen, const char *key);

/* ---- take.c: the spool into an archive -------------------------------- */

struct taken {
	uint64_t	messages;	/* each counted once */
	uint64_t	by_area[AREA_COUNT];	/* by where it was met first */
	uint64_t	damaged;	/* files not read completely */
	unsigned	passes;
	bool		is_restless;	/* too much moved: the last pass still
					 * found older mail */
};

/* Put every message that was accepted before the call, and is not finished when
 * it ends, into the archive, whatever moves meanwhile; only one that is moved
 * back (resubmit, reroute) during each of BACKUP_QUIET + 1 passes in a row may
 * be missing.  0 or -1. */
int backup_take(struct spool *spool, struct archive *archive,
    struct taken *out, struct err *err);

/* ---- settings.c: the configuration into an archive --------------------- */

/* Add the files of the configuration, its tables and lists; private keys only
 * if has_keys.  Files that cannot be read are reported on stderr and counted.
 * 0 or -1. */
int backup_settings(const struct conf *conf, struct archive *archive,
    bool has_keys, unsigned *out_files, unsigned *out_left, struct err *err);

/* ---- index.c: the contents of an archive ------------------------------- */

struct backup_item {		/* a message, by its last members */
	const char	*key;		/* of a copy: followed by "._why" */
	enum spool_area	 area;		/* AREA_QUEUE: with its control file */
	unsigned	 priority;
	const char	*why;		/* "" */
	unsigned	 mode;
	int64_t		 mtime_s;
	uint64_t	 body_at, body_bytes;
	uint64_t	 control_at, control_bytes;	/* 0: none */
	bool		 has_body;
	bool		 is_present;	/* in the spool */
	bool		 is_done;	/* the journal says so */
	bool		 is_left;	/* not wanted */
};

struct backup_file {		/* of the configuration */
	const char	*path;		/* without a leading slash */
	unsigned	 mode;
	uint64_t	 at, bytes;
};

struct backup_index {
	struct arena	*arena;
	struct seen	*seen;		/* key to number in items + 1 */
	struct backup_item *items;	/* in the order of the archive */
	size_t		 count, room;
	struct backup_file *files;
	size_t		 file_count, file_room;
	uint64_t	 orders_at, orders_bytes;	/* 0: none */
	unsigned	 strangers;	/* members that are not ours */
	bool		 is_whole;	/* it has its end, and the checksum
					 * is right */
	const char	*time;		/* when it was begun; "" */
};

/* Read all of it once; fd must be seekable.  0; -1: it is not one of our
 * archives, or cannot be read.  If it is damaged or truncated, is_whole is
 * false (err says where), and the index has what precedes that. */
int backup_index_read(int fd, struct backup_index *out, struct err *err);
void backup_index_release(struct backup_index *index);

/* ---- put.c, mark.c, files.c: from an archive into the spool ------------ */

struct put_back {
	uint64_t	messages, bytes;
	uint64_t	routed_again;	/* control file missing or damaged */
	uint64_t	damaged;	/* their checksum is wrong */
	uint64_t	failed;
};

/* Mark messages that are in the spool already.  0 or -1. */
int backup_mark_present(struct spool *spool, struct backup_index *index,
    struct err *err);
/* Mark messages that the journal says are done.  Returns how many. */
size_t backup_mark_done(const char *log_dir, struct backup_index *index);

/* Restore messages that are neither present nor left, in groups: written,
 * synced, named, synced.  say (may be NULL) is called for each that has its
 * name.  0; -1: trouble; what was restored before it stays. */
typedef void backup_say_fn(void *context, const struct backup_item *item,
    const char *file);
int backup_put(struct spool *spool, int fd, struct backup_index *index,
    backup_say_fn *say, void *context, struct put_back *out,
    struct err *err);

/* Write the files of the configuration below dir, except those that exist
 * (*out_kept).  Returns how many; -1. */
int backup_put_settings(int fd, const struct backup_index *index,
    const char *dir, unsigned *out_kept, struct err *err);

#endif

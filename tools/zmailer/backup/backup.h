/* backup.h - the spool and its configuration as a tar archive, and back
 *
 * Members, in this order:
 *	zmailer-backup			a line of JSON: version, time, host
 *	config/PATH			a file of the configuration
 *	spool/AREA/KEY[.WHY][.control]	a message, or its control file
 *	spool/transport/.orders		what was ordered of destinations
 *	zmailer-backup.end		a line of JSON: how many of each, and
 *					the checksum of all in front of it
 * KEY is the spool id; of a file without one its checksum and length, with
 * a "-" in front of each.  A member that comes later says more: a message
 * that moved on while the archive was written may be in it twice, and a
 * control file comes after its message.
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
	BACKUP_QUIET = 2,		/* the last of them, that found nothing
					 * older than the backup */
	BACKUP_CONTROL_BYTES_MAX = 512 << 20
};

/* ---- archive.c: bytes to a descriptor -------------------------------- */

struct archive {
	int		 fd;
	struct str	 pending;
	uint64_t	 bytes;
	uint32_t	 crc;		/* of all that was handed in */
	bool		 is_bad;	/* a write failed: err has why */
	struct err	 err;
};

/* Begin: nothing is written yet; fd stays the caller's. */
void archive_open(struct archive *archive, int fd);
/* A member of these bytes.  0; -1: is_bad, or (errno ENAMETOOLONG, EFBIG)
 * the head cannot say it and nothing was written. */
int archive_add_text(struct archive *archive, const char *name,
    struct slice text, unsigned mode, int64_t mtime_s);
/* The first size bytes of a file; what cannot be read comes as zeros, and
 * *out_is_whole is false.  As archive_add_text. */
int archive_add_file(struct archive *archive, const struct tar_head *head,
    int fd, bool *out_is_whole);
/* The blocks that end it.  The descriptor stays open.  0 or -1. */
int archive_end(struct archive *archive);
void archive_release(struct archive *archive);

/* ---- key.c: what a file is known by ----------------------------------- */

/* The spool id in it, else "-CRC-LENGTH" of its bytes.  false: it cannot be
 * read. */
bool backup_key(int fd, char out[BACKUP_KEY_BYTES]);
/* The same when why says that it is a copy ("_"): "KEY.why". */
void backup_key_add_copy(char key[BACKUP_KEY_BYTES], struct slice why);

/* Keys that were met, with a word of flags each. */
struct seen;
struct seen *seen_new(void);
void seen_free(struct seen **seen);
/* The flags of key, 0 when it is new; the pointer is good until the next
 * call. */
unsigned *seen_at(struct seen *seen, const char *key);

/* ---- take.c: the spool into an archive -------------------------------- */

struct taken {
	uint64_t	messages;	/* each counted once */
	uint64_t	by_area[AREA_COUNT];	/* by where it was met first */
	uint64_t	damaged;	/* files that could not be read whole */
	unsigned	passes;
	bool		is_restless;	/* too much moved: the last pass still
					 * found older mail */
};

/* Every message that was accepted before the call and is not finished when
 * it ends is in the archive then, whatever moves on meanwhile; one that is
 * moved back (resubmit, reroute) during each of BACKUP_QUIET + 1 passes in a
 * row might not be.  0 or -1. */
int backup_take(struct spool *spool, struct archive *archive,
    struct taken *out, struct err *err);

/* ---- settings.c: the configuration into an archive --------------------- */

/* The files of the configuration, its tables and lists; private keys only
 * with has_keys.  What cannot be read is said on stderr and counted.
 * 0 or -1. */
int backup_settings(const struct conf *conf, struct archive *archive,
    bool has_keys, unsigned *out_files, unsigned *out_left, struct err *err);

/* ---- index.c: what an archive holds ------------------------------------ */

struct backup_item {		/* a message, as the last that is said of it */
	const char	*key;		/* of a copy: after it "._why" */
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
	bool		 is_left;	/* not asked for */
};

struct backup_file {		/* of the configuration */
	const char	*path;		/* without a slash in front */
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
	bool		 is_whole;	/* ends as it was ended, and the
					 * checksum fits */
	const char	*time;		/* when it was begun; "" */
};

/* Read all of it once.  fd can be read at any place.  0; -1: not one of our
 * archives, or it cannot be read.  What is damaged or cut off makes is_whole
 * false (err says where); what is in front of that is there. */
int backup_index_read(int fd, struct backup_index *out, struct err *err);
void backup_index_release(struct backup_index *index);

/* ---- put.c, mark.c, files.c: from an archive into the spool ------------ */

struct put_back {
	uint64_t	messages, bytes;
	uint64_t	routed_again;	/* control file missing or damaged */
	uint64_t	damaged;	/* bytes that do not fit the checksum */
	uint64_t	failed;
};

/* Mark what is in the spool already.  0 or -1. */
int backup_mark_present(struct spool *spool, struct backup_index *index,
    struct err *err);
/* Mark what the journal says was done to its end.  How many. */
size_t backup_mark_done(const char *log_dir, struct backup_index *index);

/* Put back what is neither present nor left, in groups: written, synced,
 * named, synced.  say (may be NULL) is told of each one that has its name.
 * 0; -1 trouble: what was put back before it stays. */
typedef void backup_say_fn(void *context, const struct backup_item *item,
    const char *file);
int backup_put(struct spool *spool, int fd, struct backup_index *index,
    backup_say_fn *say, void *context, struct put_back *out,
    struct err *err);

/* The files of the configuration below dir, those that are not there yet.
 * How many; -1. */
int backup_put_settings(int fd, const struct backup_index *index,
    const char *dir, unsigned *out_kept, struct err *err);

#endif

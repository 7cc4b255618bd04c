/* spool.h - the states of a message on disk, and the moves between them
 *
 * Directories are the truth.  A message is one immutable file named by its
 * inode in decimal; it is in exactly one state and moves only by rename.
 * doc/INTERNALS.md section 2 has the truth table; every function here that
 * renames, syncs or unlinks names its row.
 *
 * A process that works on a message holds an exclusive flock on it; the lock,
 * not the name, says that it is alive.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_SPOOL_H
#define ZM_MAIL_SPOOL_H

#include <stdint.h>
#include <sys/types.h>

#include "base/err.h"
#include "base/str.h"
#include "mail/first_line.h"
#include "mail/spool_id.h"

enum spool_area {
	AREA_PUBLIC, AREA_ROUTER, AREA_QUEUE, AREA_TRANSPORT, AREA_DEFERRED,
	AREA_FREEZER, AREA_POSTMAN, AREA_TRASH, AREA_COUNT
};
extern const char *const spool_area_names[AREA_COUNT];

enum {
	SPOOL_PRIORITIES = 10,		/* router, router.1 .. router.9 */
	SPOOL_NAME_BYTES = 96,		/* any file name of ours, with hash */
	SPOOL_FORMAT = 1		/* doc/INTERNALS section 1: of which
					 * format all files of the spool are */
};

/* ---- names (pure) ----------------------------------------------- */

/* The name of the draft of a report about id (row S3): "dsn-<id>-<k>".
 * report_records: how many reported and delay-notice records the control
 * file of id had when the report was begun (struct control_file has the count).
 * Recovery adopts the draft if there are more by now, or if the control file is
 * gone; otherwise it removes the draft, and the scheduler writes it again. */
void spool_dsn_name(const char *id, size_t report_records,
    char out_name[SPOOL_NAME_BYTES]);

struct spool_name {		/* a file name taken apart */
	ino_t		inode;		/* 0: not one of ours */
	pid_t		pid;		/* > 0: claimed by, or plan of */
	bool		is_plan;	/* "..<inode>-<pid>" */
	struct slice	why;		/* after the dot: cause, keyword */
};
/* Parse a name.  true: it has one of the forms of doc/INTERNALS. */
bool spool_name_parse(struct slice text, struct spool_name *out);

/* ---- the spool ------------------------------------------------------ */

struct spool;

/* "zmailer-spool N WRITER": a spool with this file has format N; without, 1.
 * A version that writes another format makes it first, durably. */
#define SPOOL_FORMAT_FILE "format"

enum spool_flags {
	SPOOL_CREATE = 1,	/* make missing directories (init, as root) */
	SPOOL_STRICT = 2,	/* `sync strict`: directory fsyncs as well */
	SPOOL_UNSAFE_FS = 4,	/* `sync unsafe`: NFS and the like allowed */
	SPOOL_MEMORY = 16,	/* `sync ephemeral`: only a file system in
				 * memory is allowed */
	SPOOL_SUBMIT = 8	/* only public/ and router/: for a program that
				 * hands in one message and ends */
};

/* Open directory dir and all areas by descriptor, so that later calls look up
 * no path.  Refuses an area on another file system (err names both), network
 * file systems, and a spool of a newer format.  hash_levels: at most 2 levels
 * of directories A..Z below queue/ and transport/, which are made if missing
 * (with CREATE).
 * returns 0 or -1; freed by spool_close */
int spool_open(const char *dir, enum spool_flags flags, unsigned hash_levels,
    struct spool **out, struct err *err);
void spool_close(struct spool **spool);
/* `size`: the most bytes that a message of a user in public/ may have. */
void spool_set_size(struct spool *spool, uint64_t size_max);
/* The digits that ids of this machine carry; "": it is alone. */
void spool_set_node(struct spool *spool, const char *node);
/* The id of a message that comes in now. */
void spool_make_id(const struct spool *spool, ino_t inode,
    char out_id[SPOOL_ID_BYTES]);
/* Is this directory in memory (tmpfs), so that it is lost with the machine?
 * False also when that is not known. */
bool spool_is_in_memory(const char *dir);

/* A spool has one process of each role, which holds an exclusive lock on the
 * inode of a directory, its room.  The file of the room, DIR/.lock and the
 * like, tells people which process that is ("pid 4711 supervisor run since
 * ..."); removing the file does not unlock the room. */
#define SPOOL_ROOMS(ROW)	/* symbol, directory, file */ \
	ROW(INSTANCE, "queue", ".lock")	/* zmailer run; fsck, restore */ \
	ROW(ROUTER, "router", ".lock-router") \
	ROW(SCHEDULER, "transport", ".lock-scheduler") \
	ROW(SMTPSERVER, "smtpserver", ".lock-smtpserver")
enum spool_room {
#define ROOM(symbol, dir, text) SPOOL_ROOM_##symbol,
	SPOOL_ROOMS(ROOM)
#undef ROOM
	SPOOL_ROOM_COUNT
};
enum spool_lock_state {
	SPOOL_LOCK_TROUBLE = -1,
	SPOOL_LOCK_FREE = 0,
	SPOOL_LOCK_HELD = 1
};

/* Lock a room.  The lock lasts as long as a process has *out_fd open, which a
 * child inherits and exec closes.
 * returns SPOOL_LOCK_FREE: it is ours now, or there is no such directory
 * (*out_fd is -1; err says so).  SPOOL_LOCK_HELD: err names the holder and how
 * to stop it.  SPOOL_LOCK_TROUBLE: err. */
enum spool_lock_state spool_lock_room(const char *dir, enum spool_room room,
    int *out_fd, struct err *err);
/* Is fd, which another program gave us, the room, and is its lock ours? */
bool spool_lock_is_room(const char *dir, enum spool_room room, int fd);
/* Lock all rooms until the process ends, so that nobody works there meanwhile.
 * returns 0; -1: one is held (err names the holder and what to do). */
int spool_lock(const char *dir, struct err *err);

/* Who has the instance's room?  SPOOL_LOCK_HELD and a text; _TROUBLE: errno.
 * A caller that may not open it gets what the system says about its lock. */
enum spool_lock_state spool_lock_holder(const char *dir, char *out_text,
    size_t size,
    pid_t *out_pid);

/* The descriptor of an area's directory (borrowed; do not close).  priority
 * is 0 except for AREA_ROUTER. */
int spool_dir_fd(const struct spool *spool, enum spool_area area,
    unsigned priority);
unsigned spool_hash_levels(const struct spool *spool);
/* A new message leaves as much free, for the mail that is there already. */
enum { SPOOL_RESERVE_BYTES = 1 << 20 };
/* How many bytes are free for messages; 0 also if there is no free inode;
 * UINT64_MAX if that is not known: then a write will fail. */
uint64_t spool_free_bytes(const struct spool *spool);
/* "new" of public/, "plans" of router/: drafts and plans are made in their
 * directories of one letter, and so are far apart on the disk (spread.c).
 * NULL: this area has no such directory. */
const char *spool_spread_dir(enum spool_area area);
#define SPOOL_SPREAD_LETTERS \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
/* Ask the file system to put the directories that will be made below dir_fd
 * far apart.  Does nothing if it does not support that. */
void spool_spread_flag(int dir_fd);
/* The name of this inode below queue/ and transport/: "D/J/1234". */
void spool_hashed_name(const struct spool *spool, ino_t inode,
    char out_name[SPOOL_NAME_BYTES]);

/* ---- submitting: public/ -> router/ (rows S0-S2) ------------------- */

/* A message being written.  Caller's memory; draft_open fills it. */
struct draft {
	struct spool	*spool;
	int		 fd;
	ino_t		 inode;
	char		 id[SPOOL_ID_BYTES];
	char		 name[SPOOL_NAME_BYTES];	/* in public/ */
	struct str	 pending;	/* not yet handed to write(2) */
	size_t		 settled_bytes;	/* but for so many of its front */
	uint64_t	 bytes;		/* after the first line */
	uint32_t	 crc;
	uint64_t	 reserved_bytes;	/* by draft_reserve */
	bool		 is_bad;	/* a write failed: only abort it */
};

/* Create a file in public/ and its id (the inode is known now).
 * stem: NULL, or the file name to use (O_EXCL; for DSNs, row S3).
 * returns 0; -1 (errno kept: ENOSPC, EMFILE, EEXIST ...). */
int draft_open(struct spool *spool, const char *stem, struct draft *out,
    struct err *err);

/* The same with a name that says what it belongs to: dsn-, copy-of-, milter-.
 * A file of ours with that name, which a crash left, is removed.  Anybody may
 * make files in public/: if another user's file has the name, the draft's is
 * that name, "-" and letters that nobody can guess; recovery reads both. */
int draft_open_again(struct spool *spool, const char *stem, struct draft *out,
    struct err *err);

/* Reserve space for that many bytes now; draft_sync gives back what was not
 * used.  It is no error if the file system cannot do this.
 * returns 0 or -1 (errno ENOSPC, EDQUOT) */
int draft_reserve(struct draft *draft, uint64_t bytes, struct err *err);

/* Append bytes.  Up to 64 KiB are collected, so that a small message
 * costs one write.  returns 0 or -1 (errno kept). */
int draft_write(struct draft *draft, const void *bytes, size_t n,
    struct err *err);

/* Make drafts durable together: write what is pending with the completed
 * first line, start write-back of all, then fsync each once.  A draft whose
 * fsync fails is_bad and is never tried again (invariant 4).
 * returns how many are durable. */
size_t draft_sync(struct draft *drafts[], size_t count, struct err *err);
/* The same for a loop that must not wait: _begin; then _wait for each draft, in
 * any thread, while nobody else touches it; then _end with what _wait returned
 * (0 or errno).  _end returns whether it is durable. */
void draft_sync_begin(struct draft *drafts[], size_t count, struct err *err);
int draft_sync_wait(const struct draft *draft);
bool draft_sync_end(struct draft *draft, int error, struct err *err);

/* Write what is pending and the first line that says that all is there (row S0
 * -> S1, not durable yet); _sync does that, too.  0 or -1 (is_bad). */
int draft_finish(struct draft *draft, struct err *err);

/* Write what is pending, so that another process can read the file by its
 * name; the first line does not say complete yet.  0 or -1 (is_bad). */
int draft_settle(struct draft *draft, struct err *err);
/* The same, then close it: who has its name, bytes, crc takes it (row S0). */
int draft_leave(struct draft *draft, struct err *err);
/* Replace our draft, which is unlinked, by one that another process of this
 * account left; the id stays.  returns 0; -1: ours is unchanged. */
int draft_replace(struct draft *draft, const char *name, uint64_t bytes,
    uint32_t crc, struct err *err);

/* Rename a durable draft to its place and close it.  area: router (with
 * priority), freezer (with cause), or public, where it stays for the router to
 * copy in (row S4; for submitters that may not write to router/).
 * returns 0; -1: the file stays in public/ and is complete, and the next start
 * will adopt it; the caller must answer 4xx and may draft_abort it */
int draft_publish(struct draft *draft, enum spool_area area,
    unsigned priority, const char *cause, struct err *err);

/* After a draft_publish that was not allowed to rename (EACCES, EPERM) or came
 * too late (ENOENT): close the complete file and leave it to the router, which
 * copies it in (row S4). */
void draft_hand_over(struct draft *draft);

/* What milters made of deferred/<name>, which is locked by fd. */
struct spool_seen {
	const char	*name;
	int		 fd;
	const char	*word;		/* milters of struct envelope */
	const char	*changed;	/* the draft in public/ with their
					 * changes; NULL: there are none */
	const char	*freeze;	/* cause; NULL: to router/ */
	const char	*reason;	/* of freeze, in words; or NULL */
};
enum spool_gone {
	SPOOL_GONE_TROUBLE = -1,	/* err; it is where it was, or will be
					 * adopted from public/ */
	SPOOL_GONE_BEFORE = 0,		/* it had been moved already */
	SPOOL_GONE_ON = 1
};
/* Move it on, durably, with their word in its envelope (rows L2 to L4). */
enum spool_gone spool_go_on_seen(struct spool *spool,
    const struct spool_seen *seen, struct err *err);
/* Remove it. */
enum spool_gone spool_discard_seen(struct spool *spool,
    const struct spool_seen *seen, struct err *err);

/* Close and unlink (nothing was promised).  Harmless when not open. */
void draft_abort(struct draft *draft);

/* ---- working on a message: claim, move, set aside ------------------ */

/* A message file that we work on.  fd holds the exclusive lock. */
struct claim {
	int		 fd;		/* read only */
	ino_t		 inode;
	enum spool_area	 area;
	unsigned	 priority;
	char		 name[SPOOL_NAME_BYTES];	/* its name now */
	uint64_t	 bytes;		/* file size */
	uid_t		 uid;		/* owner */
};

enum spool_claimed {
	SPOOL_CLAIM_TROUBLE = -1,	/* err says which; nothing changed */
	SPOOL_CLAIM_NONE = 0,	/* gone, or claimed by another process: errno
				 * EWOULDBLOCK: it is there, and locked for a
				 * moment or longer */
	SPOOL_CLAIMED = 1
};

/* Claim router[.p]/<name>: open, lock, rename to <inode>-<pid> (row C1).
 * A regular file with any other name is claimed, too, and named by its inode;
 * so is a name of the form <inode>-<pid> whose lock can be taken, because its
 * claimant is dead. */
enum spool_claimed spool_claim(struct spool *spool, unsigned priority,
    const char *name, struct claim *out, struct err *err);

/* Read the front of a message in router/ that nobody has claimed yet, at most
 * room bytes, to know what it will need.  returns how many; -1: there is
 * nothing to read */
ssize_t spool_claim_peek(struct spool *spool, unsigned priority,
    const char *name, char *bytes, size_t room);

/* Claim a message that was set aside (deferred, freezer, postman), so that it
 * can be routed at once (rows D1 -> C1; if the claimant dies, the router gets
 * it).  As spool_claim. */
enum spool_claimed spool_claim_aside(struct spool *spool,
    enum spool_area from, const char *name, struct claim *out,
    struct err *err);

enum spool_whole {
	SPOOL_FILE_TROUBLE = -1,
	SPOOL_FILE_PART = 0,
	SPOOL_FILE_WHOLE = 1
};

/* Check a file against its first line: length and checksum of all bytes.
 * returns SPOOL_FILE_PART also if it is damaged; _TROUBLE: it cannot be read */
enum spool_whole spool_is_complete(int fd, struct err *err);

/* Read the spool id in a message file's envelope.  false: it has none. */
bool spool_read_id(int fd, char out_id[SPOOL_ID_BYTES]);
/* The same; *out_waited: it was not in memory, as far as the system tells. */
bool spool_read_id_soon(int fd, char out_id[SPOOL_ID_BYTES],
    bool *out_waited);

/* Publish a plan (rows P1-P4): write it to router/plans/k/..<inode>-<pid>,
 * rename the message to queue/, rename the plan to transport/.
 * returns 0, the claim is closed; -1: the message has its claimed name in
 * router/, and the claim is still ours (set it aside or give it back); if even
 * that failed, claim->fd is -1 and recovery finds it.  errno EEXIST: the
 * control file of a finished message still has the name: give the claim back
 * and try again in a second. */
int spool_route(struct spool *spool, struct claim *claim, struct slice plan,
    struct err *err);

/* The same for a plan that is written piece by piece (row P1).  begin: 0 or
 * -1.  write appends: 0 or -1.  drop gives it up, and the claim stays; harmless
 * if it is not open.  The descriptor may be used to write over its front. */
struct spool_plan {
	int	fd;			/* -1: not open */
	int	dir_fd;
	char	name[SPOOL_NAME_BYTES];
};
int spool_plan_begin(struct spool *spool, const struct claim *claim,
    struct spool_plan *out, struct err *err);
int spool_plan_write(struct spool_plan *plan, struct slice bytes,
    struct err *err);
void spool_plan_drop(struct spool_plan *plan);
/* Publish it.  As spool_route; the plan is closed in any case. */
int spool_route_plan(struct spool *spool, struct claim *claim,
    struct spool_plan *plan, struct err *err);

/* Move a claimed message to deferred, freezer or postman as <inode>.<why>
 * (row D1) and close the claim.  why: [a-z0-9-]+, with a leading "_" only by
 * spool_copy_aside; "-2", "-3" follow if the name is taken.  The file is synced
 * for freezer and postman.  Call spool_reason_write first to say why in words.
 * returns 0 or -1 */
int spool_set_aside(struct spool *spool, struct claim *claim,
    enum spool_area area, const char *why, char out_name[SPOOL_NAME_BYTES],
    struct err *err);

/* Why a message was set aside, in words that stay with the file wherever it is
 * renamed to: an attribute of the file, cut to SPOOL_REASON_BYTES - 1.
 * Anybody who may write the file may write anything there.
 * write: false: this file system has no attributes (the journal has the words).
 * read: false, and "": there are no words. */
enum { SPOOL_REASON_BYTES = 512 };
bool spool_reason_write(int fd, const char *text);
bool spool_reason_read(int fd, char out_text[SPOOL_REASON_BYTES]);
/* Mark that a script froze it: after a person lets it go (row D3, a rename),
 * the script is not asked again.  write: false: the file cannot be marked. */
bool spool_frozen_write(int fd);
bool spool_was_frozen(int fd);

/* Copy it to postman/<inode>._<keyword> (row D2), with the reason; the claim
 * stays.  out_name: the copy's name; may be NULL.  returns 0 or -1. */
int spool_copy_aside(struct spool *spool, const struct claim *claim,
    const char *keyword, const char *reason,
    char out_name[SPOOL_NAME_BYTES], struct err *err);

/* Give a claim back: rename to <inode>, close.  returns 0 or -1. */
int spool_unclaim(struct spool *spool, struct claim *claim, struct err *err);

/* The seconds from deferred/ to the next try, by the age; the moment of it. */
int64_t spool_deferred_wait_s(int64_t age_s);
int64_t spool_deferred_next_s(int64_t submitted_s, int64_t deferred_s);

/* deferred|freezer|postman|trash/<name> -> router/<inode> (row D3).
 * Names with "_" are refused.  returns 0 or -1 (errno ENOENT: gone). */
int spool_resubmit(struct spool *spool, enum spool_area from,
    const char *name, struct err *err);

/* Row D5, by a person's order: deferred|freezer|postman/N.why ->
 * trash/N.AREA-why, also for copies.  The control file beside a shelved message
 * is moved with it.  returns 0 or -1 (errno ENOENT: gone). */
int spool_trash(struct spool *spool, enum spool_area from, const char *name,
    char out_name[SPOOL_NAME_BYTES], struct err *err);
/* The area in a name in trash/; false: the message was in queue/, with its
 * control file, and only the scheduler brings it back. */
bool spool_trash_origin(const char *name, enum spool_area *out_area);
/* Move it back to the area in its name.  0 or -1 (EEXIST: the name is taken
 * there). */
int spool_untrash(struct spool *spool, const char *name,
    enum spool_area *out_area, char out_name[SPOOL_NAME_BYTES],
    struct err *err);
/* Row D6: unlink what came into trash/ before that moment (wall seconds).
 * returns 0; -1 when trash/ cannot be read */
int spool_sweep_trash(struct spool *spool, int64_t before_s,
    unsigned *out_count, struct err *err);

/* ---- the scheduler's end ------------------------------------------- */

enum spool_opened {
	SPOOL_OPEN_TROUBLE = -1,
	SPOOL_OPEN_ABSENT = 0,
	SPOOL_OPEN_DONE = 1
};

/* Open the control file (O_RDWR|O_APPEND) and the body (read only) of a routed
 * message; the control file gets a shared lock, which belongs to the descriptor
 * and its copies.  name: as spool_hashed_name gives it.
 * returns SPOOL_OPEN_ABSENT when one of them is not there (yet): err says
 * which. */
enum spool_opened spool_open_queued(struct spool *spool, const char *name,
    int *out_control, int *out_body, struct err *err);

/* True when nobody else (an agent of an earlier scheduler) holds the
 * control file: takes the exclusive lock, which belongs to the descriptor and
 * its copies, until they are closed or spool_control_unlock. */
bool spool_control_hold(int control_fd);

/* Release the lock of spool_open_queued before the descriptor is closed,
 * because a copy of it (in a thread that syncs) would keep the lock.  No agent
 * of ours may still work with it.  Does nothing for -1. */
void spool_control_unlock(int control_fd);

/* The end of a message.  The functions with _ending and _barrier_part wait
 * for the disk.  They use only the spool's descriptors and their arguments, so
 * any thread may call them (io/sync.h). */
struct spool_ending {
	ino_t	inode;
	int	control_fd;	/* the first step closes it; -1: closed */
	int	pin_fd;		/* the body, unlinked or about to be: while it
				 * is open, no new message gets its number; -1:
				 * not open */
	int	error;		/* errno of the last step; 0 */
};
/* How many bodies may be held open at once. */
size_t spool_pin_max(const struct spool *spool);
/* F0 -> F1: unlink the body, which stays open.  A body that is gone is no
 * error. */
void spool_ending_body(const struct spool *spool, struct spool_ending *ending);
/* F2 -> F3, after the barrier: unlink the control file. */
void spool_ending_control(const struct spool *spool,
    struct spool_ending *ending);
/* Let go of the body, last of all. */
void spool_ending_release(struct spool_ending *ending);

/* F1 -> F2, the barrier of a group: makes the unlinks of bodies and the records
 * appended to control files durable, in parts that may run side by side.  If
 * there is too much for that many single syncs, it is one syncfs, which may
 * wait for what others write to the same file system. */
enum { SPOOL_BARRIER_DIRS = 27,		/* queue/ and A to Z below it */
    SPOOL_BARRIER_RECORDS = 8 };
struct spool_barrier {
	char		dirs[SPOOL_BARRIER_DIRS][4];	/* "", "J", "J/D" */
	size_t		dir_count;
	int		fds[SPOOL_BARRIER_RECORDS];	/* ours */
	size_t		fd_count;
	bool		is_whole;	/* one syncfs instead */
};
void spool_barrier_init(struct spool_barrier *barrier);
/* The body of this message was unlinked. */
void spool_barrier_add(const struct spool *spool,
    struct spool_barrier *barrier, ino_t inode);
/* Records were appended here; the descriptor is duplicated. */
void spool_barrier_add_records(struct spool_barrier *barrier, int control_fd);
size_t spool_barrier_parts(const struct spool_barrier *barrier);
/* Carry out one of the parts, which count from 0.  returns 0 or errno. */
int spool_barrier_part(const struct spool *spool,
    const struct spool_barrier *barrier, size_t part);
void spool_barrier_release(struct spool_barrier *barrier);
/* Set a message with its control file aside: the body becomes
 * postman/<inode>.<why> and the control file <inode>.<why>.control beside it
 * (row D4), with the reason in words.  returns 0 or -1. */
int spool_shelve_queued(struct spool *spool, const char *name,
    const char *why, const char *reason, struct err *err);

/* ---- what a person decides ----------------------------------------- */

#define SPOOL_ORDERS ".orders"		/* in transport/: control.md, 6 */
#define SPOOL_DELETED "queue-deleted"		/* why, of a name in trash/ */
#define SPOOL_TAKEN_WORDS " has taken it over"	/* end of the reason, after a
						 * node */

/* Move a message whose remaining recipients are cancelled to
 * trash/<inode>.queue-deleted, and its control file to
 * <inode>.queue-deleted.control beside it (row D7).  Not synced.  0 or -1. */
int spool_trash_queued(struct spool *spool, const char *name, struct err *err);

/* Bring trash/<name> (the message's own name there) and its control file
 * back (row D7); out_name is as of spool_hashed_name.  Not synced: see
 * spool_sync.  0; -1 (errno EEXIST: number taken): nothing was moved. */
int spool_untrash_queued(struct spool *spool, const char *name,
    char out_name[SPOOL_NAME_BYTES], struct err *err);

/* Move it back to router/, without its control file (row D8).  0 or -1. */
int spool_reroute_queued(struct spool *spool, const char *name,
    struct err *err);

/* Make all that was done in the spool durable.  0 or -1. */
int spool_sync(const struct spool *spool, struct err *err);

/* ---- coming back from an archive (rows B2 to B5) --------------------- */

/* A message that is restored while the spool's lock is held and no daemon runs.
 * The caller writes both files. */
struct spool_return {
	struct spool	*spool;
	int		 body_fd, control_fd;	/* -1: none */
	ino_t		 inode;
	char		 body[SPOOL_NAME_BYTES];	/* below router/ */
	char		 control[SPOOL_NAME_BYTES];	/* "": none */
};

/* Make the files, empty (B2).  0 or -1. */
int spool_return_begin(struct spool *spool, bool has_control,
    struct spool_return *out, struct err *err);
/* They are written: close them.  0; -1: it can only be dropped. */
int spool_return_settle(struct spool_return *back, struct err *err);
/* Move it where it belongs: queue (with its control file; without one it is
 * routed again), router, or deferred, freezer, postman, trash with why.  The
 * caller syncs the spool before this, so that no name is durable before its
 * bytes, and after it.  out_name: its name below the area.
 * 0; -1: it is not there, or its control file is not, which the next start
 * repairs */
int spool_return_publish(struct spool_return *back, enum spool_area area,
    unsigned priority, const char *why, char out_name[SPOOL_NAME_BYTES],
    struct err *err);
void spool_return_drop(struct spool_return *back);

/* ---- looking around -------------------------------------------------- */

/* Call fn for every file of an area (hash directories included; name is
 * relative to the area), in the order of readdir.  fn returns false to stop.
 * returns 0; -1 when a directory cannot be read. */
typedef bool spool_scan_fn(void *context, const char *name);
int spool_scan(const struct spool *spool, enum spool_area area,
    unsigned priority, spool_scan_fn *fn, void *context, struct err *err);

/* The same with each file open for reading while fn runs; files that cannot be
 * opened are left out.  Some are opened in advance, because a cold disk reads
 * many at a time.  A file may have been removed meanwhile (st_nlink tells). */
typedef bool spool_file_fn(void *context, const char *name, int fd);
int spool_scan_files(const struct spool *spool, enum spool_area area,
    unsigned priority, spool_file_fn *fn, void *context, struct err *err);

enum spool_stepped {
	SPOOL_WALK_TROUBLE = -1,
	SPOOL_WALK_OVER = 0,
	SPOOL_WALK_MORE = 1
};

/* As spool_scan, in pieces, for a caller with other work between them.  A file
 * that is there all the time is met once; one that comes or goes meanwhile may
 * be met.  _new: 0, or -1 when the area cannot be read (*out is NULL).  _step
 * passes at most `most` further files; SPOOL_WALK_MORE: there may be others;
 * _OVER: that was all (or fn returned false); _TROUBLE: a directory cannot be
 * read. */
struct spool_walk;
int spool_walk_new(const struct spool *spool, enum spool_area area,
    struct spool_walk **out, struct err *err);
enum spool_stepped spool_walk_step(struct spool_walk *walk, size_t most,
    spool_scan_fn *fn,
    void *context, struct err *err);
void spool_walk_free(struct spool_walk **walk);

enum { SPOOL_SOON_BYTES = 16384 };
/* The front of this file will be read soon: let the disk begin.  A caller that
 * opens many files before it reads the first waits for a cold disk once, not
 * each time. */
void spool_read_soon(int fd);

/* ---- what other users left in public/ ---------------------------------- */

/* Set the uids of smtpserver, router and scheduler: files in public/ that they
 * own are the mail system's (S0, S1, S3); those of all other users are S4.
 * This lasts for the process and its children; without it only root's and the
 * caller's files are the mail system's. */
void spool_own_accounts(const uid_t *uids, size_t count);

enum spool_copied {
	SPOOL_COPY_TROUBLE = -1,
	SPOOL_COPY_NOT_YET = 0,
	SPOOL_COPY_DONE = 1
};

/* Take over public/<name>, which belongs to another user: check it and copy it
 * into a draft of our own, sync, publish, then unlink the original (row S4).
 * returns SPOOL_COPY_NOT_YET when it is not complete. */
enum spool_copied spool_copy_in(struct spool *spool, const char *name,
    struct err *err);
/* Give the same answer without doing it. */
enum spool_copied spool_copy_look(struct spool *spool, const char *name,
    struct err *err);

#endif

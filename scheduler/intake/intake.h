/* intake.h - control files become jobs
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_INTAKE_H
#define ZM_SCHEDULER_INTAKE_H

#include "io/notify.h"
#include "scheduler/intake/cold.h"
#include "scheduler/jobs/array.h"
#include "scheduler/settle/settle.h"

enum {
	INTAKE_RESCAN_MS = 60000,
	INTAKE_BUSY_MS = 1000,		/* between looks at a locked file */
	INTAKE_TURN_FILES = 512,	/* read in one turn of the loop, */
	INTAKE_TURN_MS = 5		/* as far as they come in that time */
};

struct intake_item {
	ino_t	inode;
	int	control_fd, body_fd;	/* opened ahead; -1: not */
	bool	is_old;		/* an agent of a predecessor may be at it */
};

struct intake_again {
	char		 id[SPOOL_ID_BYTES];
	ino_t		 inode;
	uint32_t	 number;	/* of its job */
};

/* A round of strays.c, a phase a line. */
enum strays_phase {
	STRAYS_IDLE,
	STRAYS_CONTROLS,	/* the walk of transport/ is not over */
	STRAYS_QUEUE,		/* nor that of queue/ */
	STRAYS_JOBS,		/* those that a walk did not meet */
	STRAYS_BODIES,		/* those without a job */
	STRAYS_READ,		/* what the walk of transport/ met is read */
	STRAYS_ALONE		/* control files that are no job even so */
};

/* Files of one directory that no job knows. */
struct strays_side {
	ino_t		*found;		/* in this round */
	size_t		 found_count, found_capacity;
	size_t		 next, kept;	/* of them: looked at; still alone */
	ino_t		*lone;		/* those of the last round, sorted */
	size_t		 lone_count, lone_capacity;
	size_t		 left, now_left; /* alone in two rounds, whatever was
					 * tried: at the last round's end;
					 * counted now */
};

struct strays {
	enum strays_phase phase;
	uint8_t		 round;		/* never 0 */
	struct spool_walk *walk;	/* of queue/ */
	struct job_walk	 jobs;
	struct strays_side bodies;	/* of queue/ */
	struct strays_side controls;	/* of transport/ */
};

enum intake_read {
	INTAKE_READ,
	INTAKE_NOT_NOW,		/* gone, or trouble: come back later */
	INTAKE_DAMAGED,		/* not what the router wrote */
	INTAKE_LARGE		/* reading.h: of intake_read_small alone */
};

struct large;			/* large.h */

struct intake {
	struct queue	*queue;
	struct group	*group;
	struct intake_item *items;	/* to be looked at, oldest first */
	size_t		 first, count, capacity;
	size_t		 ahead;		/* of them, from the first, that were
					 * opened ahead if they are old */
	struct cold	 cold;
	struct intake_item *busy;	/* locked by somebody: again in 1 s */
	size_t		 busy_count, busy_capacity;
	size_t		 large_waits;	/* of these: large ones that wait for
					 * the one that is being read */
	ino_t		*orphans;	/* control files without a body */
	size_t		 orphan_count, orphan_capacity;
	struct intake_again *again;	/* large ones that are read again, and
					 * are no jobs meanwhile */
	size_t		 again_count, again_capacity;
	struct notify	*notify;
	struct str	 text;		/* reused from file to file */
	struct arena	*arena;
	struct spool_walk *walk;	/* of transport/; NULL: none runs */
	bool		 is_waiting;	/* for intake_begin: what comes is
					 * taken up, what lay there is not */
	bool		 is_starting;	/* the first walk is not over */
	bool		 is_caught_up;	/* what lay there at the start has been
					 * read, or is in another's hands */
	bool		 scan_again;	/* after this one */
	struct strays	 strays;
	struct large	*large;		/* a file that is taken in over many
					 * turns; NULL: none is */
	uint64_t	 read_count;	/* files, since the start */
	struct timer	 more, busy_timer;
};

/* ---- between the files of this folder ---------------------------------- */

struct item_files {
	int	control_fd, body_fd;	/* -1: not open */
	bool	is_hot;			/* for the job that follows */
	bool	is_shared;		/* who reads the control file has a copy
					 * of the descriptor, and with it the
					 * lock, for some time */
};
/* Close what is open of them. */
void item_close(struct item_files *files);
/* What came of reading its file; id: of the message.  False: it was dealt with,
 * there is no message now.  The files are closed unless they are for the
 * job. */
bool item_is_good(struct intake *intake, const struct intake_item *item,
    struct item_files *files, enum intake_read got, const char *id,
    const struct err *err);
/* Open a file of a message for reading; trouble is told.  -1: it cannot be, or
 * is gone. */
int intake_file_open(struct intake *intake, enum spool_area area,
    const char *name);
/* Something was read: is_caught_up from now on, if nothing is left. */
void intake_note_read(struct intake *intake);
/* A job is known from now on; kept_s: for settle_keep.  false: another node has
 * taken the message over, and the job was removed and freed. */
bool intake_job_begin(struct intake *intake, struct job *job, int64_t kept_s);
/* All its vertices are in the plan. */
void intake_job_end(struct intake *intake, struct job *job);

/* ---- for all ----------------------------------------------------------- */

/* Watch transport/ and its hash directories.  0 or -1 with err. */
int intake_open(struct intake *intake, struct err *err);
/* List what is there; the files are read in the turns that follow.  Not to be
 * called before the router has looked at their names: it may yet rename pairs,
 * and a pair under two names would be two messages. */
void intake_begin(struct intake *intake);
void intake_close(struct intake *intake);

/* Have transport/<inode> read soon.  is_old: an agent of a predecessor may be
 * working on it. */
void intake_add(struct intake *intake, ino_t inode, bool is_old);

/* Read what was added in the coming turns. */
void intake_soon(struct intake *intake);

/* How many files wait to be read; one more than are known until the start's
 * walk is over. */
size_t intake_unread(const struct intake *intake);

/* The end of a turn, after agents were fed: close files that were opened
 * needlessly; some that will be needed next stay open. */
void intake_turn_end(struct intake *intake);

/* Take a control file that had no body a minute ago and has none now (row F1,
 * left by an earlier scheduler); false: there is none left. */
bool intake_take_orphan(struct intake *intake, ino_t *out_inode);

/* The job's control file has no body: wait for a rescan, which makes it row F1
 * or nothing.  Removes and frees the job. */
void intake_orphan(struct intake *intake, struct job *job);

/* Read at once a file that is not a job yet. */
void intake_now(struct intake *intake, ino_t inode);

/* The message of an inode that somebody asks for by name; it is read before its
 * turn while the start is still reading.  NULL: it is not here, or with
 * *out_is_busy an agent of the previous scheduler has its file, or
 * intake_begin was not called yet. */
struct job *intake_find(struct intake *intake, ino_t inode, bool *out_is_busy);

/* Is its file to be read, or being read? */
bool intake_has(const struct intake *intake, ino_t inode);

/* Is a large message that was known being read again?  Who means all that he
 * describes waits for it. */
bool intake_is_again(struct intake *intake);
/* Is this one?  Who has it open waits for it. */
bool intake_reads_again(const struct intake *intake, ino_t inode);
/* The same of one whose id begins so.  The inode that an id has is not always
 * that of its files (INTERNALS, C3). */
bool intake_reads_again_id(const struct intake *intake, struct slice id);

/* Reread the file because orders changed it: at once; a large one soon, and
 * until then the job is not known (intake_has). */
void intake_again(struct intake *intake, struct job *job);

/* Forget the job and read its file again. */
void intake_reload(struct intake *intake, struct job *job);

/* The message file is damaged: shelve both files (row D4), forget the job. */
void intake_damaged(struct intake *intake, struct job *job,
    const char *reason);

/* The control file is not what the router wrote: shelve both files (row D4),
 * forget the job. */
void intake_bad(struct intake *intake, struct job *job,
    const char *reason);

/* Open both files of the job, if they are not open.  False: they are gone or
 * cannot be opened now (err). */
bool intake_job_open(struct intake *intake, struct job *job,
    struct err *err);

/* Read and parse a control file into the intake's arena, valid until the next
 * read.  err says why it is not INTAKE_READ. */
enum intake_read intake_read(struct intake *intake, int fd,
    struct control_file *control, struct err *err);
/* The same unless the file is large.  All of most files comes with one read;
 * only of others the size is asked. */
enum intake_read intake_read_small(struct intake *intake, int fd,
    struct control_file *control, struct err *err);
/* The same into memory of the caller, with nothing of the intake: also in a
 * thread.  text: what everything in control borrows from, beside arena. */
enum intake_read intake_read_into(struct arena *arena, struct str *text,
    int fd, struct control_file *control, struct err *err);
/* Whether the scheduler can work on a file that was read: INTAKE_READ, or
 * INTAKE_DAMAGED with err. */
enum intake_read intake_judge(const struct control_file *control,
    struct err *err);
/* The same for a job, whose files are opened if they are not. */
enum intake_read intake_job_read(struct intake *intake, struct job *job,
    struct control_file *control, struct err *err);

#endif

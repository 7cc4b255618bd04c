/* queue.h - zmailer import queue: take over mail that waits elsewhere
 *
 * A struct old_queue is a directory of another mailer's queue, with a row for
 * each message there.  Rows have what is shown; a message is read again when it
 * is made.  Nothing in the directory is changed.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_IMPORT_QUEUE_H
#define ZM_TOOLS_IMPORT_QUEUE_H

#include "conf/conf.h"
#include "mail/spool/imports.h"
#include "tools/verb/verb.h"
#include "tools/zmailer/import/queue/old.h"

#define OLD_FATES(ROW)	/* symbol, word, what it means */ \
	ROW(WAITS, "waits", "would be taken") \
	ROW(TAKEN, "taken", "is ours now") \
	ROW(KNOWN, "known", "was taken before") \
	ROW(SERVED, "served", "nobody waits for it") \
	ROW(UNFINISHED, "unfinished", "nobody was told that it was accepted") \
	ROW(DAMAGED, "damaged", "cannot be read") \
	ROW(FAILED, "failed", "could not be made")
enum old_fate {
#define FATE(symbol, word, text) OLD_##symbol,
	OLD_FATES(FATE)
#undef FATE
	OLD_FATE_COUNT
};

struct old_row {
	const char	*id, *key;
	const char	*main, *body, *journal;	/* below the directory; the
						 * last two may be NULL */
	const char	*state;			/* their word */
	enum old_fate	 fate;
	const char	*wrong;			/* DAMAGED, FAILED: why */
	const char	*sender, *rcpts;	/* to be shown, escaped */
	const char	*lost;			/* "": nothing */
	const char	*said;			/* escaped; "": nothing */
	size_t		 tries;			/* 0: not known */
	size_t		 waiting, done;
	int64_t		 arrived_us;
	uint64_t	 bytes;
	bool		 is_held, has_8bit;
	char		 new_id[SPOOL_ID_BYTES];	/* TAKEN */
};

struct old_queue {
	struct arena		*arena;
	const struct old_kind	*kind;
	const char		*dir;		/* as it was given */
	int			 fd;		/* of it */
	struct old_row		*rows;
	size_t			 count, room;
	const char		**bodies;	/* df files: sendmail */
	size_t			 body_count, body_room;
	size_t			 fates[OLD_FATE_COUNT];
};

/* ---- the files (files.c) ------------------------------------------------ */

/* One message's files, mapped.  0; -1: err names the file. */
int old_files_open(const struct old_queue *queue, const struct old_row *row,
    struct old_files *out, struct err *err);
void old_files_close(struct old_files *files);
/* Find what the old mailer last said about it; nothing is no fault. */
void old_row_hear(struct old_queue *queue, struct old_row *row,
    const struct old_files *files);

/* Does a process have this file of a message locked? */
bool old_file_is_locked(const struct old_queue *queue, const char *path);

/* ---- its last words (words.c) ------------------------------------------- */

struct old_words {
	size_t		tries;		/* 0: not known */
	struct slice	said;		/* "": nothing */
};
/* Pure: text is a qf, a file of defer/ or of msglog/.  said points into it. */
void old_words(const struct old_kind *kind, struct slice text,
    struct old_words *out);
/* The file beside a message that has them, in the arena; NULL: none. */
const char *old_words_path(struct arena *arena, const struct old_kind *kind,
    const char *main);

/* ---- finding them (find.c) ---------------------------------------------- */

/* Make rows for all messages.  0; -1: it is not a queue of that mailer, or a
 * directory cannot be read. */
int old_queue_find(struct old_queue *queue, struct err *err);

/* ---- does its mailer run (running.c) ------------------------------------ */

enum old_running {
	OLD_RUNNING_UNKNOWN = -1,	/* err */
	OLD_RUNNING_NO = 0,
	OLD_RUNNING_YES = 1		/* err says who, and what to do */
};
/* Decided by locks and by the processes of this machine. */
enum old_running old_queue_is_running(const struct old_queue *queue,
    struct err *err);

/* ---- what is in them (look.c) ------------------------------------------- */

/* Read each message, the oldest first; imports says which are known. */
void old_queue_look(struct old_queue *queue,
    const struct spool_imports *imports);

/* ---- what is said (show.c) ---------------------------------------------- */

/* Print a message to standard output: as lines, or as an object. */
void old_row_show(const struct old_queue *queue, const struct old_row *row,
    bool is_json);
/* Print how many have which fate, and what to do next. */
void old_queue_show_counts(const struct old_queue *queue, bool is_json,
    bool is_over);

/* ---- making ours (take.c) ----------------------------------------------- */

/* Take a message over, durably (rows I1 and I2).  0; -1 with err: nothing was
 * done, or (TAKEN) the next start finishes it. */
int old_row_take(struct old_queue *queue, struct old_row *row,
    struct spool *spool, struct spool_imports *imports, struct err *err);

/* ---- the verb (queue.c) ------------------------------------------------- */

/* zmailer import queue KIND DIR.  returns an exit status */
int import_queue_run(struct arguments *arguments);

#endif

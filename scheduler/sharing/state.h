/* state.h - what sharing knows, for the files of this folder
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SCHEDULER_SHARING_STATE_H
#define ZM_SCHEDULER_SHARING_STATE_H

#include "io/ipc_link.h"
#include "scheduler/sharing/sharing.h"

enum { SHARING_WORDS_BYTES = 200 };

struct sharing {
	struct queue	*queue;
	struct ipc_link	*link;		/* NULL: not connected */
	struct timer	 tick, soon;
	struct str	 place;		/* cluster, node, database */
	const struct sharing_kind *kind;
	void		*context;
	struct moves	*moves;
	/* the lease */
	bool		 is_asking;
	int64_t		 asked_ms;	/* the question that is out, or the
					 * last one */
	int64_t		 lease_end_ms;	/* steady; 0: there is none */
	uint64_t	 epoch;		/* of the lease; 0: none yet */
	uint64_t	 listed_epoch;	/* of taken; 0: there is no list */
	uint64_t	 serial;	/* of the list; offers have it */
	bool		 is_listing;
	bool		 is_clean;	/* what the list names is gone */
	struct taken_list	 taken, coming;
	char		 why[SHARING_WORDS_BYTES];
	/* ends */
	struct str	 done;		/* "ID ID ...": to be told */
	struct str	 telling;	/* share was told, no answer yet */
	/* what stays: to be copied, by inode */
	ino_t		*kept;
	size_t		 kept_first, kept_count, kept_room;
	ino_t		 keeping[SHARING_KEEPING_MAX];	/* on their way */
	unsigned	 keeping_count;
	bool		 is_keeping_over;	/* away: after a tick */
};

/* Say the next question about messages that move, if there is one now. */
void sharing_say_moves(struct sharing *sharing);

/* ---- keeping.c ----------------------------------------------------------- */

/* A descriptor of its own, without the lock that agents look at; -1. */
int copy_kept_open(const struct sharing *sharing, enum spool_area area,
    const char *name);
/* May a file be a copy, or a part of one?  What is larger has none, and none is
 * asked for again and again. */
bool copy_kept_fits(const struct sharing *sharing, int fd);
/* It is to be copied, as it is when its turn comes. */
void copy_kept_note(struct sharing *sharing, struct job *job);
/* The same once more, if it is here still. */
void copy_kept_again(struct sharing *sharing, ino_t inode);
/* Send what may be sent. */
void copy_kept_tell(struct sharing *sharing);
/* The answer to "kINODE kept"; text: INODE. */
void copy_kept_answered(struct sharing *sharing, struct slice text,
    bool is_ok);
/* The next one shall copy it when it has new records. */
void copy_kept_forget(struct sharing *sharing, ino_t inode);

#endif

/* record.h - what a node has of a publish on its disk
 *
 * Below SPOOL/desk/publish, for the account that runs zmailer alone
 * (doc/INTERNALS.md rows E4 to E8):
 *
 *   offered   what another node wants to publish; nothing is changed yet
 *   pending   the way back: the files as they were, until when
 *   taken     the id of the pending one, once its files are all there
 *   last      the way back from the last one that was kept
 *   sent      on the node that published: which one was the last
 *   trials    there, too: what canaries counted that went back
 *   sending   held by who publishes, with the end of its time
 *   lock      held by who changes any of this
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_PUBLISH_RECORD_H
#define ZM_TOOLS_PUBLISH_RECORD_H

#include "grammar/bundle.h"
#include "tools/publish/set.h"

enum { PUBLISH_ID_BYTES = 17 };		/* 16 hexadecimal digits, and NUL */

#define RECORD_OFFERED "offered"
#define RECORD_PENDING "pending"
#define RECORD_TAKEN "taken"
#define RECORD_LAST "last"
#define RECORD_SENT "sent"
#define RECORD_TRIALS "trials"

struct publish_record {
	char		 id[PUBLISH_ID_BYTES];
	const char	*from, *who;	/* the node, and its user */
	int64_t		 since_s, until_s;	/* wall; offered: of the
						 * hold */
	unsigned	 version;	/* the newest before it; 0: none */
	const char	*sum;		/* of its files, when they are there;
					 * "": not known */
	/* offered: the files, each name after a +, or after a - where it is a
	 * table; pending, last: what was there before, each name after a +, or
	 * after a - where there was no such file */
	struct bundle_file *files;
	size_t		 count;
};

/* Is it the id of a publish? */
bool publish_id_is_good(struct slice text);
/* A new one. */
void publish_id_make(char out[PUBLISH_ID_BYTES]);

/* Lock the directory, which is made, for as long as the descriptor is open;
 * wait for who has it, at most so long.
 * returns a descriptor; -1: err says why not, errno EWOULDBLOCK: it is held */
int record_lock(const char *spool_dir, int64_t patience_ms, struct err *err);

/* One publish of this node at a time: as record_lock, without waiting; err has
 * until when at the latest.  The kernel frees it when who has it dies. */
int record_lock_sender(const char *spool_dir, int64_t until_s,
    struct err *err);

/* Write one, durably and as a whole.  0 or -1. */
int record_write(const char *spool_dir, const char *name,
    const struct publish_record *record, struct err *err);
/* Read one, into the arena.  RECORD_BAD: err says why. */
enum record_found { RECORD_BAD = -1, RECORD_NONE, RECORD_READ };
enum record_found record_read(const char *spool_dir, const char *name,
    struct arena *arena, struct publish_record *out, struct err *err);
/* Is its time over?  A clock that was set back gives nobody more. */
bool record_is_over(const struct publish_record *record);
/* "until 2026-11-20 21:04:05 UTC at the latest (root@mx1)", in the arena: for
 * who is refused because of the record of that name. */
const char *record_span(const char *spool_dir, const char *name,
    struct arena *arena);
/* Is there one? */
bool record_is_there(const char *spool_dir, const char *name);
/* Give one another name, in the place of what has that, or remove it; durable.
 * One that is not there is removed.  0 or -1. */
int record_rename(const char *spool_dir, const char *name, const char *to,
    struct err *err);
int record_remove(const char *spool_dir, const char *name, struct err *err);
/* The path of that name, into out. */
enum { RECORD_PATH_BYTES = 4200 };
void publish_path(char out[RECORD_PATH_BYTES], const char *spool_dir,
    const char *name);

#endif

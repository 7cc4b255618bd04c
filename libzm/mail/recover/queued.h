/* queued.h - names of queue/ and transport/, as recovery has them
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_RECOVER_QUEUED_H
#define ZM_MAIL_RECOVER_QUEUED_H

#include "mail/recover/internal.h"

struct entry {			/* a file below queue/ or transport/ */
	ino_t		number;	/* in its name */
	ino_t		inode;	/* as readdir says */
	char		hash[4];	/* "DJ": its directories */
	bool		is_done;
};

struct lone {			/* bodies or control files without the other */
	struct entry	**all;
	size_t		 count, room;
};

/* "D/J/123" */
void entry_name(const struct entry *entry, char out_name[SPOOL_NAME_BYTES]);

/* A pair belongs under the inode of the body, on the configured level. */
void queued_refile(struct recover *r, const char *body, const char *control,
    ino_t inode, const char *id);

/* Put it at the end of those that met no other. */
void lone_add(struct lone *lone, struct entry *entry);

/* Bring each of them to its row.  0; -1 when a directory cannot be read. */
int lone_mend(struct recover *r, struct lone *bodies, struct lone *controls,
    struct err *err);

#endif

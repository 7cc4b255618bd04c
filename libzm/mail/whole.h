/* whole.h - is a message file what its writer completed?
 *
 * Its first line has the length and the CRC-32C of all that follows
 * (first_line.h).  Code that sends or quotes a message checks it first: a
 * message that the disk has damaged must not leave as if it were whole.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_WHOLE_H
#define ZM_MAIL_WHOLE_H

#include "base/err.h"
#include "base/str.h"

enum whole {
	WHOLE_YES,		/* or unknown: a file without a first line was
				 * made by a person */
	WHOLE_DAMAGED,		/* err says how */
	WHOLE_UNREADABLE	/* err; errno is kept */
};

/* A file that is in memory. */
enum whole whole_bytes(struct slice file, struct err *err);

/* All of fd, from offset 0; its position does not change.  Any thread may call
 * this; it needs a few KiB of stack. */
enum whole whole_file(int fd, struct err *err);

#endif

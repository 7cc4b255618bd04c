/* window.h - a large control file, some of its recipients at a time
 *
 * A file may have a million recipients, and is 50 MB then; parsed it is 300 MB
 * more.  So it is checked once as a whole, which keeps a few bytes of each
 * window and four of each record, and then read a window at a time: what
 * control_file_parse makes of the file, with some recipients only.
 *
 * What was appended after the check is not seen.  If a byte of a head changes
 * meanwhile, which nobody of us does, the window is not read.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_CONTROL_FILE_WINDOW_H
#define ZM_MAIL_CONTROL_FILE_WINDOW_H

#include "mail/control_file/control_file.h"

/* How much is read at a time; more only where one recipient's lines, or one
 * header, are longer. */
struct control_window_size {
	size_t	rcpts;		/* a window has so many at most */
	size_t	bytes;		/* of the head, and half of it at least
				 * unless rcpts ends it */
};
enum {
	CONTROL_WINDOW_RCPTS = 16384,	/* 5 MB when parsed */
	CONTROL_WINDOW_BYTES = 1 << 20
};

/* It is read by pread(2), and has its own memory: also in a thread. */
struct control_windows;

enum control_windows_got {
	CONTROL_WINDOWS_GOOD,
	CONTROL_WINDOWS_TROUBLE,	/* it could not be read, or is larger
					 * than CONTROL_BYTES_MAX */
	CONTROL_WINDOWS_DAMAGED	/* control_file_parse refuses it, too */
};

/* Check the file and find its windows.  fd stays the caller's, and open until
 * control_windows_free.  size NULL: as the constants say.  *out is NULL, with
 * err, unless it is GOOD. */
enum control_windows_got control_windows_open(int fd,
    const struct control_window_size *size, struct control_windows **out,
    struct err *err);
/* NULL is harmless; sets *windows to NULL. */
void control_windows_free(struct control_windows **windows);

/* What belongs to all windows: without groups; of the totals only rcpt_total
 * and head_bytes.  It lives as long as the windows. */
struct control_file *control_windows_common(struct control_windows *windows);
/* How many there are, 1 at least. */
size_t control_windows_count(const struct control_windows *windows);

/* Are there records of reports?  Else report_records is 0 in all. */
bool control_windows_have_reports(const struct control_windows *windows);

/* Read a window (index from 0) with the records of its recipients.  All totals
 * of out are the window's, but head_bytes; a group may go on in the next
 * window, and its header is empty, for control_windows_header.  Everything
 * borrows from windows and text or lives in the arena.
 * returns 0; -1: the file cannot be read, or has changed (err) */
int control_windows_read(struct control_windows *windows, size_t index,
    struct arena *arena, struct str *text, struct control_file *out,
    struct err *err);

/* Is the r line at offset one of this window, if there is such a line? */
bool control_windows_has(const struct control_windows *windows, size_t index,
    uint32_t offset);

/* The header block that begins at offset, as struct control_group has it, into
 * the arena.  0; -1 with err. */
int control_header_read(int fd, uint32_t offset, struct arena *arena,
    struct slice *out, struct err *err);

#endif

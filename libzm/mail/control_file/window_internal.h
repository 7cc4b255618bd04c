/* window_internal.h - what window.c and window_check.c share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_CONTROL_FILE_WINDOW_INTERNAL_H
#define ZM_MAIL_CONTROL_FILE_WINDOW_INTERNAL_H

#include "mail/control_file/internal.h"
#include "mail/control_file/window.h"

struct window_mark {			/* a window */
	uint32_t	 at;		/* of its first line, s or r */
	uint32_t	 sender_at;	/* it begins in the midst of a group:
					 * of its s line; else 0 */
	uint32_t	 errors_at;	/* and of its e line; 0: it has none */
	uint32_t	 header_offset;	/* of the group that goes on after it */
	uint32_t	 crc;		/* of its text */
	uint32_t	*places;	/* its records in the file, in order */
	size_t		 place_count;
};

struct control_windows {
	int		 fd;
	struct control_window_size size;
	struct arena	*arena;
	struct control_file	common;
	struct window_mark	*marks;
	size_t		 count;
	uint64_t	 end;		/* of the file as it was checked */
	bool		 have_reports;
};

/* Bytes [at, end) of the file.  0 or -1. */
int window_span_read(int fd, uint64_t at, uint64_t end, struct str *out,
    struct err *err);
/* What belongs to all, for a parser of some. */
void window_parser_begin(struct control_parser *parser, struct arena *arena,
    const struct control_windows *windows, struct control_file *out);
/* The group that a window begins in the midst of.  0 or -1. */
int window_carry(const struct control_windows *windows,
    const struct window_mark *mark, struct control_parser *parser,
    struct err *err);
/* Check the file, make the marks. */
enum control_windows_got windows_check(struct control_windows *windows,
    struct str *text, struct err *err);

#endif

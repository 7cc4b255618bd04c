/* internal.h - what the files of this folder share
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_CONTROL_FILE_INTERNAL_H
#define ZM_MAIL_CONTROL_FILE_INTERNAL_H

#include "mail/control_file/control_file.h"

enum {
	CONTROL_LINE_BYTES_MAX = 16384,	/* r, N, s, ...: channel, host, user */
	CONTROL_HEADER_BYTES_MAX = 4 << 20,
	/* eight digits in the first line */
	CONTROL_HEAD_BYTES_MAX = 99999999
};

/* Parse the first line; nothing else is read.
 * returns the head's length; 0: it is not a head. */
size_t control_first_line(struct slice file, uint32_t *out_crc);

/* Read a line before the first s line, by its tag and value.
 * returns 0; -1: unknown tag or bad value. */
int control_read_common(struct control_file *control, char tag,
    struct slice value,
    struct err *err);

/* "channel host user uid" after "r " or "s ".  returns 0 or -1. */
int control_read_quad(struct slice value, struct control_rcpt *out,
    struct err *err);

/* "NOTIFY=... ORCPT=..." after "N ".  returns 0 or -1. */
int control_read_notify(struct slice value, struct control_rcpt *rcpt,
    struct err *err);

/* ---- a head is read, whole or a part of it (window.h) -------------------- */

enum { CONTROL_HEADERS_KEPT = 16 };	/* of more, one is looked for */

/* The headers of a head by their offsets, as its windows come by. */
struct control_header_list {
	uint32_t	*offsets;	/* in order */
	size_t		 count;
};

struct control_parser {
	struct arena	*arena;
	struct slice	 file;		/* the head only, or a part of it */
	size_t		 start;		/* of file in the head */
	size_t		 at;		/* next unread byte of file */
	struct control_file	*control;
	struct control_rcpt *rcpts;	/* of all groups, in order */
	/* of all recipients, in order */
	struct control_way	*ways;
	size_t		 groups_room, rcpts_room, ways_room, way_count;
	size_t		 open_groups;	/* groups that wait for their m */
	/* that h lines name */
	struct slice	 headers[CONTROL_HEADERS_KEPT];
	bool		 is_window;	/* only a part: of headers it learns
					 * where they begin, not what they
					 * say */
	size_t		 rcpts_most;	/* of it; 0: unknown */
	/* of a window that is checked: those before it; NULL: it was */
	struct control_header_list *seen;
};

/* Append a number in decimal: printf takes ten times as long. */
void control_add_number(struct str *out, int64_t number);

/* Make room for what may stand in the parser's file. */
void control_parser_room(struct control_parser *parser);
/* Read the line at parser->at, with the block of an m line.  0 or -1. */
int control_parser_line(struct control_parser *parser, struct err *err);
/* All lines are read: is there what must be?  rcpts: of the whole head.
 * 0; -1 with err. */
int control_parser_end(const struct control_parser *parser, size_t rcpts,
    struct err *err);

/* ---- what came of its recipients ----------------------------------------- */

enum { CONTROL_WORDS_KEPT = 4096 };

/* Records, one after the other, change the recipients of a head that was read,
 * or of a part of it. */
struct control_replay {
	struct arena	*arena;
	struct control_file	*control;
	struct control_rcpt *rcpts;	/* of all groups, in order */
	struct slice	*verdicts;	/* of each the last, NULL: none */
	uint32_t	 id_crc;
	struct slice	*words;		/* copies of lines that do not last;
					 * NULL: they do */
};

/* is_brief: the lines that follow do not last. */
void control_replay_begin(struct control_replay *replay, struct arena *arena,
    struct control_file *control, bool is_brief);
/* One line, which may be no record. */
void control_replay_line(struct control_replay *replay, struct slice line);
void control_replay_end(struct control_replay *replay);

/* Apply the records after the head (text) to the recipients of control, whose
 * head has been read. */
void control_replay(struct arena *arena, struct control_file *control,
    struct slice text);

/* Read a record without its newlines: "d crc offset time kind ...".  The
 * checksum covers the spool id, too, so that a record which strayed into
 * another message's file (inode numbers are reused) does not count.
 * check: verifies the checksum and reads offset, time, kind, tries and next
 * (not the verdict).  out_rest: what follows, for control_record_verdict. */
bool control_record_check(struct slice line, uint32_t id_crc,
    struct control_record *out, struct slice *out_rest);
bool control_record_verdict(struct slice rest, struct verdict *out);
/* The same for an order: who gave it, and why; both borrow from rest. */
void control_record_order(struct slice rest, struct slice *out_by,
    struct slice *out_reason);

/* Append one record's line with its newlines, at most
 * CONTROL_RECORD_BYTES_MAX. */
void control_record_add(struct str *out, uint32_t id_crc,
    const struct control_record *record);

/* Append the line of a record, which was checked, with another offset. */
void control_record_move(struct str *out, uint32_t id_crc, struct slice line,
    uint32_t offset);

#endif

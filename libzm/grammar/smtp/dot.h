/* dot.h - where a message ends, decided once for server and client
 *
 * RFC 5321 sections 4.1.1.4 and 4.5.2.  On the wire, lines end in CR LF and the
 * message in CR LF "." CR LF, and in nothing else: neither a bare CR nor a bare
 * LF ends a line or a message (SMTP smuggling, CVE-2023-51764 and others).
 * In files, lines end in LF and no dot is doubled.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_DOT_H
#define ZM_GRAMMAR_DOT_H

#include "base/str.h"

enum dot_bare {		/* what was seen besides CR LF */
	DOT_BARE_CR = 1,
	DOT_BARE_LF = 2,
	DOT_NUL = 4
};

/* Server side.  One reader per message. */
struct dot_reader {
	unsigned char	state;		/* dot.c's own */
	unsigned char	bare_ok;	/* a bare LF counts as a line end */
	unsigned char	seen;		/* enum dot_bare bits */
	size_t		line_bytes;	/* of the line being read: content,
					 * without its end */
	size_t		longest_bytes;	/* of the longest line */
};

/* Start reading a message.  bare_lf_is_line_end: a bare LF ends a line (also
 * for the doubled dot), but never the message. */
void dot_reader_init(struct dot_reader *reader, bool bare_lf_is_line_end);

/* Decode wire bytes.
 * in         unread bytes; *out_used of them are consumed
 * out        receives content: LF line ends, dots unstuffed; at least
 *            in.n + 2 bytes of room; *out_n bytes were written
 * returns    true when the end of the message was consumed: the bytes
 *            after *out_used are the next command.
 * A bare CR or LF is passed on as it is and noted in reader->seen. */
bool dot_read(struct dot_reader *reader, struct slice in, size_t *out_used,
    char *out, size_t *out_n);

/* Client side.  One writer per message: DOT_WRITER_INIT. */
struct dot_writer {
	bool	at_line_start;
	bool	after_cr;	/* an LF that comes next belongs to it */
};

#define DOT_WRITER_INIT { true, false }

/* Append content (LF line ends) in wire form: CR LF, leading dots doubled.  A
 * bare CR becomes CR LF, too, so that no next hop can see another end; CR LF
 * counts as one line end.  Pieces may be cut anywhere. */
void dot_write(struct str *out, struct slice content,
    struct dot_writer *writer);

/* Append the end: CR LF first when the last line lacks it, then "." CR LF. */
void dot_write_end(struct str *out, const struct dot_writer *writer);

#endif

/* mime_down.h - a message for a host that takes less than its sender used
 *
 * There are two goals: no byte over 127 (RFC 6152 section 3: the host lacks
 * 8BITMIME), and no binary part (RFC 3030 section 3: it lacks BINARYMIME).
 * Each part by itself becomes quoted-printable or base64; multiparts and
 * messages in messages are walked into.  Nothing is left out or replaced: a
 * message cannot be converted if something in it has no other form (a part
 * with an encoding of its own, 8-bit text around the parts of a multipart, a
 * CR alone in a part's header).
 *
 * The message is passed twice: first without output, to learn what is in it;
 * then, after mime_down_again, with output.  Each pass is mime_down_header
 * once, mime_down_body for each piece, and mime_down_end.  What is held at a
 * time is bounded: a header of MIME_HEAD_BYTES_MAX, a line of MIME_LINE_HELD,
 * one byte for each part.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_MIME_DOWN_H
#define ZM_GRAMMAR_MIME_DOWN_H

#include "base/str.h"
#include "grammar/message/mime.h"
#include "grammar/message/mime_code.h"

enum {
	MIME_DEPTH_MAX = 32,
	MIME_PARTS_MAX = 8192,
	MIME_HEAD_BYTES_MAX = 256 * 1024,
	MIME_LINE_HELD = 1000
};

enum mime_goal {
	MIME_TO_7BIT = 1,
	MIME_FROM_BINARY = 2,	/* the input's body lines end in CR LF, and
				 * bytes of binary parts are as they are */
};

struct mime_frame {		/* a multipart that is open */
	char	boundary[MIME_BOUNDARY_BYTES_MAX + 1];
	size_t	boundary_bytes;
	bool	is_digest;
};

enum mime_bytes {		/* what stands in a part */
	PART_HIGH = 1,		/* bytes over 127 */
	PART_BARE_LF = 2,
	PART_ODD = 4,		/* a bare CR, a NUL */
	PART_LONG = 8		/* a line over 1000 bytes */
};

struct mime_down {
	unsigned	 goal;
	bool		 is_writing;
	/* learned in the first pass */
	bool		 has_8bit;	/* anywhere */
	bool		 has_8bit_header;	/* of the message itself */
	bool		 is_utf8;	/* all that is 8-bit is UTF-8 */
	bool		 has_binary;	/* a part says it is, or is */
	bool		 is_too_much;	/* a bound is exceeded */
	bool		 is_undoable;	/* something has no other form that
					 * means the same */
	const char	*obstacle;	/* what, in words; NULL: nothing */
	bool		 is_signed;	/* DKIM-Signature */
	bool		 is_sealed;	/* it has a multipart/signed or
					 * /encrypted: those bytes must stay */
	unsigned char	 bytes[MIME_PARTS_MAX];	/* enum mime_bytes of a part */
	/* where it is */
	enum mime_where { WHERE_HEAD, WHERE_LEAF, WHERE_BETWEEN } where;
	bool		 is_top;	/* the head of the message itself */
	unsigned	 part;		/* number of the leaf */
	struct mime_frame frames[MIME_DEPTH_MAX];
	unsigned	 depth;
	struct str	 head;		/* being collected */
	struct str	 line;
	bool		 is_mid_line;
	/* the leaf being written */
	enum mime_code { CODE_NONE, CODE_QUOTED, CODE_BASE64,
		CODE_ESCAPE }		/* quoted-printable, but for a byte */
	code;
	enum mime_encoding encoding;	/* as its head says */
	bool		 is_opaque;	/* struct mime_head */
	bool		 is_raw;	/* binary: CR LF is content */
	char		 held_end[3];	/* line end that may be a boundary's */
	struct mime_quoter quoter;
	struct mime_sixer  sixer;
};

/* Before the first pass.  goal: bits of enum mime_goal. */
void mime_down_init(struct mime_down *down, unsigned goal);
/* Free what it holds. */
void mime_down_release(struct mime_down *down);

/* After the first pass: must the message be converted? */
bool mime_down_is_needed(const struct mime_down *down);

/* Begin the second pass. */
void mime_down_again(struct mime_down *down);

/* Pass the header, with LF line ends, without the blank line after it (which
 * is appended to out).  out is NULL in the first pass. */
void mime_down_header(struct mime_down *down, struct slice header,
    struct str *out);
/* Pass the next bytes of the body, cut anywhere; lines in out end in LF. */
void mime_down_body(struct mime_down *down, struct slice bytes,
    struct str *out);
void mime_down_end(struct mime_down *down, struct str *out);

/* mime_header.c: append a header.  is_7bit: 8-bit words of its fields become
 * encoded-words.  drops_encoding: leave Content-Transfer-Encoding out. */
void mime_header_add(struct str *out, struct slice header, bool is_7bit,
    bool drops_encoding);

#endif

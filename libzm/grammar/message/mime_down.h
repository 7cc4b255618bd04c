/* mime_down.h - a message for a host that takes less than its sender used
 *
 * Two goals: no byte over 127 (RFC 6152 section 3: the host lacks
 * 8BITMIME), or no part that is binary (RFC 3030 section 3: it lacks
 * BINARYMIME); or both.  Parts become quoted-printable or base64, each by
 * itself; multiparts and messages in messages are walked into.  Nothing is
 * left out or replaced: what has no other form (a part with an encoding of
 * its own, 8-bit text around the parts of a multipart, a CR alone in a
 * part's header) makes the message undoable.
 *
 * The message passes twice.  First without output, to learn what is in it;
 * then, from mime_down_again on, with.  Both times: mime_down_header once,
 * mime_down_body for each piece, mime_down_end.  What is held at a time is
 * bounded: a header of MIME_HEAD_BYTES_MAX, a line of MIME_LINE_HELD, one
 * bit a part.
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
	MIME_FROM_BINARY = 2,	/* also: body lines end in CR LF, and bytes of
				 * binary parts stand as they are */
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
	bool		 is_too_much;	/* one of the bounds: cannot be done */
	bool		 is_undoable;	/* something can be converted to
					 * nothing that means the same */
	const char	*obstacle;	/* what, in words; NULL: nothing */
	bool		 is_signed;	/* DKIM-Signature */
	bool		 is_sealed;	/* a multipart/signed or /encrypted is
					 * in it: its bytes must stay */
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

/* Whether, after the first pass, the message must be converted. */
bool mime_down_is_needed(const struct mime_down *down);

/* Begin the second pass. */
void mime_down_again(struct mime_down *down);

/* The header, LF line ends, without the blank line after it (which is
 * appended).  out NULL in the first pass. */
void mime_down_header(struct mime_down *down, struct slice header,
    struct str *out);
/* The next bytes of the body, cut anywhere; LF line ends in out. */
void mime_down_body(struct mime_down *down, struct slice bytes,
    struct str *out);
void mime_down_end(struct mime_down *down, struct str *out);

/* mime_header.c: append a header, 8-bit words of its fields as
 * encoded-words if is_7bit, without Content-Transfer-Encoding if
 * drops_encoding. */
void mime_header_add(struct str *out, struct slice header, bool is_7bit,
    bool drops_encoding);

#endif

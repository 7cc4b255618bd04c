/* header.h - the header of a message, field by field
 *
 * RFC 5322 section 2.2 and 3.6; lines end in LF (a CR before it is
 * tolerated).  Fields keep their bytes; nothing here rewrites.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_HEADER_H
#define ZM_GRAMMAR_HEADER_H

#include "base/err.h"
#include "base/str.h"
#include "grammar/smtp/path.h"

struct header_field {
	struct slice	name;	/* without colon and blanks before it */
	struct slice	value;	/* after the colon, folds and LF included,
				 * the last LF not */
	struct slice	whole;	/* all bytes of the field, last LF included */
};

/* Next field from the front of *rest (which starts as the whole message).
 * false: the header is over, *rest now starts at the body (the blank line is
 * consumed; a line that cannot be a field ends the header as well and is not
 * consumed, *out_is_broken is set).
 * A field without LF at the end of input is a field. */
bool header_next(struct slice *rest, struct header_field *out,
    bool *out_is_broken);

/* Take a line that is no field from the front of *rest: with the folded
 * lines after it and the last LF. */
struct slice header_junk(struct slice *rest);

/* Whether text starts with the line that mbox files have between messages
 * ("From ", ">From "; RFC 4155): no field, and no part of a message. */
bool header_is_from_line(struct slice text);

/* Header and body of a message: bytes up to and including the blank line. */
size_t header_bytes(struct slice message);

/* Whether the field has this name, in any case. */
bool header_is(const struct header_field *field, const char *name);

/* The value on one line: folds become one blank, ends trimmed. */
void header_add_unfolded(struct str *out, struct slice value);

enum header_answer {
	HEADER_ADDRESS_BAD = -1,
	HEADER_ADDRESS_END = 0,
	HEADER_ADDRESS = 1
};

/* Walk the addresses of an address-list value (RFC 5322 section 3.4, with
 * groups, comments, phrases, quoted strings, obsolete routes).
 * *rest starts as the value.  out slices into value where possible, else
 * into the arena.  A local part without a domain is returned so.
 * returns HEADER_ADDRESS; _END no more; _BAD, *rest stands after the next
 * comma so that the caller can go on. */
enum header_answer header_address(struct arena *arena, struct slice *rest,
    struct path *out,
    struct err *err);

/* The same, and where in the value its addr-spec stands: the bytes that
 * another address can take the place of. */
int header_address_at(struct arena *arena, struct slice *rest,
    struct path *out, struct slice *out_at, struct err *err);

/* First msg-id "<...>" of a value (RFC 5322 section 3.6.4), with its angle
 * brackets; empty when there is none. */
struct slice header_msgid(struct slice value);

/* Whether the value of Date or Resent-Date is a date-time, the obsolete forms
 * included (RFC 5322 section 3.3, 4.3).  returns 0, or -1 and why not, in
 * words of ours. */
int header_date(struct slice value, struct err *err);

#endif

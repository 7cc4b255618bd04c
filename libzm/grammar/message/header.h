/* header.h - the header of a message, field by field
 *
 * RFC 5322 sections 2.2 and 3.6; lines end in LF (a CR before it is
 * tolerated).  Nothing here changes the bytes of a field.
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
	struct slice	value;	/* after the colon, with its folds, without
				 * the last LF */
	struct slice	whole;	/* all bytes of the field, last LF included */
};

/* Take the next field from the front of *rest, which starts as the whole
 * message.  false: the header has ended, and *rest is the body.  The blank line
 * was consumed.  A line that cannot be a field ends the header as well; then it
 * was not consumed, and *out_is_broken is set.
 * A field without LF at the end of input is a field. */
bool header_next(struct slice *rest, struct header_field *out,
    bool *out_is_broken);

/* Take a line that is not a field from the front of *rest, with its LF and the
 * folded lines after it. */
struct slice header_junk(struct slice *rest);

/* Does text start with the line that mbox files have between messages
 * ("From ", ">From "; RFC 4155)?  It is neither a field nor part of a
 * message. */
bool header_is_from_line(struct slice text);

/* The bytes of the header, with the blank line after it. */
size_t header_bytes(struct slice message);

/* Does the field have this name, in any case? */
bool header_is(const struct header_field *field, const char *name);

/* Append the value on one line: each fold becomes a blank; both ends are
 * trimmed. */
void header_add_unfolded(struct str *out, struct slice value);

enum header_answer {
	HEADER_ADDRESS_BAD = -1,
	HEADER_ADDRESS_END = 0,
	HEADER_ADDRESS = 1
};

/* Walk the addresses of an address-list (RFC 5322 section 3.4, with groups,
 * comments, phrases, quoted strings, obsolete routes).
 * *rest starts as the value.  out borrows from the value where possible,
 * otherwise from the arena.  A local part alone has an empty domain.
 * returns HEADER_ADDRESS; _END after the last; _BAD (err): *rest is past the
 * next comma, so that the caller can continue. */
enum header_answer header_address(struct arena *arena, struct slice *rest,
    struct path *out,
    struct err *err);

/* The same; *out_at is the addr-spec in the value: the bytes to replace by
 * another address. */
int header_address_at(struct arena *arena, struct slice *rest,
    struct path *out, struct slice *out_at, struct err *err);

/* The first msg-id "<...>" of a value (RFC 5322 section 3.6.4), with its angle
 * brackets; empty when there is none. */
struct slice header_msgid(struct slice value);

/* Check that the value of Date or Resent-Date is a date-time, possibly in an
 * obsolete form (RFC 5322 sections 3.3 and 4.3).  returns 0; -1: it is not, and
 * err says why in words of ours. */
int header_date(struct slice value, struct err *err);

#endif

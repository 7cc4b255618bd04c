/* check.h - what is wrong with a header, and what may be done about it
 *
 * Pure.  The author of a header wants to know what is wrong with it; its signer
 * does not want it changed.  doc/INTERNALS section 7 says what the router does
 * to the header of signed mail.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_HEADER_CHECK_H
#define ZM_ROUTER_HEADER_CHECK_H

#include "grammar/message/header.h"

enum {
	HEADER_WRONGS_MAX = 8,		/* named, of one message */
	HEADER_REASON_BYTES_MAX = 120
};

struct header_wrong {
	const char	*field;		/* its name as we write it */
	const char	*reason;
	unsigned	 line;		/* of the header; 0: it is missing */
	bool		 is_repaired;
};

struct header_wrongs {
	struct header_wrong	 list[HEADER_WRONGS_MAX];
	unsigned		 count;		/* held in list */
	unsigned		 seen;		/* bits of fields there once */
};

/* Add a fault, if there is room.  reason is copied. */
void header_wrong_add(struct arena *arena, struct header_wrongs *wrongs,
    const char *field, const char *reason, unsigned line, bool is_repaired);

/* Check a field of RFC 5322 section 3.6: is it an address-list, one mailbox, a
 * date-time, a msg-id, and not there twice if it may be there only once?
 * is_stranger: bare addresses are not ours.  returns 0: good (or another
 * field); -1 (err says why); *out_name is how its name is written. */
int header_check_field(struct arena *arena, struct header_wrongs *wrongs,
    const struct header_field *field, bool is_stranger,
    const char **out_name, struct err *err);

/* Is this header signed: is there a field DKIM-Signature (RFC 6376 section 3.5)
 * or ARC-Message-Signature (RFC 8617 section 4.1.2)? */
bool header_is_signed(struct slice header);

/* Does one of them name this field in h=, so that adding it breaks that
 * signature (RFC 6376 section 5.4)? */
bool header_signs(struct slice header, const char *name);

/* Append lines in a form that no program takes for its own field:
 * 	Illegal-Object: Date found by HOST: REASON
 * 		LINES
 * lines is a field, or a line that is none, with its folds. */
void header_illegal_add(struct str *out, const char *host, const char *field,
    const char *reason, struct slice lines);

#endif

/* authres_read.h - read another host's Authentication-Results (RFC 8601)
 *
 * Nothing here trusts it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ORIGIN_AUTHRES_READ_H
#define ZM_ORIGIN_AUTHRES_READ_H

#include "base/str.h"

enum { AUTHRES_DEPTH_MAX = 20 };	/* of comments in comments */

struct authres_result {
	struct slice	method, result;	/* "dkim", "pass" */
	struct slice	rest;		/* its properties, not read yet */
};

/* Skip blanks, folds and comments at the front.  false: a comment does not
 * end. */
bool authres_skip(struct slice *rest);

/* Take the next result from the front of *rest, which starts as the value of
 * the field: what precedes the first ";" is not a result.  One that cannot be
 * read is skipped.  false: there are no more. */
bool authres_next(struct slice *rest, struct authres_result *out);

/* Find a property, "header.from"; *out is without quotes, in the arena.  false:
 * there is none. */
bool authres_property(const struct authres_result *result, const char *name,
    struct arena *arena, struct slice *out);

#endif

/* form.h - the fields of a query or a form
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_FORM_H
#define ZM_WEB_FORM_H

#include "base/str.h"

enum { FORM_FIELDS_MAX = 100, FORM_VALUE_BYTES_MAX = 8192 };

struct form_field {
	struct slice	key, value;
};
struct form {
	struct form_field fields[FORM_FIELDS_MAX];
	size_t		 count;
};

/* Read "a=1&b=x%20y" (application/x-www-form-urlencoded); values are in the
 * arena.  Line breaks and tabs become blanks.
 * returns 0; -1: a broken %, a NUL or another control, a value that is not
 * UTF-8, or too many or too long values */
int form_read_fields(struct slice text, struct arena *arena, struct form *out);
/* The first value of a field; empty when there is none. */
struct slice form_get(const struct form *form, const char *key);
/* The next value of a field; *at begins as 0.  False: none is left. */
bool form_next(const struct form *form, const char *key, size_t *at,
    struct slice *out_value);

#endif

/* said.c - what a Redis, or a sentinel, says of itself
 *
 * In     answers
 * Out    a fact, or words for a person
 * Holds  nothing
 * Trusts nothing: words are cut and escaped
 * Spec   said.h; grammar/resp.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>

#include "grammar/resp.h"
#include "share/redis/said.h"

#include "base/banned.h"

enum { ERROR_BYTES = 120 };

bool
said_is_master(struct slice items)
{
	struct slice text;
	size_t used;

	return resp_read(items, &text, &used) == RESP_VALUE &&
	    slice_is(text, "master");
}

void
said_error(struct slice text, char *out, size_t bytes)
{
	struct str shown = STR_INIT;

	str_add_escaped(&shown, slice_first(text, ERROR_BYTES));
	snprintf(out, bytes, "it says %s", shown.buf);
	str_release(&shown);
}

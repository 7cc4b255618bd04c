/* rows.c - the rows of what stands still
 *
 * In     what its neighbours find
 * Out    rows; their words, with controls escaped
 * Holds  nothing: the rows lie in the caller's arena
 * Spec   parts.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "tools/queue/words.h"
#include "tools/run/standstill/parts.h"

#include "base/banned.h"

struct standstill_row *
standstill_row(struct standstill *all, const char *what, const char *name)
{
	struct standstill_row *wider = arena_alloc(all->arena,
	    (all->count + 1) * sizeof(*wider));

	if (all->count > 0)
		memcpy(wider, all->rows, all->count * sizeof(*wider));
	all->rows = wider;
	wider[all->count] = (struct standstill_row){ .what = what,
	    .name = arena_printf(all->arena, "%s", name), .text = "",
	    .next = "" };
	return &wider[all->count++];
}

/* "since 2026-11-22 20:14:07 CET (3h12m)", where it is known. */
void
standstill_add_since(struct str *out, int64_t since_s)
{
	char text[CLOCK_TEXT_BYTES];

	if (since_s <= 0)
		return;
	clock_local(since_s, text);
	str_addf(out, " since %s (", text);
	words_add_span(out, clock_wall_s() - since_s);
	str_addc(out, ')');
}

void
standstill_say(struct standstill *all, struct standstill_row *row,
    const struct str *text)
{
	struct str clean = STR_INIT;

	str_add_escaped(&clean, str_slice(text));
	row->text = slice_dup(all->arena, str_slice(&clean));
	str_release(&clean);
}

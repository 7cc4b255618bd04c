/* alias_check.c - is every value of a table of aliases one?
 *
 * In     a table
 * Out    words about each bad item
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/table/alias_check.h"

#include "base/mem.h"
#include "grammar/message/alias.h"

#include "base/banned.h"

struct check {
	struct arena	*arena;
	alias_say_fn	*say;
	void		*context;
	unsigned	 entries, bad;
};

static void
alias_complain(struct check *check, unsigned line, const struct err *what)
{
	if (check->bad++ < ALIAS_CHECK_SAID_MAX)
		check->say(check->context, line, what->text);
}

/* "@old: @new" stands for the same user there. */
static bool
is_domain_alias(struct slice key, struct slice value)
{
	return slice_starts(key, "@") && slice_starts(value, "@") &&
	    slice_find(value, ',') == value.n;
}

static bool
alias_take_entry(void *context, struct slice key, struct slice value,
    unsigned line)
{
	struct check *check = context;
	struct alias_item item;
	struct err what;
	int more;

	check->entries++;
	if (is_domain_alias(key, value))
		return true;
	while ((more = alias_next(check->arena, &value, 0, &item,
	    &what)) != ALIAS_END)
		if (more < 0)
			alias_complain(check, line, &what);
	arena_reset(check->arena);
	return true;
}

unsigned
alias_check(struct table *table, alias_say_fn *say, void *context,
    unsigned *out_entries)
{
	struct check check = { arena_new(), say, context, 0, 0 };
	struct err ignored;

	(void)table_each(table, alias_take_entry, &check, &ignored);
	arena_free(&check.arena);
	if (out_entries != NULL)
		*out_entries = check.entries;
	return check.bad;
}

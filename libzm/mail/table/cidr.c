/* cidr.c - type cidr: networks and what holds for them
 *
 * In     the path of a file: "192.0.2.0/24 value" a line
 * Out    the value of the longest prefix around an address; of two equal
 *        ones the first line's.  (Postfix takes the first line that
 *        matches: a file whose special cases stand first means the same.)
 * Holds  the file in memory, its networks sorted
 * Trusts nothing in the file
 * Spec   mail/table/table.h; RFC 4632 section 3.1
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/table/internal.h"
#include "mail/table/type.h"

#include "base/banned.h"

static int
cidr_open(struct table_source *source, void **out_state, struct err *err)
{
	static const struct net anything = { .bits = 128 };
	struct table_contents *contents = NULL;
	const struct table_entry *entry;

	if (table_contents_read(source, source->old, &contents, err) != 0)
		return -1;
	if (contents != source->old && table_contents_net(contents, &anything,
	    &entry, err) == TABLE_TROUBLE) {
		table_contents_free(&contents);
		return -1;
	}
	*out_state = contents;
	return 1;
}

static void
cidr_close(void *state)
{
	table_type_inline.close(state);
}

static enum table_result
cidr_find_net(void *state, const struct net *address, struct table_hit *out,
    struct err *err)
{
	return table_type_inline.find_net(state, address, out, err);
}

/* A key that is no address is in no network. */
static enum table_result
cidr_find(void *state, struct slice key, struct slice folded,
    struct table_hit *out, struct err *err)
{
	struct net address;

	if (net_parse(folded, &address, NULL) != 0)
		return TABLE_NONE;
	return cidr_find_net(state, &address, out, err);
}

static int
cidr_check(void *state, struct err *err)
{
	return table_type_inline.check(state, err);
}

static enum table_result
cidr_each(void *state, table_fn *fn, void *context, struct err *err)
{
	return table_type_inline.each(state, fn, context, err);
}

const struct table_type table_type_cidr = {
	.name = "cidr", .traits = TABLE_HAS_PATH, .open = cidr_open,
	.close = cidr_close, .find = cidr_find, .find_net = cidr_find_net,
	.check = cidr_check, .each = cidr_each,
};

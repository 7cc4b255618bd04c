/* net.c - networks of a table: is this address in one of them?
 *
 * In     keys such as 192.0.2.0/24 and 2001:db8::/32
 * Out    the most specific network around an address
 * Holds  an array sorted by length, then address: one binary search for
 *        each length that occurs
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "mail/table/internal.h"

#include "base/banned.h"

/* Longer prefixes first. */
static int
table_net_compare(const void *left, const void *right)
{
	const struct table_net *a = left, *b = right;

	if (a->net.bits != b->net.bits)
		return a->net.bits > b->net.bits ? -1 : 1;
	return memcmp(a->net.bytes, b->net.bytes, sizeof(a->net.bytes));
}

/* Equal networks by line. */
static int
compare_all(const void *left, const void *right)
{
	const struct table_net *a = left, *b = right;
	int result = table_net_compare(left, right);

	if (result != 0 || a->entry == b->entry)
		return result;
	return a->entry < b->entry ? -1 : 1;
}

/* Sorted; of equal networks the first line's stays. */
static void
nets_sort(struct table_contents *contents)
{
	size_t kept = 0;

	if (contents->net_count == 0)
		return;
	qsort(contents->nets, contents->net_count, sizeof(*contents->nets),
	    compare_all);
	for (size_t i = 1; i < contents->net_count; i++)
		if (table_net_compare(&contents->nets[kept],
		    &contents->nets[i]) != 0)
			contents->nets[++kept] = contents->nets[i];
	contents->net_count = kept + 1;
}

static int
nets_make(struct table_contents *contents, struct err *err)
{
	struct err why;

	contents->nets = mem_grow(contents->nets, contents->count,
	    sizeof(*contents->nets));
	contents->net_count = 0;
	for (size_t i = 0; i < contents->count; i++) {
		const struct table_entry *entry = &contents->entries[i];
		struct table_net *net = &contents->nets[contents->net_count];
		struct slice key = { contents->text + entry->key,
			entry->key_n };

		if (net_parse(key, &net->net, &why) != 0)
			return err_set(err, "%u: '" SLICE_FMT "' is not a "
			    "network: %s", entry->line, SLICE_ARG(
			    slice_first(key, 64)), why.text);
		net->entry = (uint32_t)i;
		contents->net_count++;
	}
	nets_sort(contents);
	contents->has_nets = true;
	return 1;
}

/* The first bits of an address, zeroes after them. */
static struct net
net_masked(const struct net *address, unsigned bits)
{
	struct net net = { .bits = bits };
	unsigned whole = bits / 8;

	memcpy(net.bytes, address->bytes, whole);
	if (bits % 8 != 0)
		net.bytes[whole] = (unsigned char)(address->bytes[whole] &
		    (0xff00 >> bits % 8));
	return net;
}

/* First index after from whose prefix is shorter. */
static size_t
next_length(const struct table_contents *contents, size_t from)
{
	size_t low = from, high = contents->net_count;
	unsigned bits = contents->nets[from].net.bits;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (contents->nets[middle].net.bits == bits)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

enum table_result
table_contents_net(struct table_contents *contents, const struct net *address,
    const struct table_entry **out, struct err *err)
{
	size_t from = 0, to;

	if (!contents->has_nets && nets_make(contents, err) != 1)
		return TABLE_TROUBLE;
	for (; from < contents->net_count; from = to) {
		unsigned bits = contents->nets[from].net.bits;
		const struct table_net *found;
		struct table_net key;

		to = next_length(contents, from);
		if (bits > address->bits)
			continue;
		key.net = net_masked(address, bits);
		found = bsearch(&key, contents->nets + from, to - from,
		    sizeof(key), table_net_compare);
		if (found == NULL)
			continue;
		*out = &contents->entries[found->entry];
		return TABLE_FOUND;
	}
	return TABLE_NONE;
}

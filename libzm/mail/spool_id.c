/* spool_id.c - what a message is called from its acceptance to its end
 *
 * In     time and inode; or text
 * Out    an id; or what it means
 * Holds  the last tick that was given out, so that ids of a process rise
 * Spec   doc/INTERNALS.md section 1; doc/CLUSTER.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "mail/spool_id.h"

#include "base/banned.h"

enum {
	TIME_DIGITS = 10,
	TICK_US = 16,
	ID_DIGITS_MIN = 11,
	ID_DIGITS_MAX = 24
};

static const char digits[] = "0123456789abcdefghjkmnpqrstvwxyz";
static const char node_mark = 'u';	/* no digit */

static void
id_of_tick(uint64_t tick, ino_t inode, char out_id[SPOOL_ID_BYTES])
{
	char reversed[16];
	size_t n = 0;

	for (int i = TIME_DIGITS - 1; i >= 0; i--, tick >>= 5)
		out_id[i] = digits[tick & 31];
	do {
		reversed[n++] = digits[inode & 31];
		inode >>= 5;
	} while (inode > 0);
	for (size_t i = 0; i < n; i++)
		out_id[TIME_DIGITS + i] = reversed[n - 1 - i];
	out_id[TIME_DIGITS + n] = '\0';
}

void
spool_id_make(int64_t wall_us, ino_t inode, char out_id[SPOOL_ID_BYTES])
{
	static uint64_t last_tick;
	uint64_t tick = wall_us > 0 ? (uint64_t)wall_us / TICK_US : 0;

	if (tick <= last_tick)
		tick = last_tick + 1;
	last_tick = tick;
	id_of_tick(tick, inode, out_id);
}

void
spool_id_make_of(int64_t wall_us, ino_t inode, char out_id[SPOOL_ID_BYTES])
{
	id_of_tick(wall_us > 0 ? (uint64_t)wall_us / TICK_US : 0, inode,
	    out_id);
}

void
spool_id_add_node(const char *node, char id[SPOOL_ID_BYTES])
{
	size_t n = strlen(id);

	if (node[0] == '\0' || n + SPOOL_NODE_BYTES >= SPOOL_ID_BYTES)
		return;
	id[n] = node_mark;
	memcpy(id + n + 1, node, SPOOL_NODE_BYTES);
}

void
spool_node_digits(unsigned number, char out[SPOOL_NODE_BYTES])
{
	out[0] = digits[number % SPOOL_NODES_MAX >> 5];
	out[1] = digits[number % 32];
	out[2] = '\0';
}

/* -1: it is none. */
static int
id_digit_value(char c)
{
	static const signed char letters[26] = { 10, 11, 12, 13, 14, 15, 16,
		17, -1, 18, 19, -1, 20, 21, -1, 22, 23, 24, 25, 26, -1, 27, 28,
		29, 30, 31 };

	if (ascii_is_digit(c))
		return c - '0';
	return ascii_is_lower(c) ? letters[c - 'a'] : -1;
}

static bool
id_has_digits_alone(struct slice text)
{
	for (size_t i = 0; i < text.n; i++)
		if (id_digit_value(text.p[i]) < 0)
			return false;
	return true;
}

/* Time and inode, without the node. */
static struct slice
id_without_node(struct slice id)
{
	return slice_first(id, slice_find(id, node_mark));
}

bool
spool_id_is(struct slice text)
{
	struct slice own = id_without_node(text);

	return own.n >= ID_DIGITS_MIN && own.n <= ID_DIGITS_MAX &&
	    id_has_digits_alone(own) && (own.n == text.n ||
	    (text.n == own.n + SPOOL_NODE_BYTES &&
	    id_has_digits_alone(slice_from(text, own.n + 1))));
}

int64_t
spool_id_time_us(struct slice id)
{
	uint64_t tick = 0;

	if (!spool_id_is(id))
		return 0;
	for (int i = 0; i < TIME_DIGITS; i++)
		tick = tick << 5 | (uint64_t)id_digit_value(id.p[i]);
	return (int64_t)(tick * TICK_US);
}

ino_t
spool_id_inode(struct slice id)
{
	uint64_t inode = 0;

	if (!spool_id_is(id))
		return 0;
	id = id_without_node(id);
	for (size_t i = TIME_DIGITS; i < id.n; i++)
		inode = inode << 5 | (uint64_t)id_digit_value(id.p[i]);
	return (ino_t)inode;
}

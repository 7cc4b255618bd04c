/* blocks.c - whom all machines of a cluster refuse
 *
 * In     lines that share lists; clients, senders, users
 * Out    the block that bars one
 * Holds  two lists in shared memory: one is read, the next is written; what
 *        is collected for it, in memory of its own
 * Trusts no line: bounded, checked as zmailer block does; and no byte of the
 *        shared memory, which each worker may write
 * Spec   blocks.h; doc/CLUSTER.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/mem.h"
#include "smtpserver/auth/blocks.h"

#include "base/banned.h"

enum { LOOKS = 3, BITS_LEAST = 16, BITS_LEAST_4 = 96 + 8 };

struct blocks_list {
	size_t		count, of_kind[BLOCKS_KINDS];
	struct block	rows[BLOCKS_MAX];	/* by kind and key */
};

struct blocks {
	unsigned		turn;	/* lists[turn % 2] counts; who reads
					 * looks before and after */
	struct blocks_list	lists[2];
};

static struct blocks *heard;	/* NULL: nobody listens */
static struct blocks_list *collected;	/* the same */

int
blocks_open(struct err *err)
{
	void *memory = mmap(NULL, sizeof(*heard), PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return err_sys(err, "no shared memory");
	heard = memory;
	collected = mem_alloc(1, sizeof(*collected));
	return 0;
}

void
blocks_close(void)
{
	if (heard != NULL)
		munmap(heard, sizeof(*heard));
	heard = NULL;
	mem_free(&collected);
}

/* ---- written ------------------------------------------------------------- */

void
blocks_begin(void)
{
	if (heard == NULL)
		return;
	collected->count = 0;
	memset(collected->of_kind, 0, sizeof(collected->of_kind));
}

/* Whom no table of blocks may have, as zmailer block says. */
static bool
net_is_refused(const struct net *net)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	static const struct net loopback[] = {
		{ { [10] = 0xff, [11] = 0xff, [12] = 127 }, 104 },
		{ { [15] = 1 }, 128 },
	};
	bool is_four = memcmp(net->bytes, mapped, sizeof(mapped)) == 0;

	return net->bits < (is_four ? (unsigned)BITS_LEAST_4 :
	    (unsigned)BITS_LEAST) || net_contains(&loopback[0], net) ||
	    net_contains(net, &loopback[0]) ||
	    net_contains(net, &loopback[1]);
}

static bool
block_kind_read(struct slice word, enum blocks_kind *out)
{
	static const char *const kinds[] = { [BLOCKS_CLIENTS] = "clients",
		[BLOCKS_SENDERS] = "senders", [BLOCKS_USERS] = "users" };

	for (int i = 0; i < BLOCKS_KINDS; i++)
		if (slice_is(word, kinds[i])) {
			*out = (enum blocks_kind)i;
			return true;
		}
	return false;
}

static void
block_copy_words(char *out, size_t bytes, struct slice words, bool is_lower)
{
	size_t n = words.n < bytes ? words.n : bytes - 1;

	for (size_t i = 0; i < n; i++)
		out[i] = is_lower ? ascii_lower(words.p[i]) : words.p[i];
	out[n] = '\0';
}

bool
blocks_add(struct slice line)
{
	struct slice until, kind, key;
	struct blocks_list *list;
	struct block *row;
	uint64_t until_s;

	if (heard == NULL || !slice_word(&line, &until) ||
	    !slice_number(until, 0, UINT32_MAX, &until_s) ||
	    !slice_word(&line, &kind) || !slice_word(&line, &key))
		return false;
	list = collected;
	if (list->count >= BLOCKS_MAX)
		return false;
	row = &list->rows[list->count];
	if (key.n >= sizeof(row->key) || !block_kind_read(kind, &row->kind) ||
	    (row->kind == BLOCKS_CLIENTS && (net_parse(key, &row->net, NULL) !=
	    0 || net_is_refused(&row->net))))
		return false;
	block_copy_words(row->key, sizeof(row->key), key, true);
	block_copy_words(row->about, sizeof(row->about), slice_trim(line),
	    false);
	row->until_s = (int64_t)until_s;
	list->of_kind[row->kind]++;
	list->count++;
	return true;
}

static int
block_compare(const void *a, const void *b)
{
	const struct block *one = a, *other = b;

	return one->kind != other->kind ? (int)one->kind - (int)other->kind :
	    strncmp(one->key, other->key, sizeof(one->key));
}

void
blocks_commit(void)
{
	unsigned turn;

	if (heard == NULL)
		return;
	qsort(collected->rows, collected->count, sizeof(struct block),
	    block_compare);
	turn = __atomic_load_n(&heard->turn, __ATOMIC_ACQUIRE) + 1;
	memcpy(&heard->lists[turn % 2], collected, sizeof(*collected));
	__atomic_store_n(&heard->turn, turn, __ATOMIC_RELEASE);
}

/* ---- read ---------------------------------------------------------------- */

static unsigned
blocks_turn(void)
{
	return __atomic_load_n(&heard->turn, __ATOMIC_ACQUIRE);
}

bool
blocks_has(enum blocks_kind kind)
{
	return heard != NULL &&
	    heard->lists[blocks_turn() % 2].of_kind[kind] > 0;
}

static bool
block_counts(const struct block *block)
{
	return block->until_s == 0 || block->until_s > clock_wall_s();
}

/* A row as it must be, whatever somebody made of it meanwhile. */
static void
block_copy(const struct block *row, enum blocks_kind kind, struct block *out)
{
	*out = *row;
	out->kind = kind;
	out->key[sizeof(out->key) - 1] = '\0';
	out->about[sizeof(out->about) - 1] = '\0';
}

static bool
list_find_client(const struct blocks_list *list, const struct net *client,
    struct block *out)
{
	size_t count = list->of_kind[BLOCKS_CLIENTS];

	for (size_t i = 0; i < count && i < BLOCKS_MAX; i++)
		if (net_contains(&list->rows[i].net, client) &&
		    block_counts(&list->rows[i])) {
			block_copy(&list->rows[i], BLOCKS_CLIENTS, out);
			return true;
		}
	return false;
}

bool
blocks_find_client(const struct net *client, struct block *out)
{
	bool is_found = false;
	unsigned turn;

	for (int i = 0; blocks_has(BLOCKS_CLIENTS) && i < LOOKS; i++) {
		turn = blocks_turn();
		is_found = list_find_client(&heard->lists[turn % 2], client,
		    out);
		if (blocks_turn() == turn)
			break;
	}
	return is_found;
}

bool
blocks_find(enum blocks_kind kind, struct slice key, struct block *out)
{
	struct block wanted = { .kind = kind };
	const struct blocks_list *list;
	const struct block *row;
	unsigned turn;

	if (!blocks_has(kind) || key.n >= sizeof(wanted.key))
		return false;
	block_copy_words(wanted.key, sizeof(wanted.key), key, true);
	for (int i = 0; i < LOOKS; i++) {
		turn = blocks_turn();
		list = &heard->lists[turn % 2];
		row = bsearch(&wanted, list->rows, list->count < BLOCKS_MAX ?
		    list->count : BLOCKS_MAX, sizeof(wanted), block_compare);
		if (row != NULL)
			block_copy(row, kind, out);
		if (blocks_turn() == turn)
			return row != NULL && block_counts(out);
	}
	return false;
}

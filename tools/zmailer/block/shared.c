/* shared.c - blocks that all machines of the cluster heed
 *
 * In     what is to be blocked, or no more
 * Out    orders to the process share; what it lists
 * Holds  nothing
 * Trusts no line of it: what is none is left out
 * Spec   shared.h; doc/protocol/share.md; doc/CLUSTER.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/clock.h"
#include "io/consult/share_ask.h"
#include "io/consult/share_order.h"
#include "tools/zmailer/block/shared.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { ABOUT_BYTES_MAX = 160, WHO_BYTES = 64 };

bool
shared_is_ready(const struct change *change)
{
	if (conf_cluster_has_redis(&change->conf->cluster))
		return true;
	fprintf(stderr, "zmailer: %s: --cluster: no cluster has a redis "
	    "(zmailer help cluster)\n", change->verb);
	return false;
}

/* -1: after words. */
static int
shared_order(const struct change *change, struct share_order *order,
    const char *question, struct slice *out)
{
	struct err err;

	if (share_order_ask(order, question, -1, out, &err) == 0 &&
	    !slice_starts(*out, "away"))
		return 0;
	if (slice_starts(*out, "away"))
		err_set(&err, "Redis is away:" SLICE_FMT,
		    SLICE_ARG(slice_from(*out, strlen("away"))));
	fprintf(stderr, "zmailer: %s: not for the cluster: %s; say it again "
	    "later\n", change->verb, err.text);
	return -1;
}

static struct share_order *
shared_open(const struct change *change)
{
	struct share_order *order;
	struct err err;

	order = share_order_open(change->conf->run_dir, &err);
	if (order == NULL)
		fprintf(stderr, "zmailer: %s: not for the cluster: %s\n",
		    change->verb, err.text);
	return order;
}

int
shared_begin(const struct change *change, const char *kind, const char *key,
    int64_t until_s)
{
	struct share_order *order = shared_open(change);
	struct str question = STR_INIT, about = STR_INIT;
	struct slice answer = { NULL, 0 };
	int status = EX_TEMPFAIL;
	char by[WHO_BYTES];

	if (order == NULL)
		return status;
	verb_who(by, sizeof(by));
	str_addf(&about, "by=%s ", by);
	str_add_escaped(&about, slice_of(change->reason));
	str_addf(&question, "block %" PRId64 " %s %s " SLICE_FMT, until_s,
	    kind, key, SLICE_ARG(slice_first(str_slice(&about),
	    ABOUT_BYTES_MAX)));
	if (shared_order(change, order, question.buf, &answer) == 0)
		status = slice_is(answer, "ok") ? EX_OK : EX_UNAVAILABLE;
	if (status == EX_UNAVAILABLE)
		fprintf(stderr, "zmailer: block: not for the cluster: it has "
		    "as many blocks as it can (zmailer block list)\n");
	else if (status == EX_OK && !change->is_json)
		printf("all machines of the cluster refuse it within a "
		    "second\n");
	share_order_close(&order);
	str_release(&question);
	str_release(&about);
	return status;
}

/* "block UNTIL KIND KEY ABOUT" */
static bool
shared_block_read(struct slice line, struct shared_block *out)
{
	struct slice word;
	uint64_t until_s;

	if (!slice_word(&line, &word) || !slice_is(word, "block") ||
	    !slice_word(&line, &word) ||
	    !slice_number(word, 0, UINT32_MAX, &until_s) ||
	    !slice_word(&line, &out->kind) || !slice_word(&line, &out->key))
		return false;
	out->until_s = (int64_t)until_s;
	out->about = slice_trim(line);
	return true;
}

int
shared_each(const struct change *change, shared_block_fn *fn, void *context,
    struct err *err)
{
	struct str lines = STR_INIT;
	struct shared_block block;
	struct slice rest, line;
	int result = share_ask_blocks(change->conf->run_dir, &lines, err);

	rest = str_slice(&lines);
	while (result == 0 && rest.n > 0) {
		slice_cut(&rest, '\n', &line);
		if (shared_block_read(line, &block))
			fn(context, &block);
	}
	str_release(&lines);
	return result;
}

struct ending {
	const struct change	*change;
	struct share_order	*order;
	const char		*kind;
	shared_covers_fn	*covers;
	const void		*context;
	int			 count;		/* -1: it failed */
};

/* shared_block_fn */
static void
ending_take(void *context, const struct shared_block *block)
{
	struct ending *ending = context;
	struct str question = STR_INIT;
	struct slice answer = { NULL, 0 };

	if (ending->count < 0 || !slice_is(block->kind, ending->kind) ||
	    !ending->covers(ending->context, block->key))
		return;
	str_addf(&question, "unblock %s " SLICE_FMT, ending->kind,
	    SLICE_ARG(block->key));
	if (shared_order(ending->change, ending->order, question.buf,
	    &answer) != 0)
		ending->count = -1;
	else
		ending->count += slice_is(answer, "ok");
	str_release(&question);
}

int
shared_end(const struct change *change, const char *kind,
    shared_covers_fn *covers, const void *context)
{
	struct ending ending = { change, shared_open(change), kind, covers,
		context, 0 };
	struct err err;

	if (ending.order == NULL)
		return -1;
	if (shared_each(change, ending_take, &ending, &err) != 0) {
		fprintf(stderr, "zmailer: unblock: not for the cluster: %s\n",
		    err.text);
		ending.count = -1;
	}
	share_order_close(&ending.order);
	return ending.count;
}

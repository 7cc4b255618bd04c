/* moved.c - messages that other nodes of the cluster give to this one, or
 * have lost
 *
 * In     offers and lost nodes, as the process share tells of them
 * Out    the messages in this spool (take.h)
 * Holds  nothing
 * Trusts share's word
 * Spec   moved.h; doc/protocol/share.md section 4; doc/CLUSTER.md
 *
 * SPDX-License-Identifier: ISC
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "journal/event.h"
#include "tools/copies/lost.h"
#include "tools/copies/moved.h"

#include "base/banned.h"

#define MOVED_BY "move"			/* in events */
#define LOST_BY "takeover-after"
enum {
	MOVED_NODES_MAX = 32,
	MOVED_NODE_BYTES = CLUSTER_NAME_BYTES_MAX + 1
};

struct moved_offer {
	char		 node[MOVED_NODE_BYTES];
	uint64_t	 bytes;
};

struct moved {
	const struct conf *conf;
	struct share_order *order;
	struct take	*take;
	struct moved_offer offers[MOVED_NODES_MAX];
	size_t		 count;
	struct lost_node lost[LOST_NODES_MAX];
	size_t		 lost_count;
	int64_t		 after_s;	/* 0: by an order alone */
};

static void
moved_add(struct moved *moved, struct slice node, uint64_t bytes)
{
	struct moved_offer *offer = &moved->offers[moved->count];

	if (moved->count == MOVED_NODES_MAX || node.n >= sizeof(offer->node))
		return;
	snprintf(offer->node, sizeof(offer->node), SLICE_FMT,
	    SLICE_ARG(node));
	offer->bytes = bytes;
	moved->count++;
}

/* "offers NODE COUNT BYTES ...", of all nodes in a line. */
static int
moved_ask(struct moved *moved, struct err *err)
{
	struct slice answer, node, word;
	uint64_t count, bytes;

	if (share_order_ask(moved->order, "offers", -1, &answer, err) != 0)
		return -1;
	if (!slice_word(&answer, &word) || !slice_is(word, "offers"))
		return 0;		/* it says so itself */
	while (slice_word(&answer, &node))
		if (!slice_word(&answer, &word) ||
		    !slice_number(word, 0, INT64_MAX, &count) ||
		    !slice_word(&answer, &word) ||
		    !slice_number(word, 0, INT64_MAX, &bytes))
			return err_set(err, "share: offers without numbers");
		else
			moved_add(moved, node, bytes);
	return 0;
}

static int
moved_take_from(struct moved *moved, const struct moved_offer *offer,
    struct err *err)
{
	bool is_left;

	/* the giver keeps what has no room here */
	if (!take_has_room(moved->take, offer->bytes)) {
		errno = ENOSPC;
		return err_sys(err, "what %s gives has %" PRIu64 " bytes; the "
		    "spool", offer->node, offer->bytes);
	}
	return take_from(moved->take, offer->node, MOVED_BY, &is_left, err);
}

static int
moved_take_all(struct moved *moved, struct err *err)
{
	const char *self = moved->conf->cluster.self;

	/* first what a run before this one has left */
	if (take_arriving(moved->take, "-", MOVED_BY, err) != 0)
		return -1;
	for (size_t i = 0; i < moved->count; i++)
		if (strcmp(moved->offers[i].node, self) != 0 &&
		    moved_take_from(moved, &moved->offers[i], err) != 0)
			return -1;
	return 0;
}

/* One for which there is no room here is left to others, before it is claimed.
 */
static void
moved_take_lost(struct moved *moved, const struct lost_node *node)
{
	const struct lost lost = { .node = node->node, .by = LOST_BY,
		.epoch = node->epoch, .after_s = (uint64_t)moved->after_s };
	struct err err;

	if (!take_has_room(moved->take, node->bytes))
		err_set(&err, "there is no room for its %" PRIu64 " bytes",
		    node->bytes);
	else if (lost_take_over(&lost, moved->take, moved->order, &err) ==
	    EX_OK)
		return;
	warning("takeover of %s, which is lost: %s", node->node, err.text);
}

/* 0, also when another process brings messages here now. */
static int
moved_begin(struct moved *moved, struct err *err)
{
	return take_begin(moved->conf, moved->order, &moved->take, err) == 0 ||
	    errno == EWOULDBLOCK ? 0 : -1;
}

int
moved_take(const struct conf *conf, uint64_t *out_count, struct err *err)
{
	struct moved moved = { .conf = conf,
		.after_s = conf->cluster.takeover_after_ms / 1000 };
	int result = -1;

	*out_count = 0;
	moved.order = share_order_open(conf->run_dir, err);
	if (moved.order == NULL)
		return -1;
	if (moved_ask(&moved, err) == 0 && (moved.after_s == 0 ||
	    lost_ask(moved.order, moved.after_s, moved.lost,
	    &moved.lost_count, err) == 0))
		result = moved.count + moved.lost_count == 0 ? 0 :
		    moved_begin(&moved, err);
	if (moved.take != NULL) {
		result = moved_take_all(&moved, err);
		for (size_t i = 0; result == 0 && i < moved.lost_count; i++)
			moved_take_lost(&moved, &moved.lost[i]);
		*out_count = take_done(moved.take)->messages;
	}
	take_end(&moved.take);
	share_order_close(&moved.order);
	return result;
}

/* members.c - the nodes of the cluster, as Redis saw them last
 *
 * In     the configuration; what Redis says of nodes
 * Out    how many there are
 * Holds  names, and when each was seen
 * Trusts no answer: names are bounded, so is their number
 * Spec   members.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <string.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "share/count/words.h"
#include "share/ledger/members.h"

#include "base/banned.h"

struct member {
	char		name[CLUSTER_NAME_BYTES_MAX + 1];
	bool		is_ours;	/* the configuration names it */
	bool		was_seen;
	uint64_t	seconds;	/* ago, at taken_ms */
};

struct members {
	const struct conf_cluster *cluster;
	struct member	all[CLUSTER_NODES_MAX * 2];
	size_t		count;
	bool		was_taken;
	int64_t		taken_ms;
};

struct members *
members_new(const struct conf_cluster *cluster)
{
	struct members *members = mem_alloc(1, sizeof(*members));

	members->cluster = cluster;
	for (size_t i = 0; i < cluster->node_count; i++) {
		struct member *one = &members->all[members->count++];

		strlcpy(one->name, cluster->nodes[i], sizeof(one->name));
		one->is_ours = true;
	}
	return members;
}

void
members_free(struct members **members)
{
	mem_free(members);
}

static bool
member_name_is_good(struct slice name)
{
	for (size_t i = 0; i < name.n; i++)
		if (!ascii_is_alnum(name.p[i]) &&
		    !ascii_is_among(name.p[i], "-_."))
			return false;
	return name.n <= CLUSTER_NAME_BYTES_MAX;
}

static void
members_note(struct members *members, struct slice name, uint64_t seconds)
{
	struct member *one;

	if (!member_name_is_good(name))
		return;
	for (size_t i = 0; i < members->count; i++)
		if (slice_is(name, members->all[i].name)) {
			members->all[i].was_seen = true;
			members->all[i].seconds = seconds;
			return;
		}
	if (members->count == CLUSTER_NODES_MAX * 2)
		return;
	one = &members->all[members->count++];
	memcpy(one->name, name.p, name.n);
	one->name[name.n] = '\0';
	one->is_ours = false;
	one->was_seen = true;
	one->seconds = seconds;
}

void
members_take(struct members *members, struct slice text, int64_t now_ms)
{
	struct slice name;
	uint64_t seconds;

	members->count = members->cluster->node_count;	/* strangers anew */
	/* A Redis that begins anew has not heard of the others yet: they count
	 * until they are missing for as long as anybody may be. */
	for (size_t i = 0; i < members->count; i++)
		if (members->all[i].was_seen)
			members->all[i].seconds +=
			    (uint64_t)(now_ms - members->taken_ms) / 1000;
	while (words_node_next(&text, &name, &seconds))
		members_note(members, name, seconds);
	members->was_taken = true;
	members->taken_ms = now_ms;
}

unsigned
members_count(const struct members *members)
{
	unsigned count = 0;

	if (!members->was_taken)
		return (unsigned)members->cluster->node_count;
	for (size_t i = 0; i < members->count; i++)
		count += members->all[i].was_seen &&
		    members->all[i].seconds <= MEMBERS_FRESH_S;
	return count > 0 ? count : 1;
}

void
members_add_status(const struct members *members, struct slice token,
    int64_t now_ms, struct str *out)
{
	for (size_t i = 0; i < members->count; i++) {
		const struct member *one = &members->all[i];

		str_addf(out, SLICE_FMT " node %s ", SLICE_ARG(token),
		    one->name);
		if (one->was_seen)
			str_addf(out, "%" PRIu64, one->seconds +
			    (uint64_t)((now_ms - members->taken_ms) / 1000));
		else
			str_addc(out, '-');
		str_addf(out, " %s\n", strcmp(one->name,
		    members->cluster->self) == 0 ? "self" :
		    one->is_ours ? "other" : "stranger");
	}
}

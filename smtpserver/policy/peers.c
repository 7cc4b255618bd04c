/* peers.c - clients that are told less, or believed more, than others
 *
 * In     a client's address
 * Out    bits
 * Holds  the tables that trust and ehlo statements name
 * Trusts no table that cannot be read: of two answers the one that gives
 *        less away is taken
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/err.h"
#include "base/mem.h"
#include "mail/table/table.h"
#include "smtpserver/policy/peers.h"

#include "base/banned.h"

struct peers {
	const struct conf	*conf;
	struct table		**tables;	/* trusts, then withouts */
};

static const struct conf_peers *
row_at(const struct conf *conf, size_t number)
{
	return number < conf->trust_count ? &conf->trusts[number] :
	    &conf->withouts[number - conf->trust_count];
}

struct peers *
peers_new(const struct conf *conf)
{
	struct peers *peers = mem_alloc(1, sizeof(*peers));
	size_t count = conf->trust_count + conf->without_count;

	peers->conf = conf;
	peers->tables = mem_alloc(count + 1, sizeof(*peers->tables));
	for (size_t i = 0; i < count; i++) {
		const char *name = row_at(conf, i)->table;
		const struct conf_table *table = name == NULL ? NULL :
		    conf_table_find(conf, name);

		if (table != NULL)
			peers->tables[i] = table_new(table->name,
			    table->spec);
	}
	return peers;
}

void
peers_free(struct peers **peers)
{
	struct peers *p = *peers;

	if (p == NULL)
		return;
	for (size_t i = 0; i < p->conf->trust_count + p->conf->without_count;
	    i++)
		table_free(&p->tables[i]);
	mem_free(&p->tables);
	mem_free(peers);
}

/* Is the client one of this row? if_unknown: what a table that cannot be
 * read stands for. */
static bool
peers_row_fits(struct peers *peers, size_t number, const struct net *client,
    bool if_unknown)
{
	const struct conf_peers *row = row_at(peers->conf, number);
	unsigned line;
	struct err err;

	if (row->table == NULL)
		return net_contains(&row->net, client);
	if (peers->tables[number] == NULL)
		return if_unknown;
	switch (table_has_address(peers->tables[number], client, &line,
	    &err)) {
	case TABLE_FOUND:
		return true;
	case TABLE_NONE:
		return false;
	case TABLE_TROUBLE:
		warning("%s:%u: %s", row->at.file ? row->at.file : "",
		    row->at.line, err.text);
		break;
	}
	return if_unknown;
}

unsigned
peers_trust(struct peers *peers, const struct net *client)
{
	unsigned words = 0;

	for (size_t i = 0; i < peers->conf->trust_count; i++)
		if (peers_row_fits(peers, i, client, false))
			words |= peers->conf->trusts[i].words;
	return words;
}

unsigned
peers_withheld(struct peers *peers, const struct net *client)
{
	unsigned words = 0;

	for (size_t i = 0; i < peers->conf->without_count; i++)
		if (peers_row_fits(peers, peers->conf->trust_count + i, client,
		    true))
			words |= peers->conf->withouts[i].words;
	return words;
}

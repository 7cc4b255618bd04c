/* clients.c - statements about the clients of smtpserver
 *
 * In     trust and ehlo statements that agree with their rows
 * Out    lists of peers with bits
 * Holds  nothing; arrays grow in the arena of the conf
 *
 * SPDX-License-Identifier: ISC
 */
#include "conf/part/part.h"

#include "base/banned.h"

/* In the order of enum conf_trust_word and of the row's choices. */
static const char *const trust_words[] = {
	"proxy", "xclient", "xforward", "priority", "auth", "etrn", "vrfy",
	"expn", "sign"
};

/* net: NULL, a network or a table.  words: the choices after it. */
static struct conf_peers
peers_of(const struct conf_statement *statement,
    const struct conf_value *net)
{
	struct conf_peers peers = { .at = conf_at(statement->node->tokens) };

	if (net != NULL && net->token != NULL) {
		peers.table = net->table;
		peers.net = net->net;
	}
	for (size_t i = 1; i < statement->arg_count; i++)
		peers.words |= 1u << statement->args[i].number;
	return peers;
}

void
conf_apply_trust(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf *conf = loader->conf;

	conf->trusts = arena_grow(conf->arena, conf->trusts, conf->trust_count,
	    sizeof(*conf->trusts));
	conf->trusts[conf->trust_count++] = peers_of(statement,
	    statement->args);
}

/* args[0] is the word "from". */
void
conf_apply_trust_arc(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf *conf = loader->conf;

	if (conf->arc_domain_count == 0)
		conf->arc_at = conf_at(statement->node->tokens);
	for (size_t i = 1; i < statement->arg_count; i++) {
		conf->arc_domains = arena_grow(conf->arena, conf->arc_domains,
		    conf->arc_domain_count, sizeof(*conf->arc_domains));
		conf->arc_domains[conf->arc_domain_count++] =
		    statement->args[i].text;
	}
}

void
conf_apply_ehlo(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf *conf = loader->conf;

	conf->withouts = arena_grow(conf->arena, conf->withouts,
	    conf->without_count, sizeof(*conf->withouts));
	conf->withouts[conf->without_count++] = peers_of(statement,
	    statement->keywords);
}

static void
peer_words_add(struct str *out, const char *const names[], size_t count,
    unsigned words)
{
	for (size_t i = 0; i < count; i++)
		if (words & 1u << i)
			str_addf(out, " %s", names[i]);
}

void
conf_trust_add(struct str *out, unsigned words)
{
	peer_words_add(out, trust_words,
	    sizeof(trust_words) / sizeof(trust_words[0]), words);
}

void
conf_ehlo_add(struct str *out, unsigned words)
{
	peer_words_add(out, ehlo_names, EHLO_COUNT, words);
}

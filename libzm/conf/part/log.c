/* log.c - log-level: whose talk stands in the journal, word for word
 *
 * In     log-level statements; a client or a destination
 * Out    whether its dialogue is to be noted now
 * Holds  nothing; a statement whose moment is over does not count any more
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/clock.h"
#include "conf/part/part.h"
#include "grammar/message/date.h"

#include "base/banned.h"

enum { WORD_CLIENT, WORD_DEST, WORD_UNTIL };	/* keywords */

void
conf_apply_log_level(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *words = statement->keywords;
	struct conf *conf = loader->conf;

	if (words[WORD_CLIENT].token != NULL &&
	    words[WORD_DEST].token != NULL) {
		conf_complain(loader, CONF_ERROR, words[WORD_DEST].token,
		    "write a line for each",
		    "a line is about clients or about destinations");
		return;
	}
	conf->log_levels = conf_push(conf->arena, conf->log_levels,
	    conf->log_level_count, sizeof(*conf->log_levels));
	conf->log_levels[conf->log_level_count++] = (struct conf_log_level){
		.is_debug = statement->args[0].number == 1,
		.has_client = words[WORD_CLIENT].token != NULL,
		.client = words[WORD_CLIENT].net,
		.dest = words[WORD_DEST].text,
		.until_s = (int64_t)words[WORD_UNTIL].number,
		.at = conf_at(statement->node->tokens),
	};
}

void
conf_log_level_add(struct str *out, const struct conf_log_level *level)
{
	str_adds(out, level->is_debug ? "debug" : "normal");
	if (level->has_client) {
		str_adds(out, " client ");
		conf_add_net(out, &level->client);
	}
	if (level->dest != NULL)
		str_addf(out, " dest %s", level->dest);
	if (level->until_s != 0) {
		str_adds(out, " until ");
		date_add(out, level->until_s);
	}
}

static bool
log_level_is_over(const struct conf_log_level *level)
{
	return level->until_s != 0 && level->until_s <= clock_wall_s();
}

bool
conf_debugs_client(const struct conf *conf, const struct net *client)
{
	for (size_t i = 0; i < conf->log_level_count; i++) {
		const struct conf_log_level *level = &conf->log_levels[i];

		if (level->dest == NULL && !log_level_is_over(level) &&
		    (!level->has_client ||
		    net_contains(&level->client, client)))
			return level->is_debug;
	}
	return false;
}

bool
conf_debugs_dest(const struct conf *conf, struct slice name)
{
	for (size_t i = 0; i < conf->log_level_count; i++) {
		const struct conf_log_level *level = &conf->log_levels[i];

		if (!level->has_client && !log_level_is_over(level) &&
		    (level->dest == NULL ||
		    conf_route_covers(level->dest, name)))
			return level->is_debug;
	}
	return false;
}

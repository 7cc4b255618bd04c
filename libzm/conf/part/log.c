/* log.c - log-level: whose talk stands in the journal; log-to: where else;
 * record: what is kept for zmailer replay
 *
 * In     log-level statements; a client or a destination
 * Out    whether its dialogue is to be noted now
 * Holds  nothing; a statement whose moment is over does not count any more
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "conf/part/part.h"
#include "grammar/message/date.h"

#include "base/banned.h"

static const struct { const char *name; unsigned code; } log_facilities[] = {
	/* in the order of the choice */
	{ "mail", 2 }, { "daemon", 3 }, { "user", 1 }, { "auth", 4 },
	{ "local0", 16 }, { "local1", 17 }, { "local2", 18 },
	{ "local3", 19 }, { "local4", 20 }, { "local5", 21 },
	{ "local6", 22 }, { "local7", 23 },
};
enum { FACILITIES = sizeof(log_facilities) / sizeof(log_facilities[0]),
	SOCKET_PATH_BYTES = 108,	/* of sun_path */
	RECORD_BODIES_BYTES = 1 << 30 };
enum { WORD_FACILITY, WORD_AT };	/* keywords of log-to */

static const char *const log_to_kinds[] = { "none", "syslog", "journald" };
static const char *const log_to_paths[] = { "", "/dev/log",
	"/run/systemd/journal/socket" };

void
conf_apply_log_to(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *words = statement->keywords;
	struct conf_log_to *to = &loader->conf->log_to;

	to->kind = (enum conf_log_to_kind)statement->args[0].number;
	to->facility = log_facilities[words[WORD_FACILITY].token != NULL ?
	    words[WORD_FACILITY].number : 0].code;
	to->path = words[WORD_AT].token != NULL ? words[WORD_AT].text :
	    log_to_paths[to->kind];
	to->at = conf_at(statement->node->tokens);
	if (strlen(to->path) >= SOCKET_PATH_BYTES)
		conf_complain(loader, CONF_ERROR, words[WORD_AT].token,
		    "choose a shorter path",
		    "a socket's name has at most %d bytes",
		    SOCKET_PATH_BYTES - 1);
	if (to->kind != LOG_TO_SYSLOG && words[WORD_FACILITY].token != NULL)
		conf_complain(loader, CONF_ERROR, words[WORD_FACILITY].token,
		    "leave it out", "only syslog has facilities");
}

void
conf_log_to_add(struct str *out, const struct conf_log_to *to)
{
	str_adds(out, log_to_kinds[to->kind]);
	for (int i = 0; i < FACILITIES && to->kind == LOG_TO_SYSLOG; i++)
		if (log_facilities[i].code == to->facility)
			str_addf(out, " facility %s", log_facilities[i].name);
	if (to->kind != LOG_TO_NONE &&
	    strcmp(to->path, log_to_paths[to->kind]) != 0) {
		str_adds(out, " at ");
		conf_add_word(out, to->path);
	}
}

/* ---- record ------------------------------------------------------------- */

enum { RECORD_BODIES };			/* keywords of record */

/* "bodies" after the span is the setting of that name. */
void
conf_apply_record(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *bodies = &statement->keywords[RECORD_BODIES];
	struct conf_statement alike = *statement;
	struct conf_value size = *bodies;

	conf_apply_setting(loader, statement, target);
	if (bodies->token == NULL)
		return;
	if (strcmp(statement->setting->key, "for") != 0) {
		conf_complain(loader, CONF_ERROR, bodies->token,
		    "write record for SPAN bodies",
		    "'bodies' stands after a span");
		return;
	}
	if (size.number == 0)
		size.number = RECORD_BODIES_BYTES;
	alike.setting = conf_setting_find("record", SLICE("bodies"));
	alike.args = &size;
	conf_apply_setting(loader, &alike, target);
}

/* ---- log-level ---------------------------------------------------------- */

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

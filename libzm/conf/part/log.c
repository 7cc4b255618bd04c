/* log.c - log-level: whose talk stands in the journal; log-to: where else;
 * record: what is kept for zmailer replay; notify: who is told of which events
 *
 * In     log-level statements; a client or a destination
 * Out    whether its dialogue is to be noted now
 * Holds  nothing; a statement whose moment is over does not count any more
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "base/guess.h"
#include "conf/part/part.h"
#include "grammar/http.h"
#include "grammar/message/date.h"
#include "grammar/units.h"
#include "journal/event.h"

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
	conf->log_levels = arena_grow(conf->arena, conf->log_levels,
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

/* ---- notify: events ---------------------------------------------------- */

enum { NOTIFY_EVENTS, NOTIFY_KEY, NOTIFY_CA };	/* keywords */

/* What it tells of itself is never sent: it would be told of that, too. */
static const char notify_own[] = "notify.";

static bool
event_word_means(struct slice word, int kind)
{
	struct slice name = slice_of(event_rows[kind].name);

	return !slice_starts(name, notify_own) && glob_match(word, name);
}

bool
conf_notify_means(struct slice words, int kind)
{
	struct slice word;

	while (slice_word(&words, &word))
		if (event_word_means(word, kind))
			return true;
	return false;
}

static bool
event_word_is_pattern(struct slice word)
{
	return slice_find(word, '*') < word.n || slice_find(word, '?') < word.n;
}

static void
notify_check_word(struct conf_loader *loader, const struct conf_value *words,
    struct slice word)
{
	struct guess guess = { .word = word };
	struct arena *arena = loader->conf->arena;

	for (int kind = 0; kind < EV_COUNT; kind++)
		if (event_word_means(word, kind))
			return;
	if (slice_starts(word, notify_own)) {
		conf_complain(loader, CONF_ERROR, words->token,
		    "leave it out; zmailer events shows it",
		    "'%s' is not sent: it tells of notify itself",
		    slice_dup(arena, word));
		return;
	}
	for (int kind = 0; kind < EV_COUNT; kind++)
		guess_offer(&guess, event_rows[kind].name);
	conf_complain(loader, CONF_ERROR, words->token,
	    guess.best != NULL && !event_word_is_pattern(word) ?
	    guess_hint(&guess, arena) : "zmailer-events(5) has all names",
	    event_word_is_pattern(word) ? "no event is called like '%.100s'" :
	    "there is no event '%.100s'", slice_dup(arena, word));
}

static void
notify_check_events(struct conf_loader *loader,
    const struct conf_value *words)
{
	struct slice rest = slice_of(words->text), word;
	size_t count = 0;

	for (; slice_word(&rest, &word); count++)
		notify_check_word(loader, words, word);
	if (count == 0)
		conf_complain(loader, CONF_ERROR, words->token,
		    "write names of events, like \"host.* rcpt.fail\"",
		    "it would be told of nothing");
}

/* ---- notify: the URL --------------------------------------------------- */

static bool
url_is_here(const struct http_url *url)
{
	struct net net, here;
	struct err err;

	return net_parse(slice_of(url->host), &net, &err) == 0 &&
	    net_parse(url->is_six ? SLICE("::1") : SLICE("127.0.0.0/8"), &here,
	    &err) == 0 && net_contains(&here, &net);
}

static void
notify_check_url(struct conf_loader *loader,
    const struct conf_statement *statement)
{
	const struct conf_value *value = &statement->args[0];
	const struct conf_value *roots = &statement->keywords[NOTIFY_CA];
	const struct conf *conf = loader->conf;
	struct http_url url;
	struct err err;

	if (http_url_parse(slice_of(value->text), &url, &err) < 0) {
		conf_complain(loader, CONF_ERROR, value->token,
		    "write https://HOST[:PORT]/PATH", "'%.200s': %s",
		    value->text, err.text);
		return;
	}
	if (!url.is_tls && !url_is_here(&url))
		conf_complain(loader, CONF_ERROR, value->token,
		    "write https://; http:// is for 127.0.0.1 and [::1]",
		    "events do not cross a network unprotected");
	if (!url.is_tls && roots->token != NULL)
		conf_complain(loader, CONF_ERROR, roots->token,
		    "leave it out", "http:// has no certificate");
	for (size_t i = 0; i < conf->notify_count; i++)
		if (strcmp(conf->notifies[i].url, value->text) == 0)
			conf_complain_twice(loader, value->token,
			    conf->notifies[i].at, "this URL is told already");
}

/* ---- notify: the statement --------------------------------------------- */

void
conf_apply_notify(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *words = statement->keywords;
	struct conf *conf = loader->conf;
	struct slice url = slice_of(statement->args[0].text);
	struct conf_notify notify = {
		.url = statement->args[0].text,
		.name = slice_dup(conf->arena,
		    slice_first(url, slice_find(url, '?'))),
		.events = words[NOTIFY_EVENTS].text,
		.key_path = words[NOTIFY_KEY].text,
		.roots = words[NOTIFY_CA].text,
		.at = conf_at(statement->node->tokens),
	};

	notify_check_url(loader, statement);
	notify_check_events(loader, &words[NOTIFY_EVENTS]);
	if (conf->notify_count >= NOTIFY_MAX) {
		conf_complain(loader, CONF_ERROR, statement->node->tokens,
		    NULL, "at most %d URLs are told", NOTIFY_MAX);
		return;
	}
	conf->notifies = arena_grow(conf->arena, conf->notifies,
	    conf->notify_count, sizeof(*conf->notifies));
	conf->notifies[conf->notify_count++] = notify;
}

void
conf_notify_add(struct str *out, const struct conf_notify *notify)
{
	conf_add_word(out, notify->url);
	str_adds(out, " events ");
	conf_add_word(out, notify->events);
	str_adds(out, " key ");
	conf_add_word(out, notify->key_path);
	if (notify->roots != NULL) {
		str_adds(out, " ca ");
		conf_add_word(out, notify->roots);
	}
}

/* notify.c - notify: who is told of which events
 *
 * In     notify statements
 * Out    conf.notifies; complaints
 * Holds  nothing
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/guess.h"
#include "conf/part/part.h"
#include "grammar/http.h"
#include "grammar/units.h"
#include "journal/event.h"

#include "base/banned.h"

enum { NOTIFY_EVENTS, NOTIFY_KEY, NOTIFY_CA };	/* keywords */

/* What it tells of itself is never sent: it would be told of that, too. */
static const char notify_own[] = "notify.";

/* ---- events ------------------------------------------------------------ */

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

/* ---- the URL ----------------------------------------------------------- */

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

/* ---- the statement ----------------------------------------------------- */

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
	conf->notifies = conf_push(conf->arena, conf->notifies,
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

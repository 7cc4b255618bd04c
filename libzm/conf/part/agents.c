/* agents.c - statements about the transport agents
 *
 * In     statements that agree with their rows
 * Out    conf->tls_to, conf->xclient_to, conf->auth_to; complaints
 * Holds  nothing; arrays grow in the arena of the conf
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "conf/part/part.h"

#include "base/banned.h"

enum { TLS_NAME, TLS_CA, TLS_CERT, TLS_KEY };	/* keyword order */

const char *
conf_tls_level_word(enum conf_tls_level level)
{
#define LEVEL_WORD(NAME, word) [TLS_LEVEL_##NAME] = word,
	static const char *const words[] = {
		CONF_TLS_LEVELS(LEVEL_WORD, LEVEL_WORD)
	};

	return words[level];
#undef LEVEL_WORD
}

/* "a,b,c"; empty ones are left out. */
static void
names_cut(struct arena *arena, const char *text, struct conf_tls_to *out)
{
	struct slice rest = slice_of(text), name;

	while (slice_cut(&rest, ',', &name)) {
		if (name.n == 0)
			continue;
		out->names = arena_grow(arena, out->names, out->name_count,
		    sizeof(*out->names));
		out->names[out->name_count++] = slice_lower(arena, name).p;
	}
}

void
conf_apply_tls_to(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *words = statement->keywords;
	struct conf *conf = loader->conf;
	struct conf_tls_to one = {
		.pattern = statement->args[0].text,
		.level = (enum conf_tls_level)statement->args[1].number,
		.roots = words[TLS_CA].text,
		.certificate = words[TLS_CERT].text,
		.key = words[TLS_KEY].text,
		.at = conf_at(statement->node->tokens),
	};

	if (one.key != NULL && one.certificate == NULL)
		conf_complain(loader, CONF_ERROR, words[TLS_KEY].token,
		    "write cert FILE before it",
		    "a key is of no use without its certificate");
	if (words[TLS_NAME].text != NULL && one.level != TLS_LEVEL_VERIFY)
		conf_complain(loader, CONF_WARNING, words[TLS_NAME].token,
		    "only verify asks for a name", "this name is not looked "
		    "at");
	names_cut(conf->arena, words[TLS_NAME].text, &one);
	conf->tls_to = arena_grow(conf->arena, conf->tls_to,
	    conf->tls_to_count, sizeof(*conf->tls_to));
	conf->tls_to[conf->tls_to_count++] = one;
}

void
conf_apply_xclient_to(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf *conf = loader->conf;

	conf->xclient_to = arena_grow(conf->arena, conf->xclient_to,
	    conf->xclient_to_count, sizeof(*conf->xclient_to));
	conf->xclient_to[conf->xclient_to_count++] = (struct conf_xclient_to){
		.pattern = statement->args[0].text,
		.at = conf_at(statement->node->tokens),
	};
}

void
conf_apply_auth_to(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf *conf = loader->conf;

	if (conf->auth_to.table != NULL) {
		conf_complain(loader, CONF_ERROR, statement->node->tokens,
		    "one table has all of them", "'auth-to' is said twice");
		return;
	}
	conf->auth_to = (struct conf_auth_to){
		.table = statement->args[0].table,
		.is_plain_ok = statement->keywords[0].token != NULL,
		.at = conf_at(statement->node->tokens),
	};
}

/* ---- agents of channels ---------------------------------------------- */

/* The agent of a channel whose clause names no command. */
static const struct {
	const char *channel, *command;
	bool is_many;
} channel_rows[] = {
#define CHANNEL(channel, program) { channel, program, false },
#define CHANNEL_MANY(channel, program) { channel, program, true },
#define CHANNEL_UNCOUNTED(channel, program) { channel, program, false },
#include "journal/channels.h"
#undef CHANNEL
#undef CHANNEL_MANY
#undef CHANNEL_UNCOUNTED
};

const char *
conf_channel_name(size_t at)
{
	return at < sizeof(channel_rows) / sizeof(channel_rows[0]) ?
	    channel_rows[at].channel : NULL;
}

const char *
conf_channel_agent(const char *channel)
{
	for (size_t i = 0; i < sizeof(channel_rows) / sizeof(channel_rows[0]);
	    i++)
		if (strcmp(channel_rows[i].channel, channel) == 0)
			return channel_rows[i].command;
	return NULL;
}

bool
conf_channel_is_many(const char *channel)
{
	for (size_t i = 0; i < sizeof(channel_rows) / sizeof(channel_rows[0]);
	    i++)
		if (strcmp(channel_rows[i].channel, channel) == 0)
			return channel_rows[i].is_many;
	return false;
}

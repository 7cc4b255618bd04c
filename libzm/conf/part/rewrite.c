/* rewrite.c - what statements about rewriting do to the settings
 *
 * In     statements that agree with their rows
 * Out    canonicals, masquerades, generics, copies in struct conf; the same
 *        as text
 * Holds  nothing; arrays grow in the arena of the conf
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "conf/part/part.h"
#include "grammar/units.h"

#include "base/banned.h"

/* "a,b,c" in lower case. */
static const char **
words_of(struct arena *arena, const char *text, size_t *out_count)
{
	struct slice rest = slice_of(text != NULL ? text : ""), word;
	const char **words = NULL;

	*out_count = 0;
	while (slice_cut(&rest, ',', &word)) {
		if (word.n == 0)
			continue;
		words = arena_grow(arena, words, *out_count, sizeof(*words));
		words[(*out_count)++] = slice_lower(arena, word).p;
	}
	return words;
}

/* ---- canonical -------------------------------------------------------- */

static const char *const of_words[] = {
	"senders", "recipients", "envelope", "headers", "strangers"
};

void
conf_apply_canonical(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf *conf = loader->conf;
	struct conf_canonical one = {
		.tables = conf_tables_of(loader, statement),
		.table_count = statement->arg_count,
		.at = conf_at(statement->node->tokens),
	};

	for (unsigned i = 0; i < 5; i++)
		if (statement->keywords[i].token != NULL)
			one.of |= 1u << i;
	if ((one.of & (REWRITE_SENDERS | REWRITE_RCPTS)) == 0)
		one.of |= REWRITE_SENDERS | REWRITE_RCPTS;
	if ((one.of & (REWRITE_ENVELOPE | REWRITE_HEADERS)) == 0)
		one.of |= REWRITE_ENVELOPE | REWRITE_HEADERS;
	if ((one.of & REWRITE_STRANGERS) && !(one.of & REWRITE_HEADERS))
		conf_complain(loader, CONF_WARNING, statement->node->tokens,
		    "the envelope of all mail is looked at anyway",
		    "'strangers' says nothing beside 'envelope'");
	conf->canonicals = arena_grow(conf->arena, conf->canonicals,
	    conf->canonical_count, sizeof(*conf->canonicals));
	conf->canonicals[conf->canonical_count++] = one;
}

static void
add_tables(struct str *out, const char **tables, size_t count)
{
	for (size_t i = 0; i < count; i++)
		str_addf(out, i == 0 ? "<%s>" : " <%s>", tables[i]);
}

/* Both of a pair is what holds when none is said. */
void
conf_canonical_add(struct str *out, const struct conf_canonical *one)
{
	unsigned of = one->of;

	add_tables(out, one->tables, one->table_count);
	for (unsigned pair = 3; pair <= 12; pair <<= 2)
		if ((of & pair) == pair)
			of &= ~pair;
	for (unsigned i = 0; i < 5; i++)
		if (of & (1u << i))
			str_addf(out, " %s", of_words[i]);
}

/* ---- masquerade ------------------------------------------------------- */

enum { MASQUERADE_KEEP, MASQUERADE_EXCEPT };	/* keywords */

void
conf_apply_masquerade(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *words = statement->keywords;
	struct conf *conf = loader->conf;
	struct arena *arena = conf->arena;
	struct conf_masquerade one = {
		.domain_count = statement->arg_count,
		.at = conf_at(statement->node->tokens),
	};

	one.domains = arena_alloc(arena, one.domain_count *
	    sizeof(*one.domains));
	for (size_t i = 0; i < one.domain_count; i++)
		one.domains[i] = slice_lower(arena,
		    slice_of(statement->args[i].text)).p;
	one.keeps = words_of(arena, words[MASQUERADE_KEEP].text,
	    &one.keep_count);
	one.users = words_of(arena, words[MASQUERADE_EXCEPT].text,
	    &one.user_count);
	conf->masquerades = arena_grow(arena, conf->masquerades,
	    conf->masquerade_count, sizeof(*conf->masquerades));
	conf->masquerades[conf->masquerade_count++] = one;
}

static void
words_list_add(struct str *out, const char *before, const char **words,
    size_t count, char between)
{
	for (size_t i = 0; i < count; i++) {
		if (i == 0)
			str_adds(out, before);
		else
			str_addc(out, between);
		str_adds(out, words[i]);
	}
}

void
conf_masquerade_add(struct str *out, const struct conf_masquerade *one)
{
	words_list_add(out, "", one->domains, one->domain_count, ' ');
	words_list_add(out, " keep ", one->keeps, one->keep_count, ',');
	words_list_add(out, " except ", one->users, one->user_count, ',');
}

/* ---- generic ---------------------------------------------------------- */

enum { GENERIC_CHANNEL, GENERIC_TO };	/* keywords */

void
conf_apply_generic(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	const struct conf_value *words = statement->keywords;
	struct conf *conf = loader->conf;
	struct conf_generic one = {
		.tables = conf_tables_of(loader, statement),
		.table_count = statement->arg_count,
		.channel = words[GENERIC_CHANNEL].token != NULL ?
		    words[GENERIC_CHANNEL].text : "smtp*",
		.to = words[GENERIC_TO].text,
		.at = conf_at(statement->node->tokens),
	};

	conf->generics = arena_grow(conf->arena, conf->generics,
	    conf->generic_count, sizeof(*conf->generics));
	conf->generics[conf->generic_count++] = one;
}

void
conf_generic_add(struct str *out, const struct conf_generic *one)
{
	add_tables(out, one->tables, one->table_count);
	if (strcmp(one->channel, "smtp*") != 0)
		str_addf(out, " channel %s", one->channel);
	if (one->to != NULL)
		str_addf(out, " to %s", one->to);
}

/* Does it cover all (2), some (1) or none (0) of a route's mail, by the
 * channel it takes? */
static int
generic_share(const struct conf_generic *one, const struct conf_route *route,
    const char *channel)
{
	const char *at = strchr(route->pattern, '@');
	const char *pattern = at != NULL ? at + 1 : route->pattern;

	if (!glob_match(slice_of(one->channel), slice_of(channel)))
		return 0;
	if (one->to == NULL || strcmp(one->to, pattern) == 0 ||
	    conf_route_covers(one->to, slice_of(pattern)))
		return 2;
	return conf_route_covers(pattern, slice_of(one->to)) ? 1 : 0;
}

/* The first statement that covers some of a route's mail on one of two ways
 * only; NULL: they are covered alike. */
static const struct conf_generic *
generic_between(const struct conf *conf, const struct conf_route *route,
    const char *channel, const char *other)
{
	for (size_t i = 0; i < conf->generic_count; i++) {
		const struct conf_generic *one = &conf->generics[i];
		int here = generic_share(one, route, channel);
		int there = generic_share(one, route, other);

		if (here != there)
			return one;
		if (here == 2)
			break;
	}
	return NULL;
}

bool
conf_channel_leads_on(const char *channel)
{
	static const char *const ends[] = { "error", "hold", "discard" };

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (strcmp(channel, ends[i]) == 0)
			return false;
	return true;
}

/* All ways of a route share one header and sender. */
static void
check_ways(struct conf_loader *loader, const struct conf_route *route)
{
	const struct conf *conf = loader->conf;
	const char *first = NULL;

	if (conf_channel_leads_on(route->channel))
		first = route->channel;
	for (size_t i = 0; i < route->way_count; i++) {
		const char *channel = route->ways[i].channel;
		const struct conf_generic *one;

		if (!conf_channel_leads_on(channel))
			continue;
		one = first == NULL ? NULL : generic_between(conf, route,
		    first, channel);
		if (one != NULL) {
			conf_complain_at(loader->report, loader->report_arena,
			    loader->book, CONF_ERROR, route->at, 1, "cover "
			    "both channels with one generic, or neither",
			    arena_printf(conf->arena, "the ways by %s and by "
			    "%s need one header, and generic in line %u "
			    "rewrites it for one of them only", first,
			    channel, one->at.line));
			return;
		}
		first = channel;
	}
}

void
conf_check_ways(struct conf_loader *loader)
{
	const struct conf *conf = loader->conf;

	for (size_t i = 0; conf->generic_count > 0 && i < conf->route_count;
	    i++)
		if (conf->routes[i].way_count > 0)
			check_ways(loader, &conf->routes[i]);
}

/* ---- copies ----------------------------------------------------------- */

static void
copy_push(struct conf *conf, const struct conf_copy *one)
{
	conf->copies = arena_grow(conf->arena, conf->copies, conf->copy_count,
	    sizeof(*conf->copies));
	conf->copies[conf->copy_count++] = *one;
}

void
conf_apply_copy(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_copy one = {
		.target = statement->args[0].text,
		.sender = statement->keywords[0].text,
		.rcpt = statement->keywords[1].text,
		.at = conf_at(statement->node->tokens),
	};

	copy_push(loader->conf, &one);
}

void
conf_apply_archive(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	struct conf_copy one = {
		.target = statement->args[0].text,
		.account = statement->keywords[0].text,
		.sender = statement->keywords[1].text,
		.rcpt = statement->keywords[2].text,
		.at = conf_at(statement->node->tokens),
	};

	copy_push(loader->conf, &one);
}

void
conf_copy_add(struct str *out, const struct conf_copy *one)
{
	conf_add_word(out, one->target);
	if (one->account != NULL)
		str_addf(out, " as %s", one->account);
	if (one->sender != NULL)
		str_addf(out, " from %s", one->sender);
	if (one->rcpt != NULL)
		str_addf(out, " to %s", one->rcpt);
}

/* rewrite.c - one address becomes another
 *
 * In     an address of an envelope or a header
 * Out    the address that it is from now on
 * Holds  nothing
 * Trusts the configuration and its tables; no byte of an address
 * Spec   zmailer.conf(5), canonical, masquerade, generic
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/route/rewrite.h"

#include <string.h>

#include "base/mem.h"
#include "grammar/units.h"

#include "base/banned.h"

bool
rewrite_is_on(const struct conf *conf)
{
	return conf->canonical_count > 0 || conf->masquerade_count > 0 ||
	    strcmp(conf->qualify, "none") != 0;
}

/* ---- tables ----------------------------------------------------------- */

/* An address and the keys it is looked up by. */
struct asked {
	struct path	path;		/* with a domain */
	struct slice	domain;		/* as it is looked up */
	struct slice	key;		/* local part, plain, lower case */
	struct slice	plain;		/* the key without detail */
	struct slice	detail;		/* as written, delimiter included */
};

/* False when it cannot stand in a table. */
static bool
rewrite_asked(struct routing *routing, const struct path *path,
    struct asked *out)
{
	const struct conf *conf = routing->router->conf;
	struct arena *arena = routing->rcpts->arena;
	struct slice local;
	struct err err;
	size_t cut;

	*out = (struct asked){ .path = *path };
	if (path->domain.n == 0)
		out->path.domain = slice_of(conf->host);
	if (path->local.n == 0 || router_domain(arena, out->path.domain,
	    &out->domain, &err) < 0)
		return false;
	local = path_local_plain(arena, path);
	out->key = slice_lower(arena, local);
	cut = routing_detail(routing, out->key);
	out->plain = slice_first(out->key, cut);
	if (path->local.p[0] != '"')
		out->detail = slice_from(path->local, cut);
	else
		out->plain = out->key;
	return true;
}

struct answer {
	struct table	*table;
	struct slice	 value;
	unsigned	 line;
	struct slice	 detail;	/* goes on to the new address */
};

/* user@domain, then user of ours, each with and without its detail. */
static enum route_answer
rewrite_ask_user(struct routing *routing, const struct asked *asked,
    struct answer *answer, struct err *err)
{
	const struct slice keys[] = { asked->key, asked->plain };
	enum route_answer found = ROUTE_NO, is_ours;
	const struct conf_domain *domain;

	for (size_t i = 0; i < 4 && found == ROUTE_NO; i++) {
		struct slice key = keys[i % 2];

		is_ours = i != 2 ? ROUTE_YES : routing_domain(routing,
		    asked->domain, &domain, err);
		if (is_ours != ROUTE_YES)
			return is_ours;
		if (i % 2 == 1 && asked->plain.n == asked->key.n)
			continue;
		answer->detail = i % 2 == 1 ? asked->detail : SLICE("");
		if (i < 2)
			key = routing_join(routing, key, asked->domain);
		found = routing_lookup(routing, answer->table, key,
		    &answer->value, &answer->line, err);
		if (!table_takes_parts(answer->table))
			break;
	}
	return found;
}

static enum route_answer
rewrite_ask_table(struct routing *routing, const char *name,
    const struct asked *asked, struct answer *answer, struct err *err)
{
	enum route_answer found;

	answer->table = routing_table(routing, name, err);
	if (answer->table == NULL)
		return ROUTE_TROUBLE;
	found = rewrite_ask_user(routing, asked, answer, err);
	if (found != ROUTE_NO || !table_takes_parts(answer->table))
		return found;
	answer->detail = SLICE("");
	return routing_lookup(routing, answer->table, routing_join(routing,
	    SLICE(""), asked->domain), &answer->value, &answer->line, err);
}

static int
rewrite_bad_value(struct routing *routing, const struct answer *answer,
    struct err *err)
{
	const char *path = table_path(answer->table);

	err_set(err, "%s:%u: '" SLICE_FMT "' is neither an address nor "
	    "@DOMAIN", path[0] ? path : table_name(answer->table),
	    answer->line, SLICE_ARG(slice_first(answer->value, 100)));
	return routing_trouble(routing, "table-", table_name(answer->table));
}

/* Put the answer in the place of the address. */
static enum route_answer
rewrite_take_answer(struct routing *routing, const struct asked *asked,
    const struct answer *answer, struct path *out, struct err *err)
{
	struct arena *arena = routing->rcpts->arena;
	struct slice value = slice_trim(answer->value), rest;
	struct path path = asked->path;

	if (slice_starts(value, "@")) {
		path.domain = slice_from(value, 1);
		if (domain_parse(path.domain, NULL) != 0)
			return rewrite_bad_value(routing, answer, err);
	} else if (path_parse(value, PATH_BARE_OK | PATH_LOCAL_OK |
	    PATH_UTF8, &path, &rest, NULL) != 0 || rest.n > 0 ||
	    path.local.n == 0) {
		return rewrite_bad_value(routing, answer, err);
	}
	if (path.domain.n == 0)
		path.domain = asked->path.domain;
	if (answer->detail.n > 0 && path.local.p != asked->path.local.p &&
	    path.local.p[0] != '"')
		path.local = slice_of(arena_printf(arena,
		    SLICE_FMT SLICE_FMT, SLICE_ARG(path.local),
		    SLICE_ARG(answer->detail)));
	if (path.local.n + path.domain.n + 3 > PATH_MAX_BYTES ||
	    path.local.n > LOCAL_MAX_BYTES)
		return ROUTE_NO;
	*out = path;
	return ROUTE_YES;
}

static enum route_answer
rewrite_ask_tables(struct routing *routing, const char *const *tables,
    size_t count,
    struct path *path, struct err *err)
{
	struct answer answer;
	struct asked asked;
	enum route_answer found = ROUTE_NO;

	if (!rewrite_asked(routing, path, &asked))
		return ROUTE_NO;
	for (size_t i = 0; i < count && found == ROUTE_NO; i++)
		found = rewrite_ask_table(routing, tables[i], &asked, &answer,
		    err);
	return found == ROUTE_YES ? rewrite_take_answer(routing, &asked,
	    &answer, path,
	    err) :
	    found;
}

/* ---- the way in ------------------------------------------------------- */

/* Does the statement speak of this kind of address? */
static bool
rewrite_applies(unsigned wanted, unsigned of)
{
	const unsigned whose = REWRITE_SENDERS | REWRITE_RCPTS;
	const unsigned where = REWRITE_ENVELOPE | REWRITE_HEADERS;

	if ((wanted & of & whose) == 0 || (wanted & of & where) == 0)
		return false;
	return (of & REWRITE_HEADERS) == 0 || (of & REWRITE_STRANGERS) == 0 ||
	    (wanted & REWRITE_STRANGERS) != 0;
}

static enum route_answer
rewrite_canonical(struct routing *routing, unsigned of, struct path *path,
    struct err *err)
{
	const struct conf *conf = routing->router->conf;
	enum route_answer found = ROUTE_NO;

	for (size_t i = 0; i < conf->canonical_count && found ==
	    ROUTE_NO; i++) {
		const struct conf_canonical *one = &conf->canonicals[i];

		if (!rewrite_applies(one->of, of))
			continue;
		found = rewrite_ask_tables(routing, one->tables,
		    one->table_count,
		    path, err);
		if (found == ROUTE_YES)
			routing_note(routing, "canonical (%s:%u): it is "
			    SLICE_FMT "@" SLICE_FMT, one->at.file,
			    one->at.line, SLICE_ARG(path->local),
			    SLICE_ARG(path->domain));
	}
	return found;
}

/* Is name this domain, or below it? */
static bool
rewrite_is_within(struct slice name, const char *domain)
{
	struct slice top = slice_of(domain);

	if (slice_starts(top, "."))
		top = slice_from(top, 1);
	return slice_equal_nocase(name, top) || (name.n > top.n &&
	    name.p[name.n - top.n - 1] == '.' && slice_equal_nocase(
	    slice_from(name, name.n - top.n), top));
}

static bool
rewrite_is_excepted(const struct conf_masquerade *one, const struct path *path)
{
	for (size_t i = 0; i < one->user_count; i++)
		if (slice_is_nocase(path->local, one->users[i]))
			return true;
	for (size_t i = 0; i < one->keep_count; i++)
		if (rewrite_is_within(path->domain, one->keeps[i]))
			return true;
	return false;
}

/* The longest domain that it is below; NULL: none. */
static const char *
rewrite_mask(const struct conf_masquerade *one, struct slice domain)
{
	const char *best = NULL;

	for (size_t i = 0; i < one->domain_count; i++)
		if (rewrite_is_within(domain, one->domains[i]) && (best ==
		    NULL ||
		    strlen(one->domains[i]) > strlen(best)))
			best = one->domains[i];
	return best != NULL && best[0] == '.' ? best + 1 : best;
}

static bool
rewrite_masquerade(struct routing *routing, struct path *path)
{
	const struct conf *conf = routing->router->conf;

	for (size_t i = 0; i < conf->masquerade_count; i++) {
		const struct conf_masquerade *one = &conf->masquerades[i];
		const char *mask = rewrite_mask(one, path->domain);

		if (mask == NULL || rewrite_is_excepted(one, path))
			continue;
		if (slice_is_nocase(path->domain, mask))
			return false;
		path->domain = slice_of(mask);
		routing_note(routing, "masquerade (%s:%u): it is " SLICE_FMT
		    "@%s", one->at.file, one->at.line,
		    SLICE_ARG(path->local), mask);
		return true;
	}
	return false;
}

enum route_answer
rewrite_path(struct routing *routing, unsigned of, struct path *path,
    struct err *err)
{
	const struct conf *conf = routing->router->conf;
	bool is_stranger = (of & REWRITE_STRANGERS) != 0;
	enum route_answer found;
	bool is_other = false;

	if (path->local.n == 0 || !rewrite_is_on(conf))
		return ROUTE_NO;
	if ((of & REWRITE_HEADERS) && !is_stranger && path->domain.n == 0 &&
	    strcmp(conf->qualify, "none") != 0) {
		path->domain = slice_of(conf->qualify);
		is_other = true;
	}
	found = rewrite_canonical(routing, of, path, err);
	if (found == ROUTE_TROUBLE)
		return ROUTE_TROUBLE;
	is_other |= found == ROUTE_YES;
	if (!is_stranger && of != (REWRITE_RCPTS | REWRITE_ENVELOPE) &&
	    path->domain.n > 0)
		is_other |= rewrite_masquerade(routing, path);
	return route_is(is_other);
}

/* ---- the way out ------------------------------------------------------ */

static struct slice
rewrite_domain(struct slice address, struct slice *out_local)
{
	size_t at = address.n;

	while (at > 0 && address.p[at - 1] != '@')
		at--;
	*out_local = slice_first(address, at > 0 ? at - 1 : 0);
	return at > 0 ? slice_from(address, at) : SLICE("");
}

enum route_answer
rewrite_path_generic(struct routing *routing, unsigned number,
    struct path *path, struct err *err)
{
	const struct conf_generic *one =
	    &routing->router->conf->generics[number - 1];

	return path->local.n == 0 ? ROUTE_NO : rewrite_ask_tables(routing,
	    one->tables,
	    one->table_count, path, err);
}

/* The statement that covers a recipient: its number, or 0. */
static unsigned
rewrite_generic_for(const struct conf *conf, struct slice channel,
    struct slice domain)
{
	for (size_t i = 0; i < conf->generic_count; i++) {
		const struct conf_generic *one = &conf->generics[i];

		if (glob_match(slice_of(one->channel), channel) &&
		    (one->to == NULL || conf_route_covers(one->to, domain)))
			return (unsigned)i + 1;
	}
	return 0;
}

/* A sender as its recipients get it.  Reports go to the address it was. */
static enum route_answer
rewrite_generic_sender(struct routing *routing, unsigned number,
    unsigned *sender,
    struct err *err)
{
	struct rcpts *rcpts = routing->rcpts;
	struct rcpt_sender now = *rcpts->senders[*sender];
	struct path path = { .local = now.address, .domain = now.verp };
	enum route_answer found;

	if (now.address.n == 0)
		return ROUTE_NO;
	if (now.verp.n == 0)
		path.domain = rewrite_domain(now.address, &path.local);
	found = rewrite_path_generic(routing, number, &path, err);
	if (found != ROUTE_YES)
		return found;
	if (now.errors_to.n == 0)
		now.errors_to = now.address;
	if (now.verp.n > 0)
		now.verp = path.domain;
	now.address = now.verp.n > 0 ? path.local :
	    routing_join(routing, path.local, path.domain);
	*sender = rcpts_sender(rcpts, &now);
	return ROUTE_YES;
}

static bool
rewrite_leads_on(struct routing *routing, struct slice channel)
{
	return conf_channel_leads_on(slice_dup(routing->rcpts->arena,
	    channel));
}

static enum route_answer
rewrite_generic_user(struct routing *routing, unsigned number,
    struct slice *user,
    struct err *err)
{
	struct path path;
	enum route_answer found;

	path.domain = rewrite_domain(*user, &path.local);
	found = path.domain.n == 0 ? ROUTE_NO : rewrite_path_generic(routing,
	    number, &path, err);
	if (found == ROUTE_YES)
		*user = routing_join(routing, path.local, path.domain);
	return found;
}

/* The ways after `else` share the sender and the header of the first: what
 * the check of the configuration refuses can still come out of a table. */
static int
rewrite_ways(struct routing *routing, struct draft_rcpt *rcpt,
    struct slice domain, struct err *err)
{
	const struct conf *conf = routing->router->conf;
	bool is_first = !rewrite_leads_on(routing, rcpt->channel);
	struct control_way *ways = arena_alloc(routing->rcpts->arena,
	    rcpt->way_count * sizeof(*ways));

	for (size_t i = 0; i < rcpt->way_count; i++) {
		struct control_way *way = &ways[i];
		unsigned number;

		*way = rcpt->ways[i];
		if (!rewrite_leads_on(routing, way->channel))
			continue;
		number = rewrite_generic_for(conf, way->channel, domain);
		if (is_first)
			rcpt->header = number;
		is_first = false;
		if (number != rcpt->header) {
			err_set(err, "the ways of the route for " SLICE_FMT
			    " differ in the generic that covers them",
			    SLICE_ARG(domain));
			return routing_trouble(routing, "rewrite", "");
		}
		if (number > 0 && rewrite_generic_user(routing, number,
		    &way->user,
		    err) == ROUTE_TROUBLE)
			return -1;
	}
	rcpt->ways = ways;
	return 0;
}

int
rewrite_rcpt(struct routing *routing, struct draft_rcpt *rcpt, struct err *err)
{
	struct rcpts *rcpts = routing->rcpts;
	struct slice domain, local;
	enum route_answer found;

	if (slice_is(rcpt->channel, "error") ||
	    slice_starts(rcpt->user, "|") || slice_starts(rcpt->user, "/"))
		return 0;
	domain = rewrite_domain(rcpt->user, &local);
	rcpt->header = rewrite_generic_for(routing->router->conf, rcpt->channel,
	    domain);
	if (rcpt->way_count > 0 &&
	    rewrite_ways(routing, rcpt, domain, err) < 0)
		return -1;
	if (rcpt->header == 0)
		return 0;
	found = rewrite_generic_user(routing, rcpt->header, &rcpt->user, err);
	if (found != ROUTE_TROUBLE && !rcpts->is_from_null &&
	    (rcpts->generic.from != rcpt->sender ||
	    rcpts->generic.header != rcpt->header)) {
		rcpts->generic.from = rcpt->sender;
		rcpts->generic.header = rcpt->header;
		rcpts->generic.to = rcpt->sender;
		found = rewrite_generic_sender(routing, rcpt->header,
		    &rcpts->generic.to, err);
	}
	if (found == ROUTE_TROUBLE)
		return -1;
	if (!rcpts->is_from_null)
		rcpt->sender = rcpts->generic.to;
	return 0;
}

/* local.c - addresses of ours: aliases, accounts, postmaster
 *
 * In     a local part in one of our domains
 * Out    rcpts; for an alias those of all its items
 * Holds  nothing
 * Trusts the tables' owners
 * Spec   zmailer-aliases(5); RFC 5321 sections 3.9, 4.5.1 (postmaster)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/mem.h"
#include "router/route/expand.h"
#include "router/route/srs.h"

#include "base/banned.h"

/* ---- the end of the way ---------------------------------------------- */

static bool
local_is_mailbox(const struct conf_domain *domain)
{
	return slice_is(slice_of(domain->deliver.channel), "local");
}

/* The mailbox agent's templates may speak of the domain and of the detail as
 * it came; it knows + as the delimiter. */
static struct slice
local_mailbox_user(struct routing *routing, const struct here *here,
    struct slice account)
{
	struct arena *arena = routing->rcpts->arena;
	struct slice plain = path_local_plain(arena, here->path);
	size_t detail = routing_detail(routing, plain);

	if (!routing->router->conf->mailbox_is_addressed)
		return account;
	if (detail < plain.n && detail == account.n &&
	    path_is_mailbox_name(plain))
		account = slice_of(arena_printf(arena,
		    SLICE_FMT "+" SLICE_FMT, SLICE_ARG(account),
		    SLICE_ARG(slice_from(plain, detail + 1))));
	return routing_join(routing, account, here->name);
}

static int
local_deliver(struct routing *routing, const struct here *here,
    struct slice account, int64_t uid, struct err *err)
{
	const struct conf_deliver *to = &here->domain->deliver;
	struct rcpt_rule rule = { "domain", here->domain->at.file,
	    here->domain->at.line };

	if (!local_is_mailbox(here->domain))
		return routing_add(routing, to->channel, slice_of(to->host),
		    routing_join(routing, here->path->local, here->name), uid,
		    &rule, err);
	return routing_add(routing, "local", SLICE("-"),
	    local_mailbox_user(routing, here, account), uid, &rule, err);
}

static enum route_answer
local_find_account(struct routing *routing, const struct here *here,
    struct slice *out_name, int64_t *out_uid, struct err *err)
{
	struct users *users = routing->router->users;
	int found = users_find(users, here->local, out_uid, err);

	*out_name = here->local;
	if (found == 0 && !slice_equal(here->local, here->key)) {
		*out_name = here->key;
		found = users_find(users, here->key, out_uid, err);
	}
	if (found < 0)
		return routing_trouble(routing, "passwd", "");
	routing_note(routing, found ? "account " SLICE_FMT " exists" :
	    "there is no account " SLICE_FMT, SLICE_ARG(*out_name));
	return route_is(found == 1);
}

static enum route_answer
local_find_in_table(struct routing *routing, const struct here *here,
    struct slice *out_name, struct err *err)
{
	struct table *table = routing_table(routing,
	    here->domain->users_table, err);
	struct slice value;
	unsigned line;
	enum route_answer found;

	if (table == NULL)
		return ROUTE_TROUBLE;
	found = routing_lookup(routing, table,
	    routing_join(routing, here->key, here->name), &value, &line, err);
	if (found == ROUTE_NO && table_takes_parts(table))
		found = routing_lookup(routing, table, here->key, &value,
		    &line, err);
	value = found == ROUTE_YES ? slice_trim(value) : SLICE("");
	if (slice_starts(value, "\\") &&
	    path_is_mailbox_name(slice_from(value, 1)))
		*out_name = slice_lower(routing->rcpts->arena,
		    slice_from(value, 1));
	return found;
}

/* An account or a user of a table, and its delivery.  The value of a table of
 * users may name the mailbox: \name. */
static enum route_answer
local_try_user(struct routing *routing, const struct here *here,
    struct err *err)
{
	struct slice account = here->key;
	int64_t uid = RCPT_UID_NOBODY;
	enum route_answer found =
	    route_is(here->domain->users != USERS_NONE);

	if (local_is_mailbox(here->domain) &&
	    !path_is_mailbox_name(here->key))
		return ROUTE_NO;
	if (here->domain->users == USERS_PASSWD)
		found = local_find_account(routing, here, &account, &uid, err);
	else if (here->domain->users == USERS_TABLE)
		found = local_find_in_table(routing, here, &account, err);
	if (found == ROUTE_YES && local_deliver(routing, here, account, uid,
	    err) < 0)
		return ROUTE_TROUBLE;
	return found;
}

/* ---- aliases --------------------------------------------------------- */

enum route_answer
local_alias_find(struct routing *routing, const struct here *here,
    struct slice key, struct found *out, struct err *err)
{
	struct slice whole = routing_join(routing, key, here->name);
	enum route_answer found = ROUTE_NO;

	for (size_t i = 0; i < here->domain->alias_count && found ==
	    ROUTE_NO; i++) {
		out->table = routing_table(routing, here->domain->aliases[i],
		    err);
		if (out->table == NULL)
			return ROUTE_TROUBLE;
		found = routing_lookup(routing, out->table, whole,
		    &out->value, &out->line, err);
		if (found == ROUTE_NO && table_takes_parts(out->table))
			found = routing_lookup(routing, out->table, key,
			    &out->value, &out->line, err);
	}
	return found;
}

static enum route_answer
local_try_alias(struct routing *routing, const struct here *here,
    struct err *err)
{
	struct found alias;
	enum route_answer found;

	if (routing->is_plain)
		return ROUTE_NO;
	found = local_alias_find(routing, here, here->key, &alias, err);
	if (found == ROUTE_YES && expand_alias(routing, here, &alias, "alias",
	    err) < 0)
		return ROUTE_TROUBLE;
	return found;
}

/* "@domain": everybody there; as value "@other" means the same name. */
static enum route_answer
local_open_catch_all(struct routing *routing, const struct here *here,
    struct found *alias, const char *what, struct err *err)
{
	struct slice domain = slice_trim(alias->value);

	if (slice_starts(domain, "@") && slice_find(domain, ',') == domain.n)
		alias->value = routing_join(routing, here->path->local,
		    slice_from(domain, 1));
	return route_done(expand_alias(routing, here, alias, what, err));
}

static enum route_answer
local_try_catch_all(struct routing *routing, const struct here *here,
    struct err *err)
{
	struct found alias;
	enum route_answer found = ROUTE_NO;

	if (routing->is_plain)
		return ROUTE_NO;
	for (size_t i = 0; i < here->domain->alias_count && found ==
	    ROUTE_NO; i++) {
		alias.table = routing_table(routing, here->domain->aliases[i],
		    err);
		if (alias.table == NULL)
			return ROUTE_TROUBLE;
		if (table_takes_parts(alias.table))
			found = routing_lookup(routing, alias.table,
			    routing_join(routing, SLICE(""), here->name),
			    &alias.value, &alias.line, err);
	}
	return found != ROUTE_YES ? found :
	    local_open_catch_all(routing, here, &alias, "alias", err);
}

/* NAME-request and NAME-owner of an alias with an owner-NAME. */
static enum route_answer
local_try_owned(struct routing *routing, const struct here *of, struct err *err)
{
	static const char *const ends[] = { "-request", "-owner" };
	struct here here = *of;
	struct slice key = of->key;
	struct found alias;
	enum route_answer found = ROUTE_NO;

	if (routing->is_plain)
		return ROUTE_NO;
	for (size_t i = 0; i < 2 && found == ROUTE_NO; i++) {
		if (!slice_ends(key, ends[i]))
			continue;
		here.local = here.key = slice_of(arena_printf(
		    routing->rcpts->arena, "owner-" SLICE_FMT,
		    SLICE_ARG(slice_first(key, key.n - strlen(ends[i])))));
		found = local_alias_find(routing, &here, here.key, &alias,
		    err);
	}
	if (found == ROUTE_YES && expand_alias(routing, &here, &alias, "alias",
	    err) < 0)
		return ROUTE_TROUBLE;
	return found;
}

/* ---- virtual addresses ----------------------------------------------- */

static enum route_answer
local_find_virtual(struct routing *routing, const struct here *here,
    struct found *out, struct err *err)
{
	struct slice key = here->key;
	struct slice plain = slice_first(key, routing_detail(routing, key));
	struct slice whole = routing_join(routing, key, here->name);
	struct slice without = routing_join(routing, plain, here->name);
	enum route_answer found = routing_lookup(routing, out->table, whole,
	    &out->value,
	    &out->line, err);

	if (found != ROUTE_NO || !table_takes_parts(out->table))
		return found;
	if (plain.n < key.n)
		found = routing_lookup(routing, out->table, without,
		    &out->value, &out->line, err);
	if (found == ROUTE_NO)
		found = routing_lookup(routing, out->table,
		    routing_join(routing, SLICE(""), here->name), &out->value,
		    &out->line, err);
	return found;
}

enum route_answer
route_virtual(struct routing *routing, struct slice name,
    const struct path *path, struct err *err)
{
	const struct conf *conf = routing->router->conf;
	struct arena *arena = routing->rcpts->arena;
	struct here here = { .name = name, .path = path };
	struct found alias;
	enum route_answer found = ROUTE_NO;

	if (conf->virtual_count == 0 || routing->skips_virtual)
		return ROUTE_NO;
	here.local = path_local_plain(arena, path);
	here.key = slice_lower(arena, here.local);
	for (size_t i = 0; i < conf->virtual_count && found == ROUTE_NO; i++) {
		alias.table = routing_table(routing, conf->virtuals[i], err);
		if (alias.table == NULL)
			return ROUTE_TROUBLE;
		found = local_find_virtual(routing, &here, &alias, err);
	}
	if (found == ROUTE_YES && local_open_catch_all(routing, &here, &alias,
	    "virtual",
	    err) == ROUTE_TROUBLE)
		return ROUTE_TROUBLE;
	return found;
}

/* ---- in order -------------------------------------------------------- */

/* Every domain has a postmaster (RFC 5321 section 4.5.1): whom the
 * configuration names, and root when that is nobody. */
static enum route_answer
local_try_postmaster(struct routing *routing, const struct here *here,
    struct err *err)
{
	struct slice who = slice_of(routing->router->conf->postmaster), rest;
	struct routing inner = *routing;
	struct path path;

	if (!slice_is(here->key, "postmaster") &&
	    !slice_is(here->key, "mailer-daemon"))
		return ROUTE_NO;
	if (routing->counts->was_postmaster)
		return ROUTE_NO;
	routing->counts->was_postmaster = true;
	inner.rule = (struct rcpt_rule){ .kind = "postmaster" };
	if (slice_is_nocase(who, "postmaster"))
		who = SLICE("root");
	if (path_parse(who, PATH_BARE_OK | PATH_LOCAL_OK | PATH_UTF8, &path,
	    &rest, err) != 0)
		return ROUTE_NO;
	return route_done(route_path(&inner, &path, err));
}

/* Mail for postmaster must be taken (RFC 5321 section 4.5.1), also when whom
 * it leads to is not there: then root's mailbox gets it. */
static enum route_answer
local_take_for_postmaster(struct routing *routing, const struct here *here,
    struct err *err)
{
	struct slice given = slice_lower(routing->rcpts->arena,
	    path_local_plain(routing->rcpts->arena, &routing->given->path));
	struct rcpt_rule rule = { .kind = "postmaster" };
	struct slice root = SLICE("root");

	if (routing->counts->hits > 0 || (!slice_is(given, "postmaster") &&
	    !slice_is(given, "mailer-daemon")))
		return ROUTE_NO;
	routing_note(routing, "nobody reads postmaster's mail: root gets it");
	if (local_is_mailbox(here->domain))
		root = local_mailbox_user(routing, here, root);
	return route_done(routing_add(routing, "local", SLICE("-"), root,
	    RCPT_UID_NOBODY, &rule, err));
}

/* An alias or a user of this name. */
static enum route_answer
local_try_name(struct routing *routing, struct here *here, struct slice local,
    bool is_user_too, struct err *err)
{
	enum route_answer found;

	here->local = local;
	here->key = slice_lower(routing->rcpts->arena, local);
	if (!routing->is_plain)
		route_foresee_local(routing->router, here->domain,
		    routing_join(routing, here->key, here->name), here->key);
	found = local_try_alias(routing, here, err);
	if (found == ROUTE_NO)
		found = local_try_owned(routing, here, err);
	if (found == ROUTE_NO && is_user_too)
		found = local_try_user(routing, here, err);
	return found;
}

/* SRS0=... in the domain of `srs` leads to whom it stands for. */
static enum route_answer
local_try_srs(struct routing *routing, struct slice local, struct err *err)
{
	const struct conf_srs *conf = &routing->router->conf->srs;
	struct routing inner = *routing;
	struct path path;

	if (!srs_is(local) || routing->is_plain)
		return ROUTE_NO;
	inner.rule = (struct rcpt_rule){ "srs", conf->at.file,
	    conf->at.line };
	if (redirect_open(&inner, local, &path, err) < 0)
		return ROUTE_TROUBLE;
	if (path.local.n > 0)
		return route_done(route_path(&inner, &path, err));
	return route_done(routing_refuse(&inner, "returnaddress",
	    &routing->given->path,
	    &inner.rule));
}

/* Names that stand for something else than a mailbox of that name, lists
 * first. */
static enum route_answer
local_try_special(struct routing *routing, struct here *here,
    struct slice local,
    struct err *err)
{
	const char *srs = routing->router->conf->srs.domain;
	enum route_answer found = ROUTE_NO;

	if (srs != NULL && slice_is_nocase(here->name, srs))
		found = local_try_srs(routing, local, err);
	if (found == ROUTE_NO)
		found = route_list(routing, here->name, local, err);
	return found;
}

int
route_local(struct routing *routing, const struct conf_domain *domain,
    struct slice name, const struct path *path, struct err *err)
{
	struct slice local = path_local_plain(routing->rcpts->arena, path);
	size_t detail = routing_detail(routing, local);
	bool has_detail = detail < local.n;
	struct here here = { .domain = domain, .name = name, .path = path };
	struct rcpt_rule rule = { "domain", domain->at.file,
	    domain->at.line };
	enum route_answer found;

	found = local_try_special(routing, &here, local, err);
	/* where everybody exists, user+detail is user */
	if (found == ROUTE_NO)
		found = local_try_name(routing, &here, local,
		    !has_detail || domain->users != USERS_ANY, err);
	if (found == ROUTE_NO && has_detail)
		found = local_try_name(routing, &here, slice_first(local,
		    detail),
		    true, err);
	if (found == ROUTE_NO)
		found = local_try_postmaster(routing, &here, err);
	if (found == ROUTE_NO)
		found = local_try_catch_all(routing, &here, err);
	if (found == ROUTE_NO)
		found = local_take_for_postmaster(routing, &here, err);
	if (found == ROUTE_NO)
		found = route_done(routing_refuse(routing, "nouser",
		    &(struct path){ .local = path->local,
		    .domain = name }, &rule));
	return found == ROUTE_TROUBLE ? -1 : 0;
}

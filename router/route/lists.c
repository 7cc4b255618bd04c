/* lists.c - mailing lists of the configuration
 *
 * In     a local part in one of our domains
 * Out    recipients of all members, or of the owner
 * Holds  nothing; names are found by the router's hash
 * Trusts list files as far as include.c does
 * Spec   zmailer.conf(5), list; RFC 2142 section 6; RFC 3461 section 5.2.7.1
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "router/route/expand.h"

#include "base/banned.h"

/* The list of this name, or NULL. */
static const struct conf_list *
list_named(struct routing *routing, struct slice local, struct slice name)
{
	const struct router *router = routing->router;
	size_t number = router->conf->list_count;

	if (local.n > 0)
		memo_find(&router->lists, routing_join(routing, local, name),
		    &number);
	return number < router->conf->list_count ?
	    &router->conf->lists[number] : NULL;
}

/* owner-NAME, owner-NAME+detail, NAME-owner, NAME-given. */
static const struct conf_list *
list_owned(struct routing *routing, struct slice local, struct slice name)
{
	static const char *const ends[] = { "-owner", "-request" };
	const struct conf_list *list = NULL;

	if (slice_starts(local, "owner-")) {
		local = slice_from(local, 6);
		list = list_named(routing, local, name);
		return list != NULL ? list : list_named(routing,
		    slice_first(local, routing_detail(routing, local)), name);
	}
	for (size_t i = 0; i < 2 && list == NULL; i++)
		if (slice_ends(local, ends[i]))
			list = list_named(routing, slice_first(local,
			    local.n - strlen(ends[i])), name);
	return list;
}

/* What its members' mail is sent from. */
static unsigned
list_sender(struct routing *routing, const struct conf_list *list)
{
	const char *delimiters = routing->router->conf->delimiters;
	struct arena *arena = routing->rcpts->arena;
	struct rcpt_sender sender = { .delimiter = delimiters[0] };

	if (strcmp(delimiters, "none") == 0)
		sender.delimiter = '+';
	sender.address = slice_of(arena_printf(arena, "owner-%s@%s",
	    list->local, list->domain));
	if (list->errors_to != NULL)
		sender.errors_to = slice_of(list->errors_to);
	if (list->is_verp) {
		if (sender.errors_to.n == 0)
			sender.errors_to = sender.address;
		sender.verp = slice_of(list->domain);
		sender.address = slice_first(sender.address,
		    strlen(list->local) + 6);
	}
	return rcpts_sender(routing->rcpts, &sender);
}

static int
list_open(const struct routing *from, const struct conf_list *list,
    struct err *err)
{
	struct routing inner = *from;
	struct path path = { .local = slice_of(list->local),
	    .domain = slice_of(list->domain) };
	struct here here = { .name = path.domain, .local = path.local,
	    .key = path.local, .path = &path };

	if (inner.rcpts->is_check) {
		inner.counts->hits++;
		return 0;
	}
	if (routing_waits(&inner))
		return 0;
	inner.rule = (struct rcpt_rule){ "list", list->at.file,
	    list->at.line };
	inner.domain = here.name;
	inner.uid = RCPT_UID_NOBODY;
	if (dsn_wants(inner.notify, DSN_NOTIFY_SUCCESS))
		routing_done(from, routing_join(&inner, path.local,
		    path.domain), RCPT_DELIVERED, &inner.rule);
	inner.notify = DSN_NOTIFY_DEFAULT;
	inner.sender = list_sender(&inner, list);
	return expand_file(&inner, &here, slice_of(list->members), err);
}

static int
list_open_owner(const struct routing *from, const struct conf_list *list,
    struct err *err)
{
	struct routing inner = *from;
	struct slice rest;
	struct path path;

	inner.rule = (struct rcpt_rule){ "list", list->at.file,
	    list->at.line };
	inner.domain = slice_of(list->domain);
	if (path_parse(slice_of(list->owner), PATH_BARE_OK | PATH_LOCAL_OK |
	    PATH_UTF8, &path, &rest, err) != 0)
		return routing_trouble(&inner, "list", "");
	if (!routing_opens(&inner, slice_of(arena_printf(inner.rcpts->arena,
	    "owner %s@%s", list->local, list->domain))) ||
	    !expand_deeper(&inner))
		return 0;
	return route_path(&inner, &path, err);
}

enum route_answer
route_list(struct routing *routing, struct slice name, struct slice local,
    struct err *err)
{
	struct slice key = slice_lower(routing->rcpts->arena, local);
	const struct conf_list *list;

	if (routing->router->conf->list_count == 0 || routing->is_plain)
		return ROUTE_NO;
	list = list_named(routing, key, name);
	if (list != NULL)
		routing_note(routing, "list %s@%s (%s:%u)", list->local,
		    list->domain, list->at.file, list->at.line);
	if (list != NULL)
		return route_done(list_open(routing, list, err));
	list = list_owned(routing, key, name);
	if (list == NULL)
		return ROUTE_NO;
	routing_note(routing, "owner of list %s@%s (%s:%u)", list->local,
	    list->domain, list->at.file, list->at.line);
	return route_done(list_open_owner(routing, list, err));
}

/* local.c - addresses of ours: aliases, accounts, postmaster
 *
 * In     a local part in one of our domains
 * Out    places; for an alias those of all its items
 * Holds  nothing; an :include: file is read while it is opened
 * Trusts the tables' owners; a list file only when nobody else may write it
 * Spec   zmailer-aliases(5); RFC 5321 sections 3.9, 4.5.1 (postmaster)
 *
 * SPDX-License-Identifier: ISC
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "grammar/alias.h"
#include "router/route_internal.h"

#include "base/banned.h"

enum { INCLUDE_BYTES_MAX = 16 << 20 };

struct here {			/* a local part and where it is looked up */
	const struct conf_domain *domain;
	struct slice		 name;	/* of the domain */
	struct slice		 local;	/* plain */
	struct slice		 key;	/* plain, lower case */
	struct table		*aliases;	/* NULL: none */
	const struct path	*path;
};

static int alias_open(struct routing *from, const struct here *here,
    struct slice value, unsigned line, struct err *err);

/* ---- the end of the way ---------------------------------------------- */

/* As ours become part of a mailbox's path, most bytes are refused. */
static bool
is_mailbox_name(struct slice name)
{
	if (name.n == 0 || name.n > LOCAL_MAX_BYTES || name.p[0] == '.' ||
	    name.p[0] == '-')
		return false;
	for (size_t i = 0; i < name.n; i++) {
		unsigned char c = (unsigned char)name.p[i];

		if (c <= ' ' || c == 127 || c == '/' || c == '\\')
			return false;
	}
	return true;
}

static bool
is_local_channel(const struct conf_domain *domain)
{
	return slice_is(slice_of(domain->deliver.channel), "local");
}

/* The mailbox agent's templates may speak of the domain and of what stands
 * behind + as it came. */
static struct slice
mailbox_user(struct routing *routing, const struct here *here,
    struct slice account)
{
	struct arena *arena = routing->places->arena;
	struct slice plain = path_local_plain(arena, here->path);
	size_t plus = slice_find(plain, '+');

	if (!routing->router->conf->mailbox_is_addressed)
		return account;
	if (plus > 0 && plus + 1 < plain.n && plus == account.n &&
	    is_mailbox_name(plain))
		account = slice_of(arena_printf(arena,
		    SLICE_FMT SLICE_FMT, SLICE_ARG(account),
		    SLICE_ARG(slice_from(plain, plus))));
	return routing_join(routing, account, here->name);
}

static void
deliver(struct routing *routing, const struct here *here,
    struct slice account, int64_t uid)
{
	const struct conf_deliver *to = &here->domain->deliver;
	struct place_rule rule = { "domain", here->domain->at.file,
	    here->domain->at.line };

	if (!is_local_channel(here->domain))
		routing_add(routing, to->channel, slice_of(to->host),
		    routing_join(routing, here->path->local, here->name), uid,
		    &rule);
	else
		routing_add(routing, "local", SLICE("-"),
		    mailbox_user(routing, here, account), uid, &rule);
}

static int
account_find(struct routing *routing, const struct here *here,
    struct slice *out_name, int64_t *out_uid, struct err *err)
{
	struct users *users = routing->router->users;
	int found = users_find(users, here->local, out_uid, err);

	*out_name = here->local;
	if (found == 0 && !slice_equal(here->local, here->key)) {
		*out_name = here->key;
		found = users_find(users, here->key, out_uid, err);
	}
	return found < 0 ? routing_trouble(routing, "passwd", "") : found;
}

static int
users_table_find(struct routing *routing, const struct here *here,
    struct err *err)
{
	struct table *table = routing_table(routing,
	    here->domain->users_table, err);
	struct slice value;
	unsigned line;
	int found;

	if (table == NULL)
		return -1;
	found = routing_lookup(routing, table,
	    routing_join(routing, here->key, here->name), &value, &line, err);
	if (found == 0)
		found = routing_lookup(routing, table, here->key, &value,
		    &line, err);
	return found;
}

/* returns 1 delivered, 0 no such user, -1 trouble. */
static int
try_user(struct routing *routing, const struct here *here, struct err *err)
{
	struct slice account = here->key;
	int64_t uid = PLACE_UID_NOBODY;
	int found = 1;

	if (is_local_channel(here->domain) && !is_mailbox_name(here->key))
		return 0;
	if (here->domain->users == USERS_PASSWD)
		found = account_find(routing, here, &account, &uid, err);
	else if (here->domain->users == USERS_TABLE)
		found = users_table_find(routing, here, err);
	if (found == 1)
		deliver(routing, here, account, uid);
	return found;
}

/* ---- aliases --------------------------------------------------------- */

static int
try_alias(struct routing *routing, const struct here *here, struct err *err)
{
	struct slice value;
	unsigned line;
	int found;

	if (here->aliases == NULL || routing->is_plain)
		return 0;
	found = routing_lookup(routing, here->aliases,
	    routing_join(routing, here->key, here->name), &value, &line, err);
	if (found == 0)
		found = routing_lookup(routing, here->aliases, here->key,
		    &value, &line, err);
	if (found == 1 && alias_open(routing, here, value, line, err) != 1)
		return -1;
	return found;
}

/* "@domain": everybody there; as value "@other" means the same name. */
static int
try_catch_all(struct routing *routing, const struct here *here,
    struct err *err)
{
	struct slice value, domain;
	unsigned line;
	int found;

	if (here->aliases == NULL || routing->is_plain)
		return 0;
	found = routing_lookup(routing, here->aliases,
	    routing_join(routing, SLICE(""), here->name), &value, &line, err);
	if (found != 1)
		return found;
	domain = slice_trim(value);
	if (slice_starts(domain, "@") && slice_find(domain, ',') == domain.n)
		value = routing_join(routing, here->path->local,
		    slice_from(domain, 1));
	return alias_open(routing, here, value, line, err);
}

/* One name is opened once a message: a second time its places are there
 * already, and a loop ends here. */
static bool
expanded_before(struct routing *routing, struct slice what)
{
	struct routing_count *counts = routing->counts;
	size_t number;

	if (memo_add(&routing->places->expanded, what, &number))
		return false;
	if (number < counts->first_expanded)
		counts->hits++;
	else
		counts->met_loop = true;
	return true;
}

/* With an alias owner-NAME, reports about NAME's recipients go to it.  What
 * has no sender keeps none: the places' sender 0 may be null. */
static int
find_owner(struct routing *routing, const struct here *here, struct err *err)
{
	struct plan_sender owner = { .delimiter = 0 };
	struct slice key, value;
	unsigned line;
	int found;

	if (slice_starts(here->key, "owner-"))
		return 0;
	key = slice_of(arena_printf(routing->places->arena,
	    "owner-" SLICE_FMT, SLICE_ARG(here->key)));
	found = routing_lookup(routing, here->aliases, key, &value, &line,
	    err);
	if (found != 1)
		return found;
	owner.address = routing_join(routing, key, here->name);
	routing->sender = places_sender(routing->places, &owner);
	return 1;
}

/* Read a list file.  returns 1, -1 trouble. */
static int
include_read(struct routing *routing, const char *path, struct slice *out,
    int64_t *out_uid, struct err *err)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;
	ssize_t got = -1;
	char *bytes;

	if (fd < 0) {
		err_sys(err, "open the list %s", path);
		return routing_trouble(routing, "include", "");
	}
	if (fstat(fd, &st) != 0)
		err_sys(err, "fstat the list %s", path);
	else if (!S_ISREG(st.st_mode))
		err_set(err, "the list %s is no regular file", path);
	else if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0)
		err_set(err, "the list %s can be written by others than its "
		    "owner: chmod go-w it", path);
	else if (st.st_size > INCLUDE_BYTES_MAX)
		err_set(err, "the list %s is larger than %d bytes", path,
		    INCLUDE_BYTES_MAX);
	else {
		bytes = arena_alloc(routing->places->arena,
		    (size_t)st.st_size + 1);
		got = read(fd, bytes, (size_t)st.st_size);
		*out = (struct slice){ bytes, got > 0 ? (size_t)got : 0 };
		*out_uid = st.st_uid == 0 ? PLACE_UID_NOBODY :
		    (int64_t)st.st_uid;
		if (got != st.st_size)
			err_sys(err, "read the list %s", path);
	}
	close(fd);
	return got >= 0 && got == st.st_size ? 1 :
	    routing_trouble(routing, "include", "");
}

/* Is this item the alias itself, which means the mailbox of that name? */
static bool
is_itself(const struct alias_item *item, const struct here *here)
{
	return slice_equal_nocase(item->path.local, here->key) &&
	    (item->path.domain.n == 0 ||
	    slice_equal_nocase(item->path.domain, here->name));
}

static int open_items(struct routing *routing, const struct here *here,
    struct slice value, enum alias_flags flags, struct err *err);

static int
open_include(const struct routing *from, const struct here *here,
    struct slice path, struct err *err)
{
	struct routing inner = *from;
	struct slice text;

	if (expanded_before(&inner, path))
		return 1;
	if (++inner.depth > inner.router->conf->limits.expansion_depth) {
		inner.counts->is_over = true;
		return 1;
	}
	if (include_read(&inner, slice_dup(inner.places->arena, path), &text,
	    &inner.uid, err) != 1)
		return -1;
	return open_items(&inner, here, text, ALIAS_COMMENTS, err);
}

static int
open_item(struct routing *routing, const struct here *here,
    const struct alias_item *item, struct err *err)
{
	struct routing inner = *routing;

	switch (item->kind) {
	case ALIAS_INCLUDE:
		return open_include(routing, here, item->text, err);
	case ALIAS_PROGRAM:
		routing_add(routing, "pipe", SLICE("-"), item->text,
		    routing->uid, &routing->rule);
		return 1;
	case ALIAS_FILE:
		routing_add(routing, "local", SLICE("file"), item->text,
		    routing->uid, &routing->rule);
		return 1;
	case ALIAS_MAILBOX:
	case ALIAS_ADDRESS:
		inner.is_plain = item->kind == ALIAS_MAILBOX ||
		    is_itself(item, here);
		inner.uid = PLACE_UID_NOBODY;
		return route_path(&inner, &item->path, err);
	}
	return 1;
}

/* A bad item makes the alias' address an error place: its sender hears. */
static int
open_items(struct routing *routing, const struct here *here,
    struct slice value, enum alias_flags flags, struct err *err)
{
	struct alias_item item;
	struct err bad;
	int more;

	while (!routing->counts->is_over && (more = alias_next(
	    routing->places->arena, &value, flags, &item, &bad)) != 0) {
		if (more < 0)
			routing_refuse(routing, "badaddress", here->path,
			    &routing->rule);
		else if (open_item(routing, here, &item, err) != 1)
			return -1;
	}
	return 1;
}

/* One address, which may be nobody: a check follows it.  A list, a program
 * or a file is somebody. */
static bool
is_one_address(struct routing *routing, struct slice value)
{
	struct alias_item item, second;
	struct err err;

	return alias_next(routing->places->arena, &value, 0, &item, &err) ==
	    1 && (item.kind == ALIAS_ADDRESS || item.kind == ALIAS_MAILBOX) &&
	    alias_next(routing->places->arena, &value, 0, &second, &err) == 0;
}

static int
alias_open(struct routing *from, const struct here *here, struct slice value,
    unsigned line, struct err *err)
{
	struct routing inner = *from;

	if (expanded_before(&inner, routing_join(&inner, here->key,
	    here->name)))
		return 1;
	if (++inner.depth > inner.router->conf->limits.expansion_depth) {
		inner.counts->is_over = true;
		return 1;
	}
	if (inner.places->is_check && !is_one_address(&inner, value)) {
		inner.counts->hits++;
		return 1;
	}
	inner.domain = here->name;
	inner.rule = (struct place_rule){ "alias", table_name(here->aliases),
	    line };
	if (find_owner(&inner, here, err) < 0)
		return -1;
	return open_items(&inner, here, value, 0, err);
}

/* ---- in order -------------------------------------------------------- */

/* Every domain has a postmaster (RFC 5321 section 4.5.1): whom the
 * configuration names, and root when that is nobody. */
static int
try_postmaster(struct routing *routing, const struct here *here,
    struct err *err)
{
	struct slice who = slice_of(routing->router->conf->postmaster), rest;
	struct routing inner = *routing;
	struct path path;

	if (!slice_is(here->key, "postmaster") &&
	    !slice_is(here->key, "mailer-daemon"))
		return 0;
	if (routing->counts->was_postmaster)
		return 0;
	routing->counts->was_postmaster = true;
	inner.rule = (struct place_rule){ .kind = "postmaster" };
	if (slice_is_nocase(who, "postmaster"))
		who = SLICE("root");
	if (path_parse(who, PATH_BARE_OK | PATH_LOCAL_OK | PATH_UTF8, &path,
	    &rest, err) != 1)
		return 0;
	return route_path(&inner, &path, err);
}

/* An alias or a user of this name.  1, 0 none, -1 trouble. */
static int
try_name(struct routing *routing, struct here *here, struct slice local,
    bool is_user_too, struct err *err)
{
	int found;

	here->local = local;
	here->key = slice_lower(routing->places->arena, local);
	found = try_alias(routing, here, err);
	if (found == 0 && is_user_too)
		found = try_user(routing, here, err);
	return found;
}

int
route_local(struct routing *routing, const struct conf_domain *domain,
    struct slice name, const struct path *path, struct err *err)
{
	struct slice local = path_local_plain(routing->places->arena, path);
	size_t plus = slice_find(local, '+');
	bool has_detail = plus > 0 && plus < local.n;
	struct here here = { .domain = domain, .name = name, .path = path };
	struct place_rule rule = { "domain", domain->at.file,
	    domain->at.line };
	int found;

	if (domain->aliases_table != NULL && (here.aliases = routing_table(
	    routing, domain->aliases_table, err)) == NULL)
		return -1;
	/* where everybody exists, user+detail is user */
	found = try_name(routing, &here, local,
	    !has_detail || domain->users != USERS_ANY, err);
	if (found == 0 && has_detail)
		found = try_name(routing, &here, slice_first(local, plus),
		    true, err);
	if (found == 0)
		found = try_postmaster(routing, &here, err);
	if (found == 0)
		found = try_catch_all(routing, &here, err);
	if (found == 0)
		routing_refuse(routing, "nouser", &(struct path){
		    .local = path->local, .domain = name }, &rule);
	return found < 0 ? -1 : 1;
}

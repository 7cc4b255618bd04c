/* expand.c - what an alias stands for, item by item
 *
 * In     the value of an alias, the lines of a list file
 * Out    recipients of all its items
 * Holds  nothing; a list file is read while it is routed
 * Trusts the tables' owners, and list files as far as include.c does
 * Spec   zmailer-aliases(5); RFC 5321 section 3.9; RFC 3461 section 5.2.7
 *
 * A bad item in a table is trouble: the message waits until the table is
 * mended.  A bad line in a list file, which others write, is named in the
 * journal and left out.
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/route/expand.h"

#include "journal/counters.h"
#include "journal/event.h"
#include "base/mem.h"
#include "grammar/message/alias.h"
#include "router/route/include.h"

#include "base/banned.h"

enum { BAD_LINES_MAX = 20 };	/* in the journal, a message */

static int expand_item(struct routing *routing, const struct here *here,
    const struct alias_item *item, struct err *err);

bool
expand_deeper(struct routing *routing)
{
	if (++routing->depth <= routing->router->conf->limits.expansion_depth)
		return true;
	counters_limit("expansion");
	routing->counts->is_over = true;
	return false;
}

/* ---- list files ------------------------------------------------------- */

static void
expand_report_line(struct routing *routing, const struct include *include,
    const char *reason)
{
	struct rcpts *rcpts = routing->rcpts;

	routing_note(routing, "%s:%u: %s", include->path, include->line,
	    reason);
	if (rcpts->bad_lines++ >= BAD_LINES_MAX || rcpts->notes != NULL)
		return;
	event(EV_LIST_LINE, rcpts->id[0] ? rcpts->id : NULL,
	    "file", slice_of(include->path),
	    "line", event_number(include->line), "reason",
	    slice_of(rcpts->bad_lines < BAD_LINES_MAX ? reason :
	    "and more"), NULL);
}

static int
expand_line(struct routing *routing, const struct here *here,
    const struct include *include, struct slice line, struct err *err)
{
	struct alias_item item;
	struct err bad = { "" };
	int more;

	if (line.n > INCLUDE_LINE_BYTES_MAX) {
		expand_report_line(routing, include, "the line is too long");
		return 0;
	}
	while (!routing->counts->is_over &&
	    (more = alias_next(routing->rcpts->arena, &line, ALIAS_COMMENTS,
	    &item, &bad)) != ALIAS_END) {
		if (more < 0)
			expand_report_line(routing, include, bad.text);
		else if (expand_item(routing, here, &item, err) < 0)
			return -1;
	}
	return 0;
}

/* What a line left in the arena can go when nothing else points there: its
 * recipients are in the control file, no name and no sender was added. */
static int
expand_line_and_forget(struct routing *routing, const struct here *here,
    const struct include *include, struct slice line, struct err *err)
{
	struct rcpts *rcpts = routing->rcpts;
	struct arena_mark mark = arena_mark(rcpts->arena);
	size_t expanded = rcpts->expanded.count;
	size_t senders = rcpts->sender_keys.count;
	bool was_streaming = rcpts->is_streaming;
	size_t done = was_streaming ? rcpts->draft->done_count : 0;
	int result = expand_line(routing, here, include, line, err);

	if (was_streaming && result == 0 &&
	    rcpts->expanded.count == expanded &&
	    rcpts->sender_keys.count == senders &&
	    rcpts->draft->done_count == done)
		arena_back(rcpts->arena, mark);
	return result;
}

static int
expand_lines(struct routing *routing, const struct here *here,
    struct include *include, struct err *err)
{
	struct slice line;
	enum include_result more = INCLUDE_END;

	while (!routing->counts->is_over &&
	    (more = include_line(include, &line, err)) ==
	    INCLUDE_LINE)
		if (expand_line_and_forget(routing, here, include, line,
		    err) < 0)
			return -1;
	return more == INCLUDE_TROUBLE ?
	    routing_trouble(routing, "include", "") : 0;
}

int
expand_file(const struct routing *from, const struct here *here,
    struct slice path, struct err *err)
{
	struct routing inner = *from;
	struct include include;
	int result;

	if (!routing_opens(&inner, path) || !expand_deeper(&inner))
		return 0;
	if (include_open(&include, slice_dup(inner.rcpts->arena, path),
	    inner.uid, err) < 0)
		return routing_trouble(&inner, "include", "");
	routing_note(&inner, "list file " SLICE_FMT " of uid %ld",
	    SLICE_ARG(path), (long)include.seen.st_uid);
	inner.uid = include.seen.st_uid == 0 ? RCPT_UID_NOBODY :
	    (int64_t)include.seen.st_uid;
	result = expand_lines(&inner, here, &include, err);
	if (result == 0)
		return include_close(&include, err) == 0 ? 0 :
		    routing_trouble(&inner, "include", "");
	include_close(&include, NULL);
	return -1;
}

/* ---- items ------------------------------------------------------------ */

/* Is this item the alias itself?  Of a local alias that means the mailbox of
 * that name. */
static bool
expand_is_itself(const struct alias_item *item, const struct here *here)
{
	return slice_equal_nocase(item->path.local, here->key) &&
	    (item->path.domain.n == 0 ||
	    slice_equal_nocase(item->path.domain, here->name));
}

static int
expand_address(struct routing *routing, const struct here *here,
    const struct alias_item *item, struct err *err)
{
	struct routing inner = *routing;
	bool itself = expand_is_itself(item, here);

	inner.is_plain = item->kind == ALIAS_MAILBOX ||
	    (itself && here->domain != NULL);
	inner.skips_virtual = inner.is_plain || itself;
	inner.uid = RCPT_UID_NOBODY;
	return route_path(&inner, &item->path, err);
}

static int
expand_item(struct routing *routing, const struct here *here,
    const struct alias_item *item, struct err *err)
{
	if (routing->is_of_database && item->kind != ALIAS_MAILBOX &&
	    item->kind != ALIAS_ADDRESS)
		return err_set(err, "a database gives no right to a program, "
		    "a file or a list: '" SLICE_FMT "'",
		    SLICE_ARG(slice_first(item->text, 100)));
	switch (item->kind) {
	case ALIAS_INCLUDE:
		return expand_file(routing, here, item->text, err);
	case ALIAS_PROGRAM:
		return routing_add(routing, "pipe", SLICE("-"), item->text,
		    routing->uid, &routing->rule, err);
	case ALIAS_FILE:
		return routing_add(routing, "local", SLICE("file"),
		    item->text, routing->uid, &routing->rule, err);
	case ALIAS_MAILBOX:
	case ALIAS_ADDRESS:
		return expand_address(routing, here, item, err);
	}
	return 0;
}

static int
expand_trouble(struct routing *routing, const struct found *found,
    struct err *err)
{
	const char *path = table_path(found->table);
	struct err what = *err;

	err_set(err, "%s:%u: %s", path[0] ? path : table_name(found->table),
	    found->line, what.text);
	return routing_trouble(routing, "table-", table_name(found->table));
}

static int
expand_value(struct routing *routing, const struct here *here,
    const struct found *found, struct err *err)
{
	struct slice value = found->value;
	struct alias_item item;
	int more;

	while (!routing->counts->is_over &&
	    (more = alias_next(routing->rcpts->arena, &value, 0, &item,
	    err)) != ALIAS_END) {
		if (more < 0)
			return expand_trouble(routing, found, err);
		if (expand_item(routing, here, &item, err) == 0)
			continue;
		return routing->is_of_database && item.kind != ALIAS_MAILBOX &&
		    item.kind != ALIAS_ADDRESS ?
		    expand_trouble(routing, found, err) : -1;
	}
	return 0;
}

/* ---- aliases ---------------------------------------------------------- */

/* With an alias owner-NAME, reports about NAME's recipients go to it.  What
 * has no sender keeps none: the recipients' sender 0 may be null. */
static enum route_answer
expand_find_owner(struct routing *routing, const struct here *here,
    struct err *err)
{
	struct rcpt_sender owner = { .delimiter = 0 };
	struct found found;
	struct slice key;
	enum route_answer result;

	if (here->domain == NULL || slice_starts(here->key, "owner-"))
		return ROUTE_NO;
	key = slice_of(arena_printf(routing->rcpts->arena,
	    "owner-" SLICE_FMT, SLICE_ARG(here->key)));
	result = local_alias_find(routing, here, key, &found, err);
	if (result == ROUTE_YES && routing_waits(routing))
		return ROUTE_NO;
	if (result == ROUTE_YES) {
		owner.address = routing_join(routing, key, here->name);
		routing->sender = rcpts_sender(routing->rcpts, &owner);
	}
	return result;
}

enum extent { EXTENT_ADDRESS, EXTENT_OTHER, EXTENT_MANY };

/* One address: it goes on as if it had been written there.  Another item: a
 * program, a file.  Or several. */
static enum extent
expand_extent(struct routing *routing, struct slice value)
{
	struct alias_item item, second;
	struct err err;
	int first = alias_next(routing->rcpts->arena, &value, 0, &item,
	    &err);

	if (first == 1 && item.kind != ALIAS_INCLUDE && alias_next(
	    routing->rcpts->arena, &value, 0, &second, &err) == ALIAS_END)
		return item.kind == ALIAS_ADDRESS ||
		    item.kind == ALIAS_MAILBOX ? EXTENT_ADDRESS :
		    EXTENT_OTHER;
	return first == 1 ? EXTENT_MANY : EXTENT_OTHER;
}

/* RFC 3461 section 5.2.7: a list answers for itself, an alias of several
 * tells that it was expanded, an alias of one passes everything on. */
static void
expand_answer_for(const struct routing *from, struct routing *routing,
    const struct here *here, struct slice value)
{
	bool is_list = routing->sender != from->sender;
	unsigned notify = from->notify;

	if (dsn_wants(notify, DSN_NOTIFY_SUCCESS) && (is_list ||
	    expand_extent(routing, value) == EXTENT_MANY)) {
		routing_done(from, routing_join(routing, here->path->local,
		    here->name), is_list ? RCPT_DELIVERED : RCPT_EXPANDED,
		    &routing->rule);
		notify &= ~(unsigned)DSN_NOTIFY_SUCCESS;
		routing->notify = notify ? notify : DSN_NOTIFY_NEVER;
	}
	if (is_list)
		routing->notify = DSN_NOTIFY_DEFAULT;
}

int
expand_alias(const struct routing *from, const struct here *here,
    const struct found *found, const char *what, struct err *err)
{
	struct routing inner = *from;
	int64_t owner = table_owner(found->table);
	struct slice name = routing_join(&inner, here->key, here->name);

	if (here->domain == NULL)	/* virtual: a name of its own */
		name = routing_join(&inner, name, SLICE("virtual"));
	if (!routing_opens(&inner, name) || !expand_deeper(&inner))
		return 0;
	inner.is_of_database = table_is_asked(found->table);
	if (inner.rcpts->is_check && !inner.is_of_database &&
	    expand_extent(&inner, found->value) != EXTENT_ADDRESS) {
		/* it is somebody: a check need not look further */
		inner.counts->hits++;
		return 0;
	}
	inner.domain = here->name;
	inner.uid = owner > 0 ? owner : RCPT_UID_NOBODY;
	inner.rule = (struct rcpt_rule){ what, table_name(found->table),
	    found->line };
	if (expand_find_owner(&inner, here, err) == ROUTE_TROUBLE)
		return -1;
	if (inner.counts->waits)
		return 0;
	expand_answer_for(from, &inner, here, found->value);
	return expand_value(&inner, here, found, err);
}

/* copies.c - who else gets a message
 *
 * In     recipients as they came, the sender
 * Out    one more recipient for each copy, of which nothing is reported
 * Holds  nothing; what was asked for is kept in the recipients
 * Trusts `with` of an envelope: the router clears it in a user's submission
 * Spec   zmailer.conf(5), copy and archive; RFC 3461 section 4.1 (NEVER)
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/message/copies.h"


#include "base/mem.h"

#include "base/banned.h"

/* Copied already, or made here: a report, mail that is routed again. */
static bool
copies_are_wanted(const struct conf *conf, const struct envelope *envelope)
{
	return envelope == NULL || (envelope->dsn_of.n == 0 &&
	    !slice_is(envelope->with, "reroute") &&
	    !slice_is(envelope->user, conf->accounts[ROLE_AGENT]));
}

static int
copies_add_file(struct routing *routing, const struct conf_copy *copy,
    struct err *err)
{
	int64_t uid;
	int found = users_find(routing->router->users,
	    slice_of(copy->account), &uid, err);

	if (found < 0)
		return routing_trouble(routing, "passwd", "");
	if (found == 0) {
		err_set(err, "%s:%u: there is no account %s", copy->at.file,
		    copy->at.line, copy->account);
		return routing_trouble(routing, "copy", "");
	}
	return routing_add(routing, "local", SLICE("file"),
	    slice_of(copy->target), uid, &routing->rule, err);
}

static int
copies_add_one(struct router *router, struct rcpts *rcpts,
    const struct conf_copy *copy, struct err *err)
{
	struct given_rcpt given = { .notify = DSN_NOTIFY_NEVER };
	struct routing_count counts = {
		.first_expanded = rcpts->expanded.count
	};
	struct routing routing = { .router = router, .rcpts = rcpts,
	    .given = &given, .counts = &counts,
	    .domain = slice_of(router->conf->host), .uid = RCPT_UID_NOBODY,
	    .notify = DSN_NOTIFY_NEVER,
	    .rule = { "copy", copy->at.file, copy->at.line } };
	struct slice rest;
	enum route_answer fits = who_sends(&routing, copy->sender, err);

	if (fits != ROUTE_YES)
		return fits == ROUTE_TROUBLE ? -1 : 0;
	routing.to = slice_of(copy->target);
	routing_note(&routing, "copy to %s (%s:%u)", copy->target,
	    copy->at.file, copy->at.line);
	if (copy->account != NULL)
		return copies_add_file(&routing, copy, err);
	if (path_parse(routing.to, PATH_BARE_OK | PATH_LOCAL_OK | PATH_UTF8,
	    &given.path, &rest, err) != 0)
		return routing_trouble(&routing, "copy", "");
	return route_path(&routing, &given.path, err);
}

int
copies_add(struct router *router, struct rcpts *rcpts,
    const struct envelope *envelope, struct err *err)
{
	const struct conf *conf = router->conf;

	if (conf->copy_count == 0 || !copies_are_wanted(conf, envelope))
		return 0;
	for (size_t i = 0; i < conf->copy_count; i++)
		if ((conf->copies[i].rcpt == NULL ||
		    (rcpts->copies != NULL && rcpts->copies[i])) &&
		    copies_add_one(router, rcpts, &conf->copies[i], err) < 0)
			return -1;
	return 0;
}

/* routes.c - recipients that were routed, routed again
 *
 * In     rcpt.routed and message.routed of the journal; the router's own code
 *        under the new configuration
 * Out    a row for each recipient that would go elsewhere
 * Holds  the ways of one recipient
 * Trusts nothing in a line
 * Spec   zmailer-replay(8); router/ask/ask.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "tools/zmailer/replay/partner.h"
#include "tools/zmailer/replay/routed.h"

#include "base/banned.h"

enum { WAYS_MAX = 100, ROUTE_BYTES_MAX = 4000 };

struct ways {			/* of one recipient, sorted */
	struct arena	*arena;
	const char	*texts[WAYS_MAX];
	size_t		 count;
	struct str	 rule;		/* of the first */
};

struct rerouting {
	struct replay	*replay;
	struct partner	 partner;
};

static void
ways_add(struct ways *ways, struct slice line)
{
	struct str channel = STR_INIT, host = STR_INIT, user = STR_INIT;

	if (ways->count < WAYS_MAX &&
	    json_get(line, "channel", &channel)) {
		(void)json_get(line, "host", &host);
		(void)json_get(line, "user", &user);
		ways->texts[ways->count++] = arena_printf(ways->arena,
		    "%s/%s %s", channel.buf, host.buf, user.buf);
	} else if (ways->count < WAYS_MAX &&
	    json_get(line, "trouble", &user)) {
		ways->texts[ways->count++] = arena_printf(ways->arena,
		    "deferred: %s", user.buf);
	}
	str_release(&channel);
	str_release(&host);
	str_release(&user);
}

static int
way_compare(const void *left, const void *right)
{
	return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static bool
ways_equal(const struct ways *a, const struct ways *b)
{
	if (a->count != b->count)
		return false;
	for (size_t i = 0; i < a->count; i++)
		if (strcmp(a->texts[i], b->texts[i]) != 0)
			return false;
	return true;
}

static void
ways_join(const struct ways *ways, struct str *out)
{
	for (size_t i = 0; i < ways->count && out->len < ROUTE_BYTES_MAX; i++)
		str_addf(out, "%s%s", i > 0 ? "; " : "", ways->texts[i]);
	if (ways->count == 0)
		str_adds(out, "nowhere");
}

/* "zmailer.conf:12 (route)" */
static void
ways_take_rule(struct ways *ways, struct slice line)
{
	struct str kind = STR_INIT, file = STR_INIT;
	int64_t number = json_get_number(line, "line");

	if (ways->rule.len == 0 && json_get(line, "rule", &kind)) {
		(void)json_get(line, "file", &file);
		if (file.len > 0 && number > 0)
			str_addf(&ways->rule, "%s:%lld (%s)", file.buf,
			    (long long)number, kind.buf);
		else
			str_add_slice(&ways->rule, str_slice(&kind));
	}
	str_release(&kind);
	str_release(&file);
}

static int
ways_ask(struct rerouting *rerouting, const struct routed *routed,
    struct slice to, struct ways *out, struct err *err)
{
	struct str question = STR_INIT, from = STR_INIT, user = STR_INIT;
	struct slice line = { "", 0 };
	int result;

	(void)json_get(routed->end, "from", &from);
	(void)json_get(routed->end, "user", &user);
	str_addf(&question, "way " SLICE_FMT "\t%s\t\t%s", SLICE_ARG(to),
	    from.buf, user.buf);
	result = partner_ask(&rerouting->partner, str_slice(&question), &line,
	    err);
	while (result == 0 && line.n > 0) {
		ways_add(out, line);
		ways_take_rule(out, line);
		result = partner_read(&rerouting->partner, &line, err);
	}
	str_release(&question);
	str_release(&from);
	str_release(&user);
	return result;
}

static void
route_tell(struct rerouting *rerouting, const struct routed *routed,
    struct slice to, const struct ways *before, const struct ways *after)
{
	struct str when = STR_INIT, from = STR_INIT, was = STR_INIT,
		is = STR_INIT;
	struct difference difference = { .kind = "route", .to = to,
	    .rule = str_slice(&after->rule) };

	(void)json_get(routed->end, "from", &from);
	(void)json_get(slice_first(routed->lines, slice_find(routed->lines,
	    '\n')), "t", &when);
	ways_join(before, &was);
	ways_join(after, &is);
	difference.when = str_slice(&when);
	difference.from = str_slice(&from);
	difference.before = str_slice(&was);
	difference.after = str_slice(&is);
	replay_tell(rerouting->replay, &difference);
	str_release(&when);
	str_release(&from);
	str_release(&was);
	str_release(&is);
}

/* One recipient as it came: where it went then and goes now. */
static int
route_compare(struct rerouting *rerouting, const struct routed *routed,
    struct slice to, struct err *err)
{
	struct ways before = { .arena = arena_new() },
		after = { .arena = before.arena };
	struct slice rest = routed->lines, line;
	struct str value = STR_INIT;
	int result;

	str_init(&before.rule);
	str_init(&after.rule);
	while (rest.n > 0 && slice_cut(&rest, '\n', &line))
		if (json_get(line, "to", &value) &&
		    slice_equal(str_slice(&value), to))
			ways_add(&before, line);
	result = ways_ask(rerouting, routed, to, &after, err);
	qsort(before.texts, before.count, sizeof(*before.texts), way_compare);
	qsort(after.texts, after.count, sizeof(*after.texts), way_compare);
	rerouting->replay->seen++;
	if (result == 0 && !ways_equal(&before, &after))
		route_tell(rerouting, routed, to, &before, &after);
	str_release(&value);
	str_release(&before.rule);
	str_release(&after.rule);
	arena_free(&before.arena);
	return result;
}

/* Did an earlier line of the message have it? */
static bool
route_is_again(struct slice lines, const char *at, struct slice to)
{
	struct str value = STR_INIT;
	struct slice line;
	bool result = false;

	while (!result && lines.p < at && slice_cut(&lines, '\n', &line))
		result = line.p < at && json_get(line, "to", &value) &&
		    slice_equal(str_slice(&value), to);
	str_release(&value);
	return result;
}

static int
routes_of_message(void *context, const struct routed *routed,
    struct err *err)
{
	struct slice rest = routed->lines, line;
	struct str to = STR_INIT;
	int result = 0;

	while (result == 0 && rest.n > 0 && slice_cut(&rest, '\n', &line))
		if (json_get(line, "to", &to) && to.len > 0 &&
		    !route_is_again(routed->lines, line.p, str_slice(&to)))
			result = route_compare(context, routed,
			    str_slice(&to), err);
	str_release(&to);
	return result;
}

int
replay_routes(struct replay *replay, struct err *err)
{
	static const char *const words[] = { "--ask", NULL };
	struct rerouting rerouting = { .replay = replay };
	int result = partner_start(&rerouting.partner, "router", words,
	    replay->fresh_path, err);

	if (result == 0)
		result = routed_each(replay, routes_of_message, &rerouting,
		    err);
	partner_end(&rerouting.partner);
	return result;
}

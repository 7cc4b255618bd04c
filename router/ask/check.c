/* check.c - would this recipient be served?
 *
 * In     one address, from anywhere
 * Out    served, refused with a form, or trouble
 * Holds  nothing
 * Trusts the configuration and its tables; no byte of an address
 * Spec   doc/INTERNALS section 7; RFC 5321 section 3.3
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/ask/check.h"

#include "base/mem.h"

#include "base/banned.h"

enum { ROUTE_PLACES_MAX = 100 };

/* Served when one place is no error. */
static enum check_result
judge(const struct places *places, struct slice *out_form)
{
	for (size_t i = 0; i < places->held; i++) {
		if (!slice_is(places->list[i].channel, "error")) {
			*out_form = SLICE("");
			return CHECK_SERVED;
		}
		*out_form = places->list[i].host;
	}
	return out_form->n > 0 ? CHECK_REFUSED : CHECK_SERVED;
}

enum check_result
router_check(struct router *router, struct arena *arena,
    const struct path *path, struct slice *out_form, struct err *err)
{
	struct route_request request = { .path = *path };
	enum check_result result = CHECK_TROUBLE;
	struct places places;

	*out_form = SLICE("");
	places_init(&places, arena);
	places.is_check = true;
	if (router_address(router, &places, &request, err) == 1)
		result = judge(&places, out_form);
	places_release(&places);
	return result;
}

/* ---- what a script says at RCPT ---------------------------------------- */

/* Of an address elsewhere only the script is asked: trouble with a route is
 * no reason to turn mail away. */
static int
ask_script(struct router *router, struct places *places,
    const struct path *path, struct err *err)
{
	struct route_request request = { .path = *path };
	struct slice name;
	struct err bad;

	if (router_domain(places->arena, path->domain, &name, &bad) == 1 &&
	    conf_domain_find(router_conf(router), name) == NULL)
		return router_only_hook(router, places, &request, err);
	return router_address(router, places, &request, err);
}

static void
answer_script(struct router *router, struct arena *arena, struct slice line,
    struct str *out)
{
	struct slice to = { NULL, 0 }, from = { NULL, 0 }, form = { NULL, 0 };
	struct place_asker asker = { { NULL, 0 }, { NULL, 0 } };
	struct places places;
	struct path path;
	struct err err;

	if (!slice_cut(&line, '\t', &to) || !slice_cut(&line, '\t', &from) ||
	    !slice_cut(&line, '\t', &asker.client) ||
	    path_parse(to, PATH_BARE_OK | PATH_LOCAL_OK | PATH_UTF8, &path,
	    &to, &err) != 1 || to.n > 0) {
		str_adds(out, "trouble not a question");
		return;
	}
	asker.user = line;
	places_init(&places, arena);
	places_reset(&places, 0, NULL, from);
	places.is_check = true;
	places.asker = asker;
	if (ask_script(router, &places, &path, &err) != 1) {
		if (places.deferral.n > 0)
			str_addf(out, "ok later " SLICE_FMT,
			    SLICE_ARG(places.deferral));
		else
			str_addf(out, "trouble %s", err.text);
	} else if (judge(&places, &form) == CHECK_SERVED) {
		str_adds(out, "ok served");
	} else {
		str_addf(out, "ok refused " SLICE_FMT, SLICE_ARG(form));
	}
	places_release(&places);
}

enum { MEMBERS_BYTES_MAX = 12000 };	/* an answer has a bound, too */

/* Not what is nobody's address: programs, files, refusals. */
static bool
is_shown(const struct place *place)
{
	static const char *const channels[] = { "smtp", "lmtp", "local" };

	for (size_t i = 0; i < sizeof(channels) / sizeof(channels[0]); i++)
		if (slice_is(place->channel, channels[i]))
			return place->user.n > 0 &&
			    slice_find(place->user, ' ') == place->user.n;
	return false;
}

static void
add_members(const struct places *places, struct str *out)
{
	struct str members = STR_INIT;
	size_t count = places->count - places->held;

	for (size_t i = 0; i < places->held; i++) {
		if (!is_shown(&places->list[i]))
			continue;
		count++;
		if (members.len < MEMBERS_BYTES_MAX)
			str_addf(&members, " " SLICE_FMT,
			    SLICE_ARG(places->list[i].user));
	}
	if (count > 0)
		str_addf(out, "ok members %zu%s", count, members.buf);
	else
		str_adds(out, "ok refused nouser");
	str_release(&members);
}

static void
answer_list(struct router *router, struct arena *arena,
    const struct path *path, struct str *out)
{
	struct route_request request = { .path = *path };
	struct places places;
	struct err err;

	places_init(&places, arena);
	if (router_address(router, &places, &request, &err) != 1)
		str_addf(out, "trouble %s", err.text);
	else
		add_members(&places, out);
	places_release(&places);
}

static void
answer_rcpt(struct router *router, struct arena *arena,
    const struct path *path, struct str *out)
{
	struct slice form;
	struct err err;

	switch (router_check(router, arena, path, &form, &err)) {
	case CHECK_SERVED:
		str_adds(out, "ok served");
		break;
	case CHECK_REFUSED:
		str_addf(out, "ok refused " SLICE_FMT, SLICE_ARG(form));
		break;
	case CHECK_TROUBLE:
		str_addf(out, "trouble %s", err.text);
		break;
	}
}

/* "CHANNEL HOST USER; ..." of all places. */
static void
answer_route(struct router *router, struct arena *arena,
    const struct path *path, struct str *out)
{
	struct route_request request = { .path = *path };
	struct places places;
	struct err err;

	places_init(&places, arena);
	if (router_address(router, &places, &request, &err) != 1) {
		str_addf(out, "trouble %s", err.text);
		places_release(&places);
		return;
	}
	str_adds(out, "ok ");
	for (size_t i = 0; i < places.held && i < ROUTE_PLACES_MAX; i++)
		str_addf(out, "%s" SLICE_FMT " " SLICE_FMT " " SLICE_FMT,
		    i > 0 ? "; " : "", SLICE_ARG(places.list[i].channel),
		    SLICE_ARG(places.list[i].host),
		    SLICE_ARG(places.list[i].user));
	places_release(&places);
}

void
router_check_line(struct router *router, struct arena *arena,
    struct slice line, struct str *out)
{
	struct slice verb = { NULL, 0 }, rest;
	struct err err = { "" };
	struct path path;

	if (slice_starts(line, " "))
		line = slice_from(line, 1);
	if (slice_starts(line, "hook ")) {
		answer_script(router, arena, slice_from(line, 5), out);
		return;
	}
	if (!slice_word(&line, &verb) ||
	    (!slice_is(verb, "rcpt") && !slice_is(verb, "list") &&
	    !slice_is(verb, "route")) ||
	    path_parse(slice_from(line, line.n > 0), PATH_BARE_OK |
	    PATH_LOCAL_OK | PATH_UTF8, &path, &rest, &err) != 1 ||
	    rest.n > 0)
		str_addf(out, "trouble not a question: %s", err.text);
	else if (slice_is(verb, "rcpt"))
		answer_rcpt(router, arena, &path, out);
	else if (slice_is(verb, "route"))
		answer_route(router, arena, &path, out);
	else
		answer_list(router, arena, &path, out);
}

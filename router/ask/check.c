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

enum { ROUTE_RCPTS_MAX = 100 };

/* Served when one recipient is no error. */
static enum check_result
check_result(const struct rcpts *rcpts, struct slice *out_form)
{
	for (size_t i = 0; i < rcpts->held; i++) {
		if (!slice_is(rcpts->list[i].channel, "error")) {
			*out_form = SLICE("");
			return CHECK_SERVED;
		}
		*out_form = rcpts->list[i].host;
	}
	return out_form->n > 0 ? CHECK_REFUSED : CHECK_SERVED;
}

enum check_result
router_check(struct router *router, struct arena *arena,
    const struct path *path, struct slice *out_form, struct err *err)
{
	struct given_rcpt given = { .path = *path };
	enum check_result result = CHECK_TROUBLE;
	struct rcpts rcpts;

	*out_form = SLICE("");
	rcpts_init(&rcpts, arena);
	rcpts.is_check = true;
	if (router_address(router, &rcpts, &given, err) == ROUTE_ROUTED)
		result = check_result(&rcpts, out_form);
	rcpts_release(&rcpts);
	return result;
}

/* ---- what a script says at RCPT ---------------------------------------- */

/* Of an address elsewhere only the script is asked: trouble with a route is
 * no reason to turn mail away. */
static int
check_ask_script(struct router *router, struct rcpts *rcpts,
    const struct path *path, struct err *err)
{
	struct given_rcpt given = { .path = *path };
	enum table_result is_ours = TABLE_FOUND;
	const struct conf_domain *ours;
	struct slice name;
	struct err bad;

	if (router_domain(rcpts->arena, path->domain, &name, &bad) == 0)
		is_ours = conf_domain_ask(router_conf(router), name, &ours,
		    err);
	if (is_ours == TABLE_TROUBLE)
		return -1;
	if (is_ours == TABLE_NONE)
		return router_only_hook(router, rcpts, &given, err);
	return router_address(router, rcpts, &given, err) == ROUTE_ROUTED ? 0 :
	    -1;
}

static void
check_answer_script(struct router *router, struct arena *arena,
    struct slice line,
    struct str *out)
{
	struct slice to = { NULL, 0 }, from = { NULL, 0 }, form = { NULL, 0 };
	struct rcpts_asker asker = { { NULL, 0 }, { NULL, 0 } };
	struct rcpts rcpts;
	struct path path;
	struct err err;

	if (!slice_cut(&line, '\t', &to) || !slice_cut(&line, '\t', &from) ||
	    !slice_cut(&line, '\t', &asker.client) ||
	    path_parse(to, PATH_BARE_OK | PATH_LOCAL_OK | PATH_UTF8, &path,
	    &to, &err) != 0 || to.n > 0) {
		str_adds(out, "trouble not a question");
		return;
	}
	asker.user = line;
	rcpts_init(&rcpts, arena);
	rcpts_reset(&rcpts, 0, NULL, from);
	rcpts.is_check = true;
	rcpts.asker = asker;
	if (check_ask_script(router, &rcpts, &path, &err) < 0) {
		if (rcpts.deferral.n > 0)
			str_addf(out, "ok later " SLICE_FMT,
			    SLICE_ARG(rcpts.deferral));
		else
			str_addf(out, "trouble %s", err.text);
	} else if (check_result(&rcpts, &form) == CHECK_SERVED) {
		str_adds(out, "ok served");
	} else {
		str_addf(out, "ok refused " SLICE_FMT, SLICE_ARG(form));
	}
	rcpts_release(&rcpts);
}

enum { MEMBERS_BYTES_MAX = 12000 };	/* an answer has a bound, too */

/* Not what is nobody's address: programs, files, refusals. */
static bool
check_is_shown(const struct draft_rcpt *rcpt)
{
	static const char *const channels[] = { "smtp", "lmtp", "local" };

	for (size_t i = 0; i < sizeof(channels) / sizeof(channels[0]); i++)
		if (slice_is(rcpt->channel, channels[i]))
			return rcpt->user.n > 0 &&
			    slice_find(rcpt->user, ' ') == rcpt->user.n;
	return false;
}

static void
check_add_members(const struct rcpts *rcpts, struct str *out)
{
	struct str members = STR_INIT;
	size_t count = rcpts->count - rcpts->held;

	for (size_t i = 0; i < rcpts->held; i++) {
		if (!check_is_shown(&rcpts->list[i]))
			continue;
		count++;
		if (members.len < MEMBERS_BYTES_MAX)
			str_addf(&members, " " SLICE_FMT,
			    SLICE_ARG(rcpts->list[i].user));
	}
	if (count > 0)
		str_addf(out, "ok members %zu%s", count, members.buf);
	else
		str_adds(out, "ok refused nouser");
	str_release(&members);
}

static void
check_answer_list(struct router *router, struct arena *arena,
    const struct path *path, struct str *out)
{
	struct given_rcpt given = { .path = *path };
	struct rcpts rcpts;
	struct err err;

	rcpts_init(&rcpts, arena);
	if (router_address(router, &rcpts, &given, &err) != ROUTE_ROUTED)
		str_addf(out, "trouble %s", err.text);
	else
		check_add_members(&rcpts, out);
	rcpts_release(&rcpts);
}

static void
check_answer_rcpt(struct router *router, struct arena *arena,
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

/* "CHANNEL HOST USER; ..." of all recipients. */
static void
check_answer_route(struct router *router, struct arena *arena,
    const struct path *path, struct str *out)
{
	struct given_rcpt given = { .path = *path };
	struct rcpts rcpts;
	struct err err;

	rcpts_init(&rcpts, arena);
	if (router_address(router, &rcpts, &given, &err) != ROUTE_ROUTED) {
		str_addf(out, "trouble %s", err.text);
		rcpts_release(&rcpts);
		return;
	}
	str_adds(out, "ok ");
	for (size_t i = 0; i < rcpts.held && i < ROUTE_RCPTS_MAX; i++)
		str_addf(out, "%s" SLICE_FMT " " SLICE_FMT " " SLICE_FMT,
		    i > 0 ? "; " : "", SLICE_ARG(rcpts.list[i].channel),
		    SLICE_ARG(rcpts.list[i].host),
		    SLICE_ARG(rcpts.list[i].user));
	rcpts_release(&rcpts);
}

void
router_check_foresee(struct router *router, struct arena *arena,
    struct slice line)
{
	struct slice verb = { NULL, 0 }, rest;
	struct err err;
	struct path path;

	if (slice_word(&line, &verb) && slice_is(verb, "rcpt") &&
	    path_parse(slice_from(line, line.n > 0), PATH_BARE_OK |
	    PATH_LOCAL_OK | PATH_UTF8, &path, &rest, &err) == 0 && rest.n == 0)
		router_foresee(router, arena, &path);
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
		check_answer_script(router, arena, slice_from(line, 5), out);
		return;
	}
	if (!slice_word(&line, &verb) ||
	    (!slice_is(verb, "rcpt") && !slice_is(verb, "list") &&
	    !slice_is(verb, "route")) ||
	    path_parse(slice_from(line, line.n > 0), PATH_BARE_OK |
	    PATH_LOCAL_OK | PATH_UTF8, &path, &rest, &err) != 0 ||
	    rest.n > 0)
		str_addf(out, "trouble not a question: %s", err.text);
	else if (slice_is(verb, "rcpt"))
		check_answer_rcpt(router, arena, &path, out);
	else if (slice_is(verb, "route"))
		check_answer_route(router, arena, &path, out);
	else
		check_answer_list(router, arena, &path, out);
}

/* hooks.c - the site's script has a say in routing
 *
 * In     recipients, addresses, headers on their way
 * Out    rcpts, refusals, trouble: as the script says
 * Holds  one conversation with the script's process (daemon/hook/hook.h)
 * Trusts the script as it does the configuration, its process with nothing
 * Spec   doc/HOOKS.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/route/hooks.h"

#include <stdarg.h>
#include <stdio.h>

#include "journal/event.h"
#include "base/mem.h"
#include "router/header/edit.h"

#include "base/banned.h"

/* ---- what the script may ask ------------------------------------------ */

static void
hooks_note(const struct router *router, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* A line for `zmailer route`. */
static void
hooks_note(const struct router *router, const char *format, ...)
{
	struct routing routing = { .rcpts = router->asking };
	char text[600];
	va_list ap;

	if (routing.rcpts == NULL || routing.rcpts->notes == NULL)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	routing_note(&routing, "%s", text);
}

static int
hooks_lookup(void *context, struct slice table, struct slice key,
    struct str *out, struct err *err)
{
	struct router *router = context;
	const struct conf *conf = router->conf;
	struct slice value;
	int found;

	for (size_t i = 0; i < conf->table_count; i++) {
		if (!slice_is(table, conf->tables[i].name))
			continue;
		found = table_lookup(router->tables[i], key, &value, NULL,
		    err);
		if (found == TABLE_FOUND)
			str_add_slice(out, value);
		hooks_note(router,
		    "hook looks up " SLICE_FMT " in table <%s>: %s",
		    SLICE_ARG(slice_first(key, 200)), conf->tables[i].name,
		    found == TABLE_FOUND ? out->buf : found == TABLE_NONE ?
		    "not in it" : err->text);
		return found;
	}
	return err_set(err, "there is no table '" SLICE_FMT "' in the "
	    "configuration", SLICE_ARG(slice_first(table, 100)));
}

static void
hooks_log(void *context, struct slice text)
{
	const struct router *router = context;

	if (router->asking != NULL && router->asking->notes != NULL)
		hooks_note(router, "hook says " SLICE_FMT, SLICE_ARG(text));
	else
		event(EV_HOOK_LOG, router->asking != NULL &&
		    router->asking->id[0] != '\0' ? router->asking->id : NULL,
		    "text", text, NULL);
}

struct hooks *
router_hooks_new(struct router *router)
{
	struct hook_host *host;

	if (router->conf->hooks.script == NULL)
		return NULL;
	host = arena_alloc(router->arena, sizeof(*host));
	*host = (struct hook_host){ router, hooks_lookup, hooks_log };
	return hooks_new(&router->conf->hooks, host);
}

/* ---- what it is told -------------------------------------------------- */

/* "mx.far.test ([192.0.2.1]:4711 helo=x)": what is in the brackets. */
static struct slice
hooks_client_ip(struct slice client)
{
	client = slice_from(client, slice_find(client, '[') + 1);
	client = slice_first(client, slice_find(client, ']'));
	return slice_starts(client, "IPv6:") ? slice_from(client, 5) : client;
}

/* Facts about the message or, of a question, about who asks. */
static void
hooks_add_message(struct hooks *hooks, const char *prefix,
    const struct rcpts *rcpts)
{
	const struct envelope *envelope = rcpts->envelope;
	const struct rcpts_asker *asker = &rcpts->asker;
	struct slice client = envelope != NULL ? envelope->rcvdfrom :
	    asker->client;
	char key[32];
	const struct { const char *key; struct slice value; } rows[] = {
		{ "id", slice_of(rcpts->id) },
		{ "from", rcpts->is_from_null ? SLICE("") :
		    rcpts->senders[0]->address },
		{ "client", client },
		{ "ip", hooks_client_ip(client) },
		{ "user", envelope != NULL ? envelope->user : asker->user },
		{ "with", envelope != NULL ? envelope->with : SLICE("") },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].value.n == 0 && i != 1)
			continue;	/* nil in the script */
		snprintf(key, sizeof(key), "%s%s", prefix, rows[i].key);
		hooks_add(hooks, key, rows[i].value);
	}
	if (envelope == NULL)
		return;
	snprintf(key, sizeof(key), "%sorigin", prefix);
	hooks_add(hooks, key, envelope->is_external ? SLICE("outside") :
	    SLICE("local"));
}

/* ---- what it says ----------------------------------------------------- */

static int
hooks_trouble(struct rcpts *rcpts, enum hook_call call)
{
	char *to = rcpts->trouble;

	snprintf(to, sizeof(rcpts->trouble), "hook-%s",
	    hook_call_names[call]);
	for (; *to != '\0'; to++)
		*to = *to == '_' ? '-' : *to;
	return -1;
}

/* Does the script have this function? */
static enum route_answer
hooks_want(struct router *router, struct rcpts *rcpts, enum hook_call call,
    struct err *err)
{
	int has;

	if (router->hooks == NULL)
		return ROUTE_NO;
	router->asking = rcpts;
	has = hooks_has(router->hooks, call, err);
	return has < 0 ? hooks_trouble(rcpts, call) : route_is(has == 1);
}

/* 0 with the answer, or -1. */
static int
hooks_ask_script(struct router *router, struct rcpts *rcpts,
    enum hook_call call,
    struct hook_answer *out, struct err *err)
{
	if (hooks_ask(router->hooks, out, err) < 0) {
		rcpts->met_death |= hooks_died(router->hooks);
		return hooks_trouble(rcpts, call);
	}
	if (rcpts->notes != NULL)
		hooks_note(router, "hook %s: %s%s" SLICE_FMT " (%s:%u, "
		    "generation %u)", hook_call_names[call],
		    hook_verdict_names[out->verdict],
		    out->text.n > 0 ? " " : "", SLICE_ARG(out->text),
		    hooks_path(router->hooks), out->line,
		    hooks_generation(router->hooks));
	return 0;
}

/* Words of a refusal as the host of an error recipient. */
static const char *
hooks_form(struct arena *arena, const struct hook_answer *answer)
{
	bool is_status = answer->code.n > 2 && answer->code.p[1] == '.';
	struct slice words = slice_of(arena_printf(arena,
	    SLICE_FMT "%s" SLICE_FMT, SLICE_ARG(is_status ? answer->code :
	    SLICE("")), is_status ? " " : "", SLICE_ARG(answer->text)));

	return slice_dup(arena, route_error_host(arena, words));
}

/* The message waits, for a while or for a person. */
static int
hooks_set_aside(struct router *router, struct rcpts *rcpts, enum hook_call call,
    const struct hook_answer *answer, struct err *err)
{
	err_set(err, "%s:%u: " SLICE_FMT, hooks_path(router->hooks),
	    answer->line, SLICE_ARG(answer->text));
	if (answer->verdict == HOOK_DEFER)
		rcpts->deferral = slice_copy(rcpts->arena, answer->text);
	else
		rcpts->is_frozen = true;
	return hooks_trouble(rcpts, call);
}

static enum route_answer
hooks_obey(struct routing *routing, enum hook_call call,
    const struct hook_answer *answer, const struct path *path,
    struct slice name, struct err *err)
{
	struct rcpts *rcpts = routing->rcpts;
	struct router *router = routing->router;
	struct rcpt_rule rule = { "hook", hooks_path(router->hooks),
	    answer->line };
	struct route_target target;

	switch (answer->verdict) {
	case HOOK_REJECT:
		return route_done(routing_refuse(routing,
		    hooks_form(rcpts->arena, answer),
		    path, &rule));
	case HOOK_FREEZE:
		if (rcpts->is_check || rcpts->is_released)
			return ROUTE_NO;
		return hooks_set_aside(router, rcpts, call, answer, err);
	case HOOK_DEFER:
		return hooks_set_aside(router, rcpts, call, answer, err);
	case HOOK_VIA:
		if (route_value_parse(rcpts->arena, answer->text, name,
		    &target, err) != 1) {
			err_prefix(err, "%s:%u", rule.where, rule.line);
			return hooks_trouble(rcpts, call);
		}
		return route_done(route_target_add(routing, &target,
		    routing_join(routing, path->local, name), &rule, err));
	default:
		return ROUTE_NO;
	}
}

/* ---- the three calls -------------------------------------------------- */

enum route_answer
hooks_rcpt(struct routing *routing, const struct path *path, struct err *err)
{
	struct router *router = routing->router;
	struct rcpts *rcpts = routing->rcpts;
	struct hook_answer answer;
	enum route_answer has = hooks_want(router, rcpts, HOOK_ON_RCPT, err);

	if (has != ROUTE_YES)
		return has;
	hooks_question(router->hooks, HOOK_ON_RCPT);
	hooks_add_message(router->hooks, "c.", rcpts);
	hooks_add(router->hooks, "from", rcpts->is_from_null ? SLICE("") :
	    rcpts->senders[0]->address);
	hooks_add(router->hooks, "to", routing->to);
	if (hooks_ask_script(router, rcpts, HOOK_ON_RCPT, &answer, err) < 0)
		return ROUTE_TROUBLE;
	return hooks_obey(routing, HOOK_ON_RCPT, &answer, path,
	    path->domain.n > 0 ? path->domain : routing->domain, err);
}

enum route_answer
hooks_route(struct routing *routing, struct slice name,
    const struct path *path, struct err *err)
{
	struct router *router = routing->router;
	struct rcpts *rcpts = routing->rcpts;
	struct hook_answer answer;
	enum route_answer has = hooks_want(router, rcpts, HOOK_ROUTE, err);

	if (has != ROUTE_YES)
		return has;
	hooks_question(router->hooks, HOOK_ROUTE);
	hooks_add(router->hooks, "addr", routing_join(routing, path->local,
	    name));
	hooks_add_message(router->hooks, "msg.", rcpts);
	hooks_add(router->hooks, "msg.to", routing->to);
	if (hooks_ask_script(router, rcpts, HOOK_ROUTE, &answer, err) < 0)
		return ROUTE_TROUBLE;
	return hooks_obey(routing, HOOK_ROUTE, &answer, path, name, err);
}

int
hooks_header(struct router *router, struct rcpts *rcpts, struct str *header,
    const char **out_form, struct err *err)
{
	struct hook_answer answer;
	enum route_answer has = hooks_want(router, rcpts, HOOK_ON_HEADER, err);

	*out_form = NULL;
	if (has != ROUTE_YES)
		return has == ROUTE_TROUBLE ? -1 : 0;
	hooks_question(router->hooks, HOOK_ON_HEADER);
	hooks_add_message(router->hooks, "msg.", rcpts);
	header_edit_ask(router->hooks, str_slice(header));
	if (hooks_ask_script(router, rcpts, HOOK_ON_HEADER, &answer, err) < 0)
		return -1;
	switch (answer.verdict) {
	case HOOK_REJECT:
		*out_form = hooks_form(rcpts->arena, &answer);
		return 0;
	case HOOK_FREEZE:
		if (!rcpts->is_released)
			return hooks_set_aside(router, rcpts, HOOK_ON_HEADER,
			    &answer, err);
		break;
	case HOOK_DEFER:
		return hooks_set_aside(router, rcpts, HOOK_ON_HEADER, &answer,
		    err);
	case HOOK_VIA:
		err_set(err, "%s:%u: on_header cannot say zm.via",
		    hooks_path(router->hooks), answer.line);
		return hooks_trouble(rcpts, HOOK_ON_HEADER);
	default:
		break;
	}
	if (header_edit(header, answer.edits, err) == 0)
		return 0;
	err_prefix(err, "%s", hooks_path(router->hooks));
	return hooks_trouble(rcpts, HOOK_ON_HEADER);
}

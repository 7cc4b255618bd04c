/* explain.c - router --route: how an address is routed, and why
 *
 * In     addresses; the configuration
 * Out    each question and answer on the way, then the recipients
 * Holds  nothing
 * Trusts nobody: an address is anybody's
 * Spec   zmailer-route(8)
 *
 * The same functions as for mail: what is told here is what happens.
 *
 * SPDX-License-Identifier: ISC
 */
#include "router/ask/explain.h"

#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/json.h"
#include "base/mem.h"
#include "mail/table/table.h"
#include "router/ask/explain_next.h"
#include "router/message/copies.h"
#include "router/route/rewrite.h"
#include "router/sign/rows.h"

#include "base/banned.h"

struct explanation {
	struct router	*router;
	struct slice	 address;
	struct rcpts	 rcpts;
	struct str	 notes;
	const struct explain_as *as;
	bool		 is_json;
	struct str	*out;
};

/* ---- recipients ------------------------------------------------------- */

/* The file of a rule: a rule of a table names the table. */
static const char *
explain_file(const struct explanation *e, const struct rcpt_rule *rule)
{
	const struct conf *conf = e->router->conf;

	for (size_t i = 0; rule->where != NULL && i < conf->table_count; i++)
		if (strcmp(conf->tables[i].name, rule->where) == 0 &&
		    table_path(e->router->tables[i])[0] != '\0')
			return table_path(e->router->tables[i]);
	return rule->where;
}

/* As it will stand in MAIL, without what VERP adds. */
static struct slice
explain_sender(const struct explanation *e, const struct draft_rcpt *rcpt)
{
	const struct rcpts *rcpts = &e->rcpts;
	const struct rcpt_sender *sender =
	    rcpts->senders[rcpts->is_from_null ? 0 : rcpt->sender];

	if (sender->verp.n == 0)
		return sender->address;
	return slice_of(arena_printf(rcpts->arena, SLICE_FMT "%c...@"
	    SLICE_FMT, SLICE_ARG(sender->address), sender->delimiter,
	    SLICE_ARG(sender->verp)));
}

/* "channel host user", of the first way or of one after `else`. */
static void
explain_add_quad(struct str *out, struct slice channel, struct slice host,
    struct slice user)
{
	str_addf(out, SLICE_FMT " " SLICE_FMT " ", SLICE_ARG(channel),
	    SLICE_ARG(host));
	str_add_escaped(out, user);
}

static void
explain_add_ways(struct str *out, const struct draft_rcpt *rcpt)
{
	for (size_t i = 0; i < rcpt->way_count; i++) {
		const struct control_way *way = &rcpt->ways[i];

		str_adds(out, i > 0 ? "; " : "");
		if (way->after_s > 0)
			str_addf(out, "after %llds ",
			    (long long)way->after_s);
		explain_add_quad(out, way->channel, way->host, way->user);
	}
}

static void
explain_rcpt_json(const struct explanation *e, const struct draft_rcpt *rcpt)
{
	const char *file = explain_file(e, &rcpt->rule);

	json_open_answer(e->out);
	json_text(e->out, "address", e->address);
	json_text(e->out, "channel", rcpt->channel);
	json_text(e->out, "host", rcpt->host);
	json_text(e->out, "user", rcpt->user);
	json_number(e->out, "uid", rcpt->uid);
	json_text(e->out, "sender", explain_sender(e, rcpt));
	if (rcpt->way_count > 0) {
		struct str ways = STR_INIT;

		explain_add_ways(&ways, rcpt);
		json_text(e->out, "else", str_slice(&ways));
		str_release(&ways);
	}
	json_number(e->out, "header", rcpt->header);
	json_text(e->out, "rule", slice_of(rcpt->rule.kind));
	json_text(e->out, "file", slice_of(file != NULL ? file : ""));
	json_number(e->out, "line", rcpt->rule.line);
	explain_next(e->router->conf, rcpt, e->as->asks_mx, true, e->out);
	json_close(e->out);
}

static void
explain_rcpt_text(const struct explanation *e, const struct draft_rcpt *rcpt)
{
	struct slice sender = explain_sender(e, rcpt);
	const char *file = explain_file(e, &rcpt->rule);

	str_adds(e->out, "  -> ");
	explain_add_quad(e->out, rcpt->channel, rcpt->host, rcpt->user);
	if (rcpt->uid >= 0)
		str_addf(e->out, " as uid %lld", (long long)rcpt->uid);
	if (rcpt->sender != 0)
		str_addf(e->out, " from " SLICE_FMT, SLICE_ARG(sender));
	if (rcpt->way_count > 0) {
		str_adds(e->out, " else ");
		explain_add_ways(e->out, rcpt);
	}
	if (e->as->is_brief) {
		str_addc(e->out, '\n');
		return;
	}
	str_addf(e->out, " [%s", rcpt->rule.kind ? rcpt->rule.kind :
	    "none");
	if (file != NULL)
		str_addf(e->out, " %s", file);
	if (rcpt->rule.line > 0)
		str_addf(e->out, ":%u", rcpt->rule.line);
	str_adds(e->out, "]\n");
	explain_next(e->router->conf, rcpt, e->as->asks_mx, false, e->out);
}

/* 0 when a recipient is no error. */
static int
explain_rcpts(const struct explanation *e)
{
	int status = 1;

	for (size_t i = 0; i < e->rcpts.held; i++) {
		const struct draft_rcpt *rcpt = &e->rcpts.list[i];

		if (!slice_is(rcpt->channel, "error"))
			status = 0;
		if (e->is_json)
			explain_rcpt_json(e, rcpt);
		else
			explain_rcpt_text(e, rcpt);
	}
	if (e->rcpts.count > e->rcpts.held && !e->is_json)
		str_addf(e->out, "  -> and %zu more\n", e->rcpts.count -
		    e->rcpts.held);
	return status;
}

/* ---- notes and trouble ------------------------------------------------ */

static void
explain_notes(const struct explanation *e)
{
	struct slice rest = str_slice(&e->notes), line;

	while (rest.n > 0 && slice_cut(&rest, '\n', &line)) {
		if (!e->is_json) {
			str_addf(e->out, "  " SLICE_FMT "\n",
			    SLICE_ARG(line));
			continue;
		}
		json_open_answer(e->out);
		json_text(e->out, "address", e->address);
		json_text(e->out, "note", slice_trim(line));
		json_close(e->out);
	}
}

static const char *
explain_area(const struct explanation *e)
{
	return e->rcpts.is_frozen ? "freezer" : "deferred";
}

static int
explain_trouble(const struct explanation *e, const struct err *err)
{
	if (e->is_json) {
		json_open_answer(e->out);
		json_text(e->out, "address", e->address);
		json_text(e->out, "trouble", slice_of(err->text));
		json_text(e->out, "why", slice_of(e->rcpts.trouble));
		json_text(e->out, "area", slice_of(explain_area(e)));
		json_close(e->out);
	} else {
		str_addf(e->out, "  -> %s (%s): %s\n", explain_area(e),
		    e->rcpts.trouble, err->text);
	}
	return EX_TEMPFAIL;
}

/* The sender as canonical and masquerade leave it. */
static int
explain_suppose(struct explanation *e, const struct explain_as *as,
    struct err *err)
{
	struct routing routing = { .router = e->router,
	    .rcpts = &e->rcpts };
	unsigned of = REWRITE_SENDERS | REWRITE_ENVELOPE |
	    (as->user.n == 0 ? (unsigned)REWRITE_STRANGERS : 0);
	struct slice from = as->from, rest;
	struct path path;
	enum route_answer found = ROUTE_NO;

	e->rcpts.notes = &e->notes;
	if (path_parse(from, PATH_BARE_OK | PATH_UTF8, &path, &rest, NULL) ==
	    0 && rest.n == 0)
		found = rewrite_path(&routing, of, &path, err);
	if (found == ROUTE_YES)
		from = routing_join(&routing, path.local, path.domain);
	rcpts_reset(&e->rcpts, 0, NULL, from);
	e->rcpts.user = e->rcpts.asker.user = as->user;
	if (as->ip.n > 0)
		e->rcpts.asker.client = slice_of(arena_printf(
		    e->rcpts.arena, "[" SLICE_FMT "]", SLICE_ARG(as->ip)));
	e->rcpts.notes = &e->notes;
	return found == ROUTE_TROUBLE ? -1 : 0;
}

/* Who signs for mail whose From is the sender. */
static void
explain_signatures(struct explanation *e)
{
	struct routing routing = { .router = e->router,
	    .rcpts = &e->rcpts };

	sign_rows_note(&routing, e->rcpts.senders[0]->address);
}

int
explain_address(struct router *router, struct arena *arena,
    const struct explain_as *as, struct slice address, struct str *out)
{
	struct explanation e = { .router = router, .address = address,
	    .notes = STR_INIT, .as = as, .is_json = as->is_json,
	    .out = out };
	struct given_rcpt given = { .notify = 0 };
	struct slice rest;
	struct err err = { "" };
	bool is_routed;
	int status;

	rcpts_init(&e.rcpts, arena);
	if (!as->is_json && !as->is_brief)
		str_addf(out, SLICE_FMT "\n", SLICE_ARG(address));
	if (path_parse(address, PATH_BARE_OK | PATH_LOCAL_OK | PATH_UTF8,
	    &given.path, &rest, &err) != 0 || rest.n > 0) {
		strlcpy(e.rcpts.trouble, "badaddress",
		    sizeof(e.rcpts.trouble));
		explain_trouble(&e, &err);
		status = EX_DATAERR;
	} else {
		is_routed = explain_suppose(&e, as, &err) == 0 &&
		    router_address(router, &e.rcpts, &given, &err) ==
		    ROUTE_ROUTED &&
		    copies_add(router, &e.rcpts, NULL, &err) == 0;
		if (is_routed && as->user.n > 0)
			explain_signatures(&e);
		if (!as->is_brief)
			explain_notes(&e);
		status = is_routed ? explain_rcpts(&e) :
		    explain_trouble(&e, &err);
	}
	rcpts_release(&e.rcpts);
	str_release(&e.notes);
	return status;
}

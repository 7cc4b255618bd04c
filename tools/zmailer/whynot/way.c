/* way.c - mail that waits for a host: would another route have taken it?
 *
 * In     its recipient; the files of the configuration; what the scheduler
 *        says about the destinations
 * Out    a route statement under which the router sends it to a destination
 *        that takes mail; or why there is none
 * Holds  a copy of one file at a time
 * Trusts our own programs; only plain words are put into a statement
 * Spec   zmailer-whynot(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "tools/change/change.h"
#include "tools/queue/control.h"
#include "tools/queue/words.h"
#include "tools/zmailer/replay/partner.h"
#include "tools/zmailer/whynot/whynot.h"

#include "base/banned.h"

enum { LATELY_S = 86400, TARGETS_MAX = 20 };

struct other_way {
	struct whynot	*whynot;
	const struct waits_for *waits;
	const char	*dest;		/* of the router: "smtp/host" */
	bool		 is_well;	/* it takes mail */
	int64_t		 last_s;	/* its last delivery */
	const char	*tried[TARGETS_MAX];
	size_t		 tried_count;
};

/* ---- what the scheduler knows ------------------------------------------ */

static bool
way_is_meant(const struct other_way *way, struct slice line)
{
	struct str channel = STR_INIT, host = STR_INIT;
	struct str dest = STR_INIT;
	bool result = json_get(line, "channel", &channel) &&
	    json_get(line, "host", &host);

	str_addf(&dest, "%s/%s", channel.buf, host.buf);
	result = result && strcmp(dest.buf, way->dest) == 0;
	str_release(&channel);
	str_release(&host);
	str_release(&dest);
	return result;
}

static bool
way_take_arrivals(void *context, struct slice line)
{
	struct other_way *way = context;

	if (way_is_meant(way, line))
		way->last_s = json_get_number(line, "last");
	return true;
}

static bool
way_take_destination(void *context, struct slice line)
{
	struct other_way *way = context;

	if (way_is_meant(way, line))
		way->is_well = json_get_number(line, "down_since") == 0 &&
		    !json_is(line, "suspended", "true");
	return true;
}

/* Did it take mail lately, and nothing bad of it is known since? */
static void
way_ask_scheduler(struct other_way *way)
{
	struct str request = STR_INIT, last = STR_INIT;
	struct control control;
	struct err err;

	way->is_well = true;
	way->last_s = 0;
	if (control_connect(way->whynot->conf->run_dir, &control, &err) ==
	    CONTROL_REACHED) {
		control_begin(&request, "arrivals");
		(void)control_ask(&control, &request, way_take_arrivals, way,
		    &last, &err);
		str_reset(&request);
		str_reset(&last);
		control_begin(&request, "destinations");
		(void)control_ask(&control, &request, way_take_destination,
		    way, &last, &err);
	}
	control_hang_up(&control);
	str_release(&request);
	str_release(&last);
}

/* ---- where the router sends it ----------------------------------------- */

static int
way_ask_router(void *context, const char *path, struct err *err)
{
	static const char *const words[] = { "--ask", NULL };
	struct other_way *way = context;
	struct str question = STR_INIT, channel = STR_INIT, host = STR_INIT;
	struct partner partner = { .pid = 0 };
	struct slice line = { "", 0 };
	int result = partner_start(&partner, "router", words, path, err);

	str_addf(&question, "way %s\t%s\t\t", way->waits->to,
	    way->waits->from);
	if (result == 0)
		result = partner_ask(&partner, str_slice(&question), &line,
		    err);
	if (result == 0 && json_get(line, "channel", &channel) &&
	    json_get(line, "host", &host))
		way->dest = arena_printf(way->whynot->arena, "%s/%s",
		    channel.buf, host.buf);
	while (result == 0 && line.n > 0)
		result = partner_read(&partner, &line, err);
	partner_end(&partner);
	str_release(&question);
	str_release(&channel);
	str_release(&host);
	return result;
}

/* ---- one target -------------------------------------------------------- */

static void
way_tell(struct other_way *way, const char *line, const struct str *text)
{
	struct whynot *whynot = way->whynot;
	struct str what = STR_INIT, diff = STR_INIT;

	str_addf(&what, "%s: the router sends it to %s, which took mail ",
	    line, way->dest);
	words_add_moment(&what, way->last_s, way->waits->now_s);
	str_addf(&what, "; then zmailer reroute %s", way->waits->id);
	diff_add(&diff, whynot->files[0].path, whynot->files[0].text,
	    str_slice(text));
	whynot_tell(whynot, "edit", what.buf, diff.buf, "");
	str_release(&what);
	str_release(&diff);
}

/* A route of its own for the domain, before all others. */
static void
way_try(struct other_way *way, const char *target)
{
	static const char *const others[] = { "route", "include", NULL };
	struct whynot *whynot = way->whynot;
	struct conf_draft *files = arena_alloc(whynot->arena,
	    whynot->file_count * sizeof(*files));
	const char *line = arena_printf(whynot->arena, "route %s via %s",
	    way->waits->domain, target);
	struct str text = STR_INIT;
	struct err err;

	str_add_slice(&text, whynot->files[0].text);
	conf_put_before_first(whynot->arena, &text, others,
	    arena_printf(whynot->arena, "%s\n", line));
	memcpy(files, whynot->files, whynot->file_count * sizeof(*files));
	files[0].text = str_slice(&text);
	way->dest = "";
	if (whynot_under(whynot, files, way_ask_router, way, &err) == 0 &&
	    strcmp(way->dest, way->waits->dest) != 0) {
		way_ask_scheduler(way);
		if (way->is_well && way->last_s > way->waits->now_s - LATELY_S)
			way_tell(way, line, &text);
	}
	str_release(&text);
}

/* Is it new, a host's name, and not only where it goes now? */
static bool
way_is_to_try(struct other_way *way, const char *target)
{
	static const char *const others[] = { "mx", "local", "hold", "error",
		"defer", "lmtp", "http", "sm", "pipe", "virtual" };

	if (way->tried_count == TARGETS_MAX || !whynot_is_plain(target))
		return false;
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (strcmp(target, others[i]) == 0)
			return false;
	for (size_t i = 0; i < way->tried_count; i++)
		if (strcmp(way->tried[i], target) == 0)
			return false;
	way->tried[way->tried_count++] = target;
	return true;
}

/* The first word after each `via` and `else` of a route. */
static void
way_try_piece(struct other_way *way, const struct conf_piece *piece)
{
	for (size_t i = 1; i + 1 < piece->word_count; i++) {
		const char *target;

		if (!conf_piece_is(piece, i, "via") &&
		    !conf_piece_is(piece, i, "else"))
			continue;
		target = slice_dup(way->whynot->arena,
		    piece->words[i + 1].text);
		if (way->whynot->told == 0 && !piece->words[i + 1].is_table &&
		    way_is_to_try(way, target))
			way_try(way, target);
	}
}

void
whynot_try_ways(struct whynot *whynot, const struct waits_for *waits)
{
	struct other_way way = { .whynot = whynot, .waits = waits };

	if (!whynot_is_plain(waits->domain) ||
	    (strcmp(waits->code, "host-down") != 0 &&
	    strcmp(waits->code, "timer") != 0))
		return;
	for (size_t i = 0; i < whynot->file_count && whynot->told == 0; i++) {
		struct conf_piece *pieces;
		size_t count = conf_pieces(whynot->arena,
		    whynot->files[i].text, &pieces);

		for (size_t p = 0; p < count; p++)
			if (conf_piece_is(&pieces[p], 0, "route"))
				way_try_piece(&way, &pieces[p]);
	}
}

void
whynot_say_waits(const struct waits_for *waits)
{
	fputs("no change of one statement that lets it go earlier could be "
	    "proven", stderr);
	if (strcmp(waits->code, "host-down") == 0)
		fputs(": whether a host answers is for that host to say, and "
		    "no other target of this configuration took mail lately",
		    stderr);
	else if (strcmp(waits->code, "warm-up") == 0)
		fputs(": its zone may serve so many recipients a day, and has; "
		    "it goes tomorrow, or now by another zone (zone ... { "
		    "overflow ZONE }), if that may", stderr);
	else if (strcmp(waits->by, "wish") == 0)
		fputs(": the next hop itself named the moment", stderr);
	else if (waits->has_limit || strcmp(waits->code, "rate") == 0)
		fputs(": what its host answers makes it less than the "
		    "configuration allows", stderr);
	fputc('\n', stderr);
	if (*waits->words != '\0')
		fputs("(`zmailer why` has its last words)\n", stderr);
}

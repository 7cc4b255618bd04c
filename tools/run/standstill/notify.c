/* notify.c - what stands still: receivers of events that do not accept them
 *
 * In     what the process notify answers
 * Out    rows
 * Holds  nothing
 * Trusts nothing in the answers but their form: controls are escaped
 * Spec   standstill.h; doc/NOTIFY.md
 *
 * SPDX-License-Identifier: ISC
 */
#include "io/consult/notify_ask.h"
#include "tools/run/standstill/parts.h"

#include "base/banned.h"

static const char notify_next[] = "zmailer events 'state:notify.*'";

static void
notify_row(struct standstill *all, const struct notify_line *line)
{
	struct standstill_row *row = standstill_row(all, "notify",
	    arena_printf(all->arena, SLICE_FMT, SLICE_ARG(line->name)));
	struct str text = STR_INIT;

	str_addf(&text, "notify " SLICE_FMT " %s", SLICE_ARG(line->name),
	    line->state == NOTIFY_OVER ? "is sent nothing until a reload" :
	    "does not accept events");
	standstill_add_since(&text, line->since_s);
	str_addf(&text, ": " SLICE_FMT, SLICE_ARG(line->words));
	standstill_say(all, row, &text);
	row->since_s = line->since_s;
	row->next = line->state == NOTIFY_OVER ? "zmailer reload" :
	    notify_next;
	str_release(&text);
}

static void
notify_silent_row(struct standstill *all, const struct err *err)
{
	struct standstill_row *row;
	struct str text = STR_INIT;

	if (err_is_denied(err))		/* what the caller may not see */
		return;
	row = standstill_row(all, "notify", "");
	str_addf(&text, "%s; events wait in the journal", err->text);
	standstill_say(all, row, &text);
	row->next = notify_next;
	str_release(&text);
}

void
standstill_notify(struct standstill *all, const struct conf *conf)
{
	struct str lines = STR_INIT;
	struct notify_line line;
	struct slice rest, text;
	struct err err;

	if (!conf_asks_notify(conf))
		return;
	if (notify_ask_status(conf->run_dir, STANDSTILL_KNOCK_MS, &lines,
	    &err) < 0)
		notify_silent_row(all, &err);
	rest = str_slice(&lines);
	while (slice_cut(&rest, '\n', &text))
		if (notify_line_parse(text, &line) &&
		    line.state != NOTIFY_GOOD)
			notify_row(all, &line);
	str_release(&lines);
}

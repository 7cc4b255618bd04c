/* scheduler.c - scheduler.conf of ZMailer, which our own reader knows
 *
 * In     CHANNEL/HOST, settings below it, PARAMs
 * Out    include-legacy, and the file
 * Holds  nothing
 * Spec   scheduler.conf(5) of ZMailer 2.99.57; zmailer.conf(5),
 *        include-legacy
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "tools/zmailer/import/ancestor/ancestor.h"

#include "base/banned.h"

/* What include-legacy makes of a setting. */
static const struct { const char *name, *ours; } settings[] = {
	{ "interval", "retry" }, { "retries", "retry" },
	{ "idlemax", "idle" }, { "expiry", "expire" },
	{ "expiry2", "expire-untried" }, { "reporttimes", "warn" },
	{ "maxthr", "parallel" }, { "maxring", "agents" },
	{ "maxrings", "agents" }, { "maxchannel", "channel-agents" },
	{ "maxchannels", "channel-agents" }, { "overfeed", "overfeed" },
	{ "ageorder", "order age" }, { "queueonly", "queue-only" },
	{ "command", "command" },
};
static const struct import_told notes[] = {
	{ "skew", IMPORT_NOT_NEEDED, "see jitter" },
	{ "bychannel", IMPORT_NOT_NEEDED, "it is always so" },
	{ "wakeuprestartonly", IMPORT_NOT_NEEDED, "it is always so" },
	{ "maxta", IMPORT_DIFFERS, "write `limit agents N`" },
	{ "maxtransport", IMPORT_DIFFERS, "write `limit agents N`" },
	{ "maxtransports", IMPORT_DIFFERS, "write `limit agents N`" },
	{ "expiryform", IMPORT_NOT_NEEDED, "reports have forms of their "
	    "own" },
	{ "deliveryform", IMPORT_NOT_NEEDED, "reports have forms of their "
	    "own" },
	{ "user", IMPORT_DIFFERS, "agents have an account of their own "
	    "(user agent)" },
	{ "group", IMPORT_DIFFERS, "agents have an account of their own" },
	{ "nice", IMPORT_NOT_NEEDED, "agents have the system's priority" },
	{ "priority", IMPORT_NOT_NEEDED, "agents have the system's "
	    "priority" },
	{ "sysnice", IMPORT_NOT_NEEDED, "agents have the system's "
	    "priority" },
	{ "syspriority", IMPORT_NOT_NEEDED, "agents have the system's "
	    "priority" },
};

static void
setting_tell(struct ancestor *old, struct import_item *item, int statement)
{
	for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		if (strcmp(item->name, settings[i].name) == 0) {
			import_item_taken(old->import, item, statement);
			return;
		}
	if (!import_item_tell(old->import, item, notes, sizeof(notes) /
	    sizeof(notes[0]), slice_of(item->name)))
		import_item_note(old->import, item, IMPORT_MISSING,
		    "not known, and left out: see `zmailer help schedule`");
}

/* Settings of a line below a pattern; unknown ones, which would be errors, are
 * left out. */
static void
line_settings(struct ancestor *old, const struct import_item *at,
    const struct ancestor_line *line, struct str *out, int statement)
{
	struct arena *arena = old->import->arena;
	struct slice rest = slice_of(arena_printf(arena, SLICE_FMT " "
	    SLICE_FMT, SLICE_ARG(line->name), SLICE_ARG(line->value)));
	struct slice name, value;

	str_addc(out, '\t');
	while (ancestor_setting_next(&rest, &name, &value)) {
		struct import_item item = *at;

		item.name = slice_dup(arena, slice_lower(arena, name));
		item.value = slice_dup(arena, value);
		for (size_t i = 0; i < sizeof(settings) /
		    sizeof(settings[0]); i++)
			if (strcmp(item.name, settings[i].name) == 0)
				str_addf(out, value.n > 0 ? "%s=\"" SLICE_FMT
				    "\" " : "%s ", item.name,
				    SLICE_ARG(value));
		setting_tell(old, &item, statement);
	}
	str_addc(out, '\n');
}

static void
line_tell(struct ancestor *old, struct import_item *item,
    const struct ancestor_line *line, struct str *out, int statement)
{
	if (line->wrong != NULL)
		import_item_note(old->import, item, IMPORT_MISSING, "%s",
		    line->wrong);
	else if (slice_starts(line->name, "PARAM"))
		import_item_note(old->import, item, IMPORT_NOT_NEEDED,
		    "zmailer reaches the scheduler in its own way, and what "
		    "it writes is durable");
	else if (line->is_below)
		line_settings(old, item, line, out, statement);
	else {
		str_addf(out, SLICE_FMT "\n", SLICE_ARG(line->name));
		import_item_taken(old->import, item, statement);
		if (line->value.n > 0) {
			struct ancestor_line rest = *line;

			rest.name = line->value;
			rest.value = SLICE("");
			line_settings(old, item, &rest, out, statement);
		}
	}
}

void
ancestor_scheduler(struct ancestor *old)
{
	struct import *import = old->import;
	struct ancestor_lines lines = { .line = 0 };
	struct ancestor_line line;
	const char *path = import_file_here(import, slice_of(arena_printf(
	    import->arena, "%s/scheduler.conf", old->share)));
	struct str text = STR_INIT;
	int statement;

	if (import_file_take(import->arena, path, &lines.rest, NULL) != 0 ||
	    import->file_count == IMPORT_FILES_MAX)
		return;
	statement = import_say(import, IMPORT_QUEUE, "",
	    "include-legacy %s/scheduler.conf", import->to);
	while (ancestor_line_next(&lines, &line)) {
		struct import_item item = import_item_at(import, path,
		    line.line, line.name, line.value);

		line_tell(old, &item, &line, &text, statement);
	}
	import->files[import->file_count++] = (struct import_file){
		.name = "scheduler.conf", .text = text,
		.reader = IMPORT_EVERYBODY };
}

/* print.c - what differs, for people and for programs
 *
 * In     differences; how far it is
 * Out    rows on standard output; progress on a terminal's standard error
 * Trusts nothing in addresses and replies: controls are escaped
 * Spec   zmailer-replay(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "tools/zmailer/replay/replay.h"

#include "base/banned.h"

enum { TELL_EVERY_MS = 1000 };

static void
difference_print_json(struct replay *replay,
    const struct difference *difference, const char *result)
{
	struct str *out = &replay->text;

	json_open_answer(out);
	json_text(out, "kind", slice_of(difference->kind));
	json_text(out, "result", slice_of(result));
	json_text(out, "t", difference->when);
	json_text(out, "from", difference->from);
	json_text(out, "to", difference->to);
	json_text(out, "before", difference->before);
	json_text(out, "after", difference->after);
	json_text(out, "rule", difference->rule);
	json_close(out);
}

static void
difference_print(struct replay *replay, const struct difference *difference,
    const char *arrow)
{
	struct str *out = &replay->text;

	if (difference->when.n > 0) {
		str_add_escaped(out, difference->when);
		str_adds(out, "  ");
	}
	str_addf(out, "%s  ", difference->kind);
	if (difference->when.n > 0) {
		str_addc(out, '<');
		str_add_escaped(out, difference->from);
		str_adds(out, "> to ");
	}
	str_add_escaped(out, difference->to);
	str_adds(out, "\n    ");
	str_add_escaped(out, difference->before);
	str_addf(out, "\n %s ", arrow);
	str_add_escaped(out, difference->after);
	str_adds(out, "\n    ");
	str_add_escaped(out, difference->rule);
	str_addc(out, '\n');
}

static void
difference_say(struct replay *replay, const struct difference *difference,
    bool is_known)
{
	str_reset(&replay->text);
	if (replay->is_json)
		difference_print_json(replay, difference, is_known ?
		    "differs" : "unknown");
	else
		difference_print(replay, difference, is_known ? "->" : "??");
	fputs(replay->text.buf, stdout);
}

void
replay_tell(struct replay *replay, const struct difference *difference)
{
	replay->changed++;
	difference_say(replay, difference, true);
}

void
replay_tell_unknown(struct replay *replay,
    const struct difference *difference)
{
	replay->unknown++;
	difference_say(replay, difference, false);
}

void
replay_progress(struct replay *replay, uint64_t all, uint64_t done)
{
	int64_t now_ms;

	if ((replay->seen & 63) != 0 || !isatty(STDERR_FILENO))
		return;
	now_ms = clock_steady_ms();
	if (replay->told_at_ms == 0)
		replay->told_at_ms = now_ms;
	if (now_ms < replay->told_at_ms + TELL_EVERY_MS)
		return;
	replay->told_at_ms = now_ms;
	fprintf(stderr, "\r%" PRIu64 " decisions", replay->seen);
	if (all > 0)
		fprintf(stderr, ", %u %%  ", (unsigned)(done * 100 / all));
}

/* replay.c - zmailer replay: what another configuration would have decided
 *
 * In     a window of time, a configuration; the record and the journal
 * Out    each decision that differs; how many; 1 when there is one
 * Holds  both configurations
 * Spec   zmailer-replay(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/json.h"
#include "tools/journal/ask.h"
#include "tools/zmailer/replay/replay.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

enum { REPLAY_TROUBLE = 2 };

static int
replay_window(struct arguments *arguments, struct journal_span *out,
    struct err *err)
{
	int64_t now_ms = clock_wall_us() / 1000, for_ms;

	if (ask_moment(arguments_word(arguments, 0), now_ms, &out->since_ms,
	    &for_ms, err) < 0)
		return -1;
	out->until_ms = for_ms > 0 ? out->since_ms + for_ms : now_ms;
	return 0;
}

static void
replay_sum(struct replay *replay)
{
	struct str *out = &replay->text;

	str_reset(out);
	if (isatty(STDERR_FILENO) && replay->told_at_ms > 0)
		fputs("\r\n", stderr);
	if (replay->is_json) {
		json_open_answer(out);
		json_text(out, "kind", SLICE("sum"));
		json_number(out, "decisions", (int64_t)replay->seen);
		json_number(out, "differ", (int64_t)replay->changed);
		json_number(out, "unknown", (int64_t)replay->unknown);
		json_number(out, "as_then", (int64_t)replay->as_then);
		json_number(out, "by_filters", (int64_t)replay->by_filters);
		json_number(out, "with_bytes", (int64_t)replay->with_bytes);
		json_number(out, "left_out", (int64_t)replay->left_out);
		json_close(out);
	} else {
		str_addf(out, "%" PRIu64 " decisions, %" PRIu64 " differ",
		    replay->seen, replay->changed);
		if (replay->unknown > 0)
			str_addf(out, ", %" PRIu64 " cannot be known: they "
			    "ask what nobody asked then%s", replay->unknown,
			    replay->asks_dns ? "" :
			    " (--ask-dns asks the DNS)");
		if (replay->as_then > 0)
			str_addf(out, ", %" PRIu64 " cannot be decided again: "
			    "refused as then by a full disk or the grammar",
			    replay->as_then);
		if (replay->by_filters > 0)
			str_addf(out, ", %" PRIu64 " by what a milter or a "
			    "content filter said then", replay->by_filters);
		if (replay->with_bytes > 0)
			str_addf(out, ", %" PRIu64 " messages by their bytes",
			    replay->with_bytes);
		if (replay->left_out > 0)
			str_addf(out, ", %" PRIu64 " left out",
			    replay->left_out);
		str_addc(out, '\n');
	}
	fputs(out->buf, stdout);
}

/* What the milters of either configuration would say is in no record. */
static void
replay_note_milters(const struct replay *replay)
{
	if (replay->is_json || (replay->old->milter_count == 0 &&
	    replay->fresh->milter_count == 0))
		return;
	fputs("zmailer: replay: milters are not asked again: what they said "
	    "then is taken\n", stderr);
}

static int
replay_make(struct replay *replay, const struct arguments *arguments)
{
	bool policy = arguments_has(arguments, OPT_POLICY),
		routes = arguments_has(arguments, OPT_ROUTES),
		shape = arguments_has(arguments, OPT_SHAPE);
	bool all = !policy && !routes && !shape;
	struct err err;

	if (((policy || all) && replay_sessions(replay, policy, &err) < 0) ||
	    ((routes || all) && (replay_routes(replay, &err) < 0 ||
	    replay_bytes(replay, &err) < 0)) ||
	    ((shape || all) && replay_shape(replay, &err) < 0)) {
		(void)verb_failed("replay", &err, REPLAY_TROUBLE);
		return REPLAY_TROUBLE;
	}
	if (policy || all)
		replay_note_milters(replay);
	replay_sum(replay);
	return replay->changed + replay->unknown + replay->left_out > 0 ? 1 :
	    EX_OK;
}

int
verb_replay(struct arguments *arguments)
{
	struct replay replay = { .text = STR_INIT };
	const char *given = arguments_text(arguments, OPT_CONFIG_FILE);
	struct conf *old, *fresh;
	struct err err;
	int status;

	if (replay_window(arguments, &replay.span, &err) < 0)
		return arguments_refuse(arguments, "%s", err.text);
	fresh = verb_conf_file(given);
	old = verb_conf(arguments->conf_path);
	replay.old = old;
	replay.fresh = fresh;
	replay.fresh_path = fresh->path;
	replay.asks_dns = arguments_has(arguments, OPT_ASK_DNS);
	replay.is_json = arguments_has(arguments, OPT_JSON);
	status = replay_make(&replay, arguments);
	str_release(&replay.text);
	conf_free(&old);
	conf_free(&fresh);
	return status;
}

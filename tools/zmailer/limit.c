/* limit.c - zmailer limit: limit the mail of a sender, or to a host
 *
 * In     whom, how much, how long
 * Out    a `limit rate` rule before all rules, or a schedule clause before all
 *        clauses, in zmailer.conf
 * Spec   zmailer-limit(8); zmailer.conf(5), limit rate and schedule
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <string.h>
#include <sysexits.h>

#include "base/ascii.h"
#include "base/clock.h"
#include "base/json.h"
#include "grammar/message/date.h"
#include "grammar/units.h"
#include "tools/change/change.h"
#include "tools/zmailer/verbs/verb.h"

#include "base/banned.h"

struct limit {
	const char	*whom;
	const char	*key;		/* "sender" "sender-domain" "user" */
	const char	*rate;		/* "20/1h"; NULL */
	uint64_t	 parallel;	/* 0: not said */
	int64_t		 until_s;
};

/* A word that needs no quotes and ends no statement. */
static bool
limit_is_plain(const char *word)
{
	for (const char *p = word; *p != '\0'; p++)
		if ((unsigned char)*p <= 32 || *p == 127 ||
		    ascii_is_among(*p, "{};#\"<>\\"))
			return false;
	return *word != '\0' && strlen(word) < 256;
}

static const char *
limit_key_of(const char *whom)
{
	return whom[0] == '@' ? "sender-domain" :
	    strchr(whom, '@') != NULL ? "sender" : "user";
}

/* ---- senders ---------------------------------------------------------- */

/* limit rate N/SPAN per KEY ... sender|user WHOM ...: ours, as we write it. */
static bool
is_sender_limit(const struct conf_piece *piece, const char *whom)
{
	if (!conf_piece_is(piece, 0, "limit") ||
	    !conf_piece_is(piece, 1, "rate"))
		return false;
	for (size_t i = 3; i + 1 < piece->word_count; i++)
		if ((conf_piece_is(piece, i, "sender") ||
		    conf_piece_is(piece, i, "user")) &&
		    conf_piece_is(piece, i + 1, whom))
			return true;
	return false;
}

/* Limits of the same go; each edit makes the pieces stale. */
static unsigned
limit_sender_take(struct change *change, struct str *text, const char *whom)
{
	unsigned gone = 0;

	for (;;) {
		struct conf_piece *pieces;
		size_t count = conf_pieces(change->arena, str_slice(text),
		    &pieces), i = 0;

		while (i < count && !is_sender_limit(&pieces[i], whom))
			i++;
		if (i == count)
			return gone;
		conf_take_piece(text, &pieces[i]);
		gone++;
	}
}

static int
sender_put(struct change *change, const struct limit *limit)
{
	static const char *const rules[] = { "accept", "reject", "defer",
		"freeze", "limit", "greylist", "policy-service", "include",
		"hooks", NULL };
	struct str *text = change_main(change);
	struct str line = STR_INIT;

	if (text == NULL)
		return EX_NOINPUT;
	limit_sender_take(change, text, limit->whom);
	str_addf(&line, "limit rate %s per %s %s %s", limit->rate,
	    limit->key, strcmp(limit->key, "user") == 0 ? "user" : "sender",
	    limit->whom);
	if (limit->until_s != 0) {
		str_adds(&line, " until ");
		date_add(&line, limit->until_s);
	}
	str_addc(&line, '\n');
	conf_put_before_first(change->arena, text, rules, line.buf);
	str_release(&line);
	return change_carry_out(change);
}

/* ---- destinations ------------------------------------------------------- */

static bool
is_clause(const struct conf_piece *piece, const char *dest)
{
	return conf_piece_is(piece, 0, "schedule") &&
	    conf_piece_is(piece, 1, dest);
}

/* Does its block say nothing but what we would say? */
static bool
is_simple(struct change *change, const struct str *text,
    const struct conf_piece *piece)
{
	struct slice inner = slice_first(str_slice(text), piece->end);
	struct conf_piece *items;
	size_t count;

	inner = slice_from(inner, piece->words[1].end);
	inner = slice_from(inner, slice_find(inner, '{') + 1);
	if (inner.n > 0)
		inner.n--;
	count = conf_pieces(change->arena, inner, &items);
	for (size_t i = 0; i < count; i++)
		if (!conf_piece_is(&items[i], 0, "parallel") &&
		    !conf_piece_is(&items[i], 0, "rate") &&
		    !conf_piece_is(&items[i], 0, "until"))
			return false;
	return true;
}

/* 1 removed, 0 there was none, -1 there is a clause that a person wrote. */
static int
clause_take(struct change *change, struct str *text, const char *dest)
{
	struct conf_piece *pieces;
	size_t count = conf_pieces(change->arena, str_slice(text), &pieces);

	for (size_t i = 0; i < count; i++) {
		if (!is_clause(&pieces[i], dest))
			continue;
		if (!is_simple(change, text, &pieces[i])) {
			fprintf(stderr, "zmailer: limit: schedule %s says "
			    "more than parallel, rate and until; edit it by "
			    "hand\n",
			    dest);
			return -1;
		}
		conf_take_piece(text, &pieces[i]);
		return 1;
	}
	return 0;
}

static const char *
limit_dest_of(struct arena *arena, const char *whom)
{
	return strchr(whom, '/') != NULL ? whom :
	    arena_printf(arena, "smtp/%s", whom);
}

static int
dest_put(struct change *change, const struct limit *limit)
{
	static const char *const clauses[] = { "schedule", "include",
		"include-legacy", NULL };
	const char *dest = limit_dest_of(change->arena, limit->whom);
	struct str *text = change_main(change);
	struct str line = STR_INIT;

	if (text == NULL)
		return EX_NOINPUT;
	if (clause_take(change, text, dest) < 0)
		return EX_CONFIG;
	str_addf(&line, "schedule %s {", dest);
	if (limit->parallel > 0)
		str_addf(&line, " parallel %llu;",
		    (unsigned long long)limit->parallel);
	if (limit->rate != NULL)
		str_addf(&line, " rate %s;", limit->rate);
	if (limit->until_s != 0) {
		str_adds(&line, " until ");
		date_add(&line, limit->until_s);
		str_addc(&line, ';');
	}
	str_adds(&line, " }\n");
	conf_put_before_first(change->arena, text, clauses, line.buf);
	str_release(&line);
	return change_carry_out(change);
}

/* ---- list, remove ------------------------------------------------------- */

static void
put_limit(const struct str *what, struct conf_at at, bool is_json)
{
	struct str out = STR_INIT;

	if (is_json) {
		json_open_answer(&out);
		json_text(&out, "limit", str_slice(what));
		json_text(&out, "file", slice_of(at.file));
		json_number(&out, "line", at.line);
		json_close(&out);
	} else {
		str_addf(&out, "%s:%u  ", at.file, at.line);
		str_add_escaped(&out, str_slice(what));
		str_addc(&out, '\n');
	}
	fputs(out.buf, stdout);
	str_release(&out);
}

static void
limit_add_until(struct str *out, int64_t until_s, bool is_json)
{
	char moment[CLOCK_TEXT_BYTES];

	if (is_json) {
		date_add(out, until_s);
		return;
	}
	clock_local(until_s, moment);
	str_adds(out, moment);
}

static int
limit_list(struct change *change)
{
	const struct conf *conf = change->conf;
	struct str what = STR_INIT;

	for (size_t i = 0; i < conf->rule_count; i++) {
		const struct conf_rule *rule = &conf->rules[i];

		if (rule->count.kind == COUNT_NOTHING ||
		    rule->at.file == NULL)
			continue;
		str_reset(&what);
		str_addf(&what, "%s ", rule->word);
		conf_rule_add(&what, rule);
		if (rule->until_s != 0 && rule->until_s <= clock_wall_s())
			str_adds(&what, " (over)");
		put_limit(&what, rule->at, change->is_json);
	}
	for (size_t i = 0; i < conf->schedule_count; i++) {
		const struct conf_schedule *clause = &conf->schedules[i];

		if (clause->at.file == NULL)
			continue;
		str_reset(&what);
		str_addf(&what, "schedule %s/%s parallel %u",
		    clause->channel, clause->host, clause->parallel);
		if (clause->rate_per_ms > 0) {
			str_addf(&what, " rate %llu/",
			    (unsigned long long)clause->rate_count);
			units_add_span(&what, clause->rate_per_ms);
		}
		if (clause->until_s != 0) {
			str_adds(&what, " until ");
			limit_add_until(&what, clause->until_s,
			    change->is_json);
		}
		if (clause->until_s != 0 && clause->until_s <= clock_wall_s())
			str_adds(&what, " (over)");
		put_limit(&what, clause->at, change->is_json);
	}
	str_release(&what);
	return EX_OK;
}

static int
limit_take_back(struct change *change, const char *kind, const char *whom)
{
	struct str *text = change_main(change);
	int taken;

	if (text == NULL)
		return EX_NOINPUT;
	taken = strcmp(kind, "sender") == 0 ?
	    (int)limit_sender_take(change, text, whom) : clause_take(change,
	    text,
	    limit_dest_of(change->arena, whom));
	if (taken < 0)
		return EX_CONFIG;
	if (taken > 0)
		return change_carry_out(change);
	fprintf(stderr, "zmailer: limit: %s has no limit in %s\n", whom,
	    change->conf_path);
	return 1;
}

/* ---- the command line -------------------------------------------------- */

/* Whoever wants nothing at all wants another verb. */
static int
limit_refuse_nothing(const struct arguments *arguments, const char *word)
{
	const char *whom = arguments->words[0];
	bool is_user = strpbrk(whom, "@.") == NULL;

	if (arguments_is(arguments, "sender"))
		return arguments_refuse(arguments, "%s: a rate of 0 is no "
		    "limit; `zmailer block %s%s` lets nothing through", word,
		    is_user ? "user:" : "", whom);
	return arguments_refuse(arguments, "%s: a rate of 0 is no limit; "
	    "`zmailer suspend smtp/%s` begins no deliveries there", word,
	    whom);
}

static int
take_amount(const struct arguments *arguments, const char *word,
    struct limit *out)
{
	struct err err = { "" };
	uint64_t count;
	int64_t per_ms;

	if (strchr(word, '/') == NULL) {
		if (slice_number(slice_of(word), 1, 10000, &out->parallel))
			return EX_OK;
		return arguments_refuse(arguments, "'%s' is neither a number "
		    "of sessions nor a rate (600/1m)", word);
	}
	if (units_rate(slice_of(word), &count, &per_ms, &err) != 0)
		return arguments_refuse(arguments, "%s: %s", word, err.text);
	if (count == 0)
		return limit_refuse_nothing(arguments, word);
	out->rate = word;
	return EX_OK;
}

static int
limit_set(struct change *change, const struct arguments *arguments)
{
	bool is_sender = arguments_is(arguments, "sender");
	const char *whom = arguments->words[0];
	int64_t for_ms = arguments_number(arguments, OPT_FOR, 0);
	struct limit limit = { .whom = whom, .key = limit_key_of(whom),
	    .until_s = for_ms == 0 ? 0 : clock_wall_s() + for_ms / 1000 };
	int status = EX_OK;

	if (!limit_is_plain(limit.whom))
		return arguments_refuse(arguments, "whom? user@domain, "
		    "@domain, a user, or a host");
	for (int i = 1; i < arguments->count && status == EX_OK; i++)
		status = take_amount(arguments, arguments->words[i], &limit);
	if (status != EX_OK)
		return status;
	if (is_sender && (limit.rate == NULL || limit.parallel > 0))
		return arguments_refuse(arguments, "a sender has a rate: "
		    "20/1h");
	if (limit.rate == NULL && limit.parallel == 0)
		return arguments_refuse(arguments, "how much?");
	return is_sender ? sender_put(change, &limit) :
	    dest_put(change, &limit);
}

static int
limit_run(struct change *change, const struct arguments *arguments)
{
	if (arguments_is(arguments, "list"))
		return limit_list(change);
	if (arguments_is(arguments, "remove"))
		return limit_take_back(change, arguments->words[0],
		    arguments->words[1]);
	return limit_set(change, arguments);
}

int
verb_limit(struct arguments *arguments)
{
	return change_verb(arguments, limit_run);
}

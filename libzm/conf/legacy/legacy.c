/* legacy.c - ZMailer's scheduler.conf as schedule clauses
 *
 * In     the file that include-legacy names
 * Out    clauses where the statement stands
 * Holds  nothing
 * Trusts the file as much as zmailer.conf
 * Spec   zmailer.conf(5), include-legacy
 *
 *	PARAMname = "value"
 *	channel/host-pattern
 *		keyword=value keyword ...
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "conf/legacy/legacy.h"

#include "base/banned.h"

/* ---- patterns ------------------------------------------------------ */

struct brackets {		/* the first of a pattern */
	struct slice	before, inside, after;
	bool		is_set;		/* {a,b}, else [a-c] */
};

/* 1 there is one, 0 none, -1 it is not closed. */
static int
brackets_find(struct slice pattern, struct brackets *out)
{
	size_t open = 0, close;

	while (open < pattern.n && pattern.p[open] != '{' &&
	    pattern.p[open] != '[')
		open++;
	if (open == pattern.n)
		return 0;
	out->is_set = pattern.p[open] == '{';
	out->before = slice_first(pattern, open);
	out->inside = slice_from(pattern, open + 1);
	close = slice_find(out->inside, out->is_set ? '}' : ']');
	if (close == out->inside.n)
		return -1;
	out->after = slice_from(out->inside, close + 1);
	out->inside = slice_first(out->inside, close);
	return 1;
}

struct patterns {
	struct arena	*arena;
	const char	**out;
	size_t		 count;
	bool		 is_bad;
};

static void pattern_expand(struct patterns *patterns, struct slice pattern);

static void
pattern_expand_with(struct patterns *patterns, const struct brackets *brackets,
    struct slice piece)
{
	pattern_expand(patterns, slice_of(arena_printf(patterns->arena,
	    SLICE_FMT SLICE_FMT SLICE_FMT, SLICE_ARG(brackets->before),
	    SLICE_ARG(piece), SLICE_ARG(brackets->after))));
}

/* Each byte of "ax-z". */
static void
pattern_expand_range(struct patterns *patterns, const struct brackets *brackets)
{
	struct slice in = brackets->inside;

	for (size_t i = 0; i < in.n; i++) {
		unsigned char from = (unsigned char)in.p[i], to = from;

		if (i + 2 < in.n && in.p[i + 1] == '-') {
			to = (unsigned char)in.p[i + 2];
			i += 2;
		}
		for (int c = from; c <= to && !patterns->is_bad; c++) {
			char byte = (char)c;

			pattern_expand_with(patterns, brackets,
			    (struct slice){ &byte, 1 });
		}
	}
}

/* Recursion is as deep as there are brackets: a line is bounded, and each
 * level that makes more than one multiplies up to the limit. */
static void
pattern_expand(struct patterns *patterns, struct slice pattern)
{
	struct brackets brackets = { .is_set = false };
	struct slice rest, piece;
	int found = brackets_find(pattern, &brackets);

	if (found < 0 || patterns->count >= LEGACY_PATTERNS_MAX)
		patterns->is_bad = true;
	if (patterns->is_bad)
		return;
	if (found == 0) {
		patterns->out[patterns->count++] =
		    slice_dup(patterns->arena, pattern);
	} else if (brackets.is_set) {
		rest = brackets.inside;
		while (slice_cut(&rest, ',', &piece) && !patterns->is_bad)
			pattern_expand_with(patterns, &brackets, piece);
	} else {
		pattern_expand_range(patterns, &brackets);
	}
}

enum { BRACKETS_MAX = 8 };

size_t
legacy_patterns(struct arena *arena, struct slice pattern,
    const char *out[LEGACY_PATTERNS_MAX])
{
	struct patterns patterns = { .arena = arena, .out = out };
	size_t brackets = 0;

	for (size_t i = 0; i < pattern.n; i++)
		brackets += pattern.p[i] == '{' || pattern.p[i] == '[';
	if (brackets > BRACKETS_MAX)
		return 0;
	if (slice_find(pattern, '/') == pattern.n)
		pattern = slice_of(arena_printf(arena, SLICE_FMT "/*",
		    SLICE_ARG(pattern)));
	pattern_expand(&patterns, pattern);
	return patterns.is_bad ? 0 : patterns.count;
}

/* ---- clauses ------------------------------------------------------- */

/* Interval and factors become waits; what the clause leaves unsaid comes
 * from the defaults. */
static void
legacy_finish(const struct legacy *legacy, struct legacy_clause *out)
{
	static const unsigned factors[] = { 1, 1, 2, 3, 5, 8, 13, 21, 34 };
	const struct legacy_clause *defaults = &legacy->defaults;
	struct conf_schedule *schedule = &out->clause.schedule;

	if (out->interval_s == 0)
		out->interval_s = defaults->interval_s;
	if (out->factor_count == 0) {
		memcpy(out->factors, defaults->factors, sizeof(out->factors));
		out->factor_count = defaults->factor_count;
	}
	if (out->factor_count == 0 && out->interval_s > 0) {
		memcpy(out->factors, factors, sizeof(factors));
		out->factor_count = sizeof(factors) / sizeof(factors[0]);
	}
	conf_clause_inherit(&out->clause, &defaults->clause);
	if (out->interval_s == 0 || out->factor_count == 0)
		return;
	conf_clause_note(&out->clause, "retry");
	schedule->retry_count = out->factor_count;
	schedule->retry_stops = false;
	for (size_t i = 0; i < out->factor_count; i++) {
		int64_t wait_s = out->interval_s * out->factors[i];

		schedule->retry_s[i] = wait_s > 28 * 86400 ? 28 * 86400 :
		    wait_s;
	}
}

struct reader {
	struct legacy		 legacy;
	struct legacy_clause	 open;		/* settings being read */
	struct conf_token	*patterns[LEGACY_PATTERNS_MAX];
	size_t			 pattern_count;
	bool			 has_settings;
	const struct conf_source *source;
	unsigned		 line;
};

static struct conf_token *
token_new(struct reader *reader, struct slice line, struct slice text)
{
	struct conf_token *token = arena_alloc(
	    reader->legacy.loader->conf->arena, sizeof(*token));

	*token = (struct conf_token){ .kind = TOKEN_WORD, .text = text,
	    .raw = text, .line = reader->line,
	    .column = (unsigned)(text.p - line.p) + 1,
	    .width = (unsigned)text.n, .source = reader->source };
	return token;
}

/* The mailer $channel of an sm command is the clause's own channel. */
static void
command_finish(struct legacy *legacy, const struct conf_token *token,
    struct conf_schedule *schedule)
{
	static const char variable[] = " $channel";
	struct slice command = slice_of(schedule->command == NULL ? "" :
	    schedule->command);

	if (!slice_ends(command, variable))
		return;
	if (strpbrk(schedule->channel, "*?") != NULL)
		conf_complain(legacy->loader, CONF_ERROR, token, "write a "
		    "clause a channel, or name the mailer", "$channel of '"
		    SLICE_FMT "' would be many", SLICE_ARG(command));
	schedule->command = arena_printf(legacy->loader->conf->arena,
	    SLICE_FMT " %s", SLICE_ARG(slice_first(command, command.n -
	    (sizeof(variable) - 1))), schedule->channel);
}

static void
pattern_push(struct reader *reader, const struct conf_token *token)
{
	struct conf_loader *loader = reader->legacy.loader;
	const char *patterns[LEGACY_PATTERNS_MAX];
	size_t count = legacy_patterns(loader->conf->arena, token->text,
	    patterns);

	if (count == 0)
		conf_complain(loader, CONF_ERROR, token, "write it as "
		    "several lines", "the brackets of this pattern are not "
		    "closed or stand for more than %d", LEGACY_PATTERNS_MAX);
	for (size_t i = 0; i < count; i++) {
		struct conf_clause clause = reader->open.clause;
		struct slice rest = slice_of(patterns[i]), channel;

		slice_cut(&rest, '/', &channel);
		if (channel.n == 0 || rest.n == 0) {
			conf_complain(loader, CONF_ERROR, token,
			    "write CHANNEL/HOST", "this is not a channel and "
			    "host");
			return;
		}
		clause.schedule.channel = slice_dup(loader->conf->arena,
		    channel);
		clause.schedule.host = slice_lower(loader->conf->arena,
		    rest).p;
		clause.schedule.at = conf_at(token);
		command_finish(&reader->legacy, token, &clause.schedule);
		conf_clause_push(loader, &clause);
	}
}

/* The settings of the patterns before them are complete.  The first entry
 * for everything matches nothing: it is what the others inherit. */
static void
clause_end(struct reader *reader)
{
	struct legacy *legacy = &reader->legacy;

	if (reader->pattern_count == 1 && !legacy->has_defaults &&
	    slice_is(reader->patterns[0]->text, "*/*")) {
		legacy->has_defaults = true;
		legacy->defaults = reader->open;
	} else {
		legacy_finish(legacy, &reader->open);
		for (size_t i = 0; i < reader->pattern_count; i++)
			pattern_push(reader, reader->patterns[i]);
	}
	reader->pattern_count = 0;
	reader->has_settings = false;
	memset(&reader->open, 0, sizeof(reader->open));
}

/* At a keyword: cut it and its value off, which may be quoted. */
static struct slice
setting_cut(struct slice *rest, struct slice *out_keyword)
{
	struct slice value = { NULL, 0 };
	size_t n = 0;

	while (n < rest->n && !ascii_is_among(rest->p[n], " \t="))
		n++;
	*out_keyword = slice_first(*rest, n);
	*rest = slice_from(*rest, n);
	if (!slice_starts(*rest, "="))
		return value;
	*rest = slice_from(*rest, 1);
	if (slice_starts(*rest, "\"")) {
		*rest = slice_from(*rest, 1);
		n = slice_find(*rest, '"');
		value = slice_first(*rest, n);
		*rest = slice_from(*rest, n < rest->n ? n + 1 : n);
		return value;
	}
	for (n = 0; n < rest->n && !ascii_is_among(rest->p[n], " \t"); n++)
		;
	value = slice_first(*rest, n);
	*rest = slice_from(*rest, n);
	return value;
}

static void
settings_line(struct reader *reader, struct slice line, struct slice rest)
{
	struct slice keyword, value;

	if (reader->pattern_count == 0) {
		conf_complain(reader->legacy.loader, CONF_ERROR,
		    token_new(reader, line, rest), NULL,
		    "these settings belong to no pattern");
		return;
	}
	reader->has_settings = true;
	while (rest.n > 0 && rest.p[0] != '#') {
		value = setting_cut(&rest, &keyword);
		if (keyword.n == 0)
			keyword = slice_first(rest, 1);
		legacy_keyword(&reader->legacy,
		    token_new(reader, line, keyword), keyword, value,
		    &reader->open);
		rest = slice_trim(rest);
	}
}

static void
legacy_line(struct reader *reader, struct slice line)
{
	struct slice rest = slice_trim(line), word;
	bool is_indented = line.n > 0 && ascii_is_among(line.p[0], " \t");

	if (rest.n == 0 || rest.p[0] == '#')
		return;
	if (is_indented) {
		settings_line(reader, line, rest);
		return;
	}
	if (reader->has_settings)
		clause_end(reader);
	if (slice_starts(rest, "PARAM")) {
		word = slice_from(rest, strlen("PARAM"));
		for (size_t i = 0; i < word.n; i++)
			if (ascii_is_among(word.p[i], " \t="))
				word.n = i;
		legacy_param(&reader->legacy, token_new(reader, line,
		    word), word);
		return;
	}
	slice_word(&rest, &word);
	if (reader->pattern_count == LEGACY_PATTERNS_MAX)
		conf_complain(reader->legacy.loader, CONF_ERROR,
		    token_new(reader, line, word), NULL,
		    "more than %d patterns share their settings",
		    LEGACY_PATTERNS_MAX);
	else
		reader->patterns[reader->pattern_count++] =
		    token_new(reader, line, word);
	if (slice_trim(rest).n > 0)
		settings_line(reader, line, slice_trim(rest));
}

static void
legacy_load_text(struct conf_loader *loader, const char *name,
    struct slice text)
{
	struct reader *reader = arena_alloc(loader->conf->arena,
	    sizeof(*reader));
	struct slice rest, line;

	reader->legacy.loader = loader;
	reader->source = conf_source_new(loader, name, text);
	rest = reader->source->text;
	while (slice_cut(&rest, '\n', &line)) {
		reader->line++;
		legacy_line(reader, line);
	}
	if (reader->pattern_count > 0)
		clause_end(reader);
}

void
conf_apply_include_legacy(struct conf_loader *loader,
    const struct conf_statement *statement, void *target)
{
	conf_load_file(loader, statement->args[0].text,
	    statement->args[0].token, legacy_load_text);
}

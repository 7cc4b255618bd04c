/* read.c - exim4.conf, line by line
 *
 * In     the bytes of a file, not trusted
 * Out    statements with the number of the line each begins on
 * Holds  macros and open conditions, in the reader
 * Spec   the Exim specification, chapter 6 ("The runtime configuration file")
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "tools/zmailer/import/exim/read.h"

#include "base/banned.h"

static bool
name_has_byte(char c)
{
	return ascii_is_alnum(c) || c == '_';
}

/* ---- macros ------------------------------------------------------------- */

/* Each occurrence of one macro; what was put in is not looked at again.
 * returns whether there was one */
static bool
macro_fill(const struct exim4_macro *macro, struct str *text)
{
	struct slice rest = str_slice(text);
	struct str out = STR_INIT;
	size_t at = slice_find_text(rest, macro->name);
	bool is_found = at < rest.n;

	while (at < rest.n && out.len <= EXIM4_LINE_BYTES_MAX) {
		str_add_slice(&out, slice_first(rest, at));
		str_add_slice(&out, macro->value);
		rest = slice_from(rest, at + macro->name.n);
		at = slice_find_text(rest, macro->name);
	}
	str_add_slice(&out, rest);
	if (is_found) {
		str_reset(text);
		str_add_slice(text, str_slice(&out));
	}
	str_release(&out);
	return is_found;
}

/* "NAME =" at the front of a line does not use that macro. */
static size_t
macro_front(struct slice line)
{
	size_t n = 0;

	while (n < line.n && name_has_byte(line.p[n]))
		n++;
	if (n == 0 || !ascii_is_upper(line.p[0]))
		return 0;
	return slice_starts(slice_trim(slice_from(line, n)), "=") ? n : 0;
}

/* What the compiled-in macros say: nearly all are there in each Exim of
 * today, and that of OpenSSL is not, where Debian's is asked. */
static bool
line_has_builtin(struct slice line)
{
	static const char *const known[] = { "_HAVE_", "_OPT_", "_DRIVER_",
		"_LOOKUP_", "_EXP_" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (slice_find_text(line, slice_of(known[i])) < line.n)
			return slice_find_text(line, SLICE("OPENSSL")) ==
			    line.n;
	return false;
}

/* A line with its macros filled in, appended to out.
 * returns whether there was a macro */
static bool
line_fill(struct exim4_reader *reader, struct slice line, struct str *out)
{
	size_t front = macro_front(line);
	struct str text = STR_INIT;
	bool is_found = false;

	str_add_slice(&text, slice_from(line, front));
	for (size_t i = 0; i < reader->macro_count &&
	    text.len <= EXIM4_LINE_BYTES_MAX &&
	    reader->made_bytes <= EXIM4_MADE_BYTES_MAX; i++)
		if (macro_fill(&reader->macros[i], &text)) {
			is_found = true;
			reader->made_bytes += text.len;
		}
	str_add_slice(out, slice_first(line, front));
	str_add_slice(out, str_slice(&text));
	str_release(&text);
	return is_found;
}

static void
macro_put(struct exim4_reader *reader, struct exim4_statement *out)
{
	for (size_t i = 0; i < reader->macro_count; i++)
		if (slice_equal(reader->macros[i].name, out->name)) {
			reader->macros[i].value = out->value;
			return;
		}
	if (reader->macro_count == EXIM4_MACROS_MAX)
		out->wrong = "more than 1000 macros";
	else
		reader->macros[reader->macro_count++] = (struct exim4_macro){
			out->name, out->value
		};
}

/* ---- conditions --------------------------------------------------------- */

static bool
reader_is_off(const struct exim4_reader *reader)
{
	for (size_t i = 0; i < reader->depth; i++)
		if (reader->branches[i] != EXIM4_TAKEN)
			return true;
	return false;
}

static const char *
branch_open(struct exim4_reader *reader, bool is_true)
{
	if (reader->depth == EXIM4_BRANCHES_MAX)
		return "conditions go deeper than 50";
	reader->branches[reader->depth++] = is_true ? EXIM4_TAKEN :
	    EXIM4_NOT_YET;
	return NULL;
}

static const char *
branch_next(struct exim4_reader *reader, bool is_true)
{
	enum exim4_branch *last;

	if (reader->depth == 0)
		return "there is no .ifdef before it";
	last = &reader->branches[reader->depth - 1];
	*last = *last != EXIM4_NOT_YET ? EXIM4_OVER : is_true ? EXIM4_TAKEN :
	    EXIM4_NOT_YET;
	return NULL;
}

/* ".ifdef NAME" and the like: *out_is_off: what follows is not in force, though
 * what precedes it was.  returns false: it is none of these */
static bool
line_branch(struct exim4_reader *reader, struct slice line, bool has_macro,
    const char **out_wrong, bool *out_is_off)
{
	struct slice word, rest = line;
	bool is_off, is_true;

	if (!slice_word(&rest, &word))
		return false;
	is_true = has_macro || line_has_builtin(rest);
	if (slice_ends(word, "ndef"))
		is_true = !is_true;
	*out_wrong = NULL;
	*out_is_off = false;
	if (slice_is(word, ".ifdef") || slice_is(word, ".ifndef")) {
		is_off = reader_is_off(reader);
		*out_wrong = branch_open(reader, is_true);
		*out_is_off = !is_off && !is_true;
	} else if (slice_is(word, ".elifdef") || slice_is(word, ".elifndef") ||
	    slice_is(word, ".else")) {
		*out_wrong = branch_next(reader, is_true ||
		    slice_is(word, ".else"));
		if (reader->depth > 0) {
			reader->depth--;
			is_off = reader_is_off(reader);
			reader->depth++;
			*out_is_off = !is_off && reader->branches[
			    reader->depth - 1] != EXIM4_TAKEN;
		}
	} else if (slice_is(word, ".endif")) {
		if (reader->depth == 0)
			*out_wrong = "there is no .ifdef before it";
		else
			reader->depth--;
	} else
		return false;
	return true;
}

/* ---- lines -------------------------------------------------------------- */

static struct slice
line_physical(struct exim4_reader *reader)
{
	struct slice line = slice_first(reader->rest, slice_find(reader->rest,
	    '\n'));

	reader->rest = slice_from(reader->rest, line.n + 1);
	reader->line++;
	while (slice_ends(line, "\r") || slice_ends(line, " ") ||
	    slice_ends(line, "\t"))
		line.n--;
	return line;
}

/* One more physical line, at the end of what is joined already.
 * returns whether the next one belongs to it, too */
static bool
line_join(struct exim4_reader *reader, struct slice line, struct str *joined)
{
	bool is_open = slice_ends(line, "\\");

	if (is_open)
		line.n--;
	if (!reader->is_long && joined->len + line.n <= EXIM4_LINE_BYTES_MAX)
		str_add_slice(joined, line);
	else {
		str_add_slice(joined, slice_first(line, 80));
		reader->is_long = true;
	}
	return is_open;
}

/* A condition's line as a statement; false: there is nothing to say. */
static bool
line_branch_say(struct arena *arena, struct exim4_reader *reader,
    struct slice line, const char *wrong, struct exim4_statement *out)
{
	struct slice word = SLICE(""), rest = line;

	(void)slice_word(&rest, &word);
	*out = (struct exim4_statement){ .section = reader->section,
	    .kind = EXIM4_BRANCH, .name = slice_copy(arena, word),
	    .value = slice_copy(arena, slice_trim(rest)),
	    .line = reader->line, .wrong = wrong };
	return true;
}

enum line_result { LINE_NONE, LINE_WHOLE, LINE_SAID };

/* The next logical line, or a condition that is to be told. */
static enum line_result
line_logical_next(struct arena *arena, struct exim4_reader *reader,
    struct str *out, struct exim4_statement *said)
{
	bool is_open = false, is_branch_off, has_macro;
	struct str filled = STR_INIT;
	enum line_result result = LINE_NONE;
	const char *wrong;

	while (reader->rest.n > 0 && result == LINE_NONE) {
		struct slice raw = line_physical(reader), line;
		bool is_off = reader_is_off(reader);

		line = slice_trim(raw);
		if (slice_starts(line, "#") || (line.n == 0 && !is_open))
			continue;
		str_reset(&filled);
		has_macro = line_fill(reader, line, &filled);
		if (slice_starts(line, ".") && line_branch(reader, line,
		    has_macro, &wrong, &is_branch_off)) {
			if ((wrong != NULL && !is_off) || is_branch_off) {
				(void)line_branch_say(arena, reader, line,
				    wrong, said);
				result = LINE_SAID;
			}
			continue;
		}
		if (is_off)
			continue;
		if (!is_open)
			said->line = reader->line;
		is_open = line_join(reader, str_slice(&filled), out);
		if (!is_open)
			result = LINE_WHOLE;
	}
	if (result == LINE_NONE && out->len > 0)
		result = LINE_WHOLE;
	str_release(&filled);
	return result;
}

/* ---- statements --------------------------------------------------------- */

static const struct {
	const char *name;
	enum exim4_section section;
} sections[] = {
	{ "acl", EXIM4_ACLS }, { "routers", EXIM4_ROUTERS },
	{ "transports", EXIM4_TRANSPORTS }, { "retry", EXIM4_RETRY },
	{ "rewrite", EXIM4_REWRITE },
	{ "authenticators", EXIM4_AUTHENTICATORS },
};

/* NAME = VALUE, or only NAME, without a value. */
static void
statement_option(struct slice line, struct exim4_statement *out)
{
	size_t n = 0;

	while (n < line.n && line.p[n] != '=' && line.p[n] != ' ' &&
	    line.p[n] != '\t')
		n++;
	out->name = slice_first(line, n);
	out->value = slice_trim(slice_from(line, n));
	if (slice_starts(out->value, "="))
		out->value = slice_trim(slice_from(out->value, 1));
	else if (out->value.n > 0)
		out->wrong = "no NAME = VALUE";
	if (n == 0)
		out->wrong = "no NAME = VALUE";
}

/* [VERB] [!] NAME = VALUE. */
static void
statement_condition(struct slice line, struct exim4_statement *out)
{
	static const char *const verbs[] = { "accept", "defer", "deny",
		"discard", "drop", "require", "warn" };
	struct slice rest = line, word;

	out->kind = EXIM4_CONDITION;
	out->name = SLICE("");
	(void)slice_word(&rest, &word);
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (slice_is(word, verbs[i])) {
			out->verb = word;
			line = slice_trim(rest);
		}
	if (line.n == 0)
		return;
	if (slice_starts(line, "!") && line.n > 1 && line.p[1] == ' ')
		line = slice_from(line, 1 + (size_t)(line.p[1] == ' '));
	statement_option(line, out);
	if (slice_is(out->name, "set"))
		out->wrong = NULL;
}

static void
statement_rule(struct slice line, struct exim4_statement *out)
{
	size_t n = 0;
	bool is_quoted = slice_starts(line, "\"");

	for (n = is_quoted; n < line.n && (is_quoted ? line.p[n] != '"' :
	    line.p[n] != ' ' && line.p[n] != '\t');)
		n += 1 + (size_t)(is_quoted && line.p[n] == '\\');
	n += is_quoted;
	out->kind = EXIM4_RULE;
	out->name = slice_first(line, n);
	out->value = slice_trim(slice_from(line, n));
}

static bool
line_is_driver(struct slice line)
{
	size_t n = 0;

	while (n < line.n && (name_has_byte(line.p[n]) || line.p[n] == '-'))
		n++;
	return n > 0 && n + 1 == line.n && line.p[n] == ':';
}

/* The statements before the first begin. */
static void
statement_main(struct slice line, struct exim4_statement *out)
{
	struct slice rest = line, word = SLICE("");

	(void)slice_word(&rest, &word);
	if (slice_is(word, "hide")) {
		out->is_hidden = true;
		line = slice_trim(rest);
		rest = line;
		(void)slice_word(&rest, &word);
	}
	if (slice_is(word, "domainlist") || slice_is(word, "hostlist") ||
	    slice_is(word, "addresslist") || slice_is(word,
	    "localpartlist")) {
		out->kind = EXIM4_LIST;
		out->verb = word;
		line = slice_trim(rest);
	}
	statement_option(line, out);
}

static void
statement_cut(struct exim4_reader *reader, struct slice line,
    struct exim4_statement *out)
{
	struct slice rest = line, word = SLICE("");

	(void)slice_word(&rest, &word);
	if (slice_starts(word, ".include")) {
		out->kind = EXIM4_INCLUDE;
		out->name = word;
		out->value = slice_trim(rest);
	} else if (slice_is(word, "begin")) {
		out->kind = EXIM4_BEGIN;
		out->name = word;
		out->value = slice_trim(rest);
		reader->section = EXIM4_ODD;
		for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]);
		    i++)
			if (slice_is(out->value, sections[i].name))
				reader->section = sections[i].section;
	} else if (macro_front(line) > 0) {
		out->kind = EXIM4_MACRO;
		out->name = slice_first(line, macro_front(line));
		rest = slice_trim(slice_from(line, out->name.n));
		rest = slice_from(rest, 1 + (size_t)slice_starts(rest, "=="));
		out->value = slice_trim(rest);
		macro_put(reader, out);
	} else if (reader->section == EXIM4_MAIN)
		statement_main(line, out);
	else if (reader->section == EXIM4_RETRY ||
	    reader->section == EXIM4_REWRITE ||
	    reader->section == EXIM4_ODD)
		statement_rule(line, out);
	else if (line_is_driver(line)) {
		out->kind = EXIM4_DRIVER;
		out->name = slice_first(line, line.n - 1);
	} else if (reader->section == EXIM4_ACLS)
		statement_condition(line, out);
	else
		statement_main(line, out);
}

bool
exim4_next(struct arena *arena, struct exim4_reader *reader,
    struct exim4_statement *out)
{
	struct str text = STR_INIT;
	enum line_result result;
	struct slice line;

	*out = (struct exim4_statement){ .section = reader->section,
		.verb = SLICE(""), .name = SLICE(""), .value = SLICE("") };
	reader->is_long = false;
	/* a backslash before nothing is no line */
	do
		result = line_logical_next(arena, reader, &text, out);
	while (result == LINE_WHOLE && slice_trim(str_slice(&text)).n == 0);
	if (result == LINE_WHOLE) {
		line = slice_trim(slice_copy(arena, str_slice(&text)));
		out->line = out->line > 0 ? out->line : reader->line;
		if (memchr(line.p, '\0', line.n) != NULL)
			out->wrong = "a NUL byte";
		else if (reader->is_long ||
		    reader->made_bytes > EXIM4_MADE_BYTES_MAX)
			out->wrong = "the line, or what its macros make of "
			    "it, is too long";
		out->name = slice_first(line, 200);
		if (out->wrong == NULL)
			statement_cut(reader, line, out);
		out->section = out->kind == EXIM4_BEGIN ? out->section :
		    reader->section;
	}
	str_release(&text);
	return result != LINE_NONE;
}

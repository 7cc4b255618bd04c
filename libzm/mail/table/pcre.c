/* pcre.c - type pcre: patterns, tried in order, the first wins
 *
 * In     the path of a file:
 *		/pattern/flags value	$1 or ${1} in the value is what group
 *					1 matched, $$ a dollar sign
 *		!/pattern/flags value	when it does not match (no $1)
 *		if /pattern/flags	the lines up to endif count only for
 *		if !/pattern/flags	keys that match, or do not
 *		endif
 *	  Letters fold; flags i m s x A E U X change that and more as in
 *	  pcre_table(5) of Postfix, whose files can be used.
 * Out    the value with its groups filled in
 * Holds  compiled patterns
 * Trusts neither patterns nor keys to end soon: steps, depth and heap of a
 *        match are limited, and a limit that is met is TABLE_TROUBLE
 * Spec   pcre2pattern(3), pcre2api(3)
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/ascii.h"
#include "base/mem.h"
#include "base/odd.h"
#include "mail/table/internal.h"
#include "mail/table/type.h"

#ifdef HAVE_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <string.h>

#include "base/banned.h"

enum {
	PCRE_ROWS_MAX = 1000000,	/* patterns of a file */
	PCRE_GROUPS_MAX = 100,		/* of a pattern */
	PCRE_NESTING_MAX = 32,		/* if in if */
	PCRE_STEPS_MAX = 200000,	/* backtracking steps of a match */
	PCRE_DEPTH_MAX = 2000,
	PCRE_HEAP_KIB_MAX = 2048,
	PCRE_VALUE_BYTES_MAX = 65536	/* after substitution */
};

enum row_kind { ROW_PATTERN, ROW_IF, ROW_ENDIF };

struct row {
	enum row_kind	 kind;
	bool		 is_negated;
	unsigned	 line;
	pcre2_code	*code;
	struct slice	 value;		/* in text */
	size_t		 end;		/* ROW_IF: index of its endif */
};

struct pcre {
	char			*text;		/* the file */
	struct row		*rows;
	size_t			 count, room;
	size_t			 open[PCRE_NESTING_MAX];
	size_t			 depth;
	pcre2_match_data	*match;
	pcre2_match_context	*limits;
	struct str		 value;
	table_line_fn		*fn;		/* hears of bad lines; or NULL:
						 * the first one ends it */
	void			*context;
};

/* ---- reading --------------------------------------------------------- */

static void
pcre_close(void *state)
{
	struct pcre *pcre = state;

	for (size_t i = 0; i < pcre->count; i++)
		pcre2_code_free(pcre->rows[i].code);
	pcre2_match_data_free(pcre->match);
	pcre2_match_context_free(pcre->limits);
	mem_release(pcre->text);
	mem_release(pcre->rows);
	str_release(&pcre->value);
	mem_free(&pcre);
}

static int
flag_of(char c, uint32_t *options)
{
	static const struct { char c; uint32_t option; } flags[] = {
		{ 'i', PCRE2_CASELESS }, { 'm', PCRE2_MULTILINE },
		{ 's', PCRE2_DOTALL }, { 'x', PCRE2_EXTENDED },
		{ 'A', PCRE2_ANCHORED }, { 'E', PCRE2_DOLLAR_ENDONLY },
		{ 'U', PCRE2_UNGREEDY }, { 'X', 0 },
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++)
		if (flags[i].c == c) {
			*options ^= flags[i].option;
			return 1;
		}
	return -1;
}

/* "/pattern/flags" at the front of *rest, which moves after it. */
static int
read_pattern(struct row *row, struct slice *rest, struct err *err)
{
	uint32_t options = PCRE2_CASELESS | PCRE2_DOTALL;
	struct slice body = slice_from(*rest, 1);
	char delimiter = rest->n > 0 ? rest->p[0] : ' ';
	PCRE2_UCHAR words[128];
	PCRE2_SIZE at;
	size_t n = 0;
	int error;

	if (ascii_is_alnum(delimiter) || delimiter == ' ')
		return err_set(err, "a pattern is written /PATTERN/");
	while (n < body.n && body.p[n] != delimiter)
		n += body.p[n] == '\\' && n + 1 < body.n ? 2 : 1;
	if (n >= body.n)
		return err_set(err, "the pattern has no '%c' after it",
		    delimiter);
	*rest = slice_from(body, n + 1);
	while (rest->n > 0 && rest->p[0] != ' ' && rest->p[0] != '\t') {
		if (flag_of(rest->p[0], &options) < 0)
			return err_set(err, "unknown flag '%c'", rest->p[0]);
		*rest = slice_from(*rest, 1);
	}
	row->code = pcre2_compile((PCRE2_SPTR)body.p, n, options, &error, &at,
	    NULL);
	if (row->code != NULL)
		return 1;
	pcre2_get_error_message(error, words, sizeof(words));
	return err_set(err, "column %zu of the pattern: %s", (size_t)at + 1,
	    (const char *)words);
}

/* Does the value ask for groups that the pattern has? */
static int
check_value(const struct row *row, struct err *err)
{
	uint32_t groups = 0;

	pcre2_pattern_info(row->code, PCRE2_INFO_CAPTURECOUNT, &groups);
	if (groups > PCRE_GROUPS_MAX)
		return err_set(err, "more than %d groups", PCRE_GROUPS_MAX);
	for (size_t i = 0; i + 1 < row->value.n; i++) {
		const char *p = row->value.p + i;
		unsigned number = 0;

		if (p[0] != '$')
			continue;
		i++;
		if (p[1] == '$')
			continue;
		p += p[1] == '{' || p[1] == '(' ? 2 : 1;
		if (*p < '0' || *p > '9')
			return err_set(err, "'$' without a number: write $$ "
			    "for a dollar sign");
		for (; p < row->value.p + row->value.n && ascii_is_digit(*p) &&
		    number <= PCRE_GROUPS_MAX; p++)
			number = number * 10 + (unsigned)(*p - '0');
		if (number > groups || row->is_negated)
			return err_set(err, "the value has $%u, the pattern "
			    "no such group", number);
	}
	return 1;
}

static bool
pcre_take_word(struct slice *rest, const char *word)
{
	struct slice copy = *rest, first;

	if (!slice_word(&copy, &first) || !slice_is_nocase(first, word))
		return false;
	*rest = slice_trim(copy);
	return true;
}

static int
read_row(struct pcre *pcre, struct row *row, struct slice line,
    struct err *err)
{
	struct slice rest = slice_trim(line);

	if (pcre_take_word(&rest, "endif")) {
		row->kind = ROW_ENDIF;
		if (pcre->depth == 0)
			return err_set(err, "endif without an if");
		pcre->rows[pcre->open[--pcre->depth]].end = pcre->count;
		return 1;
	}
	if (pcre_take_word(&rest, "if")) {
		row->kind = ROW_IF;
		if (pcre->depth == PCRE_NESTING_MAX)
			return err_set(err, "more than %d if in one another",
			    PCRE_NESTING_MAX);
		pcre->open[pcre->depth++] = pcre->count;
	}
	if (slice_starts(rest, "!")) {
		row->is_negated = true;
		rest = slice_trim(slice_from(rest, 1));
	}
	if (read_pattern(row, &rest, err) < 0)
		return -1;
	row->value = slice_trim(rest);
	if (row->kind == ROW_PATTERN)
		return check_value(row, err);
	return row->value.n == 0 ? 1 :
	    err_set(err, "nothing may follow the pattern of an if");
}

/* One logical line: continuation lines were joined to it. */
static int
pcre_add_line(struct pcre *pcre, struct slice line, unsigned number,
    struct err *err)
{
	struct row row = { .line = number };
	int result;

	if (pcre->count == PCRE_ROWS_MAX)
		return err_set(err, "%u: more than %d patterns", number,
		    PCRE_ROWS_MAX);
	if (pcre->count == pcre->room) {
		pcre->room = pcre->room * 2 + 16;
		pcre->rows = mem_grow(pcre->rows, pcre->room, sizeof(row));
	}
	result = read_row(pcre, &row, line, err);
	pcre->rows[pcre->count++] = row;
	return result == 1 ? 1 : err_prefix(err, "%u", number);
}

static bool
is_continued(struct slice rest)
{
	struct slice line = slice_first(rest, slice_find(rest, '\n'));

	return slice_trim(line).n > 0 && (line.p[0] == ' ' ||
	    line.p[0] == '\t');
}

/* The line at the front of *rest with those that continue it; the line ends
 * between them become blanks. */
static struct slice
next_line(struct pcre *pcre, struct slice *rest, unsigned *number)
{
	struct slice line, more;
	char *from = pcre->text + (rest->p - pcre->text);

	slice_cut(rest, '\n', &line);
	(*number)++;
	if (slice_trim(line).n == 0 || line.p[0] == '#')
		return slice_first(line, 0);
	while (rest->p != NULL && is_continued(*rest)) {
		from[line.n] = ' ';
		slice_cut(rest, '\n', &more);
		(*number)++;
		line.n += 1 + more.n;
	}
	return line;
}

static int
pcre_read_text(struct pcre *pcre, size_t bytes, struct err *err)
{
	struct slice rest = { pcre->text, bytes };
	unsigned number = 0;

	if (slice_starts(rest, ODD_MARK))
		rest = slice_from(rest, strlen(ODD_MARK));
	while (rest.p != NULL) {
		unsigned first = number + 1;
		struct slice line = next_line(pcre, &rest, &number);

		if (line.n == 0 || pcre_add_line(pcre, line, first, err) >= 0)
			continue;
		if (pcre->fn == NULL)
			return -1;
		pcre->fn(pcre->context, first, err->text +
		    strspn(err->text, "0123456789: "));
	}
	if (pcre->depth > 0)
		return err_set(err, "%u: this if has no endif",
		    pcre->rows[pcre->open[pcre->depth - 1]].line);
	return 1;
}

void
table_pcre_look(char *text, size_t bytes, table_line_fn *fn, void *context)
{
	struct pcre *pcre = mem_alloc(1, sizeof(*pcre));
	struct err err = { "" };

	str_init(&pcre->value);
	pcre->text = text;
	pcre->fn = fn;
	pcre->context = context;
	if (pcre_read_text(pcre, bytes, &err) < 0)
		fn(context, pcre->rows[pcre->open[pcre->depth - 1]].line,
		    "this if has no endif");
	pcre_close(pcre);
}

static int
pcre_open(struct table_source *source, void **out_state, struct err *err)
{
	struct pcre *pcre;
	size_t bytes = 0;
	char *text = table_read_file(source->argument, &source->seen, &bytes,
	    err);

	if (text == NULL)
		return -1;
	pcre = mem_alloc(1, sizeof(*pcre));
	str_init(&pcre->value);
	pcre->text = text;
	pcre->match = pcre2_match_data_create(PCRE_GROUPS_MAX + 1, NULL);
	pcre->limits = pcre2_match_context_create(NULL);
	if (pcre->match == NULL || pcre->limits == NULL)
		err_set(err, "no memory");
	if (pcre->match == NULL || pcre->limits == NULL ||
	    pcre_read_text(pcre, bytes, err) < 0) {
		pcre_close(pcre);
		return -1;
	}
	pcre2_set_match_limit(pcre->limits, PCRE_STEPS_MAX);
	pcre2_set_depth_limit(pcre->limits, PCRE_DEPTH_MAX);
	pcre2_set_heap_limit(pcre->limits, PCRE_HEAP_KIB_MAX);
	*out_state = pcre;
	return 1;
}

/* ---- matching -------------------------------------------------------- */

/* 1 it matches, 0 not, -1 a limit was met. */
static int
row_matches(struct pcre *pcre, const struct row *row, struct slice key,
    struct err *err)
{
	PCRE2_UCHAR words[128];
	int result = pcre2_match(row->code, (PCRE2_SPTR)key.p, key.n, 0, 0,
	    pcre->match, pcre->limits);

	if (result >= 0 || result == PCRE2_ERROR_NOMATCH)
		return (result >= 0) != row->is_negated;
	pcre2_get_error_message(result, words, sizeof(words));
	return err_set(err, "%u: %s; write the pattern so that it needs fewer "
	    "steps", row->line, (const char *)words);
}

static void
add_group(struct pcre *pcre, struct slice key, unsigned group)
{
	const PCRE2_SIZE *at = pcre2_get_ovector_pointer(pcre->match);

	if (group <= PCRE_GROUPS_MAX && at[2 * group] != PCRE2_UNSET &&
	    at[2 * group] <= at[2 * group + 1])
		str_add_slice(&pcre->value, slice_first(slice_from(key,
		    at[2 * group]), at[2 * group + 1] - at[2 * group]));
}

/* Fill in $1, ${1}, $(1) and $$. */
static int
pcre_substitute(struct pcre *pcre, const struct row *row, struct slice key,
    struct err *err)
{
	struct slice rest = row->value;

	str_reset(&pcre->value);
	while (rest.n > 0) {
		size_t dollar = slice_find(rest, '$');
		unsigned group = 0;
		char closing = 0;

		str_add_slice(&pcre->value, slice_first(rest, dollar));
		rest = slice_from(rest, dollar + 1);
		if (pcre->value.len > PCRE_VALUE_BYTES_MAX)
			return err_set(err, "%u: the value became too long",
			    row->line);
		if (rest.n == 0)
			break;
		if (rest.p[0] == '$') {
			str_addc(&pcre->value, '$');
			rest = slice_from(rest, 1);
			continue;
		}
		if (rest.p[0] == '{' || rest.p[0] == '(') {
			closing = rest.p[0] == '{' ? '}' : ')';
			rest = slice_from(rest, 1);
		}
		for (; rest.n > 0 && ascii_is_digit(rest.p[0]);
		    rest = slice_from(rest, 1))
			group = group * 10 + (unsigned)(rest.p[0] - '0');
		if (closing != 0 && rest.n > 0 && rest.p[0] == closing)
			rest = slice_from(rest, 1);
		add_group(pcre, key, group);
	}
	return 1;
}

static enum table_result
pcre_find(void *state, struct slice key, struct slice folded,
    struct table_hit *out, struct err *err)
{
	struct pcre *pcre = state;

	for (size_t i = 0; i < pcre->count; i++) {
		const struct row *row = &pcre->rows[i];
		int matches;

		if (row->kind == ROW_ENDIF)
			continue;
		matches = row_matches(pcre, row, key, err);
		if (matches < 0)
			return TABLE_TROUBLE;
		if (row->kind == ROW_IF) {
			i = matches ? i : row->end;
			continue;
		}
		if (!matches)
			continue;
		if (pcre_substitute(pcre, row, key, err) < 0)
			return TABLE_TROUBLE;
		out->value = str_slice(&pcre->value);
		out->line = row->line;
		return TABLE_FOUND;
	}
	return TABLE_NONE;
}

const struct table_type table_type_pcre = {
	.name = "pcre", .traits = TABLE_HAS_PATH | TABLE_ASKS_WHOLE,
	.open = pcre_open, .close = pcre_close, .find = pcre_find,
};

#else

void
table_pcre_look(char *text, size_t bytes, table_line_fn *fn, void *context)
{
	mem_release(text);
}
const struct table_type table_type_pcre = {
	.name = "pcre", .traits = TABLE_HAS_PATH | TABLE_ASKS_WHOLE,
	.package = "libpcre2-dev",
};
#endif

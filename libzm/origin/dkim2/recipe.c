/* recipe.c - how the revision before is made of this one
 *
 * In     JSON: {"h":{"subject":[STEP...]},"b":[STEP...]|null}, a STEP is
 *        {"c":[FROM,TO]} or {"d":["text"...]}
 * Out    steps
 * Trusts nobody: each step and line costs the stranger more bytes than a
 *        pointer or two; other members may be nested NEST_MAX deep
 * Spec   draft-ietf-dkim-dkim2-spec-04 section 5; RFC 8259
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "origin/dkim2/internal.h"

#include "base/banned.h"

enum { NEST_MAX = 16, LINES_FIRST = 4 };

struct script_in {
	struct slice	rest;
	struct arena	*arena;
	struct err	*err;
};

static int
script_bad(struct script_in *in, const char *what)
{
	return err_set(in->err, "%s", what);
}

/* ---- the smallest things ---------------------------------------------- */

static void
script_skip_blanks(struct script_in *in)
{
	while (in->rest.n > 0 && ascii_is_space(in->rest.p[0]))
		in->rest = slice_from(in->rest, 1);
}

/* Is this the next byte?  Then it is taken. */
static bool
script_take(struct script_in *in, char c)
{
	script_skip_blanks(in);
	if (in->rest.n == 0 || in->rest.p[0] != c)
		return false;
	in->rest = slice_from(in->rest, 1);
	return true;
}

static bool
script_take_word(struct script_in *in, const char *word)
{
	script_skip_blanks(in);
	if (!slice_starts(in->rest, word))
		return false;
	in->rest = slice_from(in->rest, strlen(word));
	return true;
}

/* After an element: is there another?  1 yes, 0 it was the last, -1 bad. */
enum script_more { SCRIPT_BAD = -1, SCRIPT_LAST = 0, SCRIPT_MORE = 1 };

static enum script_more
script_more(struct script_in *in, char end)
{
	if (script_take(in, ','))
		return SCRIPT_MORE;
	if (script_take(in, end))
		return SCRIPT_LAST;
	(void)script_bad(in, "it is no JSON");
	return SCRIPT_BAD;
}

/* ---- texts ------------------------------------------------------------ */

static int
script_hex4(struct script_in *in, unsigned *out)
{
	*out = 0;
	if (in->rest.n < 4)
		return script_bad(in, "it has an unfinished \\u");
	for (size_t i = 0; i < 4; i++) {
		int digit = ascii_hex(in->rest.p[i]);

		if (digit < 0)
			return script_bad(in, "it has a \\u that is none");
		*out = *out * 16 + (unsigned)digit;
	}
	in->rest = slice_from(in->rest, 4);
	return 0;
}

static void
script_add_utf8(struct str *out, unsigned c)
{
	if (c < 0x80) {
		str_addc(out, (char)c);
		return;
	}
	if (c < 0x800) {
		str_addc(out, (char)(0xc0 | c >> 6));
	} else if (c < 0x10000) {
		str_addc(out, (char)(0xe0 | c >> 12));
		str_addc(out, (char)(0x80 | (c >> 6 & 0x3f)));
	} else {
		str_addc(out, (char)(0xf0 | c >> 18));
		str_addc(out, (char)(0x80 | (c >> 12 & 0x3f)));
		str_addc(out, (char)(0x80 | (c >> 6 & 0x3f)));
	}
	str_addc(out, (char)(0x80 | (c & 0x3f)));
}

/* After "\u". */
static int
script_unicode(struct script_in *in, struct str *out)
{
	unsigned c, low;

	if (script_hex4(in, &c) != 0)
		return -1;
	if (c >= 0xd800 && c < 0xdc00) {
		if (!slice_starts(in->rest, "\\u"))
			return script_bad(in, "it has half a character");
		in->rest = slice_from(in->rest, 2);
		if (script_hex4(in, &low) != 0)
			return -1;
		if (low < 0xdc00 || low > 0xdfff)
			return script_bad(in, "it has half a character");
		c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
	} else if (c >= 0xdc00 && c <= 0xdfff) {
		return script_bad(in, "it has half a character");
	}
	script_add_utf8(out, c);
	return 0;
}

static int
script_escape(struct script_in *in, struct str *out)
{
	static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
	const char *at;
	char c;

	if (in->rest.n == 0)
		return script_bad(in, "a text does not end");
	c = in->rest.p[0];
	in->rest = slice_from(in->rest, 1);
	if (c == 'u')
		return script_unicode(in, out);
	at = c != '\0' ? strchr(names, c) : NULL;
	if (at == NULL)
		return script_bad(in, "it has a \\ before what needs none");
	str_addc(out, bytes[at - names]);
	return 0;
}

/* After the first quote. */
static int
script_text_to(struct script_in *in, struct str *out)
{
	while (in->rest.n > 0) {
		unsigned char c = (unsigned char)in->rest.p[0];
		size_t n = c >= 0x80 ? slice_utf8(in->rest) : 1;

		if (c < ' ' || n == 0)
			return script_bad(in, "it has a byte that no text has");
		if (c != '"' && c != '\\')
			str_add(out, in->rest.p, n);
		in->rest = slice_from(in->rest, n);
		if (c == '"')
			return 0;
		if (c == '\\' && script_escape(in, out) != 0)
			return -1;
	}
	return script_bad(in, "a text does not end");
}

static int
script_string(struct script_in *in, struct slice *out)
{
	struct str text = STR_INIT;
	int result;

	if (!script_take(in, '"'))
		return script_bad(in, "a text is missing");
	result = script_text_to(in, &text);
	*out = slice_copy(in->arena, str_slice(&text));
	str_release(&text);
	return result;
}

static int
script_count(struct script_in *in, uint64_t *out)
{
	size_t n = 0;

	script_skip_blanks(in);
	while (n < in->rest.n && ascii_is_digit(in->rest.p[n]))
		n++;
	if (!slice_number(slice_first(in->rest, n), 1, UINT32_MAX, out) ||
	    in->rest.p[0] == '0')
		return script_bad(in, "a number from 1 on is missing");
	in->rest = slice_from(in->rest, n);
	return 0;
}

/* ---- what is not known ------------------------------------------------ */

static int script_skip(struct script_in *in, unsigned depth);

static int
script_skip_member(struct script_in *in, unsigned depth, bool is_object)
{
	struct slice key;

	if (is_object && (script_string(in, &key) != 0 ||
	    (!script_take(in, ':') && script_bad(in, "it is no JSON") != 0)))
		return -1;
	return script_skip(in, depth + 1);
}

static int
script_skip_all(struct script_in *in, unsigned depth, char end)
{
	enum script_more more = SCRIPT_MORE;

	if (script_take(in, end))
		return 0;
	while (more == SCRIPT_MORE)
		more = script_skip_member(in, depth, end == '}') != 0 ?
		    SCRIPT_BAD : script_more(in, end);
	return more == SCRIPT_LAST ? 0 : -1;
}

static int
script_skip_number(struct script_in *in)
{
	size_t n = 0;

	while (n < in->rest.n && (ascii_is_digit(in->rest.p[n]) ||
	    (in->rest.p[n] != '\0' &&
	    strchr("+-.eE", in->rest.p[n]) != NULL)))
		n++;
	in->rest = slice_from(in->rest, n);
	return n > 0 ? 0 : script_bad(in, "it is no JSON");
}

static int
script_skip(struct script_in *in, unsigned depth)
{
	struct slice text;

	if (depth > NEST_MAX)
		return script_bad(in, "it is nested too deep");
	if (script_take(in, '{'))
		return script_skip_all(in, depth, '}');
	if (script_take(in, '['))
		return script_skip_all(in, depth, ']');
	if (in->rest.n > 0 && in->rest.p[0] == '"')
		return script_string(in, &text);
	if (script_take_word(in, "null") || script_take_word(in, "true") ||
	    script_take_word(in, "false"))
		return 0;
	return script_skip_number(in);
}

/* ---- steps ------------------------------------------------------------ */

static int
step_copy(struct script_in *in, struct dkim2_step *step)
{
	step->is_copy = true;
	if (!script_take(in, '[') || script_count(in, &step->from) != 0 ||
	    !script_take(in, ',') || script_count(in, &step->to) != 0 ||
	    !script_take(in, ']'))
		return script_bad(in, "\"c\" wants two numbers from 1 on");
	return step->from <= step->to ? 0 :
	    script_bad(in, "\"c\" ends before it begins");
}

static bool
step_is_line(struct slice text)
{
	return slice_find(text, '\r') == text.n &&
	    slice_find(text, '\n') == text.n;
}

static void
step_add_line(struct script_in *in, struct dkim2_step *step, size_t *room,
    struct slice line)
{
	struct slice *grown;

	if (step->line_count == *room) {
		*room = *room == 0 ? LINES_FIRST : *room * 2;
		grown = arena_alloc(in->arena, *room * sizeof(*grown));
		if (step->line_count > 0)
			memcpy(grown, step->lines, step->line_count *
			    sizeof(*grown));
		step->lines = grown;
	}
	step->lines[step->line_count++] = line;
}

static int
step_texts(struct script_in *in, struct dkim2_step *step)
{
	enum script_more more = SCRIPT_MORE;
	struct slice line;
	size_t room = 0;

	if (!script_take(in, '['))
		return script_bad(in, "\"d\" wants a list of texts");
	while (more == SCRIPT_MORE) {
		if (script_string(in, &line) != 0)
			return -1;
		if (!step_is_line(line))
			return script_bad(in, "a text has a line end");
		step_add_line(in, step, &room, line);
		more = script_more(in, ']');
	}
	return more == SCRIPT_LAST ? 0 : -1;
}

static int
step_read(struct script_in *in, struct dkim2_step *step)
{
	struct slice key;
	int result;

	if (!script_take(in, '{') || script_string(in, &key) != 0 ||
	    !script_take(in, ':'))
		return script_bad(in, "a step is no object");
	if (slice_is(key, "c"))
		result = step_copy(in, step);
	else if (slice_is(key, "d"))
		result = step_texts(in, step);
	else
		result = script_bad(in, "a step is neither \"c\" nor \"d\"");
	if (result != 0)
		return -1;
	return script_take(in, '}') ? 0 :
	    script_bad(in, "a step has more than one member");
}

/* Copies go on from each other: nothing is copied twice. */
static int
steps_read(struct script_in *in, struct dkim2_step **out)
{
	enum script_more more = SCRIPT_MORE;
	uint64_t copied = 0;

	*out = NULL;
	if (!script_take(in, '['))
		return script_bad(in, "steps are no list");
	if (script_take(in, ']'))
		return 0;
	while (more == SCRIPT_MORE) {
		struct dkim2_step *step = arena_alloc(in->arena,
		    sizeof(*step));

		if (step_read(in, step) != 0)
			return -1;
		if (step->is_copy && step->from <= copied)
			return script_bad(in, "a \"c\" goes back");
		if (step->is_copy)
			copied = step->to;
		*out = step;
		out = &step->next;
		more = script_more(in, ']');
	}
	return more == SCRIPT_LAST ? 0 : -1;
}

/* ---- all of it -------------------------------------------------------- */

static int
recipe_name(struct script_in *in, struct dkim2_recipe *recipe)
{
	struct dkim2_named *named = arena_alloc(in->arena, sizeof(*named));

	if (script_string(in, &named->name) != 0)
		return -1;
	if (!script_take(in, ':'))
		return script_bad(in, "it is no JSON");
	for (struct dkim2_named *one = recipe->header; one != NULL;
	    one = one->next)
		if (slice_equal_nocase(one->name, named->name))
			return script_bad(in, "a field has two recipes");
	named->next = recipe->header;
	recipe->header = named;
	return steps_read(in, &named->steps);
}

static int
recipe_header(struct script_in *in, struct dkim2_recipe *recipe)
{
	enum script_more more = SCRIPT_MORE;
	unsigned count = 0;

	if (recipe->header != NULL)
		return script_bad(in, "it has \"h\" twice");
	if (!script_take(in, '{'))
		return script_bad(in, "\"h\" is no object");
	while (more == SCRIPT_MORE) {
		/* each looks at those before it */
		if (++count > DKIM2_PATHS_MAX)
			return script_bad(in, "it changes too many fields");
		if (recipe_name(in, recipe) != 0)
			return -1;
		more = script_more(in, '}');
	}
	return more == SCRIPT_LAST ? 0 : -1;
}

static int
recipe_body(struct script_in *in, struct dkim2_recipe *recipe)
{
	if (recipe->has_body)
		return script_bad(in, "it has \"b\" twice");
	recipe->has_body = true;
	recipe->is_body_lost = script_take_word(in, "null");
	return recipe->is_body_lost ? 0 : steps_read(in, &recipe->body);
}

static int
recipe_member(struct script_in *in, struct dkim2_recipe *recipe)
{
	struct slice key;

	if (script_string(in, &key) != 0)
		return -1;
	if (!script_take(in, ':'))
		return script_bad(in, "it is no JSON");
	if (slice_is(key, "h"))
		return recipe_header(in, recipe);
	if (slice_is(key, "b"))
		return recipe_body(in, recipe);
	return script_skip(in, 1);
}

int
dkim2_recipe_read(struct slice json, struct arena *arena,
    struct dkim2_recipe *out, struct err *err)
{
	struct script_in in = { json, arena, err };
	enum script_more more = SCRIPT_MORE;

	*out = (struct dkim2_recipe){ .header = NULL };
	if (!script_take(&in, '{'))
		return script_bad(&in, "it is no object");
	while (more == SCRIPT_MORE) {
		if (recipe_member(&in, out) != 0)
			return -1;
		more = script_more(&in, '}');
	}
	if (more == SCRIPT_BAD)
		return -1;
	script_skip_blanks(&in);
	if (in.rest.n > 0)
		return script_bad(&in, "something follows the object");
	return out->header != NULL || out->has_body ? 0 :
	    script_bad(&in, "it has neither \"h\" nor \"b\"");
}

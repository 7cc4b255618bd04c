/* undo.c - the revision before is made of this one
 *
 * In     a revision, a recipe
 * Out    the revision before
 * Trusts no recipe: lines and fields that are not there, and more of them
 *        than can be are errors; no byte of a body is copied
 * Spec   draft-ietf-dkim-dkim2-spec-04 sections 5.1, 5.2
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "origin/dkim/internal.h"
#include "origin/dkim2/internal.h"

#include "base/banned.h"

struct undoing {
	struct arena	*arena;
	const struct dkim2_content *now;
	struct dkim2_content before;
	struct err	*err;
};

/* ---- fields ----------------------------------------------------------- */

static int
undoing_add_field(struct undoing *undoing, const struct header_field *field)
{
	if (undoing->before.count == DKIM_HEADER_FIELDS_MAX)
		return err_set(undoing->err, "its header has more than %d "
		    "fields", (int)DKIM_HEADER_FIELDS_MAX);
	undoing->before.fields[undoing->before.count++] = *field;
	return 0;
}

static int
undoing_add_text(struct undoing *undoing, struct slice name,
    struct slice value)
{
	struct header_field field = { .name = name };

	field.whole = slice_of(arena_printf(undoing->arena,
	    SLICE_FMT ":" SLICE_FMT, SLICE_ARG(name), SLICE_ARG(value)));
	return undoing_add_field(undoing, &field);
}

/* Fields of this name have numbers from the last of the header up. */
static int
undoing_copy_fields(struct undoing *undoing, struct slice name,
    const struct dkim2_step *step)
{
	const struct dkim2_content *now = undoing->now;
	uint64_t number = 0;

	for (size_t i = 0; i < now->count && number < step->to; i++) {
		if (!slice_equal_nocase(now->fields[i].name, name))
			continue;
		number++;
		if (number >= step->from && undoing_add_field(undoing,
		    &now->fields[i]) != 0)
			return -1;
	}
	return number == step->to ? 0 : err_set(undoing->err, "it wants "
	    "field %llu of \"" SLICE_FMT "\", which is not there",
	    (unsigned long long)step->to, SLICE_ARG(slice_first(name, 60)));
}

static int
undoing_name(struct undoing *undoing, const struct dkim2_named *named)
{
	const struct dkim2_step *step = named->steps;

	for (; step != NULL; step = step->next) {
		if (step->is_copy && undoing_copy_fields(undoing,
		    named->name, step) != 0)
			return -1;
		for (size_t i = 0; i < step->line_count; i++)
			if (undoing_add_text(undoing, named->name,
			    step->lines[i]) != 0)
				return -1;
	}
	return 0;
}

static bool
recipe_names(const struct dkim2_recipe *recipe, struct slice name)
{
	const struct dkim2_named *one = recipe->header;

	while (one != NULL && !slice_equal_nocase(one->name, name))
		one = one->next;
	return one != NULL;
}

static int
undoing_header(struct undoing *undoing, const struct dkim2_recipe *recipe)
{
	const struct dkim2_content *now = undoing->now;
	const struct dkim2_named *named = recipe->header;

	undoing->before.count = 0;
	undoing->before.fields = arena_alloc(undoing->arena,
	    DKIM_HEADER_FIELDS_MAX * sizeof(*now->fields));
	for (size_t i = 0; i < now->count; i++)
		if (!recipe_names(recipe, now->fields[i].name) &&
		    undoing_add_field(undoing, &now->fields[i]) != 0)
			return -1;
	for (; named != NULL; named = named->next)
		if (dkim2_is_signed(named->name) &&
		    undoing_name(undoing, named) != 0)
			return -1;
	return 0;
}

/* ---- lines ------------------------------------------------------------ */

static int
undoing_add_piece(struct undoing *undoing, struct slice text)
{
	struct dkim2_content *before = &undoing->before;
	struct dkim2_piece *grown;

	if (text.n == 0)
		return 0;
	if (before->piece_count == DKIM2_PIECES_MAX)
		return err_set(undoing->err, "it makes a body of more than "
		    "%d pieces", (int)DKIM2_PIECES_MAX);
	if (before->piece_count == before->piece_room) {
		before->piece_room = before->piece_room * 2 + 16;
		grown = arena_alloc(undoing->arena, before->piece_room *
		    sizeof(*grown));
		if (before->piece_count > 0)
			memcpy(grown, before->pieces, before->piece_count *
			    sizeof(*grown));
		before->pieces = grown;
	}
	before->pieces[before->piece_count++].text = text;
	return 0;
}

static int
undoing_add_lines(struct undoing *undoing, const struct dkim2_step *step)
{
	struct str text = STR_INIT;
	int result;

	for (size_t i = 0; i < step->line_count; i++) {
		str_add_slice(&text, step->lines[i]);
		str_addc(&text, '\n');
	}
	result = undoing_add_piece(undoing, slice_copy(undoing->arena,
	    str_slice(&text)));
	str_release(&text);
	return result;
}

struct body_walk {		/* through the lines of a body */
	size_t		 piece;
	struct slice	 rest;		/* of that piece */
	uint64_t	 next;		/* number of the line there */
};

/* Up to so many lines of the piece; *lines becomes how many are left. */
static struct slice
walk_take(struct body_walk *walk, uint64_t *lines)
{
	struct slice from = walk->rest, line;

	while (*lines > 0 && walk->rest.n > 0) {
		(void)slice_cut(&walk->rest, '\n', &line);
		walk->next++;
		--*lines;
	}
	return slice_first(from, walk->rest.n > 0 ?
	    (size_t)(walk->rest.p - from.p) : from.n);
}

/* So many lines go by, and are kept or not. */
static int
undoing_walk(struct undoing *undoing, struct body_walk *walk, uint64_t lines,
    bool is_kept)
{
	const struct dkim2_content *now = undoing->now;

	while (lines > 0) {
		struct slice text;

		if (walk->rest.n == 0) {
			if (walk->piece == now->piece_count)
				return err_set(undoing->err, "it wants line "
				    "%llu, which is not there", (unsigned long
				    long)(walk->next + lines - 1));
			walk->rest = now->pieces[walk->piece++].text;
			continue;
		}
		text = walk_take(walk, &lines);
		if (is_kept && undoing_add_piece(undoing, text) != 0)
			return -1;
	}
	return 0;
}

static int
undoing_body(struct undoing *undoing, const struct dkim2_step *step)
{
	struct body_walk walk = { .next = 1 };

	undoing->before.pieces = NULL;
	undoing->before.piece_count = undoing->before.piece_room = 0;
	for (; step != NULL; step = step->next) {
		if (step->is_copy && (undoing_walk(undoing, &walk,
		    step->from - walk.next, false) != 0 ||
		    undoing_walk(undoing, &walk, step->to - step->from + 1,
		    true) != 0))
			return -1;
		if (!step->is_copy && undoing_add_lines(undoing, step) != 0)
			return -1;
	}
	return 0;
}

int
dkim2_undo(const struct dkim2_recipe *recipe, struct arena *arena,
    struct dkim2_content *content, struct err *err)
{
	struct undoing undoing = { arena, content, *content, err };

	if (recipe->header != NULL && undoing_header(&undoing, recipe) != 0)
		return -1;
	if (recipe->has_body && !recipe->is_body_lost &&
	    undoing_body(&undoing, recipe->body) != 0)
		return -1;
	*content = undoing.before;
	return 0;
}

/* diff.c - what differs between two texts, for people
 *
 * In     two texts of lines
 * Out    hunks with three lines around them, as diff -u has them
 * Holds  nothing
 * Trusts nothing in the lines: controls are escaped
 * Spec   zmailer-config(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include "base/mem.h"
#include "tools/change/change.h"

#include "base/banned.h"

enum {
	AROUND = 3,			/* lines shown on both sides */
	CELLS_MAX = 4 << 20		/* of the table; beyond it the middle is
					 * shown as replaced */
};

struct lines {
	struct slice	*line;
	size_t		 count;
};

struct row {			/* of the answer */
	char	mark;			/* ' ' '-' '+' */
	size_t	at;			/* in before; '+': in after */
};

static struct lines
lines_of(struct arena *arena, struct slice text)
{
	struct lines lines = { NULL, 0 };
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\n';
	lines.line = arena_alloc(arena, (n + 1) * sizeof(*lines.line));
	while (text.n > 0)
		slice_cut(&text, '\n', &lines.line[lines.count++]);
	return lines;
}

/* Length of the longest common part of what follows i and k. */
static unsigned *
common_table(struct arena *arena, const struct lines *a,
    const struct lines *b)
{
	size_t width = b->count + 1;
	unsigned *table = arena_alloc(arena,
	    (a->count + 1) * width * sizeof(*table));

	for (size_t i = a->count; i-- > 0;)
		for (size_t k = b->count; k-- > 0;) {
			unsigned below = table[(i + 1) * width + k],
			    right = table[i * width + k + 1];

			table[i * width + k] = slice_equal(a->line[i],
			    b->line[k]) ? table[(i + 1) * width + k + 1] + 1 :
			    below > right ? below : right;
		}
	return table;
}

/* The middle, where both ends are cut off already. */
static size_t
diff_middle(struct arena *arena, const struct lines *a, const struct lines *b,
    struct row *out)
{
	bool is_small = (a->count + 1) * (b->count + 1) < CELLS_MAX;
	unsigned *table = is_small ? common_table(arena, a, b) : NULL;
	size_t i = 0, k = 0, n = 0, width = b->count + 1;

	while (i < a->count || k < b->count) {
		if (table != NULL && i < a->count && k < b->count &&
		    slice_equal(a->line[i], b->line[k])) {
			out[n++] = (struct row){ ' ', i++ };
			k++;
		} else if (k == b->count || (i < a->count && (table == NULL ||
		    table[(i + 1) * width + k] >=
		    table[i * width + k + 1]))) {
			out[n++] = (struct row){ '-', i++ };
		} else {
			out[n++] = (struct row){ '+', k++ };
		}
	}
	return n;
}

static void
diff_add_line(struct str *out, char mark, struct slice line)
{
	struct slice field;
	bool is_first = true;

	str_addc(out, mark);
	while (slice_cut(&line, '\t', &field)) {
		if (!is_first)
			str_addc(out, '\t');
		str_add_escaped(out, field);
		is_first = false;
	}
	str_addc(out, '\n');
}

static bool
is_near(const struct row *rows, size_t count, size_t at)
{
	size_t from = at > AROUND ? at - AROUND : 0;

	for (size_t i = from; i < count && i <= at + AROUND; i++)
		if (rows[i].mark != ' ')
			return true;
	return false;
}

static void
add_rows(struct str *out, const struct lines *a, const struct lines *b,
    const struct row *rows, size_t count)
{
	bool was_near = false;
	size_t before = 1;

	for (size_t i = 0; i < count; i++) {
		bool near = is_near(rows, count, i);

		if (near && !was_near)
			str_addf(out, "@@ line %zu @@\n", before);
		if (near)
			diff_add_line(out, rows[i].mark, rows[i].mark == '+' ?
			    b->line[rows[i].at] : a->line[rows[i].at]);
		was_near = near;
		before += rows[i].mark != '+';
	}
}

void
diff_add(struct str *out, const char *path, struct slice before,
    struct slice after)
{
	struct arena *arena = arena_new();
	struct lines a = lines_of(arena, before), b = lines_of(arena, after);
	struct lines inner_a, inner_b;
	size_t head = 0, tail = 0, count = 0;
	struct row *rows = arena_alloc(arena,
	    (a.count + b.count + 1) * sizeof(*rows));

	while (head < a.count && head < b.count &&
	    slice_equal(a.line[head], b.line[head]))
		head++;
	while (tail < a.count - head && tail < b.count - head &&
	    slice_equal(a.line[a.count - 1 - tail],
	    b.line[b.count - 1 - tail]))
		tail++;
	for (size_t i = 0; i < head; i++)
		rows[count++] = (struct row){ ' ', i };
	inner_a = (struct lines){ a.line + head, a.count - head - tail };
	inner_b = (struct lines){ b.line + head, b.count - head - tail };
	count += diff_middle(arena, &inner_a, &inner_b, rows + head);
	for (size_t i = head; i < count; i++)
		rows[i].at += head;
	for (size_t i = a.count - tail; i < a.count; i++)
		rows[count++] = (struct row){ ' ', i };
	if (!slice_equal(before, after)) {
		str_adds(out, "--- ");
		str_add_escaped(out, slice_of(path));
		str_addc(out, '\n');
		add_rows(out, &a, &b, rows, count);
	}
	arena_free(&arena);
}

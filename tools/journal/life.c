/* life.c - the life of a message, told from the journal
 *
 * In     a spool id, a message id or an address; the journal
 * Out    the lines of the messages meant, and a table of them
 * Spec   zmailer(8), trace
 *
 * Two walks: the first finds the ids that are meant, the second collects
 * every line that carries one of them.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "mail/spool.h"
#include "tools/journal/journal.h"

#include "base/banned.h"

enum { IDS_ROOM = JOURNAL_IDS_MAX * 2 };

struct ids {			/* sorted; ids sort by time as text */
	char	text[IDS_ROOM][SPOOL_ID_BYTES];
	size_t	count;
	bool	is_cut;
};

static int
id_compare(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void
ids_settle(struct ids *ids)
{
	size_t kept = 0;

	qsort(ids->text, ids->count, SPOOL_ID_BYTES, id_compare);
	for (size_t i = 0; i < ids->count; i++)
		if (kept == 0 || strcmp(ids->text[i], ids->text[kept - 1]) != 0)
			memmove(ids->text[kept++], ids->text[i],
			    SPOOL_ID_BYTES);
	ids->count = kept;
	if (kept <= JOURNAL_IDS_MAX)
		return;
	ids->is_cut = true;
	ids->count = JOURNAL_IDS_MAX;
	memmove(ids->text[0], ids->text[kept - JOURNAL_IDS_MAX],
	    (size_t)JOURNAL_IDS_MAX * SPOOL_ID_BYTES);
}

static void
ids_add(struct ids *ids, struct slice id)
{
	if (!spool_id_is(id) || id.n >= SPOOL_ID_BYTES)
		return;
	if (ids->count > 0 &&
	    slice_is(id, ids->text[ids->count - 1]))
		return;
	if (ids->count == IDS_ROOM)
		ids_settle(ids);
	snprintf(ids->text[ids->count++], SPOOL_ID_BYTES, SLICE_FMT,
	    SLICE_ARG(id));
}

static bool
ids_have(const struct ids *ids, struct slice id)
{
	char text[SPOOL_ID_BYTES];

	if (id.n == 0 || id.n >= SPOOL_ID_BYTES)
		return false;
	snprintf(text, sizeof(text), SLICE_FMT, SLICE_ARG(id));
	return bsearch(text, ids->text, ids->count, SPOOL_ID_BYTES,
	    id_compare) != NULL;
}

/* "<a@b>" and "rfc822;a@b" are the address a@b. */
static struct slice
address_bare(struct slice text)
{
	if (text.n >= 7 && slice_is_nocase(slice_first(text, 7), "rfc822;"))
		text = slice_from(text, 7);
	if (text.n >= 2 && text.p[0] == '<' && text.p[text.n - 1] == '>')
		text = slice_first(slice_from(text, 1), text.n - 2);
	return text;
}

static bool
line_names(struct slice line, const char *const keys[], struct slice what)
{
	struct str value = STR_INIT;
	bool found = false;

	for (size_t i = 0; keys[i] != NULL && !found; i++) {
		str_reset(&value);
		found = json_get(line, keys[i], &value) &&
		    slice_equal_nocase(address_bare(str_slice(&value)), what);
	}
	str_release(&value);
	return found;
}

/* Quick refusal before JSON is read: does `what` stand somewhere in the
 * line?  Only for text that JSON writes as it is. */
static bool
line_mentions(struct slice line, struct slice what)
{
	size_t before = slice_find(what, '@');
	struct slice rest = line;

	for (size_t i = 0; i < what.n; i++)
		if (what.p[i] <= ' ' || what.p[i] > '~' || what.p[i] == '"' ||
		    what.p[i] == '\\')
			return true;
	if (before == what.n)
		return true;
	for (;;) {
		size_t at = slice_find(rest, '@');
		size_t offset = (size_t)(rest.p - line.p) + at;

		if (at == rest.n)
			return false;
		if (offset >= before && slice_equal_nocase(slice_first(
		    slice_from(line, offset - before), what.n), what))
			return true;
		rest = slice_from(rest, at + 1);
	}
}

static void
ids_find(const struct journal *journal, const char *what, struct ids *ids)
{
	static const char *const address_keys[] = { "from", "to", "orcpt",
	    NULL };
	static const char *const msgid_keys[] = { "msgid", NULL };
	struct slice bare = address_bare(slice_of(what)), line;
	const char *const *keys = what[0] == '<' ? msgid_keys : address_keys;
	struct journal_cursor cursor = { 0, 0 };

	while (journal_next(journal, &cursor, &line))
		if (line_mentions(line, bare) && line_names(line, keys, bare))
			ids_add(ids, journal_line_id(line));
	ids_settle(ids);
}

static int
line_compare(const void *left, const void *right)
{
	const struct life_line *a = left, *b = right;
	size_t n = a->id.n < b->id.n ? a->id.n : b->id.n;
	int order = memcmp(a->id.p, b->id.p, n);

	if (order != 0 || a->id.n != b->id.n)
		return order != 0 ? order : a->id.n < b->id.n ? -1 : 1;
	if (a->at_ms != b->at_ms)
		return a->at_ms < b->at_ms ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static void
life_collect(const struct journal *journal, const struct ids *ids,
    struct arena *arena, struct life *out)
{
	struct journal_cursor cursor = { 0, 0 };
	struct life_line *lines = NULL;
	size_t count = 0, room = 0;
	struct slice line;

	while (journal_next(journal, &cursor, &line)) {
		struct slice id = journal_line_id(line);

		if (!ids_have(ids, id) || journal_line_ms(line) < 0)
			continue;
		if (count == room) {
			room = room ? room * 2 : 64;
			lines = mem_grow(lines, room, sizeof(*lines));
		}
		lines[count] = (struct life_line){ id, line,
		    journal_line_ms(line), count };
		count++;
	}
	out->count = count;
	if (count > 0) {
		qsort(lines, count, sizeof(*lines), line_compare);
		out->lines = arena_alloc(arena, count * sizeof(*lines));
		memcpy(out->lines, lines, count * sizeof(*lines));
	}
	mem_free(&lines);
}

int
life_find(const struct journal *journal, const char *what,
    struct arena *arena, struct life *out, struct err *err)
{
	struct ids *ids = mem_alloc(1, sizeof(*ids));
	size_t n = strlen(what);

	memset(out, 0, sizeof(*out));
	if (spool_id_is(slice_of(what))) {
		ids_add(ids, slice_of(what));
	} else if (strchr(what, '@') != NULL ||
	    (n > 2 && what[0] == '<' && what[n - 1] == '>')) {
		ids_find(journal, what, ids);
	} else {
		mem_free(&ids);
		return err_set(err, "'%s' is neither a spool id nor an "
		    "address nor a <message-id>", what);
	}
	out->id_count = ids->count;
	out->is_cut = ids->is_cut;
	life_collect(journal, ids, arena, out);
	mem_free(&ids);
	return 0;
}

/* "+12ms" "+3.2s" "+4m10s" */
static void
span_text(int64_t ms, char *out, size_t size)
{
	char span[CLOCK_TEXT_BYTES];

	if (ms < 1000) {
		snprintf(out, size, "+%lldms", (long long)(ms < 0 ? 0 : ms));
	} else if (ms < 60000) {
		snprintf(out, size, "+%lld.%llds", (long long)(ms / 1000),
		    (long long)(ms % 1000 / 100));
	} else {
		clock_span(ms / 1000, span);
		snprintf(out, size, "+%s", span);
	}
}

void
life_print(const struct life *life, struct str *out)
{
	struct str program = STR_INIT, name = STR_INIT;
	int64_t first_ms = 0;
	char span[CLOCK_TEXT_BYTES + 1];

	for (size_t i = 0; i < life->count; i++) {
		const struct life_line *row = &life->lines[i];

		if (i == 0 || !slice_equal(row->id, row[-1].id)) {
			first_ms = row->at_ms;
			str_addf(out, "%s" SLICE_FMT "   %.10s %.12s UTC\n",
			    i == 0 ? "" : "\n", SLICE_ARG(row->id),
			    row->line.p + 6, row->line.p + 17);
		}
		span_text(row->at_ms - first_ms, span, sizeof(span));
		journal_line_word(row->line, "d", &program);
		journal_line_word(row->line, "ev", &name);
		str_addf(out, "%9s  %-10s  %-17s ", span, program.buf,
		    name.buf);
		journal_line_values(row->line, out);
		str_addc(out, '\n');
	}
	str_release(&program);
	str_release(&name);
}

/* life.c - the life of messages, told from the journal
 *
 * In     a question; the journal
 * Out    the lines of the messages meant, from connect to unlink
 * Holds  at most JOURNAL_IDS_MAX ids of messages, and of sessions
 * Spec   zmailer(8), trace
 *
 * Three walks: the first finds the ids that are meant, the second collects
 * every line that carries one of them, the third what the sessions they came
 * by did before and after.  Walks two and three leave packed frames out that
 * have none of the ids.
 *
 * SPDX-License-Identifier: ISC
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "mail/spool/spool.h"
#include "tools/journal/ask.h"
#include "past/frame.h"
#include "tools/journal/journal.h"

#include "base/banned.h"

enum { IDS_ROOM = JOURNAL_IDS_MAX * 2 };

struct ids {			/* sorted; ids sort by time as text */
	char	text[IDS_ROOM][SPOOL_ID_BYTES];
	size_t	count;
	bool	is_cut;
	struct frame_key keys[JOURNAL_IDS_MAX];
};

struct search {
	struct journal	*journal;
	const struct journal_ask *ask;
	struct arena	*arena;
	struct ids	*ids, *sessions;
	struct ids	*own;		/* of an owner; NULL: of everybody */
	struct life_line *lines;
	size_t		 count, room;
	size_t		 id_lines;	/* those of messages */
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
	if (id.n == 0 || id.n >= SPOOL_ID_BYTES)
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

/* From now on only what may have one of them is unpacked. */
static void
ids_want(struct search *search, struct ids *ids)
{
	for (size_t i = 0; i < ids->count; i++)
		ids->keys[i] = frame_key_of(slice_of(ids->text[i]));
	journal_want(search->journal, ids->keys, ids->count);
}

static void
life_line_add(struct search *search, struct slice id, struct slice line,
    const struct journal_cursor *at)
{
	struct life_line *row;

	if (search->count == search->room) {
		search->room = search->room ? search->room * 2 : 64;
		search->lines = mem_grow(search->lines, search->room,
		    sizeof(*search->lines));
	}
	row = &search->lines[search->count];
	row->id = id;
	row->line = line;
	row->at_ms = journal_line_ms(line);
	row->at = *at;
	search->count++;
}

/* ---- walk 1: who is meant ---------------------------------------------- */

static void
line_meant(struct search *search, struct slice line,
    const struct journal_cursor *at)
{
	struct slice id = journal_line_id(line), session;

	if (search->own != NULL) {
		if (ids_have(search->own, id))
			ids_add(search->ids, id);
		return;
	}
	if (id.n > 0 && spool_id_is(id))
		ids_add(search->ids, id);
	else if (search->ask->kind == ASK_ALL)
		return;
	else if (journal_line_has(line, "session", &session))
		ids_add(search->sessions, session);
	else if (search->ask->kind == ASK_CLIENT)
		life_line_add(search, SLICE("-"),
		    slice_copy(search->arena, line), at);
}

/* What a user submitted: the router says so of each message. */
static void
life_own_find(struct search *search)
{
	struct journal_cursor cursor = { 0, 0, 0 };
	struct str user = STR_INIT;
	struct slice line, ev;

	while (journal_next(search->journal, &cursor, &line)) {
		str_reset(&user);
		if (journal_line_has(line, "ev", &ev) &&
		    slice_is(ev, "message.routed") &&
		    json_get(line, "user", &user) && user.len > 0 &&
		    slice_is(str_slice(&user), search->ask->owner))
			ids_add(search->own, journal_line_id(line));
	}
	str_release(&user);
	ids_settle(search->own);
}

static void
life_ids_find(struct search *search)
{
	struct journal_cursor cursor = { 0, 0, 0 };
	const struct journal_ask *ask = search->ask;
	struct slice line;

	if (ask->kind == ASK_ID) {
		if (search->own == NULL || ids_have(search->own, ask->text))
			ids_add(search->ids, ask->text);
		return;
	}
	/* what a selector asks of a message may have been said earlier */
	if (ask->kind != ASK_SELECTOR)
		journal_within(search->journal, &ask->span);
	if (ask->kind != ASK_ALL && ask->kind != ASK_SELECTOR &&
	    !ask->is_many)
		journal_want(search->journal, ask->keys,
		    ask_key_count(ask));
	while (journal_next(search->journal, &cursor, &line))
		if (ask_fits(ask, line))
			line_meant(search, line, &cursor);
	journal_within(search->journal, NULL);
	ids_settle(search->ids);
	ids_settle(search->sessions);
}

/* ---- walk 2: all lines of the messages --------------------------------- */

static void
messages_collect(struct search *search)
{
	struct journal_cursor cursor = { 0, 0, 0 };
	struct slice line, id, session;

	ids_want(search, search->ids);
	while (journal_next(search->journal, &cursor, &line)) {
		id = journal_line_id(line);
		if (!ids_have(search->ids, id) || journal_line_ms(line) < 0 ||
		    ask_is_of_another(search->ask, line))
			continue;
		line = slice_copy(search->arena, line);
		life_line_add(search, journal_line_id(line), line, &cursor);
		if (journal_line_has(line, "session", &session))
			ids_add(search->sessions, session);
	}
	search->id_lines = search->count;
	ids_settle(search->sessions);
}

/* ---- walk 3: the sessions ---------------------------------------------- */

struct visit {			/* a session and a message it brought */
	struct slice	session, id;
};

static int
slice_compare(struct slice a, struct slice b)
{
	int order = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return order != 0 ? order : a.n < b.n ? -1 : a.n > b.n;
}

static int
visit_compare(const void *left, const void *right)
{
	const struct visit *a = left, *b = right;

	return slice_compare(a->session, b->session);
}

static size_t
visits_list(struct search *search, struct visit *visits)
{
	size_t count = 0;

	for (size_t i = 0; i < search->id_lines; i++)
		if (journal_line_has(search->lines[i].line, "session",
		    &visits[count].session)) {
			visits[count].id = search->lines[i].id;
			count++;
		}
	if (count > 0)
		qsort(visits, count, sizeof(*visits), visit_compare);
	return count;
}

/* To each message of its session, or for itself. */
static void
session_line_add(struct search *search, const struct visit *visits,
    size_t count, struct slice line, const struct journal_cursor *at)
{
	size_t low = 0, high = count, last = SIZE_MAX;
	struct slice session;

	line = slice_copy(search->arena, line);
	(void)journal_line_has(line, "session", &session);
	while (low < high) {
		size_t middle = (low + high) / 2;

		if (slice_compare(visits[middle].session, session) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	for (; low < count && slice_equal(visits[low].session, session);
	    low++) {
		if (last == SIZE_MAX ||
		    !slice_equal(visits[last].id, visits[low].id))
			life_line_add(search, visits[low].id, line, at);
		last = low;
	}
	if (last == SIZE_MAX)
		life_line_add(search, session, line, at);
}

static void
sessions_collect(struct search *search)
{
	struct visit *visits = mem_alloc(search->count + 1, sizeof(*visits));
	struct journal_cursor cursor = { 0, 0, 0 };
	size_t count = visits_list(search, visits);
	struct slice line, session;

	ids_want(search, search->sessions);
	while (search->sessions->count > 0 &&
	    journal_next(search->journal, &cursor, &line))
		if (journal_line_has(line, "session", &session) &&
		    ids_have(search->sessions, session) &&
		    journal_line_id(line).n == 0 && journal_line_ms(line) >= 0)
			session_line_add(search, visits, count, line,
			    &cursor);
	mem_free(&visits);
}

/* ---- together ---------------------------------------------------------- */

static int
line_compare(const void *left, const void *right)
{
	const struct life_line *a = left, *b = right;
	int order = slice_compare(a->id, b->id);

	if (order != 0)
		return order;
	if (a->at_ms != b->at_ms)
		return a->at_ms < b->at_ms ? -1 : 1;
	if (a->at.file != b->at.file)
		return a->at.file < b->at.file ? -1 : 1;
	if (a->at.frame != b->at.frame)
		return a->at.frame < b->at.frame ? -1 : 1;
	return a->at.offset < b->at.offset ? -1 : 1;
}

/* The router may have a message before smtpserver has noted that it accepted
 * it. */
static void
life_accepted_first(struct life *life)
{
	size_t first = 0;

	for (size_t i = 0; i < life->count; i++) {
		struct life_line line = life->lines[i];
		struct slice name, program;

		if (i > 0 && !slice_equal(line.id, life->lines[i - 1].id))
			first = i;
		/* what has no id is the session's, whoever noted it */
		if (i == first && (journal_line_id(line.line).n == 0 ||
		    (journal_line_has(line.line, "d", &program) &&
		    slice_is(program, "smtpserver"))))
			first = i + 1;
		if (i <= first || !journal_line_has(line.line, "ev", &name) ||
		    !slice_is(name, "message.accepted"))
			continue;
		memmove(&life->lines[first + 1], &life->lines[first],
		    (i - first) * sizeof(line));
		life->lines[first] = line;
	}
}

void
life_find(struct journal *journal, const struct journal_ask *ask,
    struct arena *arena, struct life *out)
{
	struct search search = { .journal = journal, .ask = ask,
	    .arena = arena };

	memset(out, 0, sizeof(*out));
	search.ids = mem_alloc(1, sizeof(*search.ids));
	search.sessions = mem_alloc(1, sizeof(*search.sessions));
	if (ask->owner != NULL) {
		search.own = mem_alloc(1, sizeof(*search.own));
		life_own_find(&search);
	}
	life_ids_find(&search);
	messages_collect(&search);
	sessions_collect(&search);
	journal_want(journal, NULL, 0);
	out->id_count = search.ids->count;
	out->is_cut = search.ids->is_cut || search.sessions->is_cut;
	out->count = search.count;
	if (search.count > 0) {
		qsort(search.lines, search.count, sizeof(*search.lines),
		    line_compare);
		out->lines = arena_alloc(arena,
		    search.count * sizeof(*search.lines));
		memcpy(out->lines, search.lines,
		    search.count * sizeof(*search.lines));
		life_accepted_first(out);
	}
	mem_free(&search.lines);
	mem_free(&search.ids);
	mem_free(&search.own);
	mem_free(&search.sessions);
}

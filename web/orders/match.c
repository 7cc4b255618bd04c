/* match.c - is it one of the rows of rows.h?
 *
 * In     words, a request: of a process that may have been taken over
 * Out    yes or no, what it needs, where the name of a message stands
 * Trusts the rows alone; members of a request are read by json_get and
 *        written anew
 * Spec   match.h, rows.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/ascii.h"
#include "base/json.h"
#include "web/orders/match.h"

#include "base/banned.h"

enum { NUMBER_DIGITS_MAX = 9 };

static const struct row {
	enum role	 role;
	enum match_help	 help;
	const char	*pattern;
} verb_rows[] = {
#define VERB(role, help, pattern) { ROLE_##role, MATCH_##help, pattern },
#define SOCKET(role, help, pattern)
#include "web/orders/rows.h"
#undef VERB
#undef SOCKET
}, socket_rows[] = {
#define VERB(role, help, pattern)
#define SOCKET(role, help, pattern) { ROLE_##role, MATCH_##help, pattern },
#include "web/orders/rows.h"
#undef VERB
#undef SOCKET
};

/* ---- one word ----------------------------------------------------------- */

bool
match_is_id(struct slice word)
{
	for (size_t i = 0; i < word.n; i++)
		if (!ascii_is_alnum(word.p[i]))
			return false;
	return word.n > 0 && word.n <= MATCH_ID_BYTES_MAX;
}

static bool
word_is_one_of(struct slice word, struct slice choices)
{
	struct slice one;

	while (slice_cut(&choices, '|', &one))
		if (slice_equal(word, one))
			return true;
	return false;
}

/* Does the word at this place fit the pattern's? */
static bool
pattern_fits_word(struct slice pattern, struct slice word, int at,
    struct match *out)
{
	uint64_t number;

	if (slice_is(pattern, "ID")) {
		out->id_at = at;
		return match_is_id(word);
	}
	if (slice_is(pattern, "SELECTOR")) {
		out->selector_at = at;
		return word.n <= MATCH_SELECTOR_BYTES_MAX;
	}
	if (slice_is(pattern, "NUMBER"))
		return word.n <= NUMBER_DIGITS_MAX &&
		    slice_number(word, 0, UINT32_MAX, &number);
	if (slice_is(pattern, "TEXT"))
		return word.n <= MATCH_TEXT_BYTES_MAX;
	return word_is_one_of(word, pattern);
}

/* ---- all of them -------------------------------------------------------- */

/* What stands in brackets is either all there or not at all, which the first
 * word of it tells, or, when that is a TEXT, that there is one. */
static bool
pattern_fits_words(struct slice pattern, const char *const *words, int *at,
    bool is_group, struct match *out)
{
	struct slice token;

	while (slice_word(&pattern, &token)) {
		size_t end = slice_find(pattern, ']');
		int before = *at;

		if (slice_is(token, "[")) {
			if (!pattern_fits_words(slice_first(pattern, end),
			    words, at, true, out))
				*at = before;
			pattern = slice_from(pattern, end + 1);
			continue;
		}
		if (words[*at] == NULL || !pattern_fits_word(token,
		    slice_of(words[*at]), *at, out))
			return false;
		(*at)++;
	}
	return is_group || words[*at] == NULL;
}

static bool
pattern_fits(struct slice pattern, const char *const *words,
    struct match *out)
{
	int at = 0;

	out->id_at = out->selector_at = -1;
	return pattern_fits_words(pattern, words, &at, false, out);
}

static void
match_take_row(const struct row *row, struct match *out)
{
	out->role = row->role;
	out->help = row->help;
}

bool
match_verb(const char *const *words, struct match *out)
{
	for (size_t i = 0; i < sizeof(verb_rows) / sizeof(verb_rows[0]); i++)
		if (pattern_fits(slice_of(verb_rows[i].pattern), words,
		    out)) {
			match_take_row(&verb_rows[i], out);
			return true;
		}
	return false;
}

/* ---- the socket --------------------------------------------------------- */

static void
request_take_member(struct slice line, struct slice name, struct str *out)
{
	struct arena *arena = arena_new();
	const char *key = slice_dup(arena, name);
	struct str value = STR_INIT;

	if (key[0] == '#')
		json_number(out, key + 1, json_get_number(line, key + 1));
	else if (json_get(line, key, &value))
		json_text(out, key, str_slice(&value));
	str_release(&value);
	arena_free(&arena);
}

bool
match_socket(struct slice line, struct str *out_request, struct match *out)
{
	for (size_t i = 0; i < sizeof(socket_rows) / sizeof(socket_rows[0]);
	    i++) {
		struct slice rest = slice_of(socket_rows[i].pattern), name;
		struct arena *arena = arena_new();
		bool is_it = slice_word(&rest, &name) && json_is(line, "op",
		    slice_dup(arena, name));

		if (is_it) {
			json_open_answer(out_request);
			json_text(out_request, "op", name);
			while (slice_word(&rest, &name))
				request_take_member(line, name, out_request);
			match_take_row(&socket_rows[i], out);
			out->id_at = out->selector_at = -1;
		}
		arena_free(&arena);
		if (is_it)
			return true;
	}
	return false;
}

/* test_stable.c - what is read, printed and read again is the same
 *
 * Sentences of the grammars of the RFCs (abnf_mail.h), thousands of them:
 * each must be taken, and what we print of it must be taken as the same.
 *
 * SPDX-License-Identifier: ISC
 */
#include <criterion/criterion.h>

#include <string.h>

#include "abnf_mail.h"
#include "base/clock.h"
#include "grammar/message/alias.h"
#include "grammar/message/date.h"
#include "grammar/message/header.h"

enum { ROUNDS = 4000, LONG = 240 };	/* PATH_MAX_BYTES and some */

static struct abnf
mail(uint64_t seed)
{
	return (struct abnf){ .rules = abnf_mail, .seed = seed };
}

/* What a local part or a word is meant to say, out of its quotes. */
static void
add_meant(struct str *out, const char *word)
{
	bool is_quoted = *word == '"';

	for (const char *at = word + is_quoted; at[is_quoted] != '\0'; at++) {
		if (is_quoted && *at == '\n')
			continue;	/* a fold */
		if (is_quoted && *at == '\\')
			at++;
		str_addc(out, *at);
	}
}

static void
add_quoted(struct str *out, const struct str *meant)
{
	str_addc(out, '"');
	for (size_t i = 0; i < meant->len; i++) {
		if (meant->buf[i] == '"' || meant->buf[i] == '\\')
			str_addc(out, '\\');
		str_addc(out, meant->buf[i]);
	}
	str_addc(out, '"');
}

/* ---- addresses --------------------------------------------------------- */

/* A path printed is read as the same path, and printed the same. */
static void
check_path(const struct path *path, const char *from)
{
	struct str text = STR_INIT, second = STR_INIT;
	struct err err = { "" };
	struct slice rest;
	struct path again;

	path_add(&text, path);
	cr_assert_eq(path_parse(str_slice(&text), PATH_BARE_OK |
	    PATH_LOCAL_OK | PATH_UTF8, &again, &rest, &err), 0, "%s of %s: %s",
	    text.buf, from, err.text);
	cr_assert_eq(rest.n, 0, "%s of %s", text.buf, from);
	cr_assert(path_equal(path, &again), "%s of %s", text.buf, from);
	path_add(&second, &again);
	cr_assert_str_eq(text.buf, second.buf);
	str_release(&text);
	str_release(&second);
}

/* An addr-spec with comments where they may stand, and, as the other ends of
 * RFC 5322 4.4 would read it, without. */
static void
make_address(struct abnf *abnf, struct str *text, struct str *want)
{
	unsigned words = 1 + abnf_random(abnf, 3);
	struct str meant = STR_INIT, word = STR_INIT;
	bool has_quotes = false;

	for (unsigned i = 0; i < words; i++) {
		if (i > 0) {
			abnf_make(abnf, "CFWS", text);
			str_addc(text, '.');
			str_addc(&meant, '.');
		}
		str_reset(&word);
		abnf_make(abnf, "lword", &word);
		has_quotes = has_quotes || word.buf[0] == '"';
		add_meant(&meant, word.buf);
		str_add_slice(text, str_slice(&word));
	}
	if (has_quotes)
		add_quoted(want, &meant);
	else
		str_add_slice(want, str_slice(&meant));
	str_reset(&word);
	abnf_make(abnf, "label", &word);
	abnf_make(abnf, "CFWS", text);
	str_addf(text, "@ (a\\)) %s .b", word.buf);
	str_addf(want, "@%s.b", word.buf);
	str_release(&word);
	str_release(&meant);
}

Test(stable, each_address_of_a_list_is_the_one_that_was_written)
{
	struct abnf abnf = mail(2);

	for (unsigned round = 0; round < ROUNDS / 4; round++) {
		struct str text = STR_INIT, wants[4] = { STR_INIT, STR_INIT,
		    STR_INIT, STR_INIT };
		struct arena *arena = arena_new();
		struct path path, want;
		struct slice rest;
		struct err err = { "" };
		size_t longest = 0;

		for (unsigned i = 0; i < 4; i++) {
			if (i > 0)
				str_adds(&text, i == 2 ? ", ," : ",");
			if (i == 1)
				abnf_make(&abnf, "phrase", &text);
			str_adds(&text, i == 1 ? "<@a.test,@b:" : "");
			make_address(&abnf, &text, &wants[i]);
			str_adds(&text, i == 1 ? ">" : "");
			longest = wants[i].len > longest ? wants[i].len :
			    longest;
		}
		rest = str_slice(&text);
		for (unsigned i = 0; i < 4 && longest < LONG; i++) {
			cr_assert_eq(header_address(arena, &rest, &path,
			    &err), HEADER_ADDRESS, "%s\n%s", text.buf,
			    err.text);
			cr_assert_eq(path_parse(str_slice(&wants[i]),
			    PATH_BARE_OK | PATH_UTF8, &want, &(struct slice){
			    NULL, 0 }, &err), 0, "%s: %s", wants[i].buf,
			    err.text);
			cr_assert(path_equal(&path, &want), "%s\nis not "
			    SLICE_FMT, wants[i].buf, SLICE_ARG(path.local));
			check_path(&path, text.buf);
		}
		if (longest < LONG)
			cr_assert_eq(header_address(arena, &rest, &path,
			    &err), HEADER_ADDRESS_END);
		for (unsigned i = 0; i < 4; i++)
			str_release(&wants[i]);
		str_release(&text);
		arena_free(&arena);
	}
}

Test(stable, every_address_list_is_taken)
{
	struct abnf abnf = mail(3);
	unsigned taken = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct str text = STR_INIT;
		struct arena *arena = arena_new();
		struct err err = { "" };
		struct slice rest;
		struct path path;
		int more;

		abnf_make(&abnf, "address-list", &text);
		rest = str_slice(&text);
		while ((more = header_address(arena, &rest, &path, &err)) !=
		    HEADER_ADDRESS_END) {
			cr_assert(more == 1 || strstr(err.text, "longer") !=
			    NULL, "%s\n%s", text.buf, err.text);
			if (more == 1 && ++taken)
				check_path(&path, text.buf);
		}
		str_release(&text);
		arena_free(&arena);
	}
	cr_expect_gt(taken, ROUNDS);
}

/* ---- headers ------------------------------------------------------------- */

/* The fields of a header put one after the other, unfolded. */
static unsigned
print_header(struct slice header, struct str *whole, struct str *flat)
{
	struct header_field field;
	bool is_broken;
	unsigned count = 0;

	for (; header_next(&header, &field, &is_broken) == 1; count++) {
		str_add_slice(whole, field.whole);
		str_add_slice(flat, field.name);
		str_adds(flat, ": ");
		header_add_unfolded(flat, field.value);
		str_addc(flat, '\n');
	}
	cr_assert_not(is_broken);
	cr_assert_eq(header.n, 0);
	return count;
}

Test(stable, a_header_keeps_its_bytes_and_its_fields)
{
	struct abnf abnf = mail(5);

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct str text = STR_INIT, whole = STR_INIT,
		    flat = STR_INIT, same = STR_INIT, again = STR_INIT;
		unsigned count;

		abnf_make(&abnf, "header", &text);
		count = print_header(str_slice(&text), &whole, &flat);
		cr_assert_str_eq(whole.buf, text.buf);
		cr_assert_eq(print_header(str_slice(&flat), &same, &again),
		    count, "%s\nis not\n%s", flat.buf, text.buf);
		cr_assert_str_eq(again.buf, flat.buf);
		str_release(&text);
		str_release(&whole);
		str_release(&flat);
		str_release(&same);
		str_release(&again);
	}
}

/* ---- dates --------------------------------------------------------------- */

Test(stable, dates_of_headers_are_taken_folded_and_unfolded_and_ours_too)
{
	struct abnf abnf = mail(7);
	char ours[CLOCK_TEXT_BYTES];

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct str text = STR_INIT, flat = STR_INIT;
		struct err err = { "" };

		abnf_make(&abnf, "date-time", &text);
		cr_assert_eq(header_date(str_slice(&text), &err), 0,
		    "%s: %s", text.buf, err.text);
		header_add_unfolded(&flat, str_slice(&text));
		cr_assert_eq(header_date(str_slice(&flat), &err), 0, "%s",
		    flat.buf);
		clock_rfc5322((int64_t)abnf_random(&abnf, 1u << 31), ours);
		cr_assert_eq(header_date(slice_of(ours), &err), 0, "%s", ours);
		str_release(&text);
		str_release(&flat);
	}
}

Test(stable, a_moment_is_the_same_second_again)
{
	struct abnf abnf = mail(11);

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct str text = STR_INIT, first = STR_INIT,
		    second = STR_INIT;
		int64_t at = 0, again = 0;
		struct err err = { "" };

		abnf_make(&abnf, "moment", &text);
		if (date_parse(str_slice(&text), &at, &err) == 0) {
			date_add(&first, at);
			cr_assert_eq(date_parse(str_slice(&first), &again,
			    &err), 0, "%s: %s", first.buf, err.text);
			cr_assert_eq(again, at, "%s", text.buf);
			date_add(&second, again);
			cr_assert_str_eq(second.buf, first.buf);
		} else {	/* the first hours of 1970, east of London */
			cr_assert(strncmp(text.buf, "1970-01-01", 10) == 0,
			    "%s: %s", text.buf, err.text);
		}
		str_release(&text);
		str_release(&first);
		str_release(&second);
	}
}

/* ---- aliases ------------------------------------------------------------- */

/* Read all items; out has them printed, one a line. */
static unsigned
print_items(struct arena *arena, struct slice rest, struct str *out)
{
	struct slice text = rest;
	struct alias_item item;
	struct err err = { "" };
	unsigned count = 0;
	int more;

	while ((more = alias_next(arena, &rest, 0, &item, &err)) != ALIAS_END) {
		cr_assert_eq(more, 1, SLICE_FMT "\n%s", SLICE_ARG(text),
		    err.text);
		alias_add(out, &item);
		str_addc(out, '\n');
		count++;
	}
	return count;
}

Test(stable, items_of_an_alias_are_the_same_items_again)
{
	struct abnf abnf = mail(13);
	unsigned count = 0;

	for (unsigned round = 0; round < ROUNDS; round++) {
		struct str text = STR_INIT, first = STR_INIT,
		    second = STR_INIT;
		struct arena *arena = arena_new();
		unsigned items;

		abnf_make(&abnf, "items", &text);
		items = print_items(arena, str_slice(&text), &first);
		cr_assert_eq(print_items(arena, str_slice(&first), &second),
		    items, "%s\nis not\n%s", first.buf, text.buf);
		cr_assert_str_eq(second.buf, first.buf);
		count += items;
		str_release(&text);
		str_release(&first);
		str_release(&second);
		arena_free(&arena);
	}
	cr_expect_gt(count, ROUNDS);
}

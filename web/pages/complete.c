/* complete.c - the box of selectors, and what completes a word in it
 *
 * In     the keys and words of selectors; lines about messages; destinations
 *        that have mail now
 * Out    the box with a list for browsers without scripts; for our script
 *        words that begin as the one at the caret
 * Spec   pages.h; grammar/selector.h; mail/words/selector_words.h
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/json.h"
#include "mail/words/selector_words.h"
#include "web/pages/pages.h"
#include "web/page/html.h"

#include "base/banned.h"

enum { RECENT_MAX = 30, WORD_BYTES_MAX = 300 };

/* ---- the box ------------------------------------------------------------ */

static void
box_add_option(struct str *out, struct slice value, const char *text)
{
	str_adds(out, "<option");
	html_attribute(out, "value", value);
	if (text[0] != '\0')
		html_attribute(out, "label", slice_of(text));
	str_addc(out, '>');
}

struct recent {
	struct slice	words[RECENT_MAX];
	size_t		count;
};

/* It ends no word of a selector, and begins nothing in it. */
static bool
word_is_plain(struct slice word)
{
	for (size_t i = 0; i < word.n; i++)
		if (memchr(" \"()", word.p[i], 4) != NULL)
			return false;
	return true;
}

/* Each once. */
static void
recent_take(struct recent *recent, struct slice word)
{
	for (size_t i = 0; i < recent->count; i++)
		if (slice_equal(recent->words[i], word))
			return;
	if (recent->count < RECENT_MAX && word_is_plain(word))
		recent->words[recent->count++] = word;
}

/* from:@DOMAIN, to:@DOMAIN, dest:"CHANNEL/HOST" of the messages shown. */
static void
recent_take_line(struct visit *visit, struct recent *recent, struct slice line)
{
	static const char *const keys[] = { "from", "to" };
	struct slice host = page_member(visit->arena, line, "host");

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		struct slice address = page_member(visit->arena, line,
		    keys[i]);
		size_t at = address.n;

		while (at > 0 && address.p[at - 1] != '@')
			at--;
		if (at > 0)
			recent_take(recent, slice_of(arena_printf(
			    visit->arena, "%s:" SLICE_FMT, keys[i],
			    SLICE_ARG(slice_from(address, at - 1)))));
	}
	if (host.n > 0)
		recent_take(recent, slice_of(arena_printf(visit->arena,
		    "dest:" SLICE_FMT "/" SLICE_FMT, SLICE_ARG(page_member(
		    visit->arena, line, "channel")), SLICE_ARG(host))));
}

static void
box_add_list(struct visit *visit, struct slice lines)
{
	struct recent recent = { .count = 0 };
	struct slice line;

	str_adds(&visit->out, "<datalist id=\"q-words\">");
	for (int i = 0; i < SELECTOR_KEY_COUNT; i++)
		box_add_option(&visit->out, slice_of(arena_printf(visit->arena,
		    "%s%c", selector_keys[i].name, selector_key_sign(
		    (enum selector_key_row)i))), selector_keys[i].text);
	while (recent.count < RECENT_MAX && answer_line(&lines, &line))
		recent_take_line(visit, &recent, line);
	for (size_t i = 0; i < recent.count; i++)
		box_add_option(&visit->out, recent.words[i], "");
	str_adds(&visit->out, "</datalist>");
}

void
page_add_search(struct visit *visit, const char *path, struct slice typed,
    struct slice lines)
{
	struct str *out = &visit->out;

	str_addf(out, "<form class=\"search\" role=\"search\" method=\"get\" "
	    "action=\"%s\"><label for=\"q\">Which messages (<a "
	    "href=\"#words\">the words</a>)</label><div><input id=\"q\" "
	    "name=\"q\" type=\"search\" autocomplete=\"off\" "
	    "spellcheck=\"false\" list=\"q-words\" maxlength=\"2000\"", path);
	html_attribute(out, "value", typed);
	str_addc(out, '>');
	if (strcmp(path, "/queue") == 0)
		page_add_where_hidden(visit);
	str_adds(out, "<button>Show</button></div>");
	box_add_list(visit, lines);
	str_adds(out, "</form>\n");
}

/* ---- words for the script ----------------------------------------------- */

/* What is before the caret: a key, the beginning of its value. */
struct typed {
	struct slice	 word, front, value;	/* front: key and sign */
	int		 key;			/* -1: not typed to its end */
};

static void
typed_read(struct visit *visit, struct typed *out)
{
	size_t at = 0;

	out->word = slice_trim(form_get(&visit->form, "word"));
	out->key = -1;
	while (at < out->word.n && strchr(":=<>!", out->word.p[at]) == NULL)
		at++;
	for (int i = 0; at < out->word.n && i < SELECTOR_KEY_COUNT; i++)
		if (slice_is_nocase(slice_first(out->word, at),
		    selector_keys[i].name))
			out->key = i;
	while (at < out->word.n && strchr(":=<>!", out->word.p[at]) != NULL)
		at++;
	out->front = slice_first(out->word, at);
	out->value = slice_from(out->word, at);
	if (slice_starts(out->value, "\""))
		out->value = slice_from(out->value, 1);
}

/* The beginning of a name, as a glob of the scheduler. */
static const char *
typed_glob(struct visit *visit, struct slice name)
{
	return arena_printf(visit->arena, SLICE_FMT "*", SLICE_ARG(name));
}

/* Channels, then destinations of a channel; zones. */
static void
complete_ask(struct visit *visit, const struct typed *typed)
{
	size_t slash = slice_find(typed->value, '/');
	struct question *question;

	if (typed->key == SELECTOR_KEY_DEST && slash == typed->value.n) {
		question = visit_ask_socket(visit, "channels", "count");
		json_text(&question->request, "by", SLICE("channel"));
	} else if (typed->key == SELECTOR_KEY_DEST) {
		question = visit_ask_socket(visit, "hosts", "destinations");
		json_text(&question->request, "channel", slice_first(
		    typed->value, slash));
		json_text(&question->request, "host", slice_of(typed_glob(
		    visit, slice_from(typed->value, slash + 1))));
	} else if (typed->key == SELECTOR_KEY_ZONE) {
		question = visit_ask_socket(visit, "zones", "destinations");
		json_text(&question->request, "channel", SLICE("zone"));
		json_text(&question->request, "host", slice_of(typed_glob(
		    visit, typed->value)));
	}
}

static int
complete_begin(struct visit *visit)
{
	struct typed typed;

	typed_read(visit, &typed);
	if (typed.word.n > WORD_BYTES_MAX)
		return visit_refuse(visit, "No word is so long.");
	if (!visit->is_help)
		complete_ask(visit, &typed);
	return 0;
}

struct offer {
	struct visit	*visit;
	struct recent	 words;
};

static void
offer_word(struct offer *offer, struct slice front, struct slice word,
    const char *text)
{
	struct str *out = &offer->visit->out;
	struct slice whole = slice_of(arena_printf(offer->visit->arena,
	    SLICE_FMT SLICE_FMT, SLICE_ARG(front), SLICE_ARG(word)));
	size_t before = offer->words.count;

	recent_take(&offer->words, whole);
	if (offer->words.count == before)
		return;
	json_begin(out, NULL);
	json_text(out, "word", whole);
	json_text(out, "text", slice_of(text));
	json_end(out);
}

static bool
word_begins(struct slice word, struct slice with)
{
	return word.n >= with.n && slice_equal_nocase(slice_first(word,
	    with.n), with);
}

static void
offer_keys(struct offer *offer, struct slice typed)
{
	static const char *const others[] = { "all", "and", "or", "not" };

	for (int i = 0; i < SELECTOR_KEY_COUNT; i++)
		if (word_begins(slice_of(selector_keys[i].name), typed))
			offer_word(offer, SLICE(""), slice_of(arena_printf(
			    offer->visit->arena, "%s%c", selector_keys[i].name,
			    selector_key_sign((enum selector_key_row)i))),
			    selector_keys[i].text);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (word_begins(slice_of(others[i]), typed))
			offer_word(offer, SLICE(""), slice_of(others[i]), "");
}

static void
offer_values(struct offer *offer, const struct typed *typed)
{
	struct selector_word words[SELECTOR_WORDS_MAX];
	size_t count = selector_words((enum selector_key_row)typed->key,
	    words);

	for (size_t i = 0; i < count; i++)
		if (word_begins(slice_of(words[i].name), typed->value))
			offer_word(offer, typed->front, slice_of(
			    words[i].name), words[i].text);
}

/* A member of each line of an answer, after channel/ if it is a host. */
static void
offer_answer(struct offer *offer, const struct typed *typed,
    const struct question *question)
{
	struct visit *visit = offer->visit;
	bool is_channel = strcmp(question->name, "channels") == 0;
	bool is_zone = strcmp(question->name, "zones") == 0;
	struct slice rest = str_slice(&question->answer.text), line;

	while (offer->words.count < RECENT_MAX && answer_line(&rest, &line)) {
		struct slice word = page_member(visit->arena, line,
		    is_channel ? "key" : is_zone ? "zone" : "host");

		if (word.n == 0)
			continue;
		if (is_channel)
			word = slice_of(arena_printf(visit->arena, SLICE_FMT
			    "/", SLICE_ARG(word)));
		else if (!is_zone)
			word = slice_of(arena_printf(visit->arena, SLICE_FMT
			    "/" SLICE_FMT, SLICE_ARG(page_member(visit->arena,
			    line, "channel")), SLICE_ARG(word)));
		if (word_begins(word, typed->value))
			offer_word(offer, typed->front, word, "has mail now");
	}
}

static void
complete_show(struct visit *visit)
{
	struct offer offer = { .visit = visit };
	struct typed typed;

	typed_read(visit, &typed);
	json_open_answer(&visit->out);
	json_begin_list(&visit->out, "words");
	if (typed.key < 0)
		offer_keys(&offer, typed.word);
	else
		offer_values(&offer, &typed);
	for (size_t i = 0; i < visit->count; i++)
		offer_answer(&offer, &typed, &visit->questions[i]);
	json_end_list(&visit->out);
	json_close(&visit->out);
}

const struct page_row page_complete = {
	.path = "/complete", .title = "Words", .is_data = true,
	.begin = complete_begin, .show = complete_show,
};

/* tell.c - an event as a sentence for people
 *
 * In     a line of the journal
 * Out    what happened, in words, wrapped
 * Trusts no value: controls are escaped
 * Spec   tellings.h; zmailer-trace(8)
 *
 * SPDX-License-Identifier: ISC
 */
#include <string.h>

#include "base/clock.h"
#include "base/json.h"
#include "journal/event.h"
#include "tools/journal/journal.h"

#include "base/banned.h"

static const struct telling {
	const char	*event, *sentence;
} tellings[] = {
#define TELLING(event, sentence) { event, sentence },
#include "tools/journal/tellings.h"
#undef TELLING
};

enum { LINE_COLS = 79, TELLINGS = sizeof(tellings) / sizeof(tellings[0]) };

/* The value of "key" or "key:form" as it is told.  False: it has none. */
static bool
tell_value_add(struct str *out, struct slice line, struct slice name)
{
	struct slice key = slice_first(name, slice_find(name, ':'));
	struct slice form = slice_from(name, key.n + 1);
	struct str value = STR_INIT;
	char text[CLOCK_TEXT_BYTES], word[32];
	uint64_t number;
	bool has = key.n < sizeof(word);

	if (has) {
		memcpy(word, key.p, key.n);
		word[key.n] = '\0';
		(void)json_get(line, word, &value);
		has = value.len > 0 && !slice_is(str_slice(&value), "-");
	}
	if (slice_is(form, "sender") && !has) {
		str_adds(out, "<>");
		has = true;
	} else if (slice_is(form, "yes") || slice_is(form, "no")) {
		has = slice_equal(form, str_slice(&value));
	} else if (has && slice_is(form, "s")) {
		str_adds(out, slice_is(str_slice(&value), "1") ? "" : "s");
	} else if (has && form.n > 0 && slice_number(str_slice(&value), 0,
	    INT64_MAX, &number)) {
		has = number > 0 || slice_is(form, "span");
		if (slice_is(form, "span"))
			clock_span((int64_t)number, text);
		else
			clock_local((int64_t)number, text);
		str_adds(out, has ? text : "");
	} else if (has) {
		str_add_escaped(out, str_slice(&value));
	}
	str_release(&value);
	return has;
}

/* A part up to its end, without [ ].  False: a key of it has no value. */
static bool
tell_part_add(struct str *out, struct slice line, struct slice part)
{
	bool has_all = true;

	while (part.n > 0) {
		size_t n = slice_find(part, '{');
		struct slice name;

		str_add_slice(out, slice_first(part, n));
		part = slice_from(part, n + 1);
		if (part.n == 0)
			break;
		name = slice_first(part, slice_find(part, '}'));
		has_all = tell_value_add(out, line, name) && has_all;
		part = slice_from(part, name.n + 1);
	}
	return has_all;
}

static void
tell_sentence_add(struct str *out, struct slice line, struct slice sentence)
{
	while (sentence.n > 0) {
		size_t n = slice_find(sentence, '[');
		size_t before;
		struct slice part;

		(void)tell_part_add(out, line, slice_first(sentence, n));
		sentence = slice_from(sentence, n + 1);
		if (sentence.n == 0)
			break;
		part = slice_first(sentence, slice_find(sentence, ']'));
		before = out->len;
		if (!tell_part_add(out, line, part)) {
			out->len = before;
			out->buf[before] = '\0';
		}
		sentence = slice_from(sentence, part.n + 1);
	}
}

/* "What it means (key value, key value)". */
static void
tell_plainly(struct str *out, struct slice line, struct slice event)
{
	struct str value = STR_INIT;
	struct slice key;
	size_t cursor = 0;
	const char *between = " (";

	for (size_t i = 0; i < EV_COUNT; i++)
		if (slice_is(event, event_rows[i].name))
			str_adds(out, event_rows[i].text);
	if (out->len == 0)
		str_add_escaped(out, event);
	while (json_next(line, &cursor, &key, &value)) {
		if (value.len == 0 || journal_key_is_fixed(key))
			continue;
		str_adds(out, between);
		str_add_escaped(out, key);
		str_addc(out, ' ');
		str_add_escaped(out, str_slice(&value));
		between = ", ";
	}
	if (between[0] == ',')
		str_addc(out, ')');
	str_release(&value);
}

void
journal_tell(struct slice line, struct str *out)
{
	struct str event = STR_INIT;
	size_t i = 0;

	str_reset(out);
	(void)json_get(line, "ev", &event);
	while (i < TELLINGS && !slice_is(str_slice(&event),
	    tellings[i].event))
		i++;
	if (i < TELLINGS)
		tell_sentence_add(out, line, slice_of(tellings[i].sentence));
	else
		tell_plainly(out, line, str_slice(&event));
	str_release(&event);
}

void
journal_wrap(struct slice text, unsigned indent, struct str *out)
{
	size_t column = indent;
	struct slice word;

	while (slice_word(&text, &word)) {
		if (column > indent && column + 1 + word.n > LINE_COLS) {
			str_addf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (column > indent) {
			str_addc(out, ' ');
			column++;
		}
		str_add_slice(out, word);
		column += word.n;
	}
	str_addc(out, '\n');
}

size_t
journal_telling_count(void)
{
	return TELLINGS;
}

const char *
journal_telling(size_t i, const char **out_event)
{
	*out_event = tellings[i].event;
	return tellings[i].sentence;
}

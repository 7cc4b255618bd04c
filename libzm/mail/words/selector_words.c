/* selector_words.c - what the keys of a selector may be tested with
 *
 * In     the rows of states, verdicts, directories, classes
 * Out    words
 * Spec   selector_words.h; zmailer-selector(7)
 *
 * SPDX-License-Identifier: ISC
 */
#include "mail/classify.h"
#include "mail/spool/spool.h"
#include "mail/state.h"
#include "mail/words/selector_words.h"

#include "base/banned.h"

_Static_assert((int)MAIL_STATE_COUNT + (int)VERDICT_KINDS <=
    (int)SELECTOR_WORDS_MAX &&
    (int)CLASS_COUNT <= (int)SELECTOR_WORDS_MAX &&
    (int)AREA_COUNT <= (int)SELECTOR_WORDS_MAX,
    "there is room for all words");

static const char *const class_texts[CLASS_COUNT] = {
#define CLASS(symbol, name, text) text,
	MAIL_CLASSES(CLASS)
#undef CLASS
};

/* deferred is both: a directory and a verdict. */
static size_t
words_of_states(struct selector_word *out)
{
	size_t n = 0;

	for (int i = 0; i < MAIL_STATE_COUNT; i++)
		out[n++] = (struct selector_word){ mail_states[i].name,
			mail_states[i].text };
	for (int i = 0; i < VERDICT_KINDS; i++)
		if (i != VERDICT_DEFERRED)
			out[n++] = (struct selector_word){ verdict_names[i],
				"an outcome" };
	return n;
}

size_t
selector_words(enum selector_key_row key,
    struct selector_word out[SELECTOR_WORDS_MAX])
{
	size_t n = 0;

	if (key == SELECTOR_KEY_STATE)
		return words_of_states(out);
	if (key == SELECTOR_KEY_DEST_STATE)
		for (int i = 0; i < DESTINATION_STATE_COUNT; i++)
			out[n++] = (struct selector_word){
				destination_states[i].name,
				destination_states[i].text };
	if (key == SELECTOR_KEY_AREA)
		for (int i = 0; i < AREA_COUNT; i++)
			out[n++] = (struct selector_word){
				spool_area_names[i], "a directory" };
	if (key == SELECTOR_KEY_CLASS)
		for (int i = 0; i < CLASS_COUNT; i++)
			out[n++] = (struct selector_word){ mail_class_name(
				(enum mail_class)i), class_texts[i] };
	return n;
}

char
selector_key_sign(enum selector_key_row key)
{
	return selector_keys[key].type == SELECTOR_TEXT ||
	    selector_keys[key].type == SELECTOR_ADDRESS ? ':' : '>';
}

/* selector_words.h - what the keys of a selector may be tested with
 *
 * The keys are the rows of selector_keys (grammar/selector.h); the words of
 * some of them are states, directories, classes.  Checks of what was typed,
 * and completion in a shell and in the desk, take them from here.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_MAIL_SELECTOR_WORDS_H
#define ZM_MAIL_SELECTOR_WORDS_H

#include "grammar/selector.h"

enum { SELECTOR_WORDS_MAX = 48 };

struct selector_word {
	const char	*name, *text;	/* text: for people; "" */
};

/* The words of a key.  returns how many; 0: it takes any text */
size_t selector_words(enum selector_key_row key,
    struct selector_word out[SELECTOR_WORDS_MAX]);

/* What follows a key's name in completion: ":" or ">". */
char selector_key_sign(enum selector_key_row key);

#endif

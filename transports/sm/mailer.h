/* mailer.h - a line of sm.conf
 *
 *   mailer = name blanks flags blanks program 1*( blanks word )
 *
 * Spec   zmailer-sm(8); the flags are ZMailer's
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_MAILER_H
#define ZM_TRANSPORTS_MAILER_H

#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum { MAILER_WORDS_MAX = 32, MAILER_FILE_BYTES_MAX = 64 * 1024 };

enum mailer_care {		/* what becomes of a flag */
	MAILER_HONOURED, MAILER_IGNORED, MAILER_REFUSED
};

struct mailer_flag {
	char		 letter;
	enum mailer_care care;
	const char	*text;
};
extern const struct mailer_flag mailer_flags[];
extern const size_t mailer_flag_count;

struct mailer {
	struct slice	name, program;
	struct slice	words[MAILER_WORDS_MAX];	/* argv[0] first */
	size_t		word_count;
	uint64_t	flags;		/* bit: index in mailer_flags */
	bool		is_bb;		/* BB: DSN in the batch as well */
};

/* Whether a flag is set. */
bool mailer_has(const struct mailer *mailer, char letter);

/* Find a mailer in the text of sm.conf.  Slices borrow from it.
 * MAILER_NONE: there is none of this name; MAILER_WRONG: its line is wrong, or
 * has a flag that is refused or not known (err names it). */
enum mailer_found { MAILER_WRONG = -1, MAILER_NONE, MAILER_FOUND };
enum mailer_found mailer_find(struct slice text, struct slice name,
    struct mailer *out,
    struct err *err);

/* What a word of a mailer stands for: $g $h $u $U filled in, appended to
 * out.  0; -1: a variable that is not known, or a value that the program
 * would take for an option. */
int mailer_word(struct slice word, struct slice sender, struct slice host,
    struct slice user, struct str *out, struct err *err);

/* Does this word speak of $u or $U, and so is repeated for each recipient? */
bool mailer_word_is_rcpt(struct slice word);

#endif

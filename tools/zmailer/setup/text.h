/* text.h - the file that zmailer setup writes, from answers
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_SETUP_TEXT_H
#define ZM_TOOLS_SETUP_TEXT_H

#include <stdbool.h>

#include "base/str.h"

enum { SETUP_HOST, SETUP_DOMAIN, SETUP_LISTEN, SETUP_VIA, SETUP_POSTMASTER,
	SETUP_CERTIFICATE, SETUP_KEY, SETUP_SUBMISSION, SETUP_SPOOL, SETUP_RUN,
	SETUP_LOG, SETUP_MAILBOX, SETUP_QUESTIONS };

/* Each is a text; "-" is none. */
struct setup_answers {
	const char	*of[SETUP_QUESTIONS];
};

/* Append the statements, after a comment unless the text before has one. */
void setup_text_add(struct str *out, const struct setup_answers *answers,
    struct slice before);
/* Say after the comment of out that it is written for now, with a checksum of
 * what follows. */
void setup_text_mark(struct str *out);
/* Was all after the comment written for now, and not changed since?  Then
 * out_begin is where the comment begins, else it is text.n. */
bool setup_text_is_for_now(struct slice text, size_t *out_begin);

#endif

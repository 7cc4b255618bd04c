/* command.h - a command line of an alias, parsed without a shell
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_COMMAND_H
#define ZM_TRANSPORTS_COMMAND_H

#include "base/err.h"
#include "base/str.h"

enum { COMMAND_WORDS_MAX = 64, COMMAND_BYTES_MAX = 4096 };

/* Split text into words at blanks.  '...' keeps everything; "..." keeps all
 * but backslash before " or backslash; outside of quotes a backslash keeps the
 * next byte.  Nothing else is special: no variables, no redirection, no globs.
 * A leading bar and blanks are dropped.
 * out_words  NULL-terminated, in the arena
 * returns 0; -1: no word, too many, an open quote, a control character. */
int command_split(struct arena *arena, struct slice text, char ***out_words,
    struct err *err);

/* Append text as the value of an environment variable: bytes outside
 * 32..126 become '_'. */
void command_add_value(struct str *out, struct slice text);

#endif

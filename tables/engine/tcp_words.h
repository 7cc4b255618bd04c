/* tcp_words.h - what a server of Postfix's tcp tables is asked and answers
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TABLES_ENGINE_TCP_WORDS_H
#define ZM_TABLES_ENGINE_TCP_WORDS_H

#include "base/err.h"
#include "base/str.h"
#include "tables/engine/engine.h"

enum { TCP_LINE_BYTES_MAX = 4096 };	/* of a question, of an answer */

/* "get KEY" with its LF; %, blanks and what cannot be printed as %XX. */
void tcp_words_ask(struct str *out, struct slice key);

/* An answer, a line without its LF: "200 VALUE", "500 ...", "400 ...".  The
 * value is appended to out; ENGINE_TROUBLE: err. */
enum engine_answer tcp_words_read(struct slice line, struct str *out,
    struct err *err);

#endif

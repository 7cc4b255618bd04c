/* parts.h - pieces of the page of a message
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_PARTS_H
#define ZM_WEB_PARTS_H

#include "web/pages/pages.h"

/* text.c: ask for the message itself; show its parts. */
void message_ask_text(struct visit *visit);
void message_add_text(struct visit *visit);

/* life.c: ask the journal for its life; show that as a line, a table and in
 * the words of zmailer trace. */
void message_ask_life(struct visit *visit);
void message_add_life(struct visit *visit);
/* A moment of the journal in milliseconds since 1970; -1: it is none. */
int64_t life_moment_ms(struct slice text);

#endif

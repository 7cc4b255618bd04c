/* past.h - the past hour, day and month, as a part of a page
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_PAST_H
#define ZM_WEB_PAST_H

#include "web/pages/pages.h"

enum { PAST_QUESTIONS = 3 };

/* Ask for them, by PAST_QUESTIONS questions. */
void past_ask(struct visit *visit);
/* Show two pictures and a table for each. */
void past_show(struct visit *visit);
/* Show what all destinations answered: a picture and a table for each. */
void past_show_answers(struct visit *visit);

#endif

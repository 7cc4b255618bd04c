/* answered.h - what a destination answered, by class and over time
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_ANSWERED_H
#define ZM_WEB_ANSWERED_H

#include "web/pages/pages.h"

enum { ANSWERS_EVENTS_MAX = 2000 };	/* of each kind, from the journal */

/* Ask the journal for the last outcomes of channel/host, which is a name. */
void answered_ask(struct visit *visit, struct slice of);
/* Show an hour, a day and a month of them: a picture and a table for each. */
void answered_show(struct visit *visit);

#endif

/* steps.h - steps of a forward file that need not be done again
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_MAILBOX_STEPS_H
#define ZM_TRANSPORTS_MAILBOX_STEPS_H

#include "transports/mailbox/mailbox.h"

enum { STEP_NAME_BYTES = 17 };		/* 16 hex digits */

/* What a step is called: the same whenever the file says the same. */
void step_name(const char *kind, struct slice text,
    char out[STEP_NAME_BYTES]);

/* Was it done for this recipient, by whichever agent? */
bool step_was_done(const struct action *action, const char *name);

/* It is done: said in the control file, so that nobody does it again.  What
 * cannot be written is told to the journal and may be done twice. */
void step_done(const struct action *action, const char *name);

#endif

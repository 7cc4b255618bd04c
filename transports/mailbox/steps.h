/* steps.h - steps of a forward file that need not be done again
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TRANSPORTS_MAILBOX_STEPS_H
#define ZM_TRANSPORTS_MAILBOX_STEPS_H

#include "transports/mailbox/mailbox.h"

enum { STEP_NAME_BYTES = 17 };		/* 16 hex digits */

/* The name of a step: the same whenever the file has the same text. */
void step_name(const char *kind, struct slice text,
    char out[STEP_NAME_BYTES]);

/* Was it done for this recipient, by any agent? */
bool step_was_done(const struct action *action, const char *name);

/* Record in the control file that it is done, so that nobody does it again.  If
 * that cannot be written, the journal has an event, and it may be done
 * twice. */
void step_done(const struct action *action, const char *name);

#endif

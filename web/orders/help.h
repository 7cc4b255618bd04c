/* help.h - the role help sees only mail of its domains
 *
 * A message is of the domains if its sender, or one of its recipients, is in
 * one of them; if only a recipient is, the other recipients are not shown.
 *
 * domains are separated by blanks, in lower case (people.h).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_HELP_H
#define ZM_WEB_HELP_H

#include "base/str.h"

/* The selector joined with one for mail of the domains, in the arena; NULL: the
 * selector is malformed. */
const char *help_narrow(struct arena *arena, const char *domains,
    struct slice selector);
/* Is this address in one of the domains? */
bool help_is_address(const char *domains, struct slice address);
/* Does the list, lines of zmailer list --json, have exactly this message? */
bool help_has_message(struct slice list, struct slice id);
/* Keep the events (lines of zmailer trace --json) of messages of the domains.
 * False: there are none, and nothing is left. */
bool help_sift(const char *domains, struct str *events);
/* Of lines that have a recipient ("to"), keep those of the domains and those
 * whose sender is in one of them; all if is_all. */
void help_sift_recipients(const char *domains, bool is_all,
    struct str *lines);
/* Does the list say that the sender of the message is in one of them? */
bool help_is_from(const char *domains, struct slice list);

#endif

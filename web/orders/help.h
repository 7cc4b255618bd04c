/* help.h - who helps users of some domains sees their mail alone
 *
 * Theirs is a message whose sender, or one of whose recipients, is in one of
 * the domains; of one that is theirs by a recipient, the other recipients are
 * not shown.
 *
 * domains are blank separated, in small letters (people.h).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_HELP_H
#define ZM_WEB_HELP_H

#include "base/str.h"

/* The selector and "one of theirs", in the arena; NULL: it is none. */
const char *help_narrow(struct arena *arena, const char *domains,
    struct slice selector);
/* Is this address in one of the domains? */
bool help_is_address(const char *domains, struct slice address);
/* Has the list, lines of zmailer list --json, this very message? */
bool help_has_message(struct slice list, struct slice id);
/* Keep the events (lines of zmailer trace --json) of messages that are theirs.
 * False: there are none, and nothing is left. */
bool help_sift(const char *domains, struct str *events);
/* Keep of lines that have a recipient ("to") those of theirs, and those that
 * say that they are from one of them; all, when is_all. */
void help_sift_recipients(const char *domains, bool is_all,
    struct str *lines);
/* Does the list say that the message is from one of them? */
bool help_is_from(const char *domains, struct slice list);

#endif

/* sendmail_wait.h - follow a message until its first attempt is over
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_SENDMAIL_WAIT_H
#define ZM_TOOLS_SENDMAIL_WAIT_H

#include "conf/conf.h"

enum { WAIT_MS = 120000 };	/* at most */

/* Ask the scheduler about the caller's own message until no recipient waits
 * for a first attempt; with is_verbose each change is a line on standard
 * output.  Silent and at once when no scheduler runs. */
void sendmail_wait(const struct conf_brief *conf, const char *id,
    bool is_verbose);

#endif

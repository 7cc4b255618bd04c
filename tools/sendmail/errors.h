/* errors.h - what was not taken goes back by mail (-oem, -oee)
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_SENDMAIL_ERRORS_H
#define ZM_TOOLS_SENDMAIL_ERRORS_H

#include "tools/submit/submit.h"

/* Submit what stands on standard input.  When it is refused for what it is
 * (not for want of room), its sender, or the caller, gets the reason and the
 * message by mail, from the null sender.  Returns an exit status of
 * <sysexits.h>: the refusal's; with hides_errors EX_OK when that mail is on
 * disk. */
int submit_or_tell(const struct conf_brief *conf, struct submission *what,
    bool hides_errors);

#endif

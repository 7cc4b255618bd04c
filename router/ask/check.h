/* check.h - would this recipient be served?  For RCPT, VRFY and people
 *
 * It looks up aliases, accounts and tables as router_address does, but expands
 * no list: an alias with several items, an :include:, a program or a file
 * suffices to take mail for it.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_CHECK_H
#define ZM_ROUTER_CHECK_H

#include "router/route/route.h"

enum check_result { CHECK_TROUBLE = -1, CHECK_REFUSED = 0, CHECK_SERVED = 1 };

/* Check one address.  out_form (in the arena): if refused, the form of the
 * error recipient, a row of doc/INTERNALS section 7; else "".  returns
 * CHECK_TROUBLE with err if it cannot be known now. */
enum check_result router_check(struct router *router, struct arena *arena,
    const struct path *path, struct slice *out_form, struct err *err);

/* Such a line will be asked soon: of "rcpt" the databases are asked ahead. */
void router_check_foresee(struct router *router, struct arena *arena,
    struct slice line);

/* Answer one line and append the answer.  "rcpt ADDRESS" (as in an envelope,
 * without angle brackets): "ok served", "ok refused FORM" or "trouble WORDS".
 * "list ADDRESS": "ok members COUNT ADDRESS..." with the addresses that would
 * get mail; a limit may leave out some of COUNT; programs and files do not
 * count.  "route ADDRESS": "ok CHANNEL HOST USER; ..." for what it becomes.
 * "hook ADDRESS TAB SENDER TAB CLIENT TAB USER": as "rcpt", with what a script
 * may know; also "ok later WORDS" if the script says so. */
void router_check_line(struct router *router, struct arena *arena,
    struct slice line, struct str *out);

#endif

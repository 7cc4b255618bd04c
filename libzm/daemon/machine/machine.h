/* machine.h - does the machine have what the configuration names?
 *
 * The second level of `zmailer check`: conf_load says whether a file is
 * right in itself; this checks the things that it names.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_MACHINE_H
#define ZM_DAEMON_MACHINE_H

#include "conf/conf.h"

/* Check that tables can be read and their values used, directories exist and
 * are on one file system, accounts and certificates exist, the script of hooks
 * compiles, channels have agents.  Adds complaints to the report, whose
 * strings are in the arena, and sorts it. */
void machine_check(const struct conf *conf, struct arena *arena,
    struct conf_report *report);

/* Check that the hosts that routes name are in the DNS, as far as it answers
 * within two seconds.  Adds warnings to the report and sorts it. */
void machine_check_hosts(const struct conf *conf, struct arena *arena,
    struct conf_report *report);
/* Add a warning for each listener whose address another program has now.  ours
 * has the addresses of the running zmailer, each between blanks; "" if it does
 * not run. */
void machine_check_listeners(const struct conf *conf, const char *ours,
    struct arena *arena, struct conf_report *report);

#endif

/* machine.h - has the machine what the configuration names?
 *
 * The second level of `zmailer check`: conf_load says whether a file is
 * right in itself, this looks at what it speaks of.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_MACHINE_H
#define ZM_DAEMON_MACHINE_H

#include "conf/conf.h"

/* Tables can be read and their values used, directories are there and on one
 * file system, accounts and certificates exist, the script of hooks
 * compiles, channels have agents.  Adds complaints to the report, whose
 * strings live in the arena, and sorts it. */
void machine_check(const struct conf *conf, struct arena *arena,
    struct conf_report *report);

/* The hosts that routes name are in the DNS, as far as it says so within two
 * seconds: warnings, in the sorted report. */
void machine_check_hosts(const struct conf *conf, struct arena *arena,
    struct conf_report *report);
/* A warning for each listener whose address another program has now.  ours
 * has what zmailer itself listens on, each between blanks; "" when it does
 * not run. */
void machine_check_listeners(const struct conf *conf, const char *ours,
    struct arena *arena, struct conf_report *report);

#endif

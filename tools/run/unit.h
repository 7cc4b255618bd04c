/* unit.h - the unit by which systemd starts zmailer
 *
 * make install writes it, from doc/zmailer.service, with the paths of this
 * build; if it is enabled, it is started at each boot.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_UNIT_H
#define ZM_UNIT_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/str.h"

/* Where make install writes the unit: PREFIX/lib/systemd/system. */
const char *unit_path(void);

/* Is there a file at unit_path? */
bool unit_is_installed(void);

/* Is there a systemctl in PATH? */
bool unit_has_manager(void);

/* Ask systemctl, which prints what it does, to enable the unit by its path, so
 * that it need not be where systemd looks.  0; -1: systemctl failed (stderr has
 * the command to repeat). */
int unit_enable(void);

/* The unit of systemd whose main process that is.  false: it is of none, or we
 * are not root.  What a shell started is of the shell's unit, and not its main
 * process. */
bool unit_of_process(pid_t pid, struct str *out);
/* The last part of the path in the text of /proc/PID/cgroup (cgroups(7)), if
 * it is a service.  false: it is none. */
bool unit_in_cgroup(struct slice text, struct str *out);

/* systemctl restart, said on standard output; it waits until zmailer is ready.
 * returns an exit status, after words about it */
int unit_restart(const char *name);

#endif

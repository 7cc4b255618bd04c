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

#endif

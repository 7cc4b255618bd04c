/* windows.h - is a control file in windows what it is as a whole?
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TESTS_FUZZ_MAIL_WINDOWS_H
#define ZM_TESTS_FUZZ_MAIL_WINDOWS_H

#include "base/str.h"

/* Read it both ways, in windows of so many recipients and bytes (0: as
 * window.h says), and compare all that is said of each recipient.
 * returns 0; -1: they differ, out says in what */
int windows_compare(struct slice file, size_t rcpts, size_t bytes,
    struct str *out);

#endif

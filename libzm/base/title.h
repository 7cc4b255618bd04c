/* title.h - what ps and top show as the command line of this process
 *
 * A title replaces the words of the command line and is cut to their length:
 * the environment keeps its place.  Setting one costs no system call.
 * Everybody on the machine may read it, so it must not contain an address.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_TITLE_H
#define ZM_BASE_TITLE_H

#include "base/str.h"

/* The words of main; they are copied, argv has the copies from now on.  Once
 * a process, before anything points into them. */
void title_open(int argc, char **argv);

/* "zmailer: " and the text; what is not ASCII or a control character is
 * shown as '?'.  Nothing happens before title_open. */
void title_set(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif

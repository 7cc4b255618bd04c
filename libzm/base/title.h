/* title.h - what ps and top show as the command line of this process
 *
 * A title replaces the words of the command line and is cut to their length, so
 * that the environment is not overwritten.  Setting it takes no system call.
 * Everybody on the machine may read it, so it must not contain an address.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_BASE_TITLE_H
#define ZM_BASE_TITLE_H

#include "base/str.h"

/* Take the words of main: argv points to copies of them from now on.  To be
 * called once, before anything points into them. */
void title_open(int argc, char **argv);

/* Show "zmailer: " and the text; controls and bytes that are not ASCII become
 * '?'.  Does nothing before title_open. */
void title_set(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

#endif

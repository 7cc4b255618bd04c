/* hidden.h - a line that is not shown while it is typed
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_SCREEN_HIDDEN_H
#define ZM_TOOLS_SCREEN_HIDDEN_H

#include "base/str.h"

/* Read one line from fd, without its end.  A terminal shows the prompt (NULL:
 * none) once it no longer shows what is typed, and shows again what is typed
 * after it, also if the person gives up with Ctrl-C.  At most max bytes are
 * kept; out has one more when there were more.  The caller overwrites out.
 * returns 0; -1: no line came */
int hidden_line_read(int fd, const char *prompt, size_t max,
    struct str *out);

#endif

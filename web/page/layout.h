/* layout.h - what surrounds every page
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_LAYOUT_H
#define ZM_WEB_LAYOUT_H

#include "base/str.h"

enum layout_reader {
	LAYOUT_NOBODY,
	LAYOUT_KNOWN,		/* has a session: gets the navigation */
	LAYOUT_HELPS		/* the role help: has only the queue */
};

/* From the doctype to the heading of <main>.  path is the page's, which is
 * marked in the navigation. */
void layout_begin(struct str *out, const char *title, const char *path,
    enum layout_reader reader);
/* To the end; csrf NULL: there is no button to log out. */
void layout_end(struct str *out, const char *csrf);
/* A whole page of one sentence: an error. */
void layout_error(struct str *out, int status, const char *words,
    bool is_known);

#endif

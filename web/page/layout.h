/* layout.h - what stands around every page
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_LAYOUT_H
#define ZM_WEB_LAYOUT_H

#include "base/str.h"

enum layout_reader {
	LAYOUT_NOBODY,
	LAYOUT_KNOWN,		/* has a session, is shown where to go */
	LAYOUT_HELPS		/* for him there is the queue alone */
};

/* From the doctype to the heading of <main>.  path is the page's, whose place
 * is marked. */
void layout_begin(struct str *out, const char *title, const char *path,
    enum layout_reader reader);
/* Until the end; csrf NULL: nobody can leave. */
void layout_end(struct str *out, const char *csrf);
/* A whole page of one sentence: an error. */
void layout_error(struct str *out, int status, const char *words,
    bool is_known);

#endif

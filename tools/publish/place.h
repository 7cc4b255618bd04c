/* place.h - where a published file may be written
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_PUBLISH_PLACE_H
#define ZM_TOOLS_PUBLISH_PLACE_H

/* Why path, a name below dir (itself without links), may lead elsewhere, now or
 * when somebody who is not root wants it to; NULL: it leads below dir.
 * Directories that are not there yet are right.  The words are static. */
const char *publish_place_fault(const char *dir, const char *path);
/* The same, for what stood there before: links alone count. */
const char *publish_place_leads_out(const char *dir, const char *path);

#endif

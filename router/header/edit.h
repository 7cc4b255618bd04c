/* edit.h - changes that a script makes to a header
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_HEADER_EDIT_H
#define ZM_ROUTER_HEADER_EDIT_H

#include "daemon/hook/hook.h"

/* Add every field of the header to a question, key "h". */
void header_edit_ask(struct hooks *hooks, struct slice header);

/* Make the changes of an answer (hook.h: edits).  What no change names keeps
 * its bytes.  returns 0; -1 (err): the changes do not fit this header, which is
 * unchanged. */
int header_edit(struct str *header, struct slice edits, struct err *err);

#endif

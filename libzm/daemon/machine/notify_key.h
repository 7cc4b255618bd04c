/* notify_key.h - the key that signs what notify posts
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_DAEMON_MACHINE_NOTIFY_KEY_H
#define ZM_DAEMON_MACHINE_NOTIFY_KEY_H

#include "base/err.h"
#include "base/str.h"

/* The first line of the file, appended to out, which the caller wipes.
 * Only its owner may have rights to the file, and it has
 * NOTIFY_KEY_BYTES_MIN bytes or more.
 * returns 0; -1: err says why not, *out_hint what to do about it */
int notify_key_read(const char *path, struct str *out, const char **out_hint,
    struct err *err);

#endif

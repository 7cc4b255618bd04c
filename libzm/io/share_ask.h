/* share_ask.h - ask the process that counts with other machines (share)
 *
 * For tools: how it stands, over RUN/share.sock; doc/protocol/share.md.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_SHARE_ASK_H
#define ZM_IO_SHARE_ASK_H

#include "base/err.h"
#include "base/str.h"

/* Below RUN. */
#define SHARE_SOCKET "share.sock"

enum { SHARE_ASK_FOR_MS = 5000 };

/* Its status: lines "node ...", "redis ...", "figures ...", appended to out.
 * 0; -1: nobody answers (err). */
int share_ask_status(const char *run_dir, struct str *out, struct err *err);

#endif

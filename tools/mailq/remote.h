/* remote.h - ask another machine's queue by ZMailer's protocol
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_MAILQ_REMOTE_H
#define ZM_TOOLS_MAILQ_REMOTE_H

#include "tools/mailq/flags.h"

/* Connect to flags->server (HOST, HOST:PORT, [ADDRESS]:PORT, unix:/PATH, or
 * as -p says), log in by the first line NAME:PASSWORD of -k's file, by -U or as
 * nobody/nobody, send the command and print the answer.  returns an exit
 * status. */
int mailq_remote(const struct mailq_flags *flags, const char *command);

#endif

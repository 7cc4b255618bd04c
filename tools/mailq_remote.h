/* mailq_remote.h - ask another machine's queue by ZMailer's protocol
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TOOLS_MAILQ_REMOTE_H
#define ZM_TOOLS_MAILQ_REMOTE_H

/* Connect to place (HOST, HOST:PORT, [ADDRESS]:PORT, unix:/PATH), log in
 * with the first line NAME:PASSWORD of the file, say the command and print
 * the answer.  returns an exit status. */
int mailq_remote(const char *place, const char *file, const char *command);

#endif

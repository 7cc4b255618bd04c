/* verify_arg.h - the argument of VRFY and EXPN
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_COMMAND_VERIFY_ARG_H
#define ZM_SMTPSERVER_COMMAND_VERIFY_ARG_H

#include "grammar/smtp/path.h"
#include "smtpserver/session/session.h"

/* An address, with or without brackets; a local part alone is one of our
 * host's.  RFC 5321 section 3.5.1; SMTPUTF8 after it: RFC 6531 section
 * 3.7.4.2.
 * out_text   "local@domain", emptied before
 * out_path   slices of out_text
 * returns false when out has a refusal. */
bool verify_arg_take(const struct session *session, struct slice args,
    struct str *out_text, struct path *out_path, struct session_answer *out);

/* Is its domain one of ours? */
bool verify_arg_is_ours(const struct session *session,
    const struct path *path);

#endif

/* argument.h - what stands behind MAIL and RCPT, checked the same way
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_ARGUMENT_H
#define ZM_SMTPSERVER_ARGUMENT_H

#include "grammar/path.h"
#include "smtpserver/session.h"

/* The path behind keyword ("FROM:", "TO:").  RFC 5321 section 4.1.2.
 * status: of the refusal, "5.1.7" or "5.1.3".  out_rest: the parameters.
 * returns false when out has a refusal. */
bool argument_path(struct slice args, const char *keyword,
    enum path_flags flags, const char *status, struct path *out_path,
    struct slice *out_rest, struct answer *out);

enum { ARGUMENT_END = -1, ARGUMENT_BAD = -2 };

/* The next esmtp-param of *rest.  known: keywords, ended by NULL; seen: a
 * bit for each that stood already.  No parameter is known before EHLO.
 * returns its index in known; ARGUMENT_END: no more; ARGUMENT_BAD: out has
 * a refusal. */
int argument_param(const struct session *session, struct slice *rest,
    const char *const known[], unsigned *seen, struct slice *out_value,
    struct answer *out);

#endif

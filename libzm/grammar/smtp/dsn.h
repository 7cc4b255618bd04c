/* dsn.h - what a sender asked to be told: RFC 3461 parameters
 *
 * The SMTP parameters, the "todsn" and "notaryret" lines of the message file
 * and the N, R, n lines of the control file have the same form.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_GRAMMAR_DSN_H
#define ZM_GRAMMAR_DSN_H

#include "base/err.h"
#include "base/str.h"

enum dsn_notify {
	DSN_NOTIFY_DEFAULT = 0,	/* nothing said: failure and delay */
	DSN_NOTIFY_NEVER = 1,
	DSN_NOTIFY_SUCCESS = 2,
	DSN_NOTIFY_FAILURE = 4,
	DSN_NOTIFY_DELAY = 8
};

enum dsn_ret { DSN_RET_DEFAULT, DSN_RET_FULL, DSN_RET_HDRS };

enum { DSN_ENVID_BYTES_MAX = 100, DSN_ORCPT_BYTES_MAX = 500 };

/* Section 4.1: a list with commas; NEVER stands alone.  returns 0 or -1. */
int dsn_notify_parse(struct slice value, unsigned *out_notify,
    struct err *err);
/* Append "SUCCESS,FAILURE"; nothing for the default. */
void dsn_notify_add(struct str *out, unsigned notify);

/* Section 4.3: FULL or HDRS.  As dsn_notify_parse. */
int dsn_ret_parse(struct slice value, enum dsn_ret *out_ret, struct err *err);
const char *dsn_ret_name(enum dsn_ret ret);	/* "FULL", "HDRS", "" */

/* Section 4.2: addr-type ";" xtext; checked, not decoded.
 * As dsn_notify_parse. */
int dsn_orcpt_check(struct slice value, struct err *err);

/* Section 4.4: 1..100 characters of xtext; checked, not decoded. */
int dsn_envid_check(struct slice value, struct err *err);

/* Is a report of this kind (one DSN_NOTIFY_ bit) owed? */
bool dsn_wants(unsigned notify, enum dsn_notify kind);

#endif

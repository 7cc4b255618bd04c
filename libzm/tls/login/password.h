/* password.h - whether a password is that of an entry
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_PASSWORD_H
#define ZM_TLS_PASSWORD_H

#include "base/err.h"
#include "base/str.h"

enum password_result { PASSWORD_FITS = 1, PASSWORD_WRONG = 0,
	PASSWORD_TROUBLE = -1 };

/* Compared with when there is no such user: an entry nobody's password
 * has. */
#define PASSWORD_NOBODY "$6$zmailer.nobody$" \
	"0000000000000000000000000000000000000000000000000000000000000000" \
	"0000000000000000000000"

/* Is this the password of an entry: {SCRAM-SHA-256}..., {SSHA}, {SSHA256} or
 * {SSHA512} with base64, or what crypt(3) or argon2 write, with or without
 * {CRYPT} in front?  Takes as long as the
 * entry wants: a tenth of a second, mostly. */
enum password_result password_check_entry(struct slice entry,
    struct slice password, struct err *err);

#endif

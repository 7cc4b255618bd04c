/* tls_issue.h - an authority of our own, and certificates that it signs
 *
 * For machines that know each other by names of their own choice, not by the
 * DNS.  EC keys (P-256), ten years.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_LOGIN_ISSUE_H
#define ZM_TLS_LOGIN_ISSUE_H

#include "base/err.h"
#include "base/str.h"

enum { TLS_ISSUE_DAYS = 3650 };

struct tls_issuer;

/* An authority with a new key, of that common name.  NULL: err. */
struct tls_issuer *tls_issuer_new(const char *name, struct err *err);
/* Forgets its key; nulls *issuer. */
void tls_issuer_free(struct tls_issuer **issuer);

/* Append its certificate, as PEM.  0 or -1. */
int tls_issuer_add(const struct tls_issuer *issuer, struct str *out,
    struct err *err);
/* Append a certificate with that DNS name, for clients and servers, and its new
 * key, as PEM.  0 or -1. */
int tls_issue(const struct tls_issuer *issuer, const char *name,
    struct str *out, struct err *err);

#endif

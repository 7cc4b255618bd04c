/* tls_dane.h - certificates by TLSA records instead of trusted roots
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_DANE_H
#define ZM_TLS_DANE_H

#include "grammar/tlsa.h"
#include "io/dns/dns.h"
#include "tls/client.h"

/* Can a certificate be held against it, as SMTP does?  tlsa_is_for_smtp, and
 * a certificate or key that is there in full can be read. */
bool tls_tlsa_is_usable(const struct tlsa *tlsa);

enum tls_tlsa_fit {
	TLS_TLSA_BAD = -1,	/* the file cannot be read (err) */
	TLS_TLSA_DIFFERS = 0,
	TLS_TLSA_FITS = 1
};
/* Does the record name the certificate that a PEM file begins with, or, by
 * usage 2, one of those after it? */
enum tls_tlsa_fit tls_tlsa_fits(const struct tlsa *tlsa, const char *file,
    struct err *err);
/* Append the record that names the key of a file's first certificate and
 * outlives its renewals: "3 1 1 HEX".  0; -1: it cannot be read (err). */
int tls_tlsa_add(struct str *out, const char *file, struct err *err);

/* ---- for client.c ------------------------------------------------------- */

struct ssl_st;

/* Let the goal's records, of which one at least can be used, decide about the
 * certificate.  false: OpenSSL's errors say why. */
bool tls_dane_set(struct ssl_st *ssl, const struct tls_goal *goal);

/* Which record it was, after the handshake. */
void tls_dane_tell(struct ssl_st *ssl, struct tls_info *info);

#endif

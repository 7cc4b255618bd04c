/* tls_dane.h - certificates by TLSA records instead of trusted roots
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_DANE_H
#define ZM_TLS_DANE_H

#include "grammar/tlsa.h"
#include "io/dns/dns.h"
#include "tls/client.h"

/* Can a certificate be compared with it, as SMTP does?  tlsa_is_for_smtp, and a
 * certificate or key that is there in full can be read. */
bool tls_tlsa_is_usable(const struct tlsa *tlsa);

enum tls_tlsa_fit {
	TLS_TLSA_BAD = -1,	/* the file cannot be read (err) */
	TLS_TLSA_DIFFERS = 0,
	TLS_TLSA_FITS = 1
};
/* Does the record match the first certificate of a PEM file or, with usage 2,
 * one of those after it? */
enum tls_tlsa_fit tls_tlsa_fits(const struct tlsa *tlsa, const char *file,
    struct err *err);
/* Append the record of the key of a file's first certificate, which stays valid
 * when the certificate is renewed: "3 1 1 HEX".  0; -1: the file cannot be read
 * (err). */
int tls_tlsa_add(struct str *out, const char *file, struct err *err);

/* ---- for client.c ------------------------------------------------------- */

struct ssl_st;

/* Let the goal's records, at least one of which is usable, decide about the
 * certificate.  false: OpenSSL's errors say why. */
bool tls_dane_set(struct ssl_st *ssl, const struct tls_goal *goal);

/* After the handshake: write into info which record matched. */
void tls_dane_tell(struct ssl_st *ssl, struct tls_info *info);

#endif

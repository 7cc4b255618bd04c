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

/* ---- for client.c ------------------------------------------------------- */

struct ssl_st;

/* Let the goal's records, of which one at least can be used, decide about the
 * certificate.  false: OpenSSL's errors say why. */
bool tls_dane_set(struct ssl_st *ssl, const struct tls_goal *goal);

/* Which record it was, after the handshake. */
void tls_dane_tell(struct ssl_st *ssl, struct tls_info *info);

#endif

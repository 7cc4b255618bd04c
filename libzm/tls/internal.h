/* tls_internal.h - shared by the files of tls/; not for others
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_INTERNAL_H
#define ZM_TLS_INTERNAL_H

#include <openssl/ssl.h>

#include "tls/server.h"

/* OpenSSL's ticket callback.  The context's application data are the
 * struct tls_tickets.  returns what SSL_CTX_set_tlsext_ticket_key_evp_cb(3)
 * requires. */
int tls_ticket_crypt(SSL *ssl, unsigned char *name, unsigned char *iv,
    EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int is_sealing);

#endif

/* client_steps.h - the steps of a client's connection; internal to tls/
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TLS_CLIENT_STEPS_H
#define ZM_TLS_CLIENT_STEPS_H

#include <openssl/ssl.h>

#include "io/cipher.h"
#include "tls/client.h"

/* An object for a handshake over peer's descriptor, which is borrowed until
 * tls_client_end.  NULL with err. */
SSL *tls_client_begin(struct tls_client *client, const struct tls_goal *goal,
    struct peer *peer, struct err *err);

/* Go on; may_wait: until the descriptor can be read (SO_RCVTIMEO), else
 * nothing blocks. */
enum cipher_step tls_client_shake(SSL *ssl, bool may_wait, struct err *err);
enum cipher_step tls_client_read(SSL *ssl, char *out, size_t n, bool may_wait,
    size_t *out_n, struct err *err);
enum cipher_step tls_client_write(SSL *ssl, const char *bytes, size_t n,
    size_t *out_n, struct err *err);

/* Say that no more will come.  Does not block. */
void tls_client_bye(SSL *ssl);

#endif

/* keyring.h - a worker's side of the process that keeps the keys
 *
 * Knows the certificates and ticket keys it was told, and asks for a
 * signature when a handshake needs one; the handshake sleeps meanwhile.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_TLS_KEYRING_H
#define ZM_SMTPSERVER_TLS_KEYRING_H

#include "conf/conf.h"
#include "io/loop.h"
#include "tls/server.h"

struct keyring;

enum { KEYRING_START_MS = 10000, KEYRING_ANSWER_MS = 20000 };

/* Over socket (taken).  Waits until the first set has come, at the most
 * KEYRING_START_MS. */
struct keyring *keyring_new(struct loop *loop, int socket,
    const struct conf *conf);
/* Handshakes that wait are refused.  After the streams are freed. */
void keyring_free(struct keyring **keyring);

/* Another configuration: versions, client certificates. */
void keyring_configure(struct keyring *keyring, const struct conf *conf);

/* What new connections are to use; NULL: there is no certificate (or no
 * keyring). */
struct tls_server *keyring_server(const struct keyring *keyring);

#endif

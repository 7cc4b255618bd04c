/* tls_link.h - the server's side of one TLS connection; stream.c's own
 *
 * Life cycle: tls_link_new, tls_link_shake until it says so, read and write,
 * tls_link_end, tls_link_free.  Nothing blocks.  A handshake that waits for
 * a signature of another process sleeps in a fibre of OpenSSL's
 * (ASYNC_start_job(3)); tls_link_pause is how a signing function gets it
 * to sleep, tls_link_wake how it goes on.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_TLS_LINK_H
#define ZM_IO_TLS_LINK_H

#include <sys/types.h>

#include "tls/server.h"

struct tls_link;

/* A link over socket fd (borrowed) that calls wake(context) when a
 * handshake that slept can go on.  NULL with err. */
struct tls_link *tls_link_new(struct tls_server *server, int fd,
    void (*wake)(void *context), void *context, struct err *err);
/* The descriptor is the caller's to close, at once.  Nulls *link. */
void tls_link_free(struct tls_link **link);

/* Go on with the handshake.  1 done; 0 not yet; -1 failed: err. */
int tls_link_shake(struct tls_link *link, struct err *err);

enum { TLS_LINK_NOTHING = 0, TLS_LINK_EOF = -1, TLS_LINK_BROKEN = -2 };

/* A new turn of reading: the socket may have more. */
void tls_link_turn(struct tls_link *link);
/* Up to n (> 0) bytes.  returns how many; TLS_LINK_NOTHING: no more came
 * in this turn; TLS_LINK_EOF; TLS_LINK_BROKEN. */
ssize_t tls_link_read(struct tls_link *link, char *out, size_t n);
/* returns how many of the bytes were taken; -1 broken. */
ssize_t tls_link_write(struct tls_link *link, struct slice bytes);
/* Does it wait until the socket can be written to? */
bool tls_link_wants_write(const struct tls_link *link);
/* Does it wait for a signature, not for the socket? */
bool tls_link_is_asleep(const struct tls_link *link);

/* Tell the other side that no more will come (close_notify). */
void tls_link_end(struct tls_link *link);

/* What the handshake came to. */
void tls_link_info(const struct tls_link *link, struct tls_info *out);

enum tls_binding { TLS_EXPORTER, TLS_SERVER_END_POINT };
/* Channel binding data into out[64].  RFC 9266 section 4.2; RFC 5929
 * section 4.1.  returns their length; 0: there are none. */
size_t tls_link_binding(const struct tls_link *link, enum tls_binding kind,
    char out[64]);

/* ---- for signing functions -------------------------------------------- */

/* The link whose handshake is running, or NULL. */
struct tls_link *tls_link_current(void);
/* Sleep until tls_link_wake.  false: not in a handshake that can sleep;
 * block instead. */
bool tls_link_pause(void);
void tls_link_wake(struct tls_link *link);

#endif

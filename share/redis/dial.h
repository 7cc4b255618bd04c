/* dial.h - a connection to one place, on its way
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_REDIS_DIAL_H
#define ZM_SHARE_REDIS_DIAL_H

#include "base/err.h"
#include "io/loop.h"
#include "io/stream.h"
#include "share/redis/places.h"
#include "tls/client.h"

struct dial;

/* fd is connected, and the callee's; -1: err says why.  The dial is over and
 * freed then. */
typedef void dial_fn(void *context, int fd, const struct err *err);

/* Connect without blocking; fn is called in the loop.  NULL: it failed at
 * once (err), and fn is not called. */
struct dial *dial_new(struct loop *loop, const struct store_place *place,
    dial_fn *fn, void *context, struct err *err);
/* Give it up: fn is not called.  Nulls *dial. */
void dial_free(struct dial **dial);

/* Over TLS from here on, if there is a client: the certificate must name the
 * host.  0 or -1 (err). */
int dial_encrypt(struct stream *stream, struct tls_client *tls,
    const char *host, struct err *err);

#endif

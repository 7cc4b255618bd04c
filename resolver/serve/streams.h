/* streams.h - questions that come by TCP
 *
 * RFC 7766: several on one connection, answers in the order they are found.
 * Bounds: STREAMS_MAX connections (the one that was idle longest makes room
 * for a new one), STREAM_WAITS_MAX questions of each that have no answer,
 * STREAM_IDLE_MS without a byte.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_RESOLVER_SERVE_STREAMS_H
#define ZM_RESOLVER_SERVE_STREAMS_H

#include "resolver/serve/questions.h"

enum { STREAMS_MAX = 64, STREAM_IDLE_MS = 10000, STREAM_WAITS_MAX = 128 };

struct streams;

/* Let them in at a socket that listens and does not block; it stays the
 * caller's. */
struct streams *streams_new(struct loop *loop, struct questions *questions,
    int socket);

/* Nobody else is let in, no further question is taken. */
void streams_leave(struct streams *streams);

/* All connections are closed; NULL is harmless. */
void streams_free(struct streams **streams);

#endif

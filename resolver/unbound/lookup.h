/* lookup.h - questions to libunbound; the only place that includes it
 *
 * The library works in a thread of its own, which it makes with the first
 * question: after the process locked itself in, so that the thread is, too.
 * What is asked again while it is under way is asked of the world once
 * (libunbound's mesh; tests/real/resolver.py counts).
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_RESOLVER_UNBOUND_LOOKUP_H
#define ZM_RESOLVER_UNBOUND_LOOKUP_H

#include "base/err.h"
#include "conf/conf.h"
#include "io/loop.h"
#include "resolver/wire/response.h"

struct lookups;
struct lookup;

/* Called once for each question, in the loop or from lookup_ask.  What
 * finding points to lives as long as the call. */
typedef void lookup_fn(void *context, const struct finding *finding);

/* With what the block says; anchor is a file: is_kept says that it is written
 * when the keys of the root change (RFC 5011).  Reads all files that it
 * needs.  NULL: err. */
struct lookups *lookups_new(struct loop *loop,
    const struct conf_resolver *resolver, const char *anchor, bool is_kept,
    struct err *err);

/* Ask for a name as text, "mx.example.org.".
 * returns what lookup_cancel takes, until fn is called; NULL: it was */
struct lookup *lookup_ask(struct lookups *lookups, const char *name,
    unsigned type, lookup_fn *fn, void *context);

/* fn is not called; the library looks no further. */
void lookup_cancel(struct lookups *lookups, struct lookup **lookup);

/* Questions that are out are forgotten: their fn is not called. */
void lookups_free(struct lookups **lookups);

#endif

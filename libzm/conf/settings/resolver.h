/* resolver.h - our own resolver, if there is one
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_CONF_SETTINGS_RESOLVER_H
#define ZM_CONF_SETTINGS_RESOLVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "conf/settings/at.h"

#define RESOLVER_ADDRESS "127.0.0.25:53"	/* default; only root can bind
						 * that port */
#define RESOLVER_ANCHOR "/usr/share/dns/root.key"	/* the system's */

enum {
	RESOLVER_SERVERS_MAX = 64,	/* of forward, and of stub */
	RESOLVER_CACHE_BYTES = 16 << 20	/* default */
};

struct conf_stub {		/* stub ZONE ADDRESS[:PORT] */
	const char	*zone, *server;
};

struct conf_resolver {		/* resolver [ADDRESS:PORT] { ... } */
	const char	*address;	/* "127.0.0.25:53"; NULL: none */
	const char	*anchor;	/* a file of DS or DNSKEY records; NULL:
					 * the system's, kept by RFC 5011 */
	const char	**forwards;	size_t forward_count;	/* none: it
					 * asks the root itself */
	struct conf_stub *stubs;	size_t stub_count;
	uint64_t	 cache_bytes;
	struct conf_at	 at;
};

struct conf;
/* Is there a resolver of ours? */
bool conf_has_resolver(const struct conf *conf);

/* Append what follows the word resolver. */
void conf_resolver_add(struct str *out, const struct conf_resolver *resolver);

#endif

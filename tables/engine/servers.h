/* servers.h - the hosts of a definition
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_TABLES_ENGINE_SERVERS_H
#define ZM_TABLES_ENGINE_SERVERS_H

#include "base/str.h"

enum { SERVERS_MAX = 16 };	/* further ones are not asked */

struct server_place {
	struct slice	name;	/* of a host, its address, or a path */
	struct slice	port;	/* digits; empty: the usual one */
};

/* "NAME", "NAME:PORT", "[ADDRESS]:PORT", "/PATH", "/PATH:PORT", blanks between
 * them, in an order of its own each time.  Borrowed from text.  Returns how
 * many. */
size_t servers_of(const char *text, struct server_place out[SERVERS_MAX]);

/* Where certificate authorities of the system are. */
#define SERVERS_CA "/etc/ssl/certs/ca-certificates.crt"

#endif

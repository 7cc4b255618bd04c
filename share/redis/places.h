/* places.h - where a Redis is, and what it wants to hear
 *
 * Found before the process locks itself in: another address of a name counts
 * after a reload.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_REDIS_PLACES_H
#define ZM_SHARE_REDIS_PLACES_H

#include <sys/socket.h>

#include "base/err.h"
#include "conf/conf.h"

enum { PLACES_MAX = 32, PLACE_TEXT_BYTES = 80, PLACE_HOST_BYTES = 256,
	PASSWORD_BYTES_MAX = 1024 };

struct store_place {
	struct sockaddr_storage	address;
	socklen_t		length;
	char			text[PLACE_TEXT_BYTES];
	char			host[PLACE_HOST_BYTES];	/* as it is named */
};

struct places {
	struct store_place	at[PLACES_MAX];
	size_t		count;
};

/* All addresses of the servers of a cluster, or of its sentinels, in their
 * order.  Blocks while names are looked up.  0; -1: not one was found (err). */
int places_find(const struct conf_cluster *cluster, struct places *out,
    struct err *err);

/* The first line of a file that is its owner's alone, which the caller
 * overwrites and frees.  NULL: err. */
char *places_password(const char *path, struct err *err);

#endif

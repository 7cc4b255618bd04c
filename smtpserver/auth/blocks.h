/* blocks.h - whom all machines of a cluster refuse
 *
 * Memory shared by all workers of an smtpserver, made by the listener before it
 * forks them.  The listener alone writes, all of them at once; who reads
 * meanwhile sees the old ones or the new ones.  Without blocks_open there are
 * none.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SMTPSERVER_AUTH_BLOCKS_H
#define ZM_SMTPSERVER_AUTH_BLOCKS_H

#include "base/err.h"
#include "base/str.h"
#include "grammar/net.h"

enum {
	BLOCKS_MAX = 4096,
	BLOCKS_KEY_BYTES = 321,		/* with its NUL */
	BLOCKS_ABOUT_BYTES = 161	/* the same */
};

enum blocks_kind { BLOCKS_CLIENTS, BLOCKS_SENDERS, BLOCKS_USERS,
	BLOCKS_KINDS };

struct block {
	enum blocks_kind kind;
	struct net	 net;		/* of clients */
	char		 key[BLOCKS_KEY_BYTES];	/* small letters */
	char		 about[BLOCKS_ABOUT_BYTES];	/* "by=NAME REASON" */
	int64_t		 until_s;	/* wall; 0: for ever */
};

/* 0 or -1 (err). */
int blocks_open(struct err *err);
void blocks_close(void);

/* From here on what blocks_add takes is collected; blocks_commit puts it in the
 * place of what was there. */
void blocks_begin(void);
/* "UNTIL KIND KEY ABOUT", as share lists it.  Whole networks (wider than /8, or
 * /16 of IPv6) and this machine itself are nobody's to block.  false: it is not
 * taken. */
bool blocks_add(struct slice line);
void blocks_commit(void);

/* Are there any of this kind?  Some may be over. */
bool blocks_has(enum blocks_kind kind);
/* A block that counts now, of a client's network, or of a key in small letters.
 * false: there is none. */
bool blocks_find_client(const struct net *client, struct block *out);
bool blocks_find(enum blocks_kind kind, struct slice key, struct block *out);

#endif

/* poison.h - messages during whose handling workers died
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_ROUTER_POISON_H
#define ZM_ROUTER_POISON_H

#include "mail/spool/spool.h"

enum {
	POISON_DEATHS = 3,	/* then postman/N.poison */
	POISON_KNOWN_MAX = 64	/* suspects; the oldest is forgotten */
};

struct poison {
	struct poison_row {
		ino_t		inode;
		char		id[SPOOL_ID_BYTES];
		unsigned	deaths;
	} rows[POISON_KNOWN_MAX];
	unsigned	next;
};

/* A worker died while it had this message; returns how many have. */
unsigned poison_count(struct poison *poison, ino_t inode, const char *id);

/* Rows C1, P1: take back what the dead process pid had claimed.  A message with
 * POISON_DEATHS goes to postman/, others wait again.  returns how many claims
 * there were. */
unsigned poison_take_over(struct poison *poison, struct spool *spool,
    pid_t pid);

#endif

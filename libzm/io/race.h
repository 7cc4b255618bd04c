/* race.h - connect to one of several addresses, whichever answers first
 *
 * RFC 8305 section 5: the next address is tried when the one before it has
 * failed, or has not answered for a quarter of a second.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_IO_RACE_H
#define ZM_IO_RACE_H

#include "io/peer.h"

enum {
	RACE_MAX = 16,			/* addresses in one race */
	RACE_STAGGER_MS = 250		/* RFC 8305 section 5 */
};

struct race_entry {
	struct sockaddr_storage	address;
	socklen_t		length;
	enum race_state {
		RACE_NEW,	/* not begun, or interrupted: may run again */
		RACE_GOING,
		RACE_LOST,	/* trouble says why */
		RACE_WON
	}			state;
	int			trouble;	/* errno */
	int			fd;		/* the race's own */
	int64_t			begun_ms;	/* steady; 0: never */
	const struct sockaddr_storage *source;	/* to connect from; NULL:
						 * the system chooses */
};

/* Connect peer to the first of the NEW entries that answers.
 * for_ms  how long one address may take
 * returns the index of the one that WON; -1: all are LOST */
int race_run(struct peer *peer, struct race_entry *entries, size_t count,
    int64_t for_ms);

#endif

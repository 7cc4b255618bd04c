/* waits.h - who waits for an answer about copies
 *
 * Of this folder alone.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_COPIES_WAITS_H
#define ZM_SHARE_COPIES_WAITS_H

#include <sys/queue.h>

#include "share/copies/copies.h"
#include "share/copies/statements.h"

enum {
	WAITS_FDS = 2,
	WAITS_FIRST_BYTES = 31,		/* of the first line of a message */
	WAITS_AREA_BYTES = 80
};

/* What `fetch` has got so far. */
struct waits_fetch {
	char		id[COPYING_ID_BYTES_MAX + 1];
	char		area[WAITS_AREA_BYTES];
	uint64_t	body_bytes, control_bytes;
	uint64_t	since;		/* SINCE of the page */
	uint64_t	part;		/* the next one */
	bool		has_head;
};

struct copies_wait {
	struct copies		*copies;
	struct copying		 question;	/* in line */
	char			*line;
	bool			 is_status;	/* question has nothing */
	int			 fds[WAITS_FDS];	/* -1: none */
	uint64_t		 bytes[WAITS_FDS];
	int64_t			 until_ms;
	copies_answer_fn	*fn;		/* NULL: nobody waits */
	void			*context;
	bool			 is_alone;	/* is tried once more */
	bool			 is_bad;	/* its files cannot be read */
	bool			 is_body_said;	/* of kept: the row has none,
						 * or another */
	size_t			 step;		/* statements said */
	struct str		 lines;		/* of the answer */
	struct waits_fetch	 fetch;
	TAILQ_ENTRY(copies_wait) entry;
};
TAILQ_HEAD(waits_list, copies_wait);

/* A wait with its own copy of the question, and its descriptors. */
struct copies_wait *waits_new(const struct copying *question, const int *fds);
/* It is in no list any more. */
void waits_free(struct copies_wait **wait);

/* Look at its files: regular, and of at most bytes_max each.  0; -1: err. */
int waits_measure(struct copies_wait *wait, uint64_t bytes_max,
    struct err *err);
/* Read bytes of one of them into buffer.  0; -1: they are not there. */
int waits_read(const struct copies_wait *wait, int which, uint64_t from,
    char *buffer, size_t bytes);

/* Is it of those that go together in a transaction? */
bool waits_is_grouped(const struct copies_wait *wait);
/* How much it adds to one. */
uint64_t waits_bytes(const struct copies_wait *wait);

/* Tell who waits, if somebody does yet. */
void waits_answer(struct copies_wait *wait, struct slice lines);
void waits_answer_away(struct copies_wait *wait, const char *why);

#endif

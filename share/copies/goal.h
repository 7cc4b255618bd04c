/* goal.h - where the PostgreSQL is, and what it wants to hear
 *
 * Found before the process locks itself in: libpq's own look for names and
 * files blocks, and would find nothing later.
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_SHARE_COPIES_GOAL_H
#define ZM_SHARE_COPIES_GOAL_H

#include "base/err.h"
#include "conf/conf.h"

enum { GOAL_PLACES_MAX = 32, GOAL_WORDS_MAX = 64, GOAL_FILES_MAX = 4 };

struct goal_place {
	const char	*host;		/* as it is named; or a path */
	const char	*address;	/* "": host is a path */
	const char	*port;		/* "": the usual one */
};

struct copies_goal {
	struct arena		*arena;		/* of all of this */
	struct goal_place	 places[GOAL_PLACES_MAX];
	size_t			 place_count;
	bool			 has_names;	/* may have other addresses
						 * later */
	/* what libpq is told besides: dbname, user, sslmode ... */
	const char		*keywords[GOAL_WORDS_MAX];
	const char		*values[GOAL_WORDS_MAX];
	size_t			 word_count;
	const char		*files[GOAL_FILES_MAX];	/* it reads them */
	size_t			 file_count;
	char			*password;	/* NULL: none */
	size_t			 waits_max;	/* questions at a time */
	char			 trouble[ERR_TEXT_BYTES];	/* why there is
					 * no place */
};

/* Read the words of the configuration and look up their hosts, which blocks.
 * out is zeroed, or has a password and
 * waits_max already.
 * 0; -1: nothing can be connected to (err).  goal_release is due after both. */
int goal_find(const struct conf_cluster *cluster, struct copies_goal *out,
    struct err *err);
/* Overwrite the password and free all. */
void goal_release(struct copies_goal *goal);

#endif

/* match.h - is a question one of the rows of rows.h?
 *
 * SPDX-License-Identifier: ISC
 */
#ifndef ZM_WEB_MATCH_H
#define ZM_WEB_MATCH_H

#include "base/str.h"
#include "web/session/role.h"

enum {
	MATCH_TEXT_BYTES_MAX = 300,		/* web/pages/change.c */
	MATCH_SELECTOR_BYTES_MAX = 256 << 10,
	MATCH_ID_BYTES_MAX = 64
};

struct match {
	enum role	 role;		/* that it needs */
	enum match_help {	/* for the role help: rows.h */
		MATCH_ALONE, MATCH_NARROW, MATCH_FIRST, MATCH_SIFT,
		MATCH_OWN
	}		 help;
	int		 id_at, selector_at;	/* their words; -1: none */
};

/* Can it be the id of a message? */
bool match_is_id(struct slice word);
/* Match the words of a verb, which end with NULL.  False: no row has them. */
bool match_verb(const char *const *words, struct match *out);
/* Match a request of the scheduler's socket, a line of JSON.  out_request is
 * made anew of the members that its row names, so that nothing else is passed;
 * it lacks its end ("}").  False: no row has it. */
bool match_socket(struct slice line, struct str *out_request,
    struct match *out);

#endif
